#include "findings/one/workload_sizes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/dense_experts.h"
#include "perf/iteration_annotation.h"

namespace jarvis::findings {
namespace {

// No width of a layer is this large; vocabularies are.
constexpr std::int64_t kVocabularyMin = 16000;
constexpr std::int64_t kHeadMax = 512;
constexpr std::int64_t kExpertsMax = 1024;
constexpr double kConfirmedShare = 0.7;  // of the time of the width that products have most often
constexpr double kAttentionShare = 0.4;  // of the time of attention, to be the model's own
constexpr double kOwnShare = 0.25;       // ... where its heads make up the hidden width
constexpr double kMostOf = 0.9;          // of the time of attention: there is no other
constexpr double kComponentShare = 0.1;  // of computing: less says nothing of the workload
constexpr std::int64_t kAxisMost = 1 << 20;  // of heads, and of one head
constexpr std::int64_t kTokensMost = std::int64_t{1} << 40;
constexpr std::size_t kUnfusedMax = 32;  // attentions that are taken apart

std::optional<std::int64_t> DetailOf(const Operation& operation, std::string_view key) {
  for (const Fact& fact : operation.details) {
    const auto* value = std::get_if<std::int64_t>(&fact.value);
    if (fact.key == key && value != nullptr) return *value;
  }
  return std::nullopt;
}

bool IsAttentionName(std::string_view name) {
  return ContainsNoCase(name, "attention") || ContainsNoCase(name, "attn") ||
         ContainsNoCase(name, "mha_") || ContainsNoCase(name, "fmha") ||
         ContainsNoCase(name, "mla_");
}

bool IsConvolution(const ShapedOperation& one) {
  return one.kind == Kind::kConvolution && !ContainsNoCase(one.operation->name, "backward");
}

class SizeFinder {
 public:
  explicit SizeFinder(const WorkloadFacts& facts) : facts_(facts) {}

  WorkloadSizes Run() {
    for (const ShapedOperation& one : facts_.operations) {
      AddGemm(one);
      AddFusedAttention(one);
      AddExperts(one);
      if (IsConvolution(one)) AddImage(one);
    }
    AddUnfusedAttention();
    PoolGeneration();
    std::stable_sort(
        out_.attentions.begin(), out_.attentions.end(),
        [](const AttentionSizes& a, const AttentionSizes& b) { return a.gpu_us > b.gpu_us; });
    AddWidths();
    Vocabulary();
    Hidden();
    Experts();
    ChooseAttention();
    FeedForward();
    if (facts_.shapes_are_partial()) ForgetModel();
    return std::move(out_);
  }

 private:
  void AddGemm(const ShapedOperation& one) {
    if (one.kind != Kind::kGemm) return;
    const auto m = DetailOf(*one.operation, "M"), n = DetailOf(*one.operation, "N"),
               k = DetailOf(*one.operation, "K");
    if (!m || !n || !k || *m <= 0 || *n <= 0 || *k <= 0) return;
    const GemmSizes gemm{*m,
                         *n,
                         *k,
                         DetailOf(*one.operation, "batch").value_or(1),
                         one.operation->count,
                         one.operation->gpu_us};
    (gemm.batch > 1 ? batched_ : out_.gemms).push_back(gemm);
  }

  void AddFusedAttention(const ShapedOperation& one) {
    const Operation& op = *one.operation;
    if (ContainsNoCase(op.name, "backward") || ContainsNoCase(op.name, "cache_flash")) return;
    AttentionSizes sizes;
    sizes.op = op.name;
    sizes.calls = op.count;
    sizes.gpu_us = op.gpu_us;
    if (const auto heads = DetailOf(op, "H_Q")) {
      sizes.heads = *heads;
      sizes.kv_heads = DetailOf(op, "H_KV").value_or(*heads);
      sizes.head = DetailOf(op, "d_h_qk").value_or(0);
      sizes.queries = DetailOf(op, "N_Q").value_or(0);
      sizes.keys = DetailOf(op, "N_KV").value_or(0);
      sizes.batch = DetailOf(op, "B");
      if (op.parameters.find("'causal': ") != std::string::npos)
        sizes.causal = op.parameters.find("'causal': True") != std::string::npos;
    } else if (IsAttentionName(op.name) && one.shapes.size() >= 2 && one.shapes[0].size() == 3 &&
               (one.shapes[1].size() == 3 || one.shapes[1].size() == 4)) {
      // [tokens, heads, head size] with keys the same way, or as pages of a cache.
      const Shape& q = one.shapes[0];
      const Shape& k = one.shapes[1];
      if (q.back() != k.back() || q.back() > kHeadMax) return;
      sizes.queries = q[0];
      sizes.heads = q[1];
      sizes.kv_heads = k[k.size() - 2];
      sizes.head = q[2];
      if (sizes.kv_heads > sizes.heads) return;
    } else {
      return;
    }
    const bool sensible = sizes.heads > 0 && sizes.heads <= kAxisMost && sizes.head > 0 &&
                          sizes.head <= kAxisMost && sizes.queries <= kTokensMost;
    if (sensible) out_.attentions.push_back(std::move(sizes));
  }

