#include "findings/two/common_order.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "analysis/attribution/arg_text.h"
#include "analysis/tables/ops_tables.h"

namespace jarvis::findings {
namespace {

constexpr std::uint32_t kNoPair = 0xFFFFFFFFu;

// The calls of one trace that launch GPU work, in order of their start.
struct CallSequence {
  std::vector<std::uint32_t> keys;  // of name, shapes and types; the same numbers in both traces
  std::vector<std::uint32_t> launchers;
  std::vector<std::uint32_t> pair;  // the place of the corresponding call in the other trace
};

// Numbers for texts, the same in both traces.
class CallKeys {
 public:
  std::uint32_t Of(const std::string& text) {
    return ids_.try_emplace(text, static_cast<std::uint32_t>(ids_.size())).first->second;
  }
  std::size_t size() const { return ids_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
};

CallSequence SequenceOf(const session::LoadedTrace& trace, CallKeys* keys) {
  const trace::EventStore& events = trace.events();
  CallSequence sequence;
  std::map<std::array<StringId, 3>, std::uint32_t> known;
  const auto& launchers = trace.attribution().launchers;
  for (std::uint32_t i = 0; i < launchers.size(); ++i) {
    const analysis::Launcher& launcher = launchers[i];
    if (launcher.op == trace::kNoEvent) continue;
    const trace::Args& args = events.args_of(launcher.op);
    const auto [found, added] =
        known.try_emplace({events[launcher.op].name, args.dims, args.types}, 0u);
    if (added) {
      const std::string name = analysis::LauncherName(events, trace.attribution(), launcher);
      const auto text = [&](StringId id) {
        return id == kNoString ? std::string() : analysis::TupleText(events.strings[id]);
      };
      found->second = keys->Of(name + '\n' + text(args.dims) + '\n' + text(args.types));
    }
    sequence.keys.push_back(found->second);
    sequence.launchers.push_back(i);
  }
  sequence.pair.assign(sequence.keys.size(), kNoPair);
  return sequence;
}

// Places by key, in order.
std::vector<std::vector<std::uint32_t>> PlacesOf(const CallSequence& sequence, std::size_t keys) {
  std::vector<std::vector<std::uint32_t>> places(keys);
  for (std::uint32_t i = 0; i < sequence.keys.size(); ++i)
    places[sequence.keys[i]].push_back(i);
  return places;
}

// Pairs calls up: a longest increasing subsequence of the candidates. Returns how many candidates
// there were.
std::size_t PairUp(CallSequence* a, CallSequence* b, std::size_t keys) {
  const auto of_a = PlacesOf(*a, keys);
  const auto of_b = PlacesOf(*b, keys);
  std::vector<std::uint32_t> candidate(a->keys.size(), kNoPair);
  std::size_t candidates = 0;
  for (std::size_t key = 0; key < keys; ++key) {
    if (of_a[key].size() != of_b[key].size()) continue;
    candidates += of_a[key].size();
    for (std::size_t k = 0; k < of_a[key].size(); ++k)
      candidate[of_a[key][k]] = of_b[key][k];
  }
  // Patience sorting: tails[n] ends the chain of n + 1 pairs whose end is least.
  std::vector<std::uint32_t> tails;
  std::vector<std::uint32_t> before(a->keys.size(), kNoPair);
  for (std::uint32_t i = 0; i < candidate.size(); ++i) {
    if (candidate[i] == kNoPair) continue;
    const auto place = std::lower_bound(
        tails.begin(), tails.end(), candidate[i],
        [&](std::uint32_t tail, std::uint32_t value) { return candidate[tail] < value; });
    if (place != tails.begin()) before[i] = *std::prev(place);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  for (std::uint32_t i = tails.empty() ? kNoPair : tails.back(); i != kNoPair; i = before[i]) {
    a->pair[i] = candidate[i];
    b->pair[candidate[i]] = i;
  }
  return candidates;
}

double LongestGap(const CallSequence& sequence) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const std::uint32_t pair : sequence.pair) {
    run = pair == kNoPair ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return sequence.pair.empty()
             ? 0
             : static_cast<double>(longest) / static_cast<double>(sequence.pair.size());
}

}  // namespace

bool CommonOrder::surrounds() const {
  // A fifth of the calls in the same order, all along both traces, is no accident: workloads of
  // different kinds share few calls of the same shapes in the same number.
  constexpr double kShareMin = 0.2;
  constexpr double kOrderMin = 0.9;
  constexpr double kGapMax = 0.25;
  const double larger = std::max(primary_calls, comparison_calls);
  return larger > 0 && common_calls >= kShareMin * larger &&
         common_calls >= kOrderMin * candidates && longest_gap <= kGapMax;
}

CommonOrder FindCommonOrder(const session::LoadedTrace& primary,
                            const session::LoadedTrace& comparison) {
  CallKeys keys;
  CallSequence a = SequenceOf(primary, &keys);
  CallSequence b = SequenceOf(comparison, &keys);
  CommonOrder order;
  order.candidates = static_cast<double>(PairUp(&a, &b, keys.size()));
  order.primary_calls = static_cast<double>(a.keys.size());
  order.comparison_calls = static_cast<double>(b.keys.size());
  for (std::size_t i = 0; i < a.pair.size(); ++i) {
    if (a.pair[i] != kNoPair) order.pairs.emplace_back(a.launchers[i], b.launchers[a.pair[i]]);
  }
  order.common_calls = static_cast<double>(order.pairs.size());
  order.longest_gap = std::max(LongestGap(a), LongestGap(b));
  return order;
}

}  // namespace jarvis::findings
