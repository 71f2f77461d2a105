#include "perf/op_category.h"

namespace jarvis::perf {

std::string_view CategoryOfOp(const ModelRows& rows, std::string_view op,
                              std::string_view first_kernel) {
  if (const OpEntry* entry = rows.FindExact(op)) return entry->category;
  if (op.starts_with("triton")) return "triton";
  if (op.starts_with("record_param_comms")) return "record_param_comms";
  if (first_kernel.starts_with("void at::native")) {
    if (first_kernel.find("elementwise") != std::string_view::npos) return "elementwise";
    if (first_kernel.find("reduce") != std::string_view::npos) return "reduce";
    if (first_kernel.find("multi_tensor_apply") != std::string_view::npos) {
      return "multi_tensor_apply";
    }
  }
  return "other";
}

}  // namespace jarvis::perf