  // The batch and the heads that a product over both stands for, from a tensor that has them apart.
  std::optional<std::pair<std::int64_t, std::int64_t>> Split(std::int64_t both, std::int64_t rows,
                                                             std::int64_t keys,
                                                             std::int64_t head) const {
    std::optional<std::pair<std::int64_t, std::int64_t>> best;
    std::uint64_t most = 0;
    for (const auto& [shape, count] : facts_.shapes) {
      Shape four = shape;
      // Queries, keys and values in one tensor: [3, batch, heads, rows, head size].
      if (four.size() == 5 && four[0] == 3) four.erase(four.begin());
      if (four.size() != 4 || four[0] <= 0 || four[1] <= 1 || count <= most) continue;
      const bool scores = four[2] == rows && four[3] == keys;
      const bool operand = (four[2] == rows || four[2] == keys) && four[3] == head;
      const bool product = four[0] <= both && four[1] <= both && four[0] * four[1] == both;
      if (!product || (!scores && !operand)) continue;
      most = count;
      best = {four[0], four[1]};
    }
    return best;
  }

  // softmax(Q K') V of batched products: the scores of the one go through a softmax.
  void AddUnfusedAttention() {
    std::map<std::pair<std::int64_t, std::int64_t>, double> softmax;  // last two axes: time
    for (const ShapedOperation& one : facts_.operations) {
      if (one.shapes.empty() || one.shapes[0].size() < 2) continue;
      if (!ContainsNoCase(one.operation->name, "softmax") ||
          ContainsNoCase(one.operation->name, "backward")) {
        continue;
      }
      const Shape& s = one.shapes[0];
      softmax[{s[s.size() - 2], s.back()}] += one.operation->gpu_us;
    }
    std::size_t taken = 0;
    for (const GemmSizes& gemm : batched_) {
      const bool generates = gemm.m == 1;  // pooled, however many lengths there are
      if (taken >= kUnfusedMax && !generates) continue;
      const auto found = softmax.find({gemm.m, gemm.n});
      if (found == softmax.end() || gemm.k > kHeadMax || gemm.k < 8) continue;
      AttentionSizes sizes;
      sizes.op = "batched GEMMs and a softmax";
      sizes.fused = false;
      sizes.queries = gemm.m;
      sizes.keys = gemm.n;
      sizes.head = gemm.k;
      sizes.calls = gemm.calls;
      sizes.gpu_us = gemm.gpu_us + found->second;
      if (const auto split = Split(gemm.batch, gemm.m, gemm.n, gemm.k)) {
        sizes.batch = split->first;
        sizes.heads = sizes.kv_heads = split->second;
      }
      softmax.erase(found);
      taken += generates ? 0 : 1;
      out_.attentions.push_back(std::move(sizes));
    }
  }

  // Token by token the keys grow, and each length is an operation of its own: it is one attention.
  void PoolGeneration() {
    std::vector<AttentionSizes> all;
    for (AttentionSizes& one : out_.attentions) {
      const auto alike = std::find_if(all.begin(), all.end(), [&](const AttentionSizes& other) {
        return one.queries == 1 && other.queries == 1 && one.keys > 1 && other.keys > 1 &&
               one.op == other.op && one.heads == other.heads && one.head == other.head &&
               one.batch == other.batch;
      });
      if (alike == all.end()) {
        all.push_back(std::move(one));
        continue;
      }
      alike->keys = std::max(alike->keys, one.keys);
      alike->calls += one.calls;
      alike->gpu_us += one.gpu_us;
    }
    out_.attentions = std::move(all);
  }

