#include "findings/one/fusion_instances.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"

namespace jarvis::findings {
namespace {

using trace::kNoEvent;

constexpr std::size_t kChainMax = 40;
constexpr std::size_t kReachMax = 14;  // calls between a softmax and its products

struct Found {
  std::vector<char> used;  // by call
  std::vector<FusionInstance> instances;
};

// Whether two shapes broadcast to each other.
bool Fits(const Shape& a, const Shape& b) {
  const std::size_t n = std::min(a.size(), b.size());
  for (std::size_t i = 1; i <= n; ++i) {
    const std::int64_t x = a[a.size() - i];
    const std::int64_t y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return n > 0;
}

bool IsSoftmax(std::string_view name) {
  return ContainsNoCase(name, "softmax") && !ContainsNoCase(name, "log_softmax");
}

// Attention is told by its shapes alone. Of scores of E = B m L elements, softmax over L:
//   products that make something like scores      B m n = E and n = L      (Q K', dO V')
//   products that read something like scores      B m k = E                (P V, dS K, P' dO, dS'
//   Q)
class AttentionFinder {
 public:
  AttentionFinder(const FusionCalls& in, const std::vector<std::uint32_t>& thread, Found* found)
      : in_(in), thread_(thread), found_(*found) {}

  void Run() {
    for (std::size_t i = 0; i < thread_.size(); ++i) {
      if (!IsSoftmax(in_.NameOf(thread_[i])) || Used(i)) continue;
      if (!in_.calls().trace.recorded().shapes) {
        ByOrder(i);
        continue;
      }
      const FusionTraits& traits = in_.TraitsOf(thread_[i]);
      if (traits.shapes.empty() || traits.shapes.front().size() < 2) continue;
      scores_ = traits.shapes.front();
      length_ = static_cast<double>(scores_.back());
      elements_ = Elements(scores_);
      // Few queries or keys: fused kernels, which give a block to some queries, gain nothing there.
      constexpr double kFew = 32;
      const double queries = static_cast<double>(scores_[scores_.size() - 2]);
      if (length_ <= kFew || queries <= kFew) continue;
      Around(i, ContainsNoCase(in_.NameOf(thread_[i]), "backward"));
    }
  }

 private:
  bool Used(std::size_t at) const { return found_.used[thread_[at]] != 0; }
  bool Makes(std::size_t at) const {
    const FusionTraits& t = in_.TraitsOf(thread_[at]);
    return t.product && t.n == length_ && t.batch * t.m * t.n == elements_;
  }
  bool Reads(std::size_t at) const {
    const FusionTraits& t = in_.TraitsOf(thread_[at]);
    return t.product && t.batch * t.m * t.k == elements_ && (t.k == length_ || t.m == length_);
  }

  // Forward: Q K' before, P V after. Backward: P' dO and dO V' before, dS K and dS' Q after.
  void Around(std::size_t softmax, bool backward) {
    const std::size_t wanted = backward ? 2 : 1;
    std::vector<std::size_t> products;
    for (std::size_t n = 1; n <= kReachMax && n <= softmax && products.size() < wanted; ++n) {
      const std::size_t at = softmax - n;
      if (Used(at) || IsSoftmax(in_.NameOf(thread_[at]))) break;
      if (Makes(at) || (backward && Reads(at))) products.push_back(at);
    }
    const std::size_t before = products.size();
    for (std::size_t n = 1; n <= kReachMax && softmax + n < thread_.size(); ++n) {
      const std::size_t at = softmax + n;
      if (products.size() == before + wanted) break;
      if (Used(at) || IsSoftmax(in_.NameOf(thread_[at]))) break;
      if (Reads(at)) products.push_back(at);
    }
    if (before == 0 || products.size() == before) return;
    Add(softmax, products);
  }

  // Without shapes: a softmax between two products of its module, with nothing but pointwise calls
  // and copies of operands between them. A backward pass has another order, which names alone do
  // not tell.
  void ByOrder(std::size_t softmax) {
    if (ContainsNoCase(in_.NameOf(thread_[softmax]), "backward")) return;
    const FusionScope scope = in_.ScopeOf(thread_[softmax]);
    if (scope.module == kNoEvent) return;
    const auto product = [&](int step) -> std::optional<std::size_t> {
      std::size_t at = softmax;
      for (std::size_t n = 0; n < kReachMax; ++n) {
        if (step < 0 ? at == 0 : at + 1 == thread_.size()) break;
        at = step < 0 ? at - 1 : at + 1;
        if (Used(at) || !(in_.ScopeOf(thread_[at]) == scope)) break;
        const FusionTraits& traits = in_.TraitsOf(thread_[at]);
        if (traits.product) return at;
        if (!traits.fusible && !IsCopy(at)) break;
      }
      return std::nullopt;
    };
    const auto first = product(-1);
    const auto last = product(1);
    if (!first || !last) return;
    FusionInstance instance;
    instance.kind = FusionKind::kAttention;
    instance.scope = scope;
    instance.shapes_known = false;
    for (std::size_t at = *first; at <= *last; ++at) {
      if (IsCopy(at)) continue;
      instance.calls.push_back(thread_[at]);
      found_.used[thread_[at]] = 1;
    }
    found_.instances.push_back(std::move(instance));
  }
  bool IsCopy(std::size_t at) const {
    return ContainsAny(in_.NameOf(thread_[at]), {"copy_", "contiguous", "clone"});
  }

  void Add(std::size_t softmax, const std::vector<std::size_t>& products) {
    const auto [first, last] = std::minmax_element(products.begin(), products.end());
    FusionInstance instance;
    instance.kind = FusionKind::kAttention;
    instance.scope = in_.ScopeOf(thread_[softmax]);
    instance.scores = scores_;
    // 2 E d FLOPs, whichever of the products it is.
    const FusionTraits& product = in_.TraitsOf(thread_[*first]);
    instance.head_size = product.batch * product.m * product.n * product.k / elements_;
    for (std::size_t at = *first; at <= *last; ++at) {
      const bool member = at == softmax || IsScoreWork(at) ||
                          std::find(products.begin(), products.end(), at) != products.end();
      if (!member || Used(at)) continue;
      instance.calls.push_back(thread_[at]);
      found_.used[thread_[at]] = 1;
    }
    found_.instances.push_back(std::move(instance));
  }

  // Scaling, masks, biases, dropout, casts of scores.
  bool IsScoreWork(std::size_t at) const {
    const FusionTraits& traits = in_.TraitsOf(thread_[at]);
    if (!traits.fusible && !ContainsAny(in_.NameOf(thread_[at]), {"dropout", "masked_fill"}))
      return false;
    return std::any_of(traits.shapes.begin(), traits.shapes.end(),
                       [&](const Shape& shape) { return Elements(shape) == elements_; });
  }

  const FusionCalls& in_;
  const std::vector<std::uint32_t>& thread_;
  Found& found_;
  Shape scores_;
  double length_ = 0;
  double elements_ = 0;
};

bool JoinsChain(const FusionCalls& in, const FusionInstance& open, std::uint32_t call,
                const FusionScope& scope) {
  if (open.calls.size() >= kChainMax || !(open.scope == scope)) return false;
  if (!in.Neighbours(open.calls.back(), call)) return false;
  // The next round of a loop.
  const Place first = in.calls().place_of[open.calls.front()];
  const Place place = in.calls().place_of[call];
  if (first.category == place.category && first.operation == place.operation) return false;
  const FusionTraits& traits = in.TraitsOf(call);
  if (traits.shapes.empty() || !open.shapes_known) {
    return scope.module != kNoEvent && !in.calls().trace.recorded().shapes;
  }
  const FusionTraits& last = in.TraitsOf(open.calls.back());
  return std::any_of(traits.shapes.begin(), traits.shapes.end(), [&](const Shape& shape) {
    return std::any_of(last.shapes.begin(), last.shapes.end(),
                       [&](const Shape& other) { return Fits(shape, other); });
  });
}

FusionKind KindOfChain(const FusionCalls& in, const FusionInstance& chain) {
  if (in.Composition(chain) != FusionKind::kChain) return in.Composition(chain);
  // A module's name alone makes no attention.
  return in.Hint(chain) == FusionKind::kAttention ? FusionKind::kChain : in.Hint(chain);
}

void CloseChain(const FusionCalls& in, std::uint32_t before, FusionInstance* open, Found* found) {
  if (open->calls.empty()) return;
  open->kind = KindOfChain(in, *open);
  if (before != kNone && found->used[before] == 0 && in.TraitsOf(before).product &&
      in.Neighbours(before, open->calls.front())) {
    const FusionTraits& product = in.TraitsOf(before);
    const double elements = product.batch * product.m * product.n;
    const bool same = std::any_of(
        in.TraitsOf(open->calls.front()).shapes.begin(),
        in.TraitsOf(open->calls.front()).shapes.end(),
        [&](const Shape& shape) { return elements > 0 && Elements(shape) == elements; });
    if (same) open->producer = before;
  }
  const std::uint32_t first = open->calls.front();
  if (before != kNone && found->used[before] == 0 && in.Neighbours(before, first) &&
      in.TraitsOf(first).kind == Kind::kElementwise && in.AddsBiasFor(before, first)) {
    open->producer = before;
    open->after_bias = true;
  }
  std::set<std::string_view> names;
  for (const std::uint32_t call : open->calls)
    names.insert(in.NameOf(call));
  const bool chain = names.size() > 1;
  if (!chain && open->producer == kNone) return;
  if (!chain && open->calls.size() > 1) return;  // a loop
  // A reduction has to see whole rows; it is no epilogue.
  if (!chain && in.TraitsOf(open->calls.front()).kind != Kind::kElementwise) return;
  if (!chain) open->kind = FusionKind::kEpilogue;
  for (const std::uint32_t call : open->calls)
    found->used[call] = 1;
  found->instances.push_back(std::move(*open));
}

void AddChains(const FusionCalls& in, const std::vector<std::uint32_t>& thread, Found* found) {
  FusionInstance open;
  std::uint32_t before = kNone;  // the call before the open chain
  const auto close = [&] {
    CloseChain(in, before, &open, found);
    open = {};
  };
  std::uint32_t previous = kNone;
  for (const std::uint32_t call : thread) {
    if (found->used[call] != 0 || !in.TraitsOf(call).fusible) {
      close();
    } else {
      const FusionScope scope = in.ScopeOf(call);
      if (!open.calls.empty() && !JoinsChain(in, open, call, scope)) close();
      if (open.calls.empty()) {
        before = previous;
        open.scope = scope;
      }
      open.shapes_known = open.shapes_known && !in.TraitsOf(call).shapes.empty();
      open.calls.push_back(call);
    }
    previous = call;
  }
  close();
}

}  // namespace

std::vector<FusionInstance> FindFusionInstances(const FusionCalls& in) {
  Found found;
  found.used.assign(in.calls().calls.size(), 0);
  for (const std::vector<std::uint32_t>& thread : in.threads()) {
    AttentionFinder(in, thread, &found).Run();
    AddChains(in, thread, &found);
  }
  return std::move(found.instances);
}

}  // namespace jarvis::findings
