#include "analysis/frames/unit_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/host/host_names.h"
#include "base/median.h"
#include "trace/by_name.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;
using Kinds = std::vector<std::size_t>;  // by step: equal if alike

constexpr std::size_t kGroupsLeast = 2;
constexpr std::size_t kGroupMost = 32;     // steps in one
constexpr std::size_t kStepsMost = 1'024;  // looked at
constexpr std::size_t kKindsMost = 8;
constexpr double kAlikeWork = 0.1;  // of what two steps of one kind call, differs at most
constexpr double kTrifle = 0.05;    // of the time, by which odd steps are longer or shorter
constexpr double kChanceMost = 0.05;
constexpr double kOddLonger = 1.2, kOddShorter = 0.7;  // than the middle one
constexpr double kColdLonger = 2;                      // than the middle of the later ones

// How often a step calls, or launches from, what has this name; by name.
using Work = std::vector<std::pair<StringId, std::uint32_t>>;

// Of what one of them does, what the other does not, as a share of the larger one.
double WorkApart(const Work& a, const Work& b) {
  std::uint64_t off = 0, of_a = 0, of_b = 0;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const bool only_a = y == b.end() || (x != a.end() && x->first < y->first);
    const bool only_b = !only_a && (x == a.end() || y->first < x->first);
    const std::uint64_t in_a = only_b ? 0 : (x++)->second;
    const std::uint64_t in_b = only_a ? 0 : (y++)->second;
    off += in_a > in_b ? in_a - in_b : in_b - in_a;
    of_a += in_a;
    of_b += in_b;
  }
  const std::uint64_t most = std::max(of_a, of_b);
  return most == 0 ? 0 : static_cast<double>(off) / static_cast<double>(most);
}

double LogFactorial(std::size_t n) {
  double sum = 0;
  for (std::size_t i = 2; i <= n; ++i)
    sum += std::log(static_cast<double>(i));
  return sum;
}

// In how many orders such units recur with this period. Places of the period that come once more
// than the others, `more` of them, and those others are filled for themselves.
double OrdersWithPeriod(const std::map<std::size_t, std::size_t>& counts, std::size_t all,
                        std::size_t period) {
  const std::size_t times = all / period;
  const std::size_t more = all % period;
  const auto factorial = [](std::size_t n) { return std::exp(LogFactorial(n)); };
  // By places of the first sort that are taken: the sum of 1 / (product of factorials).
  std::vector<double> ways(more + 1, 0.0);
  ways[0] = 1;
  for (const auto& [kind, count] : counts) {
    std::vector<double> next(more + 1, 0.0);
    for (std::size_t taken = 0; taken <= more; ++taken) {
      for (std::size_t own = 0; ways[taken] > 0 && taken + own <= more; ++own) {
        if (own * (times + 1) > count || (count - own * (times + 1)) % times != 0) continue;
        const std::size_t others = (count - own * (times + 1)) / times;
        next[taken + own] += ways[taken] / (factorial(own) * factorial(others));
      }
    }
    ways = std::move(next);
  }
  return ways[more] * factorial(more) * factorial(period - more);
}

// Of a loader, a queue, a lock: what is called in it says how long it waits, which is no work.
bool OnlyTakesTime(std::string_view name) {
  return IsWaitingFrame(name) || IsLoaderName(name);
}

class GroupFinder {
 public:
  GroupFinder(const FrameFacts& facts, const FoundSteps& found,
              std::span<const std::int64_t> lengths_ns)
      : facts_(facts), found_(found), lengths_(lengths_ns.begin(), lengths_ns.end()) {
    for (const FoundStep& step : found.steps)
      starts_.push_back(step.host.start);
  }

  std::optional<FoundSteps> Run() {
    if (!MayRecur()) return std::nullopt;
    CountWork();
    // Behind the steps of a cold start, unless those are a part of what recurs.
    std::vector<std::size_t> begins = {0};
    if (const std::size_t cold = Cold(); cold > 0) begins = {cold, 0};
    for (const std::size_t begin : begins) {
      for (const bool by_work : {true, false}) {
        const Kinds kinds = by_work ? KindsByWork(begin) : KindsByLength(begin);
        if (!kinds.empty() && Recurs(begin, kinds)) return Grouped();
      }
    }
    return std::nullopt;
  }

