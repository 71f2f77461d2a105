#include "perf/op_category.h"

namespace jarvis::perf {

std::string_view CategoryOfOp(const ModelRows& rows, std::string_view op,
                              std::string_view first_kernel) {
  if (const OpEntry* entry = rows.FindExact(op)) return entry->category;
  if (op.starts_with("triton")) return "triton";
  if (op.starts_with("record_param_comms")) return "record_param_comms";
  // A kernel of PyTorch's own says nothing about the op around it, of others the name is all there
  // is.
  const bool native = first_kernel.starts_with("void at::native");
  std::string_view by_part = rows.CategoryByPart(op);
  if (by_part.empty() && !native) by_part = rows.CategoryByPart(first_kernel);
  if (!by_part.empty()) return by_part;
  if (native) {
    if (first_kernel.find("elementwise") != std::string_view::npos) return "elementwise";
    if (first_kernel.find("reduce") != std::string_view::npos) return "reduce";
    if (first_kernel.find("multi_tensor_apply") != std::string_view::npos) {
      return "multi_tensor_apply";
    }
  }
  return "other";
}

bool IsValueCheck(std::string_view op) {
  return op == "aten::allclose" || op == "aten::equal" || op == "aten::_assert_async";
}

}  // namespace jarvis::perf
