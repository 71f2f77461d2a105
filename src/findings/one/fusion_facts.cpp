#include "findings/one/fusion_facts.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "findings/one/analysis.h"

namespace jarvis::findings {
namespace {

std::string ScoresText(const FusionCandidate& candidate) {
  std::string text;
  for (const std::int64_t size : candidate.scores)
    text += (text.empty() ? "(" : ",") + std::to_string(size);
  return text.empty() ? text : text + ")";
}

// "a/b/modeling_x.py(200): forward" -> "modeling_x.py(200)"; empty: no file.
std::string FileOf(std::string_view place) {
  const std::size_t end = place.find("): ");
  if (end == std::string_view::npos) return {};
  const std::string_view path = place.substr(0, end + 1);
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// The number before a word of a text; 0: none.
std::int64_t NumberBefore(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9')
    --begin;
  return ParseInt(text.substr(begin, at - begin)).value_or(0);
}

// A model that attends to the frames of a video in groups, as its code cuts them, is made for one
// frame a group: where several share a sequence, it was given more than it is made for. What
// attends to all frames at once by design has one group.
void AddFrames(std::string_view batch, const FusionCandidate& candidate, std::vector<Fact>* facts) {
  const std::int64_t all = NumberBefore(batch, " frames,");
  const std::int64_t shared = NumberBefore(batch, " frames in one sequence");
  const std::int64_t patches = NumberBefore(batch, " patches:");
  if (all <= 0 || shared < 2 || patches <= 0 || candidate.scores.size() != 4) return;
  const std::int64_t groups = candidate.scores.front();
  const std::int64_t length = candidate.scores.back();
  const bool shares = length >= shared * patches && length <= shared * patches + 1;
  if (groups < 2 || groups * shared != all || !shares) return;
  facts->push_back({"frames", shared, {}});
  facts->push_back({"groups", groups, {}});
  facts->push_back({"patches", patches, {}});
  // Scores are the square of a sequence: a part of 1 in `shared` is left of all of them together.
  const double ms = candidate.total_us / 1000;
  facts->push_back(
      NumberFact("option_ms", ms * (1 - 1 / static_cast<double>(shared * shared)), "ms"));
  facts->push_back({"option", std::string("yes"), "words"});
}

}  // namespace

std::vector<Fact> FusionFacts(const Analysis& analysis, const FusionCandidate& candidate) {
  std::vector<Fact> facts;
  facts.push_back(
      {"kernels_per_instance", static_cast<std::int64_t>(candidate.kernels.size()), {}});
  if (candidate.kind != FusionKind::kAttention) return facts;
  if (!candidate.scores.empty()) {
    facts.push_back({"score_shape", ScoresText(candidate), {}});
    facts.push_back({"head_size", static_cast<std::int64_t>(candidate.head_size), {}});
  }
  facts.push_back({"instance_us", candidate.instance_median_us, "us"});
  constexpr std::int64_t kAlignment = 8;  // elements of 16 bits in 16 bytes
  const std::int64_t length = candidate.scores.empty() ? 0 : candidate.scores.back();
  if (length % kAlignment != 0 && !candidate.unaligned_kernel.empty()) {
    facts.push_back({"odd", length, {}});
    facts.push_back({"odd_kernel", candidate.unaligned_kernel, {}});
  }
  for (const FusionKernel& kernel : candidate.kernels) {
    const Operation* operation = analysis.FindOperation(kernel.operation);
    if (operation == nullptr || operation->entry_point.empty()) continue;
    const std::string& place = operation->entry_point;
    facts.push_back({"place", place, {}});
    const std::string file = FileOf(place);
    if (!file.empty()) facts.push_back({"file", file, {}});
    // Where the model's code hands its attention to a function of a choice, the choice is a
    // setting.
    if (place.find("eager_attention_forward") != std::string::npos) {
      facts.push_back({"flag",
                       "Load the model with `attn_implementation=\"sdpa\"`, which chooses another "
                       "function here",
                       "words"});
    }
    break;
  }
  // A mask that the op's name tells goes without a tensor; one as a tensor bars some kernels.
  const bool causal = std::any_of(
      candidate.kernels.begin(), candidate.kernels.end(), [](const FusionKernel& kernel) {
        return ContainsNoCase(kernel.op, "causal") || ContainsNoCase(kernel.op, "uppertriang");
      });
  facts.push_back({"masks",
                   causal || candidate.causal_mask ? "`is_causal=True` takes the mask's place"
                                                   : "masks and biases go in as `attn_mask`",
                   "words"});
  const std::string& framework = analysis.workload[WorkloadPart::kFramework].value;
  if (ContainsNoCase(framework, "megatron")) {
    facts.push_back({"flag", "Set Megatron's --use-flash-attn", "words"});
  }
  AddFrames(analysis.workload[WorkloadPart::kBatch].value, candidate, &facts);
  return facts;
}

}  // namespace jarvis::findings
