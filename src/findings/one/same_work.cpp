#include "findings/one/same_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/median.h"
#include "base/number_text.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/structure_maker.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

// ---- the clock

constexpr std::int64_t kMeasurableNs = 3'000;  // a shorter kernel is mostly its start
constexpr std::size_t kNamesLooked = 64;       // with most time
constexpr std::size_t kOfName = 128;           // kernels of each that are looked at
constexpr std::size_t kKernelsMin = 8;         // that both sides have
constexpr double kSlowerLeast = 1.08;          // more than one recording differs from another
constexpr double kAlike = 0.75;                // of their time is in kernels slower by about that
constexpr double kCoveredLeast = 0.15;         // of the later time is in kernels of both sides
constexpr double kLeftMost = 0.5;              // of the spread, once the change is known
constexpr std::size_t kMoments = 40;           // at which a change is looked for

class ClockFinder {
 public:
  // `by_sizes`: kernels are the same if the ops that launch them have the same inputs as well.
  ClockFinder(const Calls& calls, const ledger::KindsOfWork& kinds, bool by_sizes)
      : calls_(calls), events_(calls.events()) {
    std::map<StringId, Named> names;
    for (const EventIndex e : calls.trace.attribution().timeline) {
      const trace::Event& event = events_[e];
      if (event.kind != trace::EventKind::kKernel || event.dur_ns < kMeasurableNs) continue;
      if (ledger::IsCommunication(kinds.Of(e).kind)) continue;
      kernels_.push_back(e);
      Named& named = names[event.name];
      named.events.push_back(e);
      named.ns += event.dur_ns;
    }
    std::vector<const Named*> most;
    for (const auto& [name, named] : names)
      most.push_back(&named);
    std::stable_sort(most.begin(), most.end(),
                     [](const Named* a, const Named* b) { return a->ns > b->ns; });
    if (most.size() > kNamesLooked) most.resize(kNamesLooked);
    std::map<std::tuple<StringId, std::int64_t, StringId>, std::size_t> groups;
    for (const Named* named : most) {
      const std::size_t count = named->events.size();
      const std::size_t looked = std::min(count, kOfName);
      for (std::size_t i = 0; i < looked; ++i) {
        const EventIndex e = named->events[i * count / looked];
        const std::tuple key{events_[e].name, GridBlocksOf(events_, e).value_or(0),
                             by_sizes ? SizesOf(e) : kNoString};
        const std::size_t group = groups.try_emplace(key, groups.size()).first->second;
        const auto ns = static_cast<double>(events_[e].dur_ns);
        looked_.push_back({events_[e].ts_ns, e, group, ns,
                           ns * static_cast<double>(count) / static_cast<double>(looked)});
      }
    }
    groups_ = groups.size();
    std::sort(looked_.begin(), looked_.end(), [](const Looked& a, const Looked& b) {
      return std::pair(a.start_ns, a.event) < std::pair(b.start_ns, b.event);
    });
  }

  // `compared`: whether at any moment both sides have enough of the same kernels.
  std::optional<Finding> Run(bool* compared) const {
    if (looked_.size() < 4 * kKernelsMin) return std::nullopt;
    std::optional<Change> best;
    std::size_t at = 0;
    const auto look = [&](std::size_t first) {
      const std::optional<Change> one = ChangeAt(first, compared);
      if (!one || (best && one->left >= best->left)) return;
      best = one;
      at = first;
    };
    for (std::size_t i = 1; i < kMoments; ++i)
      look(looked_.size() * i / kMoments);
    // What lies between two such moments would be on the wrong side.
    const std::size_t each = looked_.size() / kMoments;
    const std::size_t step = std::max<std::size_t>(1, each / kMoments);
    const std::size_t from = std::max(at, each + 1) - each, to = at + each;
    for (std::size_t first = from; best && first < std::min(to, looked_.size()); first += step)
      look(first);
    if (!best || best->spread > kLeftMost * best->spread_before) return std::nullopt;
    return Tell(*best);
  }