  void AddImage(const ShapedOperation& one) {
    if (one.shapes.size() < 2) return;
    const Shape& x = one.shapes[0];
    const Shape& w = one.shapes[1];
    if (x.size() < 4 || w.size() != x.size()) return;
    if (w[0] == 3 && w[1] > 4 && !out_.made) out_.made = {x[x.size() - 2], x.back()};
    if (out_.image || x[1] != 3 || x[1] != w[1]) return;
    ImageSizes image;
    image.images = x[0];
    image.height = x[x.size() - 2];
    image.width = x.back();
    image.channels = w[0];
    if (x.size() == 5) image.frames = x[2];
    // A kernel of 7 is a stem whatever its stride; patches are larger and even.
    if (w.back() == w[w.size() - 2] && w.back() >= 8 && w.back() % 2 == 0) image.patch = w.back();
    if (x.size() == 4) {
      for (const auto& [shape, count] : facts_.shapes) {
        const bool video = shape.size() == 5 && shape[3] == image.height &&
                           shape[4] == image.width && shape[1] > 1 && shape[2] == 3 &&
                           shape[0] > 0 && shape[0] <= x[0] && shape[1] == x[0] / shape[0] &&
                           shape[0] * shape[1] == x[0];
        if (!video) continue;
        image.images = shape[0];
        image.frames = shape[1];
        break;
      }
    }
    out_.image = image;
  }

  void AddExperts(const ShapedOperation& one) {
    const std::string_view name = one.operation->name;
    if (!out_.top_k && EqualsNoCase(name, "aten::topk") && !one.shapes.empty() &&
        one.shapes[0].size() == 2 && one.shapes[0][1] <= kExpertsMax) {
      // "Concrete Inputs": ["", "4", "-1", "True", "True"]
      const std::vector<std::string> values = ParseTypes(one.concrete);
      routed_ = one.shapes[0][1];
      if (values.size() >= 2) top_k_ = ParseInt(values[1]);
    }
    if (one.kind == Kind::kMoe || ContainsNoCase(name, "moe") || ContainsNoCase(name, "expert") ||
        ContainsNoCase(name, "grouped_mm") || ContainsNoCase(name, "grouped_gemm")) {
      experts_seen_ = true;
      for (const Shape& shape : one.shapes) {
        // Weights of all experts of a rank: [experts, rows, columns].
        if (shape.size() != 3 || shape[0] < 2 || shape[0] > kExpertsMax || shape[1] < 64 ||
            shape[2] < 64) {
          continue;
        }
        if (!out_.local_experts) out_.local_experts = shape[0];
      }
    }
    for (const KernelShare& kernel : one.operation->kernels)
      experts_seen_ |= IsExpertKernel(kernel.name);
  }

  static bool IsExpertKernel(std::string_view name) {
    return ContainsNoCase(name, "moe") || ContainsNoCase(name, "grouped_gemm") ||
           ContainsNoCase(name, "groupproblemshape") ||
           ContainsNoCase(name, "groupedblockscaled") || ContainsNoCase(name, "matmul_ogs") ||
           ContainsNoCase(name, "expert");
  }

  // What else than products tells widths: tables of embeddings, operands of norms, and over how
  // many classes something is chosen.
  void AddWidths() {
    for (const ShapedOperation& one : facts_.operations) {
      const std::string_view name = one.operation->name;
      if (one.shapes.empty() || ContainsNoCase(name, "backward")) continue;
      const Shape& first = one.shapes[0];
      if (name.starts_with("aten::embedding") && first.size() == 2) {
        tables_.insert(first[0]);
        widths_.insert(first[1]);
      }
      if (one.kind == Kind::kNorm && first.size() >= 2) widths_.insert(first.back());
    }
  }

  // The columns of a product are a vocabulary if an embedding has as many rows, if something is
  // chosen among as many, or if the program is one that generates text; a rank may have its part.
  void Vocabulary() {
    std::uint64_t repeated = 0;
    for (const GemmSizes& gemm : out_.gemms)
      repeated = std::max(repeated, gemm.calls);
    const std::int64_t ranks =
        std::clamp<std::int64_t>(facts_.trace.trace().metadata.world_size.value_or(1), 1, 64);
    const bool generates = std::any_of(
        facts_.annotations.begin(), facts_.annotations.end(), [](const NamedWork& note) {
          const auto sums = perf::ParseIteration(note.name);
          return sums && sums->context_requests + sums->generation_requests > 0;
        });
    for (const GemmSizes& gemm : out_.gemms) {
      const bool whole =
          gemm.n >= kVocabularyMin && gemm.n >= 3 * gemm.k && gemm.calls * 2 <= repeated + 2;
      const bool part = gemm.n * ranks >= kVocabularyMin && gemm.n > gemm.k &&
                        gemm.n * ranks >= 3 * gemm.k && gemm.calls * 4 <= repeated;
      const bool table = tables_.contains(gemm.n) || tables_.contains(gemm.n * ranks);
      const bool chosen =
          facts_.choices.contains(gemm.n) || facts_.choices.contains(gemm.n * ranks);
      if ((!whole && !part) || (!table && !chosen && !generates)) continue;
      out_.vocabulary = gemm.n;
      out_.vocabulary_evidence = fmt::format(
          "product {} x {} -> {}, {}", gemm.m, gemm.k, gemm.n,
          table ? "and an embedding of as many rows" : "among which something is chosen");
      head_width_ = gemm.k;
      return;
    }
    for (const auto& [width, name] : facts_.choices) {
      // Without the product something may be chosen among boxes, or keys attended to.
      const bool table = tables_.contains(width);
      const bool sampled = generates && !ContainsNoCase(name, "softmax");
      if (width < kVocabularyMin || (!table && !sampled)) continue;
      out_.vocabulary = width;
      out_.vocabulary_evidence = fmt::format("{} over {}", name, width);
      return;
    }
  }

