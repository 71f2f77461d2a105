// The floor under reading a recording that is no JSON: one pass over its bytes that keeps nothing.
// Of messages of protocol buffers each field of planes, lines, events and stats (packets, their
// events and annotations); of a database each cell of its tables, one table after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jarvis::bench {

// Whether a file that begins so is one of these.
bool IsRecording(std::string_view head);

struct RecordingPass {
  double seconds = 0;  // of the processor
  std::int64_t bytes = 0;
  std::int64_t visited = 0;  // fields, or rows
  std::int64_t sum = 0;      // of cells, so that none is left out
};
// Throws std::runtime_error when it cannot be read.
RecordingPass PassOver(const std::string& path);

}  // namespace jarvis::bench