 private:
  struct Named {
    std::vector<EventIndex> events;
    std::int64_t ns = 0;
  };
  struct Looked {
    std::int64_t start_ns;
    EventIndex event;
    std::size_t group;
    double ns;
    double weight_ns;  // with those of its name that are not looked at
  };
  struct Change {
    std::int64_t at_ns = 0;
    double factor = 1;  // that kernels take longer
    std::size_t kernels = 0;
    double covered = 0;  // of the later time, in kernels of both sides
    double left = 0;     // what the two sides' medians do not explain
    double spread = 0;   // of it, in kernels of both sides; and with one median for both
    double spread_before = 0;
  };
  struct Ratio {
    double factor;
    double weight;
  };

  // Of the inputs of the op that launched it, in words: one kernel serves products of many sizes.
  StringId SizesOf(EventIndex e) const {
    const std::uint32_t call = calls_.call_of[e];
    if (call == kNone || calls_.calls[call].op == trace::kNoEvent) return kNoString;
    return events_.args_of(calls_.calls[call].op).dims;
  }

  // The one that as much weight is below as above.
  static double MiddleOf(std::vector<Ratio>* ratios, double all) {
    std::sort(ratios->begin(), ratios->end(),
              [](const Ratio& a, const Ratio& b) { return a.factor < b.factor; });
    double seen = 0;
    for (const Ratio& ratio : *ratios) {
      seen += ratio.weight;
      if (2 * seen >= all) return ratio.factor;
    }
    return 1;
  }

  std::optional<Change> ChangeAt(std::size_t first, bool* compared) const {
    struct Side {
      std::vector<double> ns;
      double weight = 0;
      double usual = 0;
    };
    std::vector<double> usual_of_all(groups_);
    std::vector<std::array<Side, 2>> sides(groups_);
    for (std::size_t i = 0; i < looked_.size(); ++i) {
      Side& side = sides[looked_[i].group][i < first ? 0 : 1];
      side.ns.push_back(looked_[i].ns);
      side.weight += looked_[i].weight_ns;
    }
    std::vector<Ratio> ratios;
    double all = 0, both = 0;
    for (std::size_t g = 0; g < groups_; ++g) {
      auto& [before, after] = sides[g];
      std::vector<double> together = before.ns;
      together.insert(together.end(), after.ns.begin(), after.ns.end());
      usual_of_all[g] = LowerMedian(std::move(together));
      for (Side* side : {&before, &after})
        side->usual = side->ns.empty() ? 0 : LowerMedian(std::move(side->ns));
      all += after.weight;
      if (before.usual <= 0 || after.usual <= 0) continue;
      both += after.weight;
      ratios.push_back({after.usual / before.usual, after.weight});
    }
    if (ratios.size() < kKernelsMin || both < kCoveredLeast * all) return std::nullopt;
    *compared = true;
    const double factor = MiddleOf(&ratios, both);
    if (factor < kSlowerLeast) return std::nullopt;
    double alike = 0;
    for (const Ratio& ratio : ratios) {
      const double part = (ratio.factor - 1) / (factor - 1);
      alike += part > 0.5 && part < 1.5 ? ratio.weight : 0;
    }
    if (alike < kAlike * both) return std::nullopt;
    Change change{looked_[first].start_ns, factor, ratios.size(), both / all};
    for (std::size_t i = 0; i < looked_.size(); ++i) {
      const Looked& one = looked_[i];
      const auto& pair = sides[one.group];
      const auto off = [&](double usual) {
        return one.weight_ns * std::abs(std::log(one.ns / usual));
      };
      const double left = off(pair[i < first ? 0 : 1].usual);
      change.left += left;
      if (pair[0].usual <= 0 || pair[1].usual <= 0) continue;
      change.spread += left;
      change.spread_before += off(usual_of_all[one.group]);
    }
    return change;
  }

