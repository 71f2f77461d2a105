// What gemm_roofline is asked about: one product, an MLP's two, or those of a row of a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf/gemm.h"
#include "perf/model.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

struct GemmItem {
  std::string name;  // "forward", "up dX", "op3"
  perf::Gemm gemm;
  bool backward = false;
  std::uint64_t calls = 1;
  std::optional<double> time_us;  // of one call; absent: not measured
  // Of a row of a trace: the work by the op's own model, which knows of bias, scales and packing.
  const perf::OpWork* work = nullptr;
};

struct GemmQuestion {
  TracePtr trace;                        // null: none was named
  const analysis::SummaryRow* row = {};  // null: not about a row
  std::vector<GemmItem> items;           // of a row: one per signature, the longest first
  double other_us = 0;  // of a row: time of calls that are no product or have no shapes
};

// Errors say which ways there are to name a product.
Result<GemmQuestion> ReadGemmQuestion(session::Workspace& workspace, const Json& arguments,
                                      Job& job);

}  // namespace jarvis::tools
