#include "findings/one/chain_works.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "findings/one/estimates.h"
#include "findings/one/fusion_findings.h"

namespace jarvis::findings {
namespace {

bool IsAny(std::string_view op, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return op.find(part) != std::string_view::npos;
  });
}

bool HasOp(const FusionCandidate& chain, std::initializer_list<std::string_view> parts) {
  return std::any_of(chain.kernels.begin(), chain.kernels.end(),
                     [&](const FusionKernel& kernel) { return IsAny(kernel.op, parts); });
}

bool IsOnly(const FusionCandidate& chain, std::initializer_list<std::string_view> ops) {
  return std::all_of(chain.kernels.begin(), chain.kernels.end(), [&](const FusionKernel& kernel) {
    return std::find(ops.begin(), ops.end(), kernel.op) != ops.end();
  });
}

constexpr std::string_view kLayoutCopies = "copies";

bool IsCopy(std::string_view op) {
  return op == "aten::copy_" || op == "aten::clone" || op == "aten::contiguous";
}

bool HasActivation(const FusionCandidate& chain) {
  return HasOp(chain, {"silu", "gelu", "relu"});
}

bool IsMultiply(const FusionCandidate& chain) {
  return IsOnly(chain, {"aten::mul", "aten::mul_"});
}

// The product of an activation's output and of what stands beside it, in one module around both.
bool AreGate(const FusionCandidate& activation, const FusionCandidate& multiply) {
  if (!HasActivation(activation) || !IsMultiply(multiply) || multiply.module_path.empty())
    return false;
  return activation.module_path.starts_with(multiply.module_path);
}

ChainName ActivationName(const FusionCandidate& chain,
                         const std::vector<const FusionCandidate*>& beside) {
  const bool gated = (HasActivation(chain) && HasOp(chain, {"aten::mul"}) &&
                      IsOnly(chain, {"aten::silu", "aten::gelu", "aten::mul"})) ||
                     std::any_of(beside.begin(), beside.end(), [&](const FusionCandidate* other) {
                       return AreGate(*other, chain) || AreGate(chain, *other);
                     });
  if (!gated) return {"activation", ""};
  const bool silu = HasOp(chain, {"silu"}) ||
                    (!HasOp(chain, {"gelu"}) &&
                     std::any_of(beside.begin(), beside.end(), [&](const FusionCandidate* other) {
                       return AreGate(*other, chain) && HasOp(*other, {"silu"});
                     }));
  return {"activation and gate",
          silu ? "Liger's `LigerSiLUMulFunction`" : "Liger's `LigerGELUMulFunction`"};
}

// Means are taken away in a layer normalisation alone.
ChainName NormName(const FusionCandidate& chain) {
  if (HasOp(chain, {"_norm"})) return {"norm", ""};
  const bool layer = HasOp(chain, {"aten::sub", "aten::var", "aten::std"});
  // Before that version `rms_norm` is several kernels itself.
  return {"norm", layer ? "`torch.nn.functional.layer_norm`"
                        : "`torch.nn.functional.rms_norm` of PyTorch 2.9 or newer, else Liger's "
                          "`LigerRMSNormFunction`"};
}

// "`aten::add` + `aten::layer_norm`": each op once, whatever their order.
std::string NameByOps(const FusionCandidate& chain) {
  constexpr std::size_t kOpsShown = 3;
  std::vector<std::string> ops;
  for (const FusionKernel& kernel : chain.kernels) {
    if (std::find(ops.begin(), ops.end(), kernel.op) == ops.end()) ops.push_back(kernel.op);
  }
  std::sort(ops.begin(), ops.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(ops.size(), kOpsShown); ++i)
    text += (i == 0 ? "`" : " + `") + ops[i] + "`";
  return ops.size() > kOpsShown ? text + " and more" : text;
}

// Its kernels from the first to before the last, by place, that the function named for it replaces.
struct OwnKernels {
  std::size_t first = 0, end = 0;
  bool Has(std::size_t i) const { return i >= first && i < end; }
};

OwnKernels OwnOf(const FusionCandidate& chain) {
  OwnKernels own{0, chain.kernels.size()};
  const auto drop_last = [&](const auto& drops) {
    while (own.end > own.first + 1 && drops(chain.kernels[own.end - 1].op))
      --own.end;
  };
  if (chain.kind == FusionKind::kRotary) drop_last(IsCopy);
  if (chain.kind == FusionKind::kNorm && !HasOp(chain, {"_norm"})) {
    drop_last([](std::string_view op) {
      return IsAny(op, {"gelu", "relu", "silu", "sigmoid", "tanh", "dropout"});
    });
    while (own.first + 1 < own.end &&
           IsAny(chain.kernels[own.first].op, {"aten::add", "aten::bias_add"}))
      ++own.first;
  }
  return own;
}

double OwnPart(const FusionCandidate& chain) {
  const OwnKernels kernels = OwnOf(chain);
  double own = 0, all = 0;
  for (std::size_t i = 0; i < chain.kernels.size(); ++i) {
    all += chain.kernels[i].mean_us;
    own += kernels.Has(i) ? chain.kernels[i].mean_us : 0;
  }
  return all > 0 ? own / all : 1;
}

// What the function named for a chain leaves of it.
std::string NameOfRest(const FusionCandidate& chain) {
  const OwnKernels own = OwnOf(chain);
  FusionCandidate rest;
  for (std::size_t i = 0; i < chain.kernels.size(); ++i) {
    if (!own.Has(i)) rest.kernels.push_back(chain.kernels[i]);
  }
  const bool copies = std::all_of(rest.kernels.begin(), rest.kernels.end(),
                                  [](const FusionKernel& one) { return IsCopy(one.op); });
  return copies ? std::string(kLayoutCopies) : NameByOps(rest);
}

