#include "findings/one/attention_reach.h"

#include <string_view>

#include "base/text.h"
#include "findings/one/published_rates.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

std::optional<double> SizeOf(const Operation& operation, std::string_view key) {
  for (const Fact& fact : operation.details) {
    const auto* value = std::get_if<std::int64_t>(&fact.value);
    if (fact.key == key && value != nullptr) return static_cast<double>(*value);
  }
  return std::nullopt;
}

// Of the model's own parameters: "{'c_sq': 15360, ...}".
std::optional<double> ParameterOf(std::string_view parameters, std::string_view quoted) {
  const std::size_t at = parameters.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = parameters.substr(at + quoted.size());
  return ParseDouble(rest.substr(0, rest.find_first_of(",}")));
}

struct SequenceLength {
  double tokens = 0;
  bool causal = false;
};

// Of requests of unlike lengths in one call: the keys that a query has on the average.
std::optional<SequenceLength> SequenceOf(const Operation& operation) {
  const auto queries = ParameterOf(operation.parameters, "'c_sq': ");
  const auto products = ParameterOf(operation.parameters, "'c_sqsk': ");
  if (queries && products && *queries > 0 && *products > 0)
    return SequenceLength{*products / *queries, true};
  const auto tokens = SizeOf(operation, "N_Q");
  if (!tokens || *tokens <= 1) return std::nullopt;
  return SequenceLength{*tokens, operation.parameters.find("'causal': True") != std::string::npos};
}

}  // namespace

std::optional<double> AttentionReach(const Operation& operation, const perf::Platform* platform) {
  const std::string_view spec = operation.efficiency.spec;
  const bool half = spec.ends_with("bf16") || spec.ends_with("fp16");
  const auto head = SizeOf(operation, "d_h_qk");
  const auto length = SequenceOf(operation);
  if (platform == nullptr || !half || !head || !length) return std::nullopt;
  const PublishedAttention* rate = PublishedAttentionFor(*platform, *head);
  if (rate == nullptr) return std::nullopt;
  constexpr double kBackward = 0.75;  // of the forward rate
  const double backward = ContainsNoCase(operation.name, "backward") ? kBackward : 1;
  const double full = length->tokens / (length->tokens + limits::kAttentionRamp);
  const double diagonal =
      length->causal ? length->tokens / (length->tokens + limits::kAttentionBlock) : 1;
  return rate->tflops * backward * full * diagonal;
}

}  // namespace jarvis::findings