  Finding Tell(const Change& change) const {
    std::vector<EventIndex> gpu;
    std::int64_t begin = events_[kernels_.front()].ts_ns, end = begin;
    for (const EventIndex e : kernels_) {
      begin = std::min(begin, events_[e].ts_ns);
      end = std::max(end, events_[e].end_ns());
      if (events_[e].ts_ns >= change.at_ns) gpu.push_back(e);
    }
    const double part = 1 - 1 / change.factor;
    std::string subject = fmt::format("{} kernels", gpu.size());
    Finding f = StructureFinding(
        calls_, Pattern::kClockDrop, "Clock", std::move(subject), std::move(gpu),
        {part * change.covered, part, part},
        {{}, "their time before that moment", "the same kernels in this trace"},
        {StructureWords("factor", fmt::format("{:.2f}", change.factor)),
         StructureCount("kernels", change.kernels),
         StructureWords("from", ThreeDigits(MillisOf(change.at_ns - begin)) + " ms"),
         StructureWords("of", ThreeDigits(MillisOf(end - begin)) + " ms")});
    f.path_b = std::move(f.path_a);
    f.path_a.clear();
    f.change_b = std::move(f.change_a);
    f.change_a.reset();
    return f;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  std::vector<EventIndex> kernels_;
  std::vector<Looked> looked_;  // by start
  std::size_t groups_ = 0;
};

// ---- calls of equal sizes

constexpr std::size_t kEqualCallsMin = 8;
constexpr double kSlowTimes = 3;    // the usual call
constexpr double kSlowShare = 0.4;  // of the calls at most: else it is what they take
constexpr double kUsualUsMin = 3;   // shorter calls are mostly the start of a kernel
constexpr double kExcessShare = 2;  // percent of computing

class SlowCallFinder {
 public:
  SlowCallFinder(const Calls& calls, const std::vector<CategoryAnalysis>& categories)
      : calls_(calls), categories_(categories) {}

  std::vector<Finding> Run() {
    using Sizes = std::array<std::string_view, 4>;
    std::map<Sizes, std::vector<Call>> equal;
    std::size_t number = 0;
    for (const CategoryAnalysis& category : categories_) {
      for (const Operation& operation : category.operations) {
        const auto& of = calls_.of_operation[number++];
        if (operation.dims.empty() || !HasFixedWork(category, operation.name)) continue;
        auto& group = equal[{operation.name, operation.dims, operation.types, operation.concrete}];
        for (const std::uint32_t call : of)
          group.push_back({call, &operation, calls_.calls[call].kernel_us});
      }
    }
    std::vector<Finding> found;
    for (auto& [sizes, group] : equal)
      Judge(std::move(group), &found);
    return found;
  }

 private:
  struct Call {
    std::uint32_t call;
    const Operation* operation;
    double us;
  };

  // Sizes tell what a call has to do.
  static bool HasFixedWork(const CategoryAnalysis& category, std::string_view name) {
    switch (category.kind) {
      case Kind::kGemm:
      case Kind::kElementwise:
      case Kind::kReduce:
      case Kind::kNorm:
      case Kind::kConvolution: return true;
      default: return IsCopyOp(name);
    }
  }
  static bool IsCopyOp(std::string_view name) {
    return name == "aten::copy_" || name == "aten::clone" || name == "aten::cat" ||
           name == "aten::_to_copy" || name == "aten::contiguous";
  }

  bool IsOfKernels(const Call& call) const {
    const auto& kernels = calls_.calls[call.call].kernels;
    return !kernels.empty() && std::all_of(kernels.begin(), kernels.end(), [&](EventIndex e) {
      return calls_.events()[e].kind == trace::EventKind::kKernel;
    });
  }