 private:
  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }

  bool MayRecur() const {
    if (found_.of_engine || !found_.holes.empty() || !facts_.host_events()) return false;
    if (lengths_.size() < 2 * kGroupsLeast || lengths_.size() > kStepsMost) return false;
    const std::int64_t middle = LowerMedian(lengths_);
    std::int64_t off = 0, all = 0;
    for (const std::int64_t one : lengths_) {
      off += std::abs(one - middle);
      all += one;
    }
    return static_cast<double>(off) > kTrifle * static_cast<double>(all);
  }

  std::size_t Cold() const {
    std::size_t at = 0;
    for (; at + 2 * kGroupsLeast < lengths_.size(); ++at) {
      const std::int64_t later =
          LowerMedian(std::vector<std::int64_t>(lengths_.begin() + 1 + Offset(at), lengths_.end()));
      if (static_cast<double>(lengths_[at]) <= kColdLonger * static_cast<double>(later)) break;
    }
    return at;
  }
  static std::ptrdiff_t Offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

  // The op that launched it; without one the kernel, whose launch was a graph's.
  StringId LauncherOf(const LaunchedWork& work) const {
    EventIndex op = work.launch;
    while (op != trace::kNoEvent && At(op).kind != EventKind::kCpuOp)
      op = facts_.tree.parent(op);
    return op == trace::kNoEvent ? At(work.event).name : At(op).name;
  }

  // Both lists are by start, so that one walk counts step by step.
  void CountWork() {
    auto host = facts_.on_thread.begin();
    auto launched = facts_.launched.begin();
    std::vector<std::uint32_t> counts(facts_.events.strings.size(), 0);  // by name
    std::vector<StringId> names;                                         // those that are not 0
    trace::ByName<bool> waits(facts_.events, OnlyTakesTime);
    std::int64_t waited_until = facts_.recording.start;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const auto add = [&](std::int64_t at, StringId name) {
        if (at < starts_[i]) return;
        if (counts[name]++ == 0) names.push_back(name);
      };
      const std::int64_t end = i + 1 < starts_.size() ? starts_[i + 1]
                               : found_.to_the_end    ? facts_.recording.end + 1
                                                      : found_.steps[i].host.end;
      for (; host != facts_.on_thread.end() && At(*host).ts_ns < end; ++host) {
        const trace::Event& event = At(*host);
        const bool counts_as_work = event.kind == EventKind::kCpuOp ||
                                    event.kind == EventKind::kPythonFunction ||
                                    event.kind == EventKind::kUserAnnotation;
        if (!counts_as_work || event.ts_ns < waited_until) continue;
        if (event.kind != EventKind::kCpuOp && waits.Of(*host))
          waited_until = event.end_ns();
        else
          add(event.ts_ns, event.name);
      }
      for (; launched != facts_.launched.end() && launched->launch_ns < end; ++launched)
        add(launched->launch_ns, LauncherOf(*launched));
      std::ranges::sort(names);
      Work& work = work_.emplace_back();
      for (const StringId name : names)
        work.emplace_back(name, std::exchange(counts[name], 0));
      names.clear();
    }
  }

  Kinds KindsByWork(std::size_t begin) const {
    std::vector<std::size_t> first;  // of each kind
    Kinds kinds;
    for (std::size_t i = begin; i < work_.size(); ++i) {
      const auto like = std::ranges::find_if(first, [&](std::size_t other) {
        return WorkApart(work_[i], work_[other]) <= kAlikeWork;
      });
      kinds.push_back(static_cast<std::size_t>(like - first.begin()));
      if (like != first.end()) continue;
      if (first.size() == kKindsMost) return {};
      first.push_back(i);
    }
    return first.size() > 1 ? kinds : Kinds();
  }

  Kinds KindsByLength(std::size_t begin) const {
    const auto middle = static_cast<double>(
        LowerMedian(std::vector<std::int64_t>(lengths_.begin() + Offset(begin), lengths_.end())));
    Kinds kinds;
    for (std::size_t i = begin; i < lengths_.size(); ++i) {
      const auto length = static_cast<double>(lengths_[i]);
      kinds.push_back(length > kOddLonger * middle ? 1 : length < kOddShorter * middle ? 2 : 0);
    }
    for (const std::size_t odd : {std::size_t{1}, std::size_t{2}}) {
      if (std::ranges::count(kinds, odd) > 0 && !HasMark(begin, kinds, odd)) return {};
    }
    return kinds;
  }

  // Whether a name is called more often in each step of the kind than in any other, or less often.
  bool HasMark(std::size_t begin, const Kinds& kinds, std::size_t kind) const {
    struct Least {
      std::uint32_t least = ~0u, most = 0;
      std::size_t steps = 0;
    };
    std::map<StringId, std::pair<Least, Least>> names;  // of the kind, of the others
    std::size_t steps[2] = {0, 0};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const bool own = kinds[i] == kind;
      ++steps[own ? 0 : 1];
      for (const auto& [name, count] : work_[begin + i]) {
        Least& of = own ? names[name].first : names[name].second;
        of.least = std::min(of.least, count);
        of.most = std::max(of.most, count);
        ++of.steps;
      }
    }
    return std::ranges::any_of(names, [&](const auto& one) {
      const auto& [own, other] = one.second;
      const auto least = [](const Least& of, std::size_t all) {
        return of.steps < all ? 0 : of.least;
      };
      return least(own, steps[0]) > other.most || least(other, steps[1]) > own.most;
    });
  }

  // Whether steps of these kinds, from `begin` on, recur; then what the groups are.
  bool Recurs(std::size_t begin, const Kinds& kinds) {
    const auto recurs_with = [&](std::size_t period, std::size_t count) {
      for (std::size_t i = period; i < count; ++i)
        if (kinds[i] != kinds[i - period]) return false;
      return true;
    };
    // The recording may have ended within the last one.
    for (const std::size_t count : {kinds.size(), kinds.size() - 1}) {
      if (count < kinds.size() && !found_.to_the_end && !facts_.cut) break;
      const std::size_t most = std::min(kGroupMost, count / kGroupsLeast);
      for (std::size_t period = 2; period <= most; ++period) {
        const std::span<const std::size_t> seen(kinds.data(), count);
        if (!recurs_with(period, count)) continue;
        if (std::ranges::all_of(seen, [&](std::size_t kind) { return kind == kinds[0]; })) break;
        return Matters(begin, seen) && Explained(begin, seen, period);
      }
    }
    return false;
  }

  // Whether the time of the odd ones is another than that of as many of the most frequent kind.
  bool Matters(std::size_t begin, std::span<const std::size_t> kinds) const {
    std::map<std::size_t, std::pair<double, double>> sums;  // steps, time
    double all = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto length = static_cast<double>(lengths_[begin + i]);
      sums[kinds[i]].first += 1;
      sums[kinds[i]].second += length;
      all += length;
    }
    const auto most = std::ranges::max_element(
        sums, [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    const double usual = most->second.second / most->second.first;
    double off = 0;
    for (const auto& [kind, sum] : sums)
      off += std::abs(sum.second - usual * sum.first);
    return off > kTrifle * all;
  }

  bool Explained(std::size_t begin, std::span<const std::size_t> kinds, std::size_t period) {
    size_ = period;
    end_ = begin + kinds.size();
    if (FindScope(begin)) return true;
    const std::size_t optimizer = OptimizerPlace(begin);
    if (optimizer == size_ && ChanceOfPeriod(kinds, period) > kChanceMost) return false;
    // What is done once a group ends it, if as many whole ones are left then.
    const std::size_t last = optimizer < size_ ? optimizer : LongestPlace(begin);
    first_ = begin;
    const std::size_t shifted = begin + (last + 1) % size_;
    if ((end_ - shifted) / size_ >= kGroupsLeast) first_ = shifted;
    return true;
  }

  // The place in the group of the one step that has the optimizer; `size_`: there is none.
  std::size_t OptimizerPlace(std::size_t begin) const {
    std::vector<bool> has(starts_.size());
    for (std::size_t i = begin; i < end_; ++i) {
      has[i] = std::ranges::any_of(work_[i], [&](const auto& one) {
        return facts_.events.strings[one.first].starts_with("Optimizer.step");
      });
    }
    std::size_t place = size_;
    for (std::size_t i = begin; i < end_; ++i) {
      if (i >= begin + size_ && has[i] != has[i - size_]) return size_;
      if (!has[i] || i >= begin + size_) continue;
      if (place != size_) return size_;
      place = i - begin;
    }
    return place;
  }

  std::size_t LongestPlace(std::size_t begin) const {
    std::vector<std::int64_t> sums(size_, 0);
    for (std::size_t i = begin; i < begin + (end_ - begin) / size_ * size_; ++i)
      sums[(i - begin) % size_] += lengths_[i];
    return static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  }

  // The outermost frame or annotation, of the user's own code if any, each call of which stands
  // around one whole group, and that leaves out less than a group before and behind.
  bool FindScope(std::size_t begin) {
    struct Call {
      EventIndex event;
      std::size_t first;
    };
    std::map<StringId, std::vector<Call>> calls;
    std::vector<StringId> by_start;
    const std::int64_t shortest = *std::ranges::min_element(lengths_) / 2;
    for (const EventIndex e : facts_.on_thread) {
      const trace::Event& event = At(e);
      if (event.kind != EventKind::kPythonFunction && event.kind != EventKind::kUserAnnotation)
        continue;
      if (event.dur_ns < shortest) continue;
      const auto first = std::ranges::lower_bound(starts_, event.ts_ns);
      const auto past = std::lower_bound(first, starts_.end(), event.end_ns());
      // One that was cut at the recording's begin or end is none.
      if (past - first != Offset(size_) || first - starts_.begin() < Offset(begin)) continue;
      std::vector<Call>& of_name = calls[event.name];
      if (of_name.empty()) by_start.push_back(event.name);
      of_name.push_back({e, static_cast<std::size_t>(first - starts_.begin())});
    }
    const auto stands_around = [&](const std::vector<Call>& of_name) {
      if (of_name.size() < kGroupsLeast) return false;
      for (std::size_t i = 1; i < of_name.size(); ++i)
        if (of_name[i].first != of_name[i - 1].first + size_) return false;
      return of_name.front().first < begin + size_ &&
             of_name.back().first + 2 * size_ > starts_.size();
    };
    const std::vector<Call>* best = nullptr;
    for (const StringId name : by_start) {
      const std::vector<Call>& of_name = calls[name];
      if (!stands_around(of_name)) continue;
      const bool own = IsOwnScope(of_name.front().event);
      if (best == nullptr || own) best = &of_name;
      if (own) break;
    }
    if (best == nullptr) return false;
    first_ = best->front().first;
    scope_ = facts_.events.name(best->front().event);
    for (const Call& call : *best)
      scope_starts_.push_back(At(call.event).ts_ns);
    return true;
  }

  bool IsOwnScope(EventIndex e) const {
    return At(e).kind == EventKind::kUserAnnotation || IsUserFrame(facts_.events.name(e));
  }

  std::string NameOf(const std::string& first, const std::string& last) const {
    const bool number = first.find_first_not_of("0123456789") == std::string::npos;
    return fmt::format("{}{} to {}", number ? PluralOfUnit(TimeUnitText(found_.unit)) + " " : "",
                       first, last);
  }

  FoundSteps Grouped() const {
    FoundSteps out = found_;
    out.steps.clear();
    out.group = {size_, scope_, {}};
    std::size_t at = 0;
    while (at < starts_.size()) {
      const std::size_t whole = (at - std::min(at, first_)) / size_;
      const bool fits = at >= first_ &&
                        at + size_ <= (scope_starts_.empty() ? end_ : starts_.size()) &&
                        (scope_starts_.empty() || whole < scope_starts_.size());
      const std::size_t held = fits ? size_ : 1;
      FoundStep step = found_.steps[at];
      if (fits && !scope_starts_.empty()) step.host.start = scope_starts_[whole];
      if (fits) step.name = NameOf(step.name, found_.steps[at + held - 1].name);
      step.host.end = found_.steps[at + held - 1].host.end;
      if (!out.steps.empty())
        out.steps.back().host.end = std::min(out.steps.back().host.end, step.host.start);
      out.steps.push_back(std::move(step));
      out.group.held.push_back(held);
      at += held;
    }
    return out;
  }

  const FrameFacts& facts_;
  const FoundSteps& found_;
  const std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> starts_;
  std::vector<Work> work_;  // by step
  // Of what was found.
  std::size_t size_ = 0;
  std::size_t first_ = 0;  // step of the first whole group
  std::size_t end_ = 0;    // past the last step that recurs
  std::string scope_;
  std::vector<std::int64_t> scope_starts_;
};

}  // namespace

double ChanceOfPeriod(std::span<const std::size_t> kinds, std::size_t period) {
  if (period == 0 || kinds.size() < 2 * period) return 1;
  std::map<std::size_t, std::size_t> counts;
  for (const std::size_t kind : kinds)
    ++counts[kind];
  double log_orders = LogFactorial(kinds.size());
  for (const auto& [kind, count] : counts)
    log_orders -= LogFactorial(count);
  double recur = 0;
  for (std::size_t one = 1; one <= period; ++one)
    recur += OrdersWithPeriod(counts, kinds.size(), one);
  return recur <= 0 ? 0 : std::min(1.0, std::exp(std::log(recur) - log_orders));
}

std::optional<FoundSteps> GroupSteps(const FrameFacts& facts, const FoundSteps& found,
                                     std::span<const std::int64_t> lengths_ns) {
  return GroupFinder(facts, found, lengths_ns).Run();
}

}  // namespace jarvis::analysis
