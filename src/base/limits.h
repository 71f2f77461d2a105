// Every limit of the program, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jarvis::limits {

// Text that the reader cuts from a trace and decodes in one piece. Large enough that the cost of a
// piece (one allocation, one merge of names) vanishes, small enough that the pieces in flight do
// not show beside the events of a 60 MB trace.
inline constexpr std::size_t kSliceBytes = std::size_t{256} << 10;

// One event. The largest seen in a real trace are a few hundred kB (TensorLists of an optimizer).
inline constexpr std::size_t kEventBytesMax = std::size_t{64} << 20;

// One top-level value beside traceEvents (deviceProperties, distributedInfo, user metadata).
inline constexpr std::size_t kMetadataBytesMax = std::size_t{16} << 20;

// All of them together, with what each costs beside its text. Real traces have a few dozen of a few
// kB; those of thousands of merged ranks a few MB.
inline constexpr std::size_t kMetadataBytesAllMax = std::size_t{32} << 20;

// Events are named by 32-bit indices; one value is reserved.
inline constexpr std::uint64_t kEventsMax = 0xFFFFFFFEu;

// Inflated bytes of one trace, unless the caller says otherwise (serve --max-trace-bytes).
inline constexpr std::uint64_t kTraceBytesMax = std::uint64_t{64} << 30;

// Places in a large file from which a part of it can be read later: so much text lies between them
// at least, and so much memory they take at most (a place inside gzip takes 90 kB, so that there
// are 370 of them: one for each 90 MB of a text of 30 GB).
inline constexpr std::uint64_t kRestartSpacingMin = std::uint64_t{8} << 20;
inline constexpr std::size_t kRestartBytesMax = std::size_t{32} << 20;

// Steps of one recording that can be asked for by number; real ones have a few thousand at most.
inline constexpr std::size_t kMarkedStepsMax = 1'000'000;

// gzip can expand a thousand times; traces expand 10 to 60 times. Beyond this, and beyond a size
// that does no harm, a compressed file is no trace.
inline constexpr std::uint64_t kExpansionMax = 300;
inline constexpr std::uint64_t kExpansionFreeBytes = std::uint64_t{256} << 20;

// Text of unknown args kept for one event; the rest of a longer one is dropped and counted.
inline constexpr std::size_t kOtherArgsBytesMax = 4096;

// A name of an event, a track or a category. The longest of real kernels have a few kB; a longer
// one is cut and keeps a mark of what it was.
inline constexpr std::size_t kNameBytesMax = std::size_t{16} << 10;
// What is kept of a longer one where a trace has used up its texts.
inline constexpr std::size_t kNameBytesShort = 256;

// A device's name. Real ones have a few dozen bytes.
inline constexpr std::size_t kDeviceNameBytesMax = 256;

// Distinct texts of a trace, once each: so many bytes at least, and so many an event. Real traces
// keep well below it, as most of their events share their texts; tables and answers copy texts, so
// that what a trace of nothing but texts costs is many times theirs.
inline constexpr std::size_t kTextBytesFree = std::size_t{32} << 20;
inline constexpr std::size_t kTextBytesAnEvent = 256;

// Pairs of GPU events that overlap, in the overlap table: 16 bytes each, twice. A trace of streams
// that run side by side has a few pairs an event; only damaged times give more.
inline constexpr std::size_t kOverlapPairsMax = 20'000'000;

}  // namespace jarvis::limits