  void Judge(std::vector<Call> group, std::vector<Finding>* found) {
    std::erase_if(group, [&](const Call& call) { return call.us <= 0 || !IsOfKernels(call); });
    if (group.size() < kEqualCallsMin) return;
    std::vector<double> times;
    for (const Call& call : group)
      times.push_back(call.us);
    const double usual = LowerMedian(std::move(times));
    if (usual < kUsualUsMin) return;
    double slow_us = 0;
    std::vector<const Call*> slow;
    const Call* normal = nullptr;
    for (const Call& call : group) {
      if (call.us > kSlowTimes * usual) {
        slow.push_back(&call);
        slow_us += call.us;
      } else if (normal == nullptr || std::abs(call.us - usual) < std::abs(normal->us - usual)) {
        normal = &call;
      }
    }
    const auto count = static_cast<double>(slow.size());
    const double excess = slow_us - count * usual;
    if (slow.empty() || count > kSlowShare * static_cast<double>(group.size())) return;
    if (100 * excess < kExcessShare * calls_.computation_us) return;
    // A single one is one call's accident.
    if (slow.size() < 2 && 100 * excess < 3 * kExcessShare * calls_.computation_us) return;
    std::vector<EventIndex> gpu;
    for (const Call* call : slow) {
      const auto& kernels = calls_.calls[call->call].kernels;
      gpu.insert(gpu.end(), kernels.begin(), kernels.end());
    }
    const double part = excess / slow_us;
    std::vector<Fact> facts = {StructureCount("slow", slow.size()),
                               StructureCount("calls", group.size()),
                               StructureWords("times", ThreeDigits(slow_us / count / usual)),
                               StructureWords("slow_us", ThreeDigits(slow_us / count) + " µs"),
                               StructureWords("usual_us", ThreeDigits(usual) + " µs")};
    Difference(*slow.front(), *normal, &facts);
    const Operation& operation = *slow.front()->operation;
    Finding f = StructureFinding(calls_, Pattern::kSlowCalls, "Equal calls", operation.name,
                                 std::move(gpu), {part / 2, part, part},
                                 {{}, "the time of the other calls", "the same op in this trace"},
                                 std::move(facts));
    f.subject_args = operation.args;
    if (!operation.module_path.empty()) f.module_paths = {operation.module_path};
    found->push_back(std::move(f));
  }

  // What tells a slow call from a usual one.
  void Difference(const Call& slow, const Call& usual, std::vector<Fact>* facts) const {
    if (slow.operation->strides != usual.operation->strides && !slow.operation->strides.empty()) {
      facts->push_back(StructureText("strides", slow.operation->strides));
      facts->push_back(StructureText("usual_strides", usual.operation->strides));
    }
    const auto name_of = [&](const Call& call) {
      return std::string(calls_.events().name(calls_.calls[call.call].kernels.front()));
    };
    if (name_of(slow) != name_of(usual)) {
      facts->push_back(StructureText("slow_kernel", name_of(slow)));
      facts->push_back(StructureText("kernel", name_of(usual)));
    }
    const std::string& place = slow.operation->entry_point.empty() ? slow.operation->module_path
                                                                   : slow.operation->entry_point;
    if (!place.empty()) facts->push_back(StructureText("where", place));
  }

  const Calls& calls_;
  const std::vector<CategoryAnalysis>& categories_;
};

}  // namespace

std::vector<Finding> FindSameWork(const Calls& calls, const ledger::KindsOfWork& kinds,
                                  const std::vector<CategoryAnalysis>& categories) {
  std::vector<Finding> found = SlowCallFinder(calls, categories).Run();
  bool compared = false;
  std::optional<Finding> clock = ClockFinder(calls, kinds, true).Run(&compared);
  // Of one pass forward and back, say, no size comes twice.
  if (!compared) clock = ClockFinder(calls, kinds, false).Run(&compared);
  if (clock) found.push_back(std::move(*clock));
  return found;
}

}  // namespace jarvis::findings
