#include "findings/one/line_findings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/tables/summary.h"
#include "base/number_text.h"
#include "findings/one/analysis.h"
#include "findings/one/calls.h"
#include "findings/one/estimates.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/kernel_roles.h"
#include "findings/one/predicates.h"
#include "findings/one/product_kernels.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "ledger/kinds/kinds_of_work.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using levers::LineRule;
using trace::EventIndex;

bool Names(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

bool HasPart(const std::vector<std::string>& parts, std::string_view name) {
  return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
           return name.find(part) != name.npos;
         });
}

class LineFixFinder {
 public:
  LineFixFinder(const Calls& calls, const ledger::KindsOfWork& kinds, const WorkContext& context,
                const std::vector<CategoryAnalysis>& categories, std::vector<bool> sized)
      : calls_(calls),
        events_(calls.events()),
        kinds_(kinds),
        categories_(categories),
        taken_(std::move(sized)),
        facts_{context, calls.platform, context.architecture},
        streams_(WorkByStream(calls)),
        roles_(FindKernelRoles(calls, kinds, streams_)) {}

  std::vector<Finding> Run() {
    for (const LineRule& rule : levers::Shipped().lines()) {
      if (AllHold(rule.when, facts_)) Try(rule);
    }
    return std::move(out_);
  }

 private:
  bool IsRated(EventIndex e) const {
    const std::uint32_t call = calls_.call_of[e];
    if (call == kNone || calls_.place_of[call].category == kNone) return false;
    const Place place = calls_.place_of[call];
    return categories_[place.category].operations[place.operation].efficiency.percent.has_value();
  }

  bool IsGenerated(EventIndex e) const { return kinds_.Of(e).library == "inductor_triton"; }

  bool Holds(const LineRule& rule, EventIndex e) const {
    if (taken_[e]) return false;
    const ledger::KernelKind& kind = kinds_.Of(e);
    if (!Names(rule.kinds, ledger::WorkKindText(kind.kind))) return false;
    if (!Names(rule.libraries, kind.library) || !Names(rule.classes, kind.sub)) return false;
    if (!Names(rule.precisions, kind.precision)) return false;
    if (!HasPart(rule.names, events_.name(e))) return false;
    return rule.kernels.empty() ||
           AllHold(rule.kernels,
                   KernelFacts{
                       calls_.trace.IsReplayed(e), IsRated(e), roles_.beside_attention[e],
                       kind.kind == ledger::WorkKind::kConvolution || roles_.helps_convolution[e],
                       roles_.adds_gradient[e], IsGenerated(e), HasFewBlocks(calls_.trace, e)});
  }

  void Try(const LineRule& rule) {
    std::vector<EventIndex> gpu;
    double kept_us = 0;  // of rows: what the longest kernel of each takes
    double all_us = 0;
    for (const std::vector<EventIndex>& work : streams_) {
      for (std::size_t at = 0; at < work.size();) {
        std::size_t after = at;
        double longest = 0, sum = 0;
        while (after < work.size() && Holds(rule, work[after])) {
          const double us = trace::MicrosOf(events_[work[after++]].dur_ns);
          longest = std::max(longest, us);
          sum += us;
        }
        if (after - at >= (rule.rows ? 2 : 1)) {
          for (std::size_t i = at; i < after; ++i)
            gpu.push_back(work[i]);
          kept_us += longest;
          all_us += sum;
        }
        at = std::max(after, at + 1);
      }
    }
    if (gpu.empty() || all_us * 100 < limits::kLineShare * calls_.computation_us) return;
    const double part = rule.rows ? 1 - kept_us / all_us : 1;
    Add(rule, std::move(gpu), part);
  }

