#include "findings/one/additions.h"

#include <algorithm>
#include <span>
#include <utility>

#include "findings/one/analysis.h"
#include "findings/one/estimates.h"
#include "findings/one/time_scope.h"
#include "findings/one/wall_plan.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using ChangeList = std::vector<analysis::Change>;

// The GPU events that changes are about, sorted; those of other kinds have none.
std::vector<trace::EventIndex> WorkOfChanges(std::span<const analysis::Change> changes) {
  std::vector<trace::EventIndex> events;
  for (const analysis::Change& change : changes) {
    std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.events; })
            events.insert(events.end(), one.events.begin(), one.events.end());
        },
        change);
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

bool IsOfWorkAlone(std::span<const analysis::Change> changes) {
  return !changes.empty() &&
         std::all_of(changes.begin(), changes.end(), [](const analysis::Change& change) {
           return std::visit(
               [](const auto& one) {
                 return requires {
                   one.events;
                 };
               },
               change);
         });
}

class Adder {
 public:
  Adder(const analysis::Simulation* simulation, Analysis* analysis)
      : simulation_(simulation), analysis_(*analysis) {}

  void Add(const Addition& addition) {
    Finding finding;
    finding.id = addition.id;
    finding.subject = addition.subject;
    finding.bucket = "unknown";
    finding.by_hand = std::make_shared<const ByHand>(ByHand{addition.change, addition.texts});
    finding.source_file = "metadata/report_options.json";
    finding.source_cell = "/choices/added";
    const ChangeList changes = InScope(addition.changes);
    Describe(changes, &finding);
    if (!changes.empty()) Ask(changes, &finding);
    const auto in_category =
        std::count_if(analysis_.findings.begin(), analysis_.findings.end(),
                      [&](const Finding& one) { return one.category == finding.category; });
    finding.rank = static_cast<int>(in_category) + 1;
    for (CategoryAnalysis& category : analysis_.categories) {
      if (category.key == finding.category) category.findings.push_back(finding);
    }
    const auto place = analysis_.findings.begin() + static_cast<std::ptrdiff_t>(PlaceOf(&finding));
    analysis_.findings.insert(place, std::move(finding));
  }

 private:
  bool CanAsk() const {
    return simulation_ != nullptr && analysis_.wall.known && analysis_.wall.given != nullptr;
  }

  ChangeList InScope(const ChangeList& changes) const {
    if (!CanAsk()) return {};
    return TimeScope(analysis_.frames->frames).Of(simulation_->recorded(), changes);
  }

  // What it is about: the operations that most of the changed GPU work is of, or the host.
  void Describe(const ChangeList& changes, Finding* finding) const {
    finding->category = "cpu_idle";
    finding->category_name = "CPU/Idle Analysis";
    finding->tier = Tier::kSystem;
    if (!IsOfWorkAlone(changes)) return;
    const std::vector<trace::EventIndex> events = WorkOfChanges(changes);
    double us = 0;
    for (const trace::EventIndex e : events) {
      const std::uint32_t work = simulation_->recorded().WorkAt(e);
      if (work != analysis::kNoPlace) us += simulation_->recorded().works[work].duration();
    }
    finding->time_ms = us / 1000;
    finding->exclusive_ms = finding->time_ms;
    finding->percent_of_total = analysis_.totals.Percent(finding->time_ms);
    Members(events, finding);
  }

  void Members(std::span<const trace::EventIndex> events, Finding* finding) const {
    std::vector<const Operation*> members;
    const CategoryAnalysis* most = nullptr;
    double most_us = 0;
    for (const CategoryAnalysis& category : analysis_.categories) {
      double us = 0;
      for (const Operation& operation : category.operations) {
        const auto shared =
            std::count_if(operation.gpu.begin(), operation.gpu.end(), [&](trace::EventIndex e) {
              return std::binary_search(events.begin(), events.end(), e);
            });
        // An operation of which only a few calls change is not what the finding is about.
        if (shared == 0 || 2 * static_cast<std::size_t>(shared) < operation.gpu.size()) continue;
        members.push_back(&operation);
        us += operation.gpu_us;
      }
      if (us <= most_us) continue;
      most = &category;
      most_us = us;
    }
    if (most == nullptr) return;
    finding->tier = Tier::kCompute;
    finding->category = most->key;
    finding->category_name = most->display_name;
    std::stable_sort(members.begin(), members.end(),
                     [](const Operation* a, const Operation* b) { return a->gpu_us > b->gpu_us; });
    finding->library = members.front()->library;
    constexpr std::size_t kModulesMax = 3;
    const auto add = [](const std::string& name, std::size_t most_names,
                        std::vector<std::string>* names) {
      const bool known = std::find(names->begin(), names->end(), name) != names->end();
      if (!name.empty() && !known && names->size() < most_names) names->push_back(name);
    };
    for (const Operation* member : members) {
      finding->members.push_back(member->id);
      finding->count += member->count;
      add(member->row_id, members.size(), &finding->row_ids);
      add(member->module_path, kModulesMax, &finding->module_paths);
    }
  }

