#include "findings/one/expert_loop.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "analysis/host/runtime_calls.h"
#include "base/interval.h"
#include "findings/one/structure_maker.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kRoundsLeast = 4;
constexpr std::size_t kProductsMost = 4;  // of one expert

// A product of a forward pass.
struct LoopProduct {
  std::int64_t begin_ns = 0, end_ns = 0;
  double m = 0, n = 0, k = 0;
};

// Products of one expert in turn.
struct ExpertRound {
  std::size_t first = 0, last = 0;  // of the thread's products
  double rows = 0;
};

struct ExpertLoop {
  std::uint32_t track = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::size_t rounds = 0, products = 0;
  double rows_least = 0, rows_most = 0;
};

// The loops of one thread, by its products.
class LoopFinder {
 public:
  explicit LoopFinder(const std::vector<LoopProduct>& products) : products_(products) {}

  std::vector<std::pair<std::size_t, std::vector<ExpertRound>>> Run() const {
    std::vector<std::pair<std::size_t, std::vector<ExpertRound>>> found;
    for (std::size_t at = 0; at < products_.size();) {
      std::size_t best = 0;
      std::vector<ExpertRound> rounds;
      for (std::size_t width = 2; width <= kProductsMost; ++width) {
        std::vector<ExpertRound> some = RoundsFrom(at, width);
        if (some.size() * width <= rounds.size() * best) continue;
        best = width;
        rounds = std::move(some);
      }
      if (rounds.size() < kRoundsLeast) {
        ++at;
        continue;
      }
      // Past all of them: looked at again from each, many layers would take their square.
      if (!RowsDiffer(rounds)) {
        at = rounds.back().last;
        continue;
      }
      at = rounds.back().last + 1;
      found.emplace_back(best, std::move(rounds));
    }
    return found;
  }

 private:
  // In and out are the hidden width, and all products of a round have its rows.
  bool IsRound(std::size_t at, std::size_t width) const {
    if (at + width > products_.size()) return false;
    const LoopProduct& first = products_[at];
    const LoopProduct& last = products_[at + width - 1];
    if (first.k != last.n || first.m <= 0) return false;
    for (std::size_t i = 1; i < width; ++i) {
      if (products_[at + i].m != first.m) return false;
    }
    return true;
  }

  std::vector<ExpertRound> RoundsFrom(std::size_t at, std::size_t width) const {
    std::vector<ExpertRound> rounds;
    for (std::size_t begin = at; IsRound(begin, width); begin += width) {
      const auto alike = [&](std::size_t i) {
        return products_[begin + i].n == products_[at + i].n &&
               products_[begin + i].k == products_[at + i].k;
      };
      bool same = true;
      for (std::size_t i = 0; i < width; ++i)
        same = same && alike(i);
      if (!same) break;
      rounds.push_back({begin, begin + width - 1, products_[begin].m});
    }
    return rounds;
  }

  // Layers one behind the other, too, are alike, over all rows each.
  static bool RowsDiffer(const std::vector<ExpertRound>& rounds) {
    std::size_t changes = 0;
    for (std::size_t i = 1; i < rounds.size(); ++i)
      if (rounds[i].rows != rounds[i - 1].rows) ++changes;
    return 2 * changes >= rounds.size();
  }

  const std::vector<LoopProduct>& products_;
};

class ExpertLoops {
 public:
  ExpertLoops(const Calls& calls, const std::vector<CategoryAnalysis>& categories)
      : calls_(calls), events_(calls.events()), tree_(calls.trace.tree()), categories_(categories) {
    FindChoices();
  }

