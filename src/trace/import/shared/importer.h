// What a format of traces is to the rest: a row of functions. Everything beyond reading a whole
// trace is a capability: where an importer has none, whoever asks gets an error that says what can
// be done instead.
//
// Threads: importers are const, and any thread may use them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "io/byte_source.h"
#include "io/file_policy.h"
#include "io/layers.h"
#include "trace/metadata.h"
#include "trace/reader.h"
#include "trace/slice_reader.h"
#include "trace/survey.h"
#include "trace/window.h"

namespace jarvis::trace {

// How much of a file's content importers are shown.
inline constexpr std::size_t kSniffedBytes = std::size_t{64} << 10;

enum class Fit {
  kNone,
  kPossible,  // begins as such a file does
  kCertain,   // has what only such files have
};

// What an importer reads: an open file, whose descriptor may be asked for any place, or its bytes.
struct TraceInput {
  io::InputFile file;
  io::Layers layers;   // what it is packed in
  std::string member;  // of an archive: which file of it; mostly empty

  // Its bytes from the begin, unpacked. The job must outlive them.
  Result<std::unique_ptr<io::ByteSource>> Bytes(const Job& job) const;
};

struct ImportedTrace {
  Trace trace;
  std::uint64_t content_hash = 0;  // of all bytes that the trace depends on
};

// A trace's events as JSON objects, for those who write them again.
class TraceElements {
 public:
  virtual ~TraceElements() = default;
  // The next of them, with commas between them; false at the end.
  virtual Result<bool> Next(SliceText* piece) = 0;
  // After the end: what stands beside the events, and what was wrong; empty: nothing.
  virtual std::vector<TopLevelValue> TakeValues() = 0;
  virtual std::string Damage() = 0;
  virtual std::uint64_t content_hash() = 0;
  // Bytes of the file so far, and of all of it.
  virtual std::uint64_t consumed() const = 0;
  virtual std::uint64_t file_size() const = 0;
};

// One format.
struct Importer {
  std::string_view name;  // for programs: "kineto_json"
  std::string_view what;  // for sentences, in the plural: "JSON traces of torch.profiler"
  // Whether the trace depends on the bytes of its one file alone, whose hash is content_hash: then
  // it may be kept between runs.
  bool one_file = true;
  // Whether content that begins so is of this format. The head is unpacked.
  Fit (*sniff)(std::string_view head) = nullptr;
  // Errors: kNotATrace; kTooLarge; kCancelled; kIo.
  Result<ImportedTrace> (*read)(const TraceInput& input, const ReadOptions& options,
                                Job& job) = nullptr;

  // Capabilities; null: none.
  // Parts: what lies where in a file, and one of its windows.
  Result<Survey> (*survey)(const TraceInput& input, const ReadOptions& options, Job& job) = nullptr;
  Result<Trace> (*read_window)(const io::InputFile& file, const Survey& survey,
                               const TraceWindow& window, const ReadOptions& options,
                               Job& job) = nullptr;
  // Annotated copies, splitting and merging.
  Result<std::unique_ptr<TraceElements>> (*elements)(const TraceInput& input,
                                                     std::uint64_t bytes_max, Job& job) = nullptr;
};

}  // namespace jarvis::trace