  // What the changes save of the steps that the user waits for, by the path that it has words for.
  void Ask(const ChangeList& changes, Finding* finding) const {
    auto way = std::make_shared<WayOut>();
    way->changes = changes;
    const analysis::Outcome outcome = simulation_->WhatIf(*analysis_.wall.given, changes);
    // A wait that goes is no time that anybody worked.
    const bool works = IsOfWorkAlone(changes);
    const double wall_ms = analysis_.wall.wall_ms;
    const double cap = works ? std::clamp(outcome.gpu_ms, 0.0, wall_ms) : wall_ms;
    way->cap_ms = cap;
    const double mid = std::clamp(outcome.saved_ms, 0.0, cap);
    WallSaving saving;
    saving.ms = {std::clamp(outcome.low_ms, 0.0, mid), mid,
                 std::clamp(outcome.high_ms, mid, std::max(mid, cap))};
    saving.after_others_ms = mid;
    finding->way = std::move(way);
    finding->method = EstimateMethod::kTarget;
    if (!works) {
      finding->time_ms = std::max(outcome.host_ms, saving.ms.high);
      finding->exclusive_ms = saving.ms.high;
    }
    // Of GPU work what goes of its time, of the host what the user no longer waits for.
    finding->savings_ms = finding->tier == Tier::kCompute
                              ? Range{outcome.gpu_ms, outcome.gpu_ms, outcome.gpu_ms}
                              : saving.ms;
    if (const auto share = analysis_.totals.Percent(1))
      finding->impact_percent = Scaled(*finding->savings_ms, *share);
    if (finding->by_hand->texts.contains("path_a")) finding->wall_a = saving;
    if (finding->by_hand->texts.contains("path_b") || !finding->wall_a) finding->wall_b = saving;
  }

  // Before the first finding that adds less at its place than this one would there.
  std::size_t PlaceOf(Finding* finding) const {
    const std::vector<Finding>& all = analysis_.findings;
    if (finding->way == nullptr) return all.size();
    const std::vector<ChangeList> candidates = {finding->way->changes};
    analysis::DoneChanges done = simulation_->Done(*analysis_.wall.given);
    std::size_t place = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const WallSaving* best = BestWall(all[i]);
      if (all[i].way == nullptr || best == nullptr) continue;
      const double here =
          std::clamp(simulation_->SavedAfter(done, candidates)[0], 0.0, *finding->way->cap_ms);
      if (here > best->after_others_ms) {
        SetAfter(here, finding);
        return i;
      }
      simulation_->Do(all[i].way->changes, &done);
      place = i + 1;
    }
    SetAfter(std::max(0.0, simulation_->SavedAfter(done, candidates)[0]), finding);
    return place;
  }

  static void SetAfter(double ms, Finding* finding) {
    for (std::optional<WallSaving>* saving : {&finding->wall_a, &finding->wall_b}) {
      if (*saving) (*saving)->after_others_ms = ms;
    }
  }

  const analysis::Simulation* simulation_;
  Analysis& analysis_;
};

}  // namespace

bool IsAddedId(std::string_view id) {
  return id.size() > 1 && id[0] == 'a' &&
         std::all_of(id.begin() + 1, id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void AddFindings(const std::vector<Addition>& additions, const analysis::Simulation* simulation,
                 Analysis* analysis) {
  Adder adder(simulation, analysis);
  for (const Addition& addition : additions)
    adder.Add(addition);
  if (!additions.empty()) analysis->nothing_because.clear();
}

}  // namespace jarvis::findings
