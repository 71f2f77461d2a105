#include "analysis/attribution/pseudo_ops.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;
using trace::EventStore;
using trace::kNoEvent;

constexpr int kTopKDepth = 10;

bool NameContains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view WithoutTrailingNumber(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size() || name[last] != '_') return name;
  return name.substr(0, last);
}

// "path/file.py(12): function", the path ending in `file`.
bool IsFrameOf(std::string_view name, std::string_view file, std::string_view function) {
  const std::string end = fmt::format("): {}", function);
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  const std::size_t open = name.find_last_not_of("0123456789");
  return open != std::string_view::npos && open + 1 < name.size() && name[open] == '(' &&
         name.substr(0, open).ends_with(file);
}

// The elements of a raw JSON list.
std::vector<std::string_view> Elements(std::string_view raw) {
  std::vector<std::string_view> elements;
  raw = Trim(raw);
  if (raw.size() < 2 || raw.front() != '[' || raw.back() != ']') return elements;
  raw = raw.substr(1, raw.size() - 2);
  std::size_t from = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c != ',' || depth != 0) continue;
    elements.push_back(Trim(raw.substr(from, i - from)));
    from = i + 1;
  }
  if (!Trim(raw).empty()) elements.push_back(Trim(raw.substr(from)));
  return elements;
}

std::optional<std::int64_t> IntegerAt(const std::vector<std::string_view>& elements,
                                      std::size_t at) {
  return at < elements.size() ? trace::IntegerOf(elements[at]) : std::nullopt;
}

const char* JsonBool(bool value) {
  return value ? "true" : "false";
}

