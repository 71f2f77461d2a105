#include "perf/triton_name.h"

#include <algorithm>
#include <unordered_set>

#include "perf/embedded_file.h"

namespace jarvis::perf {
namespace {

// Operator names as PyTorch and torch.distributed expose them: operator_names.txt.
const std::unordered_set<std::string_view>& OperatorNames() {
  static const std::unordered_set<std::string_view> names = [] {
    std::unordered_set<std::string_view> out;
    std::string_view text = OperatorNameFiles()[0].text;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
      if (end > 0) out.insert(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
  }();
  return names;
}

// What stands between "triton_<kind>_fused_" and the last "_<digits>"; empty: another name.
std::string_view FusedPart(std::string_view kernel) {
  for (const std::string_view head :
       {"triton_poi_fused_", "triton_red_fused_", "triton_per_fused_"}) {
    if (!kernel.starts_with(head)) continue;
    std::string_view rest = kernel.substr(head.size());
    const std::size_t cut = rest.rfind('_');
    if (cut == std::string_view::npos || cut + 1 == rest.size()) return {};
    const std::string_view digits = rest.substr(cut + 1);
    if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return {};
    }
    return rest.substr(0, cut);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> FusedOpsOf(std::string_view kernel, bool skip_unknown) {
  const std::string_view text = FusedPart(kernel);
  if (text.empty()) return {};
  // Tokens between underscores; an empty one belongs to an operator's own leading or trailing
  // underscore, as in "_to_copy" and "mul_".
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_') starts.push_back(i + 1);
  }
  const std::size_t count = starts.size();
  constexpr std::size_t kTokensMax = 512;  // names in traces are cut long before
  if (count > kTokensMax) return {};
  const auto segment = [&](std::size_t from, std::size_t to) {  // tokens from..to-1
    const std::size_t end = to == count ? text.size() : starts[to] - 1;
    return text.substr(starts[from], end - starts[from]);
  };
  constexpr int kNever = 1 << 20;
  // skipped[i]: fewest tokens passed over in a split of the first i tokens.
  std::vector<int> skipped(count + 1, kNever);
  skipped[0] = 0;
  const auto& names = OperatorNames();
  for (std::size_t to = 1; to <= count; ++to) {
    for (std::size_t from = 0; from < to; ++from) {
      if (skipped[from] < skipped[to] && names.count(segment(from, to)) != 0) {
        skipped[to] = skipped[from];
      }
    }
    if (skip_unknown && skipped[to - 1] + 1 < skipped[to]) skipped[to] = skipped[to - 1] + 1;
  }
  if (skipped[count] >= kNever) return {};
  std::vector<std::string_view> ops;
  for (std::size_t to = count; to > 0;) {
    bool found = false;
    for (std::size_t from = 0; from < to && !found; ++from) {  // the longest first
      if (skipped[from] == skipped[to] && names.count(segment(from, to)) != 0) {
        ops.push_back(segment(from, to));
        to = from;
        found = true;
      }
    }
    if (!found) --to;
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

}  // namespace jarvis::perf