  // By thread and begin.
  std::vector<ExpertLoop> Run() const {
    std::map<std::uint32_t, std::vector<LoopProduct>> threads;
    for (std::size_t i = 0; i < calls_.calls.size(); ++i)
      AddProduct(i, &threads);
    std::vector<ExpertLoop> loops;
    for (auto& [track, products] : threads) {
      std::sort(products.begin(), products.end(),
                [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
      for (const auto& [width, rounds] : LoopFinder(products).Run()) {
        if (Routes(track, products, rounds))
          loops.push_back(LoopOf(track, products, width, rounds));
      }
    }
    return loops;
  }

 private:
  void AddProduct(std::size_t i, std::map<std::uint32_t, std::vector<LoopProduct>>* threads) const {
    const analysis::WorkCall& call = calls_.calls[i];
    const Place place = calls_.place_of[i];
    if (place.category == kNone || categories_[place.category].kind != Kind::kGemm) return;
    if (call.work == nullptr || call.backward || !calls_.IsHostCall(call)) return;
    const auto m = call.work->NumberOf("M"), n = call.work->NumberOf("N"),
               k = call.work->NumberOf("K");
    if (!m || !n || !k) return;
    const trace::Event& op = events_[call.op];
    (*threads)[op.track].push_back({op.ts_ns, op.end_ns(), *m, *n, *k});
  }

  // Between the product before the loop and its first: the gate's choice.
  bool Routes(std::uint32_t track, const std::vector<LoopProduct>& products,
              const std::vector<ExpertRound>& rounds) const {
    const auto choices = choices_.find(track);
    if (choices == choices_.end()) return false;
    const std::size_t first = rounds.front().first;
    const std::int64_t from = first == 0 ? 0 : products[first - 1].begin_ns;
    const auto next = std::lower_bound(choices->second.begin(), choices->second.end(), from);
    return next != choices->second.end() && *next < products[first].begin_ns;
  }

  void FindChoices() {
    static constexpr std::string_view kChoices[] = {
        "aten::topk", "aten::argmax", "aten::sort", "aten::max", "aten::nonzero", "aten::bincount"};
    trace::ByName<bool> chooses(events_, [](std::string_view name) {
      return std::find(std::begin(kChoices), std::end(kChoices), name) != std::end(kChoices);
    });
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind == trace::EventKind::kCpuOp && chooses.Of(e))
        choices_[events_[e].track].push_back(events_[e].ts_ns);
    }
    for (auto& [track, times] : choices_)
      std::sort(times.begin(), times.end());
  }