  // `row_part`: of the kernels' time what the rule's parts are of.
  void Add(const LineRule& rule, std::vector<EventIndex> gpu, double row_part) {
    const auto part_of = [&](const std::array<double, 3>& saves) {
      return Range{saves[0] * row_part, saves[1] * row_part, saves[2] * row_part};
    };
    const Range part = part_of(rule.saves);
    struct OfName {
      double us = 0;
      std::size_t calls = 0;
      double least_us = 0, most_us = 0;
      EventIndex longest = trace::kNoEvent;
      // One mean of calls that are nothing alike describes none of them.
      void TellPerCall(std::vector<Fact>* facts) const {
        constexpr double kAlike = 3;
        const bool alike = most_us <= kAlike * least_us;
        facts->push_back(
            NumberFact("kernel_us", alike ? us / static_cast<double>(calls) : least_us, "us"));
        if (!alike) facts->push_back(NumberFact("most_us", most_us, "us"));
      }
    };
    std::map<std::string, OfName> names;
    for (const EventIndex e : gpu) {
      OfName& one = names[analysis::ShortKernelName(events_.name(e))];
      const double us = trace::MicrosOf(events_[e].dur_ns);
      one.us += us;
      one.least_us = one.calls == 0 ? us : std::min(one.least_us, us);
      one.most_us = std::max(one.most_us, us);
      ++one.calls;
      if (one.longest == trace::kNoEvent || events_[e].dur_ns > events_[one.longest].dur_ns)
        one.longest = e;
    }
    const auto most =
        std::max_element(names.begin(), names.end(),
                         [](const auto& a, const auto& b) { return a.second.us < b.second.us; });
    const RuleRow* row = RuleOf(rule.pattern);
    if (row == nullptr) return;
    std::vector<Fact> facts = {StructureText("kernel", most->first)};
    most->second.TellPerCall(&facts);
    if (std::none_of(gpu.begin(), gpu.end(), [&](EventIndex e) { return IsGenerated(e); }))
      facts.push_back({"moves", "they only move data", "words"});
    if (HasFewBlocks(calls_.trace, most->second.longest)) {
      facts.push_back(StructureCount(
          "blocks", static_cast<std::size_t>(*BlocksOf(calls_.trace, most->second.longest))));
      facts.push_back(
          StructureCount("units", static_cast<std::size_t>(*ComputeUnitsOf(calls_.trace))));
    }
    Finding f = StructureFinding(calls_, rule.pattern, "Kernels", most->first, std::move(gpu), part,
                                 {{}, row->target, row->source}, std::move(facts));
    // What runs beside other work is no time to save.
    f.savings_ms = f.change_a->savings_ms = Scaled(part, f.exclusive_ms);
    // What would not be told leaves its kernels to the rules behind it.
    if (f.savings_ms->mid * 1e5 < limits::kFindingMin * calls_.window_us) return;
    for (const EventIndex e : f.change_a->parts.front().gpu)
      taken_[e] = true;
    f.other_kernels = names.size() - 1;
    f.path_a.front().savings_ms = f.savings_ms;
    if (!row->path_b.empty()) {
      f.path_b = f.path_a;
      f.change_b = f.change_a;
      if (rule.saves_b) TakePart(part_of(*rule.saves_b), f.exclusive_ms, &*f.change_b);
    }
    if (row->path_a.empty()) {
      f.path_a.clear();
      f.change_a.reset();
    }
    out_.push_back(std::move(f));
  }

  static void TakePart(const Range& part, double exclusive_ms, Change* change) {
    change->parts.front().saved_part = part;
    change->savings_ms = Scaled(part, exclusive_ms);
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const ledger::KindsOfWork& kinds_;
  const std::vector<CategoryAnalysis>& categories_;
  std::vector<bool> taken_;
  TraceFacts facts_;
  const std::vector<std::vector<EventIndex>> streams_;
  const KernelRoles roles_;
  std::vector<Finding> out_;
};

}  // namespace

void AddLineFixes(const Calls& calls, std::span<const Finding> fusions, Analysis* analysis,
                  std::vector<Finding>* structures) {
  std::vector<bool> sized(calls.events().size());
  const auto add = [&](std::span<const Finding> findings, std::vector<bool>* to) {
    for (const Finding& finding : findings) {
      if (!finding.savings_ms && !finding.change_a && !finding.change_b) continue;
      for (const EventIndex e : analysis->WorkOf(finding))
        (*to)[e] = true;
    }
  };
  for (const CategoryAnalysis& category : analysis->categories)
    add(category.findings, &sized);
  add(fusions, &sized);
  add(*structures, &sized);
  // No change to what is recorded makes work of before faster.
  for (const EventIndex e : analysis->frames->frames.base.head.foreign)
    sized[e] = true;
  std::vector<Finding> found = LineFixFinder(calls, *analysis->frames->kinds, analysis->context,
                                             analysis->categories, std::move(sized))
                                   .Run();
  std::move(found.begin(), found.end(), std::back_inserter(*structures));
  std::vector<bool> own(calls.events().size());
  add(*structures, &own);
  ClaimOperations(calls.events(), own, &analysis->categories);
}

}  // namespace jarvis::findings
