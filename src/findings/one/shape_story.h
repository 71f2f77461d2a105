// The operations of one repeated block of a model (a layer, a decoding step) in their order, with
// their shapes: what the model does, as somebody would write it down who reads its code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "findings/one/category_analysis.h"
#include "findings/one/workload.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// Operations that follow each other with the same name and shapes are one row.
struct StoryRow {
  std::string op;
  std::string args;  // "(888,2880) bf16<br>..."; empty: not recorded
  std::uint64_t calls = 1;
  double gpu_us = 0;  // of all of them
};

struct ShapeStory {
  std::string block;          // "one TransformerBlock", "from one attn_fwd to the next"
  std::uint64_t repeats = 0;  // how often the block runs; 0: no repeated block was found
  double gpu_us = 0;          // of the one that is told
  std::vector<StoryRow> rows;
  std::string why;  // there are no rows: why
};

// `workload` and `categories` of the same trace. Errors: kCancelled.
Result<ShapeStory> TellShapes(const session::LoadedTrace& trace,
                              const std::vector<CategoryAnalysis>& categories,
                              const Workload& workload, Job& job);

}  // namespace jarvis::findings