  // The width that most of the time of products has on one of its sides and that norms, embeddings
  // or heads have, too: that of the residual.
  void Hidden() {
    std::map<std::int64_t, double> score;
    std::map<std::int64_t, double> rows;
    for (const GemmSizes& gemm : out_.gemms) {
      rows[gemm.m] += gemm.gpu_us;
      if (out_.vocabulary && gemm.n == *out_.vocabulary) continue;
      score[gemm.k] += gemm.gpu_us;
      if (gemm.n != gemm.k) score[gemm.n] += gemm.gpu_us;
    }
    for (const AttentionSizes& one : out_.attentions)
      widths_.insert(one.heads * one.head);
    // Of equal ones the larger: a router has few columns.
    const auto longest = [](const auto& of) {
      return std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) {
        return a.second < b.second || (a.second == b.second && a.first < b.first);
      });
    };
    if (!rows.empty()) out_.tokens = longest(rows)->first;
    std::map<std::int64_t, double> confirmed = score;
    std::erase_if(confirmed, [&](const auto& one) { return !widths_.contains(one.first); });
    if (!score.empty()) {
      const bool clear = !confirmed.empty() &&
                         longest(confirmed)->second >= kConfirmedShare * longest(score)->second;
      out_.hidden = longest(clear ? confirmed : score)->first;
    } else if (head_width_) {
      out_.hidden = head_width_;
    }
  }

  // The width from which most of the time of products goes back to the hidden one, and to which
  // others go, one or (with a gate) two at once. With experts it is theirs, and not all are seen.
  void FeedForward() {
    if (!out_.hidden || out_.has_experts) return;
    const AttentionSizes* attention = out_.Attention();
    std::set<std::int64_t> up;  // columns of products of the hidden width
    for (const GemmSizes& gemm : out_.gemms) {
      if (gemm.k == *out_.hidden) up.insert(gemm.n);
    }
    double longest_us = 0;
    for (const GemmSizes& down : out_.gemms) {
      const bool projects = attention != nullptr && down.k == attention->heads * attention->head;
      if (down.n != *out_.hidden || down.k <= *out_.hidden || projects) continue;
      const bool goes_up = up.contains(down.k) || up.contains(2 * down.k);
      if (!goes_up || down.gpu_us <= longest_us) continue;
      longest_us = down.gpu_us;
      out_.ffn = down.k;
    }
  }

  // The shapes that are known are those of a smaller component.
  void ForgetModel() {
    out_.hidden.reset();
    out_.ffn.reset();
    out_.tokens.reset();
    out_.main.reset();
    out_.attentions.clear();
    out_.gemms.clear();
  }

  // Modules called experts, and how many of one class each of them calls.
  void ExpertModules() {
    for (const ModulePlace& place : facts_.modules) {
      if (!IsExpertsModule(place.name)) continue;
      experts_seen_ = true;
      for (const std::uint32_t at : place.children) {
        const ModulePlace& child = facts_.modules[at];
        const bool several = place.instances > 0 && child.instances >= 2 * place.instances &&
                             child.instances % place.instances == 0;
        if (several && 2 * child.gpu_us > place.gpu_us && !out_.experts)
          out_.experts = static_cast<std::int64_t>(child.instances / place.instances);
      }
    }
  }

  void Experts() {
    ExpertModules();
    out_.has_experts = experts_seen_;
    if (!experts_seen_) {
      out_.local_experts.reset();
      return;
    }
    if (routed_) {
      out_.experts = routed_;
      out_.top_k = top_k_;
    }
    // The router: the narrowest product of the hidden width, once a layer.
    const GemmSizes* router = nullptr;
    for (const GemmSizes& gemm : out_.gemms) {
      const bool narrow = out_.hidden && gemm.k == *out_.hidden && gemm.n <= kExpertsMax &&
                          gemm.n >= 2 && gemm.n * 8 <= gemm.k;
      if (narrow && (router == nullptr || gemm.n < router->n)) router = &gemm;
    }
    if (!out_.experts && router != nullptr) out_.experts = router->n;
    if (!out_.hidden && router != nullptr) out_.hidden = router->k;
    if (out_.experts && out_.local_experts && *out_.local_experts > *out_.experts)
      out_.local_experts.reset();
  }