  // A round begins where the one before ends, and the last is as long as the others.
  static ExpertLoop LoopOf(std::uint32_t track, const std::vector<LoopProduct>& products,
                           std::size_t width, const std::vector<ExpertRound>& rounds) {
    ExpertLoop loop;
    loop.track = track;
    loop.rounds = rounds.size();
    loop.products = width;
    const std::int64_t first = products[rounds.front().first].begin_ns;
    const std::int64_t last = products[rounds.back().first].begin_ns;
    const std::int64_t each = (last - first) / static_cast<std::int64_t>(rounds.size() - 1);
    loop.begin_ns = first;
    loop.end_ns = std::max(last + each, products[rounds.back().last].end_ns);
    const auto [least, most] = std::minmax_element(
        rounds.begin(), rounds.end(), [](const auto& a, const auto& b) { return a.rows < b.rows; });
    loop.rows_least = least->rows;
    loop.rows_most = most->rows;
    return loop;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::vector<CategoryAnalysis>& categories_;
  std::map<std::uint32_t, std::vector<std::int64_t>> choices_;  // by thread: begins, sorted
};

// Of loops by thread and begin the one that holds a time; null: none.
const ExpertLoop* LoopAt(const std::vector<ExpertLoop>& loops, std::uint32_t track,
                         std::int64_t at_ns) {
  const auto after = std::partition_point(loops.begin(), loops.end(), [&](const ExpertLoop& one) {
    return std::pair(one.track, one.begin_ns) <= std::pair(track, at_ns);
  });
  if (after == loops.begin()) return nullptr;
  const ExpertLoop& loop = *(after - 1);
  return loop.track == track && at_ns < loop.end_ns ? &loop : nullptr;
}

// What the loops take of the host, in both passes.
struct LoopWork {
  analysis::ScaleHost host;
  analysis::RemoveWaits waits;
  std::vector<EventIndex> gpu;
};

LoopWork WorkOf(const Calls& calls, const std::vector<ExpertLoop>& loops) {
  const trace::EventStore& events = calls.events();
  const tree::CallTree& tree = calls.trace.tree();
  LoopWork work;
  struct Backward {
    std::uint32_t track = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  std::map<const ExpertLoop*, Backward> backward;
  for (const EventIndex e : tree.preorder()) {
    const trace::Event& event = events[e];
    if (trace::IsLaunchCall(event.kind) && analysis::IsSyncCall(events.name(e)) &&
        LoopAt(loops, event.track, event.ts_ns) != nullptr) {
      work.waits.calls.push_back(e);
    }
    const EventIndex forward = tree.ForwardOf(e);
    if (forward == kNoEvent) continue;
    const ExpertLoop* loop = LoopAt(loops, events[forward].track, events[forward].ts_ns);
    if (loop == nullptr) continue;
    const auto [found, added] =
        backward.try_emplace(loop, Backward{event.track, event.ts_ns, event.end_ns()});
    if (added) continue;
    found->second.begin_ns = std::min(found->second.begin_ns, event.ts_ns);
    found->second.end_ns = std::max(found->second.end_ns, event.end_ns());
  }
  for (const ExpertLoop& loop : loops) {
    work.host.stretches.push_back({loop.track, loop.begin_ns, loop.end_ns});
    const auto found = backward.find(&loop);
    if (found == backward.end()) continue;
    work.host.stretches.push_back(
        {found->second.track, found->second.begin_ns, found->second.end_ns});
  }
  std::map<std::uint32_t, IntervalSet<std::int64_t>> threads;
  for (const analysis::HostStretch& stretch : work.host.stretches)
    threads[stretch.track].push_back({stretch.begin_ns, stretch.end_ns});
  for (auto& [track, spans] : threads)
    spans = Union(std::move(spans));
  for (const EventIndex gpu : calls.trace.attribution().timeline) {
    const EventIndex launch = tree.parent(gpu);
    if (launch == kNoEvent) continue;
    const auto spans = threads.find(events[launch].track);
    if (spans != threads.end() && Contains(spans->second, events[launch].ts_ns))
      work.gpu.push_back(gpu);
  }
  return work;
}

}  // namespace

void FindExpertLoops(const Calls& calls, const WorkContext& context,
                     const std::vector<CategoryAnalysis>& categories, std::vector<Finding>* out) {
  if (context.IsServer()) return;
  const std::vector<ExpertLoop> loops = ExpertLoops(calls, categories).Run();
  if (loops.empty()) return;
  LoopWork work = WorkOf(calls, loops);
  std::size_t rounds = 0, products = 0;
  double least = loops.front().rows_least, most = 0;
  for (const ExpertLoop& loop : loops) {
    rounds = std::max(rounds, loop.rounds);
    products = std::max(products, loop.products);
    least = std::min(least, loop.rows_least);
    most = std::max(most, loop.rows_most);
  }
  std::vector<Fact> facts = {StructureCount("loops", loops.size()),
                             StructureCount("rounds", rounds), StructureCount("products", products),
                             StructureCount("rows_least", static_cast<std::size_t>(least)),
                             StructureCount("rows_most", static_cast<std::size_t>(most))};
  if (!work.waits.calls.empty()) facts.push_back(StructureCount("waits", work.waits.calls.size()));
  Finding f = StructureFinding(
      calls, Pattern::kExpertLoop, "Experts", "loops over experts", std::move(work.gpu), {0, 0, 0},
      {{}, "the host work of two rounds per loop, no waits", "loops of this trace"},
      std::move(facts));
  // Sorting the rows and one call for each of an expert's products: about what two rounds take.
  work.host.factor = std::min(1.0, 2 / static_cast<double>(rounds));
  f.change_a->exact = {std::move(work.host), std::move(work.waits)};
  out->push_back(std::move(f));
}

void TellExpertLoops(std::span<const Finding> structures, Workload* workload) {
  const auto loop = std::ranges::find_if(
      structures, [](const Finding& one) { return one.rule == Pattern::kExpertLoop; });
  if (loop == structures.end()) return;
  WorkloadField& family = (*workload)[WorkloadPart::kFamily];
  if (family.certainty == Certainty::kInferred && !family.value.starts_with("mixture-of-experts")) {
    const bool decoder = family.value == "decoder-only transformer";
    family.value = "mixture-of-experts " + (decoder ? "decoder" : family.value);
    family.evidence.emplace_back("loops over experts behind a gate");
  }
  for (const Fact& fact : loop->patterns.front().facts) {
    const auto* const rounds = std::get_if<std::int64_t>(&fact.value);
    if (fact.key == "rounds" && rounds != nullptr) {
      workload->Set(WorkloadPart::kExperts, std::to_string(*rounds), Certainty::kInferred,
                    "rounds of a loop over experts");
    }
  }
}

}  // namespace jarvis::findings