class Finder {
 public:
  explicit Finder(const PseudoTree& tree) : tree_(tree), events_(tree.events) {
    next_uid_ = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(events_.elements, std::uint64_t{0xFFFFFFFFu}));
  }

  std::vector<PseudoOp> Run(const PseudoOpRules& rules) {
    if (rules.none_with_paged_attention &&
        (Named("_rocm_C::paged_attention") || Named("aiter::paged_attention_v1"))) {
      return {};
    }
    if (Named("vllm::moe_forward")) {
      if (Named("vllm::rocm_aiter_fused_moe")) {
        AiterFusedMoe();
      } else if (KernelWith("matmul_ogs")) {
        TritonMoe();
      }
    }
    if (Named("vllm::outplace_fused_experts") && KernelWith("fused_moe_kernel_gptq_awq")) GptqMoe();
    if (Named("aiter::fused_moe_")) FlydslMoe();
    Mla("aiter::mla_decode_stage1_asm_fwd", "pseudo_mla_decode_fwd",
        [](std::string_view name) { return IsFrameOf(name, "aiter/mla.py", "mla_decode_fwd"); });
    Mla("aiter::mla_prefill_ps_asm_fwd", "pseudo_mla_prefill_fwd",
        [](std::string_view name) { return name.ends_with(": mla_fp8_prefill_attn"); });
    PagedDecodeV4();
    return std::move(found_);
  }

 private:
  using Pairs = std::vector<std::pair<EventIndex, EventIndex>>;

  // Whether a host event in the tree has that very name.
  bool Named(std::string_view name) const {
    const StringId id = events_.strings.Find(name);
    return id != kNoString && std::any_of(tree_.hosts.begin(), tree_.hosts.end(),
                                          [&](EventIndex e) { return events_[e].name == id; });
  }
  bool KernelWith(std::string_view part) const {
    return std::any_of(tree_.links.begin(), tree_.links.end(), [&](const auto& link) {
      return NameContains(events_.name(link.second), part);
    });
  }

  bool IsOp(EventIndex e) const { return events_[e].kind == EventKind::kCpuOp; }
  bool IsFrame(EventIndex e) const { return events_[e].kind == EventKind::kPythonFunction; }

  template <typename Take>
  void ForEachOp(std::string_view name, Take take) {
    for (const EventIndex e : tree_.hosts) {
      if (IsOp(e) && events_.name(e) == name) take(e);
    }
  }
  template <typename Test, typename Take>
  void ForEachFrame(Test test, Take take) {
    for (const EventIndex e : tree_.hosts) {
      if (IsFrame(e) && test(events_.name(e))) take(e);
    }
  }

  // Children and launched work, made when first asked for: most traces have no pseudo-op.
  void Index() {
    if (indexed_) return;
    indexed_ = true;
    for (const EventIndex e : tree_.hosts) {
      const EventIndex parent = tree_.parent(e);
      if (parent != kNoEvent) children_.emplace_back(parent, e);
    }
    for (std::size_t i = 0; i < tree_.links.size(); ++i)
      launched_.emplace_back(tree_.links[i].first, static_cast<EventIndex>(i));
    const auto by_first = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(children_.begin(), children_.end(), by_first);
    std::stable_sort(launched_.begin(), launched_.end(), by_first);
  }
  static std::span<const std::pair<EventIndex, EventIndex>> Of(const Pairs& pairs, EventIndex e) {
    const auto [begin, end] =
        std::equal_range(pairs.begin(), pairs.end(), std::pair(e, EventIndex{0}),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    return {begin, end};
  }

  // The host events below, depth first; `take` says whether to go on, and whether to go deeper.
  enum class Next { kDeeper, kBeside, kStop };
  template <typename Take>
  void Walk(EventIndex top, Take take) {
    Index();
    std::vector<std::pair<EventIndex, int>> waiting;
    const auto push_children = [&](EventIndex e, int depth) {
      const auto children = Of(children_, e);
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        waiting.emplace_back(child->second, depth);
    };
    push_children(top, 1);
    while (!waiting.empty()) {
      const auto [e, depth] = waiting.back();
      waiting.pop_back();
      const Next next = take(e, depth);
      if (next == Next::kStop) return;
      if (next == Next::kDeeper) push_children(e, depth + 1);
    }
  }

  struct Launched {
    std::size_t link;  // place in PseudoTree::links
    EventIndex call;
    EventIndex gpu;
  };
  std::vector<Launched> WorkBelow(EventIndex top) {
    std::vector<Launched> work;
    const auto add = [&](EventIndex e) {
      for (const auto& [call, link] : Of(launched_, e))
        work.push_back({link, call, tree_.links[link].second});
    };
    Index();
    add(top);
    Walk(top, [&](EventIndex e, int) {
      add(e);
      return Next::kDeeper;
    });
    std::sort(work.begin(), work.end(),
              [](const Launched& a, const Launched& b) { return a.link < b.link; });
    return work;
  }
  std::vector<EventIndex> KernelsBelow(EventIndex top) {
    std::vector<EventIndex> kernels;
    for (const Launched& launched : WorkBelow(top))
      kernels.push_back(launched.gpu);
    return kernels;
  }
  // The kernels below whose name holds `part`, by start.
  std::vector<Launched> KernelsNamed(EventIndex top, std::string_view part) {
    std::vector<Launched> kernels;
    for (const Launched& launched : WorkBelow(top)) {
      if (NameContains(events_.name(launched.gpu), part)) kernels.push_back(launched);
    }
    std::stable_sort(kernels.begin(), kernels.end(), [&](const Launched& a, const Launched& b) {
      return events_[a.gpu].ts_ns < events_[b.gpu].ts_ns;
    });
    return kernels;
  }

  EventIndex AncestorNamed(EventIndex e, std::string_view name) const {
    for (EventIndex up = tree_.parent(e); up != kNoEvent; up = tree_.parent(up)) {
      if (IsOp(up) && events_.name(up) == name) return up;
    }
    return kNoEvent;
  }

  PseudoOp* Add(std::string name, PseudoOp::Place place, EventIndex at, EventIndex donor) {
    PseudoOp op;
    op.name = std::move(name);
    op.place = place;
    op.at = at;
    op.donor = donor;
    op.uid = next_uid_++;
    found_.push_back(std::move(op));
    return &found_.back();
  }
  // It has the arguments of the op whose rule made it: frames may stand between that and the call.
  PseudoOp* AddBelowOp(std::string name, const Launched& launched, EventIndex donor) {
    const EventIndex above = tree_.parent(launched.call);
    if (above == kNoEvent) return nullptr;
    PseudoOp* added = Add(std::move(name), PseudoOp::Place::kBelowOp, above, donor);
    added->launch = launched.call;
    added->kernels = {launched.gpu};
    return added;
  }
  PseudoOp* AddAtFrame(std::string name, PseudoOp::Place place, EventIndex frame,
                       EventIndex donor) {
    PseudoOp* added = Add(std::move(name), place, frame, donor);
    added->kernels = KernelsBelow(frame);
    return added;
  }

  void AiterFusedMoe() {
    ForEachOp("vllm::rocm_aiter_fused_moe", [&](EventIndex op) {
      bool has_op = false;
      Walk(op, [&](EventIndex e, int) {
        if (KernelsBelow(e).empty()) return Next::kBeside;
        has_op = has_op || IsOp(e);
        return has_op ? Next::kStop : Next::kDeeper;
      });
      if (has_op) return;
      std::vector<Launched> fused;
      for (const Launched& launched : WorkBelow(op)) {
        if (IsFusedMoeKernel(events_[launched.gpu].kind, events_.name(launched.gpu)))
          fused.push_back(launched);
      }
      if (fused.size() == 1) AddBelowOp("pseudo_op::moe_aiter_fused_1stage", fused[0], op);
    });
  }

  // One matrix product of a mixture of experts.
  void AddMoeProduct(const std::string& name, EventIndex op, const Launched& launched,
                     std::size_t index, bool gated, std::int64_t topk) {
    const bool up = index == 0;
    PseudoOp* added = AddBelowOp(name + (up ? "_up" : "_down"), launched, op);
    if (added == nullptr) return;
    added->more = {{"MoE GEMM type", up ? "\"up\"" : "\"down\""},
                   {"MoE GEMM index", std::to_string(index)},
                   {"MoE GEMM gated", JsonBool(gated)},
                   {"MoE topk", std::to_string(topk)}};
  }

  // How many experts a token goes to: the second concrete input of the op that chooses them.
  std::int64_t TopKBelow(EventIndex op) {
    constexpr std::int64_t kDefault = 4;
    std::int64_t topk = kDefault;
    Walk(op, [&](EventIndex e, int depth) {
      if (!NameContains(events_.name(e), "TopK")) {
        return depth < kTopKDepth ? Next::kDeeper : Next::kBeside;
      }
      topk = IntegerAt(Elements(events_.text(events_.args_of(e).concrete)), 1).value_or(kDefault);
      return Next::kStop;
    });
    return topk;
  }

  void TritonMoe() {
    ForEachOp("vllm::moe_forward", [&](EventIndex op) {
      const std::vector<Launched> products = KernelsNamed(op, "matmul_ogs");
      const std::int64_t topk = TopKBelow(op);
      for (std::size_t i = 0; i < products.size(); ++i) {
        AddMoeProduct("pseudo_op::moe_triton_unfused", op, products[i], i,
                      IsGatedKernel(events_.name(products[i].gpu)), topk);
      }
      const std::vector<Launched> last = KernelsNamed(op, "matmul_scatter");
      if (last.size() == 1) {
        AddBelowOp("pseudo_op::moe_triton_unfused_finalize_matmul_scatter", last[0], op);
      }
    });
  }

  void GptqMoe() {
    ForEachOp("vllm::outplace_fused_experts", [&](EventIndex op) {
      constexpr std::int64_t kDefault = 8;
      const auto dims = Elements(events_.text(events_.args_of(op).dims));
      const auto experts = dims.size() > 4 ? Elements(dims[4]) : std::vector<std::string_view>();
      const std::int64_t topk =
          experts.empty() ? kDefault : IntegerAt(experts, experts.size() - 1).value_or(kDefault);
      const std::vector<Launched> products = KernelsNamed(op, "fused_moe_kernel_gptq_awq");
      for (std::size_t i = 0; i < products.size(); ++i)
        AddMoeProduct("pseudo_op::moe_gptq_awq", op, products[i], i, i == 0, topk);
    });
  }

  void FlydslMoe() {
    for (const char stage : {'1', '2'}) {
      const std::string end = fmt::format(": flydsl_moe_stage{}", stage);
      ForEachFrame([&](std::string_view name) { return name.ends_with(end); },
                   [&](EventIndex frame) {
                     const EventIndex donor = AncestorNamed(frame, "aiter::fused_moe_");
                     if (donor == kNoEvent) return;
                     AddAtFrame(fmt::format("pseudo_op::moe_flydsl_stage{}", stage),
                                PseudoOp::Place::kAbove, frame, donor);
                   });
    }
  }

  template <typename Test>
  void Mla(std::string_view inner, const char* name, Test is_frame) {
    if (!Named(inner)) return;
    ForEachFrame(is_frame, [&](EventIndex frame) {
      EventIndex donor = kNoEvent;
      Walk(frame, [&](EventIndex e, int) {
        if (!IsOp(e) || events_.name(e) != inner) return Next::kDeeper;
        donor = e;
        return Next::kStop;
      });
      if (donor == kNoEvent || KernelsBelow(frame).empty()) return;
      AddAtFrame(name, PseudoOp::Place::kAroundChildren, frame, donor);
    });
  }

  // Which of three ways DeepSeek-V4 attends, by the kernels around; see pseudo_ops.h.
  std::string_view ModeV4(const std::vector<EventIndex>& kernels) const {
    const auto any_starts = [&](std::string_view start) {
      return std::any_of(kernels.begin(), kernels.end(),
                         [&](EventIndex k) { return events_.name(k).starts_with(start); });
    };
    if (any_starts("hca_")) return "hca";
    if (any_starts("fused_compress_attn") || any_starts("_update_compressor_states_kernel"))
      return "csa";
    return "swa";
  }

  // Heads and their size, from a kernel named "...qk_norm_rope_H8_D128_RD64...".
  void AddGeometryV4(const std::vector<EventIndex>& kernels, PseudoOp* op) const {
    for (const EventIndex kernel : kernels) {
      std::string_view rest = events_.name(kernel);
      const auto number_after = [&](std::string_view mark) -> std::optional<std::int64_t> {
        const std::size_t at = rest.find(mark);
        if (at == std::string_view::npos) return std::nullopt;
        rest.remove_prefix(at + mark.size());
        return ParseInt(rest.substr(0, rest.find_first_not_of("0123456789")));
      };
      const auto heads = number_after("qk_norm_rope_H");
      const auto size = heads ? number_after("_D") : std::nullopt;
      if (!size || !number_after("_RD")) continue;
      op->more.emplace_back("v4_H_Q", std::to_string(*heads));
      op->more.emplace_back("v4_d_h", std::to_string(*size));
      return;
    }
  }

  void PagedDecodeV4() {
    std::vector<std::pair<EventIndex, EventIndex>> frames;  // frame, donor
    ForEachFrame(
        [](std::string_view name) {
          return IsFrameOf(name, "paged_decode.py", "sparse_attn_v4_paged_decode");
        },
        [&](EventIndex frame) {
          const EventIndex donor = AncestorNamed(frame, "aiter::v4_attention_with_output");
          if (donor != kNoEvent) frames.emplace_back(frame, donor);
        });
    std::stable_sort(frames.begin(), frames.end(), [&](const auto& a, const auto& b) {
      return events_[a.first].track < events_[b.first].track;
    });
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto [frame, donor] = frames[i];
      const std::vector<EventIndex> kernels = KernelsBelow(donor);
      const std::string_view mode = ModeV4(kernels);
      PseudoOp* op = AddAtFrame(fmt::format("pseudo_v4_paged_decode_{}", mode),
                                PseudoOp::Place::kAroundChildren, frame, donor);
      op->more = {{"v4_mode", fmt::format("\"{}\"", mode)}, {"v4_call_index", std::to_string(i)}};
      AddGeometryV4(kernels, op);
    }
  }

  const PseudoTree& tree_;
  const EventStore& events_;
  std::vector<PseudoOp> found_;
  std::uint32_t next_uid_;
  bool indexed_ = false;
  Pairs children_;
  Pairs launched_;  // launch call, place in PseudoTree::links
};

}  // namespace