  static bool IsToPrompts(const AttentionSizes& one) {
    return one.keys > 0 && one.keys <= 16 && one.queries >= 64 * one.keys;
  }
  // Prompts over the image and the image over prompts: only a mask decoder has both; a decoder of
  // text has new tokens over its cache alone.
  bool HasMaskDecoder() const {
    const auto& all = out_.attentions;
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.IsOfPrompts(); }) &&
           std::any_of(all.begin(), all.end(), IsToPrompts);
  }
  // With one: what it does with its prompts, them among themselves too.
  static bool IsWithPrompts(const AttentionSizes& one) {
    const bool among = one.queries <= 16 && one.keys == one.queries;
    return one.IsOfPrompts() || IsToPrompts(one) || among;
  }

  // The heads with the most time, and of them the longest; none where most of the time of attention
  // is in others, or in kernels without shapes. Heads that make up the hidden width are the model's
  // own, unless little of the attention's time is theirs. What a mask decoder does with its prompts
  // says nothing of the model.
  void ChooseAttention() {
    double kernels_us = 0, all_us = 0;
    for (const NamedWork& kernel : facts_.kernels) {
      if (kernel.kind == ledger::WorkKind::kAttention) kernels_us += kernel.us;
    }
    const bool masks = HasMaskDecoder();
    std::map<std::pair<std::int64_t, std::int64_t>, double> alike_us;  // by heads and their size
    for (const AttentionSizes& one : out_.attentions) {
      if (masks && IsWithPrompts(one)) {
        if (one.fused) kernels_us -= one.gpu_us;
        continue;
      }
      all_us += one.gpu_us;
      alike_us[{one.heads, one.head}] += one.gpu_us;
    }
    const auto alike = [&](const AttentionSizes& one) { return alike_us[{one.heads, one.head}]; };
    std::optional<std::size_t> longest;
    for (std::size_t i = 0; i < out_.attentions.size(); ++i) {  // the longest first
      const AttentionSizes& one = out_.attentions[i];
      if (masks && IsWithPrompts(one)) continue;
      const double us = alike(one);
      if (!longest || us > alike(out_.attentions[*longest])) longest = i;
      const bool own = out_.hidden && one.heads * one.head == *out_.hidden;
      if (own && us >= kOwnShare * all_us) {
        out_.main = i;
        return;
      }
    }
    if (!longest) return;
    // The width of a mask decoder is not that of the encoder before it.
    const AttentionSizes& most = out_.attentions[*longest];
    if (masks && out_.hidden && most.heads * most.head != *out_.hidden) out_.hidden.reset();
    const double us = alike(most);
    if (us < kAttentionShare * std::max(kernels_us, all_us)) return;
    if (us >= kComponentShare * facts_.ComputeUs() || us >= kMostOf * all_us) out_.main = longest;
  }

  const WorkloadFacts& facts_;
  std::vector<GemmSizes> batched_;
  std::set<std::int64_t> tables_;  // rows of embeddings
  std::set<std::int64_t> widths_;  // of norms, embeddings and heads
  bool experts_seen_ = false;
  std::optional<std::int64_t> routed_, top_k_, head_width_;
  WorkloadSizes out_;
};

}  // namespace

std::optional<AttentionStages> StagesOf(std::span<const AttentionSizes> attentions,
                                        const AttentionSizes& main) {
  constexpr std::size_t kStagesLeast = 3;
  std::set<std::int64_t> heads;
  std::set<std::int64_t> queries;
  for (const AttentionSizes& one : attentions) {
    if (one.head != main.head || one.op != main.op) continue;
    heads.insert(one.heads);
    queries.insert(one.queries);
  }
  std::int64_t before = 0;
  for (const std::int64_t count : heads) {
    if (count <= 0 || (before > 0 && count != 2 * before)) return std::nullopt;
    before = count;
  }
  if (heads.size() < kStagesLeast) return std::nullopt;
  return AttentionStages{*heads.begin(), *heads.rbegin(), *queries.begin(), *queries.rbegin()};
}

std::string FromTo(std::int64_t least, std::int64_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

WorkloadSizes FindWorkloadSizes(const WorkloadFacts& facts) {
  return SizeFinder(facts).Run();
}

}  // namespace jarvis::findings