void AddRest(const FusionCandidate& chain, double part, std::vector<ChainWork>* out) {
  std::string name = NameOfRest(chain);
  auto found = std::find_if(out->begin(), out->end(),
                            [&](const ChainWork& work) { return work.what.name == name; });
  if (found == out->end())
    found = out->insert(out->end(), {{std::move(name), ""}, chain.module_class, 0, 0, {}});
  found->count += chain.instances;
  found->ms += part * chain.total_us / 1000;
  if (!chain.savings_ms) return;
  const Range more = Scaled(*chain.savings_ms, part);
  for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
    found->savings_ms.*x += more.*x;
}

}  // namespace

ChainName NameOfChain(const FusionCandidate& chain,
                      const std::vector<const FusionCandidate*>& beside) {
  if (chain.kind == FusionKind::kNorm) return NormName(chain);
  if (chain.after_bias) return {NameByOps(chain) + " behind a convolution's bias", ""};
  const bool rotates = std::any_of(beside.begin(), beside.end(), [&](const FusionCandidate* other) {
    return other->kind == FusionKind::kRotary && other->module_path == chain.module_path;
  });
  if (chain.kind == FusionKind::kRotary || (rotates && IsMultiply(chain)))
    return {"rotary", "Liger's `liger_rotary_pos_emb`"};
  const bool gate = std::any_of(beside.begin(), beside.end(), [&](const FusionCandidate* other) {
    return AreGate(*other, chain);
  });
  if (HasActivation(chain) || gate) return ActivationName(chain, beside);
  if (std::all_of(chain.kernels.begin(), chain.kernels.end(),
                  [](const FusionKernel& kernel) { return IsCopy(kernel.op); }))
    return {std::string(kLayoutCopies), ""};
  if (IsOnly(chain, {"aten::add", "aten::add_"})) return {"adds after GEMMs", ""};
  return {NameByOps(chain), ""};
}

FusionCandidate NamedPart(const FusionCandidate& chain) {
  const std::size_t kernels = chain.kernels.size();
  const OwnKernels own = OwnOf(chain);
  if (own.end - own.first == kernels || chain.gpu.size() != kernels * chain.ends.size())
    return chain;
  FusionCandidate left = chain;
  const double part = OwnPart(chain);
  left.kernels.assign(chain.kernels.begin() + static_cast<std::ptrdiff_t>(own.first),
                      chain.kernels.begin() + static_cast<std::ptrdiff_t>(own.end));
  left.total_us *= part;
  left.exclusive_us *= part;
  if (left.savings_ms) left.savings_ms = Scaled(*left.savings_ms, part);
  left.gpu.clear();
  left.ends.clear();
  for (std::size_t i = 0; i < chain.ends.size(); ++i) {
    const auto first = chain.gpu.begin() + static_cast<std::ptrdiff_t>(i * kernels);
    left.gpu.insert(left.gpu.end(), first + static_cast<std::ptrdiff_t>(own.first),
                    first + static_cast<std::ptrdiff_t>(own.end));
    left.ends.push_back(left.gpu.size());
  }
  return left;
}

std::vector<ChainWork> ChainWorksOf(const Analysis& analysis, const Finding& finding) {
  std::vector<const FusionCandidate*> chains;
  for (const FusionCandidate& candidate : analysis.fusion.candidates) {
    const auto& ids = finding.members;
    if (std::find(ids.begin(), ids.end(), candidate.id) != ids.end()) chains.push_back(&candidate);
  }
  std::stable_sort(
      chains.begin(), chains.end(),
      [](const FusionCandidate* a, const FusionCandidate* b) { return a->total_us > b->total_us; });
  std::vector<ChainWork> out;
  double all_ms = 0;
  Range all_savings;
  const auto add = [](const Range& more, double sign, Range* to) {
    for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
      to->*part += sign * more.*part;
  };
  for (const FusionCandidate* chain : chains) {
    ChainName what = NameOfChain(*chain, chains);
    auto found = std::find_if(out.begin(), out.end(), [&](const ChainWork& work) {
      return work.what.name == what.name && work.what.by_hand == what.by_hand;
    });
    if (found == out.end())
      found = out.insert(out.end(), {std::move(what), chain->module_class, 0, 0, {}});
    const double part = OwnPart(*chain);
    found->count += chain->instances;
    found->ms += part * chain->total_us / 1000;
    all_ms += chain->total_us / 1000;
    if (chain->savings_ms) {
      add(Scaled(*chain->savings_ms, part), 1, &found->savings_ms);
      add(*chain->savings_ms, 1, &all_savings);
    }
    if (part < 1) AddRest(*chain, 1 - part, &out);
  }
  // What turns queries and keys outside of any chain is the rotary embedding's, too.
  const auto rotary = std::find_if(
      out.begin(), out.end(), [](const ChainWork& work) { return work.what.name == "rotary"; });
  if (rotary != out.end() && TakesRotation(finding) && finding.savings_ms) {
    rotary->ms += finding.time_ms - all_ms;
    add(*finding.savings_ms, 1, &rotary->savings_ms);
    add(all_savings, -1, &rotary->savings_ms);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ChainWork& a, const ChainWork& b) { return a.ms > b.ms; });
  return out;
}

}  // namespace jarvis::findings