std::string_view PseudoOp::More(std::string_view key) const {
  for (const auto& [known, value] : more) {
    if (known == key) return value;
  }
  return {};
}

const PseudoOp* PseudoOps::AtFrame(EventIndex frame) const {
  const auto found = frames_.find(frame);
  return found == frames_.end() ? nullptr : &ops_[found->second];
}

std::string_view PseudoOps::RenamedOf(const EventStore& events, EventIndex op) const {
  if (const PseudoOp* pseudo = AtFrame(op)) return pseudo->name;
  const auto renamed = renamed_.find(events[op].name);
  return renamed == renamed_.end() || events[op].kind != EventKind::kCpuOp
             ? events.name(op)
             : std::string_view(renamed->second);
}

PseudoOps FindPseudoOps(const PseudoTree& tree, const PseudoOpRules& rules) {
  PseudoOps result;
  for (const EventIndex e : tree.hosts) {
    if (tree.events[e].kind != EventKind::kCpuOp) continue;
    const std::string_view name = tree.events.name(e);
    if (!name.starts_with("sglang_profiler::")) continue;
    const std::string_view plain = WithoutTrailingNumber(name);
    if (plain.size() < name.size()) result.renamed_.try_emplace(tree.events[e].name, plain);
  }
  result.ops_ = Finder(tree).Run(rules);
  for (std::size_t i = 0; i < result.ops_.size(); ++i) {
    if (result.ops_[i].place != PseudoOp::Place::kBelowOp)
      result.frames_.try_emplace(result.ops_[i].at, i);
  }
  return result;
}

bool IsFusedMoeKernel(EventKind kind, std::string_view name) {
  return kind == EventKind::kKernel && NameContains(name, "aiter::") &&
         NameContains(name, "fmoe") && !NameContains(name, "MoeSorting") &&
         !ContainsNoCase(name, "quant");
}

bool IsGatedKernel(std::string_view name) {
  return NameContains(name, "_swiglu") || NameContains(name, "_glu");
}

}  // namespace jarvis::analysis
