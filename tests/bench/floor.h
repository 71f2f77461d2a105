// The floor under loading a trace: the time to inflate the file plus the time of one pass of a
// fast JSON parser over its bytes. A loader that does both on one thread cannot be faster, so a
// loader's time is read against it. Single thread.
#pragma once

#include <cstdint>
#include <string>

namespace jarvis::bench {

// The best of some runs.
struct Pass {
  double seconds = 0;
  std::int64_t bytes = 0;  // that went through: JSON bytes, also for inflating

  double megabytes_per_second() const {
    return seconds > 0 ? static_cast<double>(bytes) / 1e6 / seconds : 0;
  }
};

struct Floor {
  std::int64_t file_bytes = 0;
  std::int64_t json_bytes = 0;
  std::int64_t events = 0;
  std::int64_t windows = 0;
  bool gzip = false;
  Pass unpack;  // inflate in blocks of 1 MiB; of a plain file, read it
  Pass parse;   // simdjson's DOM parser, in windows of whole events
  Pass visit;   // for information: simdjson on demand, every field of every event looked at

  double seconds() const { return unpack.seconds + parse.seconds; }
};

struct FloorOptions {
  int runs = 3;
  // In fresh memory a pass takes four times as long, so a window is small: all but the first find
  // the parser's memory warm.
  std::int64_t window_bytes = std::int64_t{4} << 20;
  bool visit = true;
};

// Throws std::runtime_error when the file cannot be read or is not a trace.
Floor MeasureFloor(const std::string& path, const FloorOptions& options);

}  // namespace jarvis::bench
