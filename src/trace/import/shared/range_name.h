// What the text of a range says: torch.autograd.profiler.emit_nvtx, and its like on ROCm, write an
// op's arguments behind its name (getNvtxStr of PyTorch's torch/csrc/autograd/profiler_legacy.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jarvis::trace {

// Views into the text.
struct RangeName {
  std::string_view name;                 // without what follows
  std::optional<std::int64_t> sequence;  // ", seq = 12"
  std::optional<std::int64_t> op_id;     // ", op_id = 7"
  std::string_view sizes;                // ", sizes = [[2, 3], []]": the JSON; empty: none
  bool is_op = false;                    // an op of PyTorch's; else somebody's annotation
};

// Any text is a name. Pure; any thread.
RangeName ParseRangeName(std::string_view text);

}  // namespace jarvis::trace
