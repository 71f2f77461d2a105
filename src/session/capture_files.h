// Which files may be captures of a trace's GPU graphs: those that a caller names, else those beside
// the trace in the usual directories.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_policy.h"

namespace jarvis::session {

struct CaptureSource {
  std::string path;                   // absolute
  std::optional<std::int64_t> batch;  // rows, as execution_details.json or the name tells
  std::optional<std::int64_t> rank;   // as its path tells
  std::string mode;      // as execution_details.json tells: "FULL", "PIECEWISE"; empty: it does not
  bool listed = false;   // its directory has such a list
  bool missing = false;  // the list names it, and it is not there
};

// The absolute path of the file or directory that a caller names. Errors: kNotAllowed,
// kTraceNotFound.
Result<std::string> ResolveCapture(const io::FilePolicy& files, const std::string& given);

// `named`: from ResolveCapture, or empty: look in "capture" and "graph_capture" beside the trace.
// Those of a list in its order, as often as it names them; what no list names behind them, by the
// bytes of their paths. Nothing is opened but execution_details.json.
std::vector<CaptureSource> FindCaptureSources(const io::FilePolicy& files,
                                              const std::string& trace_path,
                                              const std::string& named);

// Without captures that are known to be made for other numbers of rows: of each number that is run,
// the smallest that has room for it stays. `rows` empty: all stay.
std::vector<CaptureSource> SourcesForRows(std::vector<CaptureSource> sources,
                                          const std::vector<std::int64_t>& rows);

}  // namespace jarvis::session
