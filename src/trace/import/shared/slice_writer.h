// Events that an importer makes itself, as the decoder of JSON would have made them: into a
// DecodedSlice, which StoreBuilder then takes. Slices are independent of each other, so parts of a
// file can be read side by side.
//
// Threads: one writer a slice, one thread a writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/column.h"
#include "trace/event_decoder.h"
#include "trace/import/shared/importer.h"

namespace jarvis::trace {

// Args of an event as Args::other holds them: `"key": value,` pairs.
class ArgText {
 public:
  void Text(std::string_view key, std::string_view value);  // quoted, escaped, UTF-8
  void Number(std::string_view key, std::int64_t value);
  void Number(std::string_view key, double value);  // none if it is no number
  void Raw(std::string_view key, std::string_view json);
  std::string_view text() const { return text_; }
  void Clear() { text_.clear(); }

 private:
  std::string text_;
};

class SliceWriter {
 public:
  explicit SliceWriter(DecodedSlice* slice) : slice_(*slice) {}

  // Any text of a file: what is no UTF-8 is replaced, what is too long is cut.
  StringId Name(std::string_view text);
  StringId Raw(std::string_view json) { return slice_.raws.Intern(json); }

  std::uint32_t Track(std::string_view pid, std::string_view tid);
  void NameProcess(std::uint32_t track, std::string_view name, std::string_view label);
  void NameThread(std::uint32_t track, std::string_view name);

  // As torch.profiler calls events of a kind; `amd`: its runtime is HIP's.
  std::uint8_t Category(EventKind kind, bool amd = false);

  // Picoseconds, for formats that have them; they are kept where nanoseconds lose something. The
  // event lies behind all others, and gets its place in the slice as its uid.
  Event* AddPs(EventKind kind, std::uint8_t category, std::uint32_t track, StringId name,
               std::int64_t ts_ps, std::int64_t dur_ps);
  Event* AddNs(EventKind kind, std::uint8_t category, std::uint32_t track, StringId name,
               std::int64_t ts_ns, std::int64_t dur_ns) {
    ++slice_.categories[category].events;
    slice_.events.push_back({.ts_ns = ts_ns,
                             .dur_ns = dur_ns,
                             .name = name,
                             .track = track,
                             .uid = static_cast<std::uint32_t>(slice_.events.size()),
                             .args = kNoArgs,
                             .order = 0,
                             .kind = kind,
                             .category = category,
                             .flags = 0});
    return &slice_.events.back();
  }
  // The args of the event that was added last; made when first asked for.
  Args* LastArgs() {
    Event& event = slice_.events.back();
    if (event.args == kNoArgs) {
      event.args = static_cast<std::uint32_t>(slice_.args.size());
      slice_.args.push_back({});
    }
    return &slice_.args[event.args];
  }

  DecodedSlice& slice() { return slice_; }

 private:
  DecodedSlice& slice_;
  std::string clean_;
};

// All bytes of an input, unpacked. kTooLarge: more than `bytes_max`, or a trap.
Result<Column<char>> ReadAll(io::ByteSource& bytes, std::uint64_t bytes_max, Job& job);

// kNotATrace: gzip in gzip, which nobody means.
Status CheckPackedOnce(const TraceInput& input);

// Slices in order as one trace: gives the events their places. kTooLarge: more events than ids.
Result<EventStore> StoreOf(std::vector<DecodedSlice> slices);

}  // namespace jarvis::trace
