#include "findings/one/fusion_instances.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace jarvis::findings {
namespace {

using trace::kNoEvent;

constexpr std::size_t kChainMax = 40;
constexpr std::size_t kReachMax = 10;  // calls between a softmax and its products

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

// The nearest product before or after a call with nothing but memory-bound work between;
// thread.size(): none.
std::size_t NearestProduct(const FusionCalls& in, const Found& found,
                           const std::vector<std::uint32_t>& thread, std::size_t from, int way) {
  std::size_t at = from;
  for (std::size_t n = 0; n < kReachMax; ++n) {
    if (way < 0 && at == 0) break;
    at = way < 0 ? at - 1 : at + 1;
    if (at >= thread.size() || found.used[thread[at]] != 0) break;
    const FusionTraits& traits = in.TraitsOf(thread[at]);
    if (traits.product) return at;
    if (!traits.fusible && !ContainsAny(in.NameOf(thread[at]), {"dropout", "masked_fill"})) break;
  }
  return thread.size();
}

void AddAttention(const FusionCalls& in, const std::vector<std::uint32_t>& thread, Found* found) {
  for (std::size_t i = 0; i < thread.size(); ++i) {
    if (!ContainsNoCase(in.NameOf(thread[i]), "softmax") || found->used[thread[i]] != 0) continue;
    if (ContainsNoCase(in.NameOf(thread[i]), "backward")) continue;
    const std::size_t first = NearestProduct(in, *found, thread, i, -1);
    const std::size_t last = NearestProduct(in, *found, thread, i, +1);
    if (first == thread.size() || last == thread.size()) continue;
    const FusionScope scope = in.ScopeOf(thread[i]);
    if (scope.module == kNoEvent || !(in.ScopeOf(thread[first]) == scope) ||
        !(in.ScopeOf(thread[last]) == scope)) {
      continue;
    }
    // Scores are as wide as the softmax, and the second product sums over them.
    const FusionTraits& scores = in.TraitsOf(thread[first]);
    const FusionTraits& values = in.TraitsOf(thread[last]);
    if (scores.n != values.k || scores.m != values.m) continue;
    FusionInstance instance;
    instance.kind = FusionKind::kAttention;
    instance.scope = scope;
    for (std::size_t at = first; at <= last; ++at) {
      instance.calls.push_back(thread[at]);
      found->used[thread[at]] = 1;
    }
    found->instances.push_back(std::move(instance));
  }
}

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
    AddAttention(in, thread, &found);
    AddChains(in, thread, &found);
  }
  return std::move(found.instances);
}

}  // namespace jarvis::findings
