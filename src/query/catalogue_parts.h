// What the relations of a catalogue are made from; see catalogue.h. Those of which each row is an
// event are in catalogue_events.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/attribution/module_paths.h"
#include "query/catalogue.h"
#include "trace/json_text.h"

namespace jarvis::query {

inline Value Known(std::int64_t value) {
  return value == trace::kAbsent ? Value() : Value(value);
}

inline Value TextOr(std::string_view text) {
  return text.empty() ? Value() : Value(text);
}

inline Value Count(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

// Each part is made when it is first needed.
class Catalogue::Parts {
 public:
  Parts(const session::LoadedTrace& trace, AnalysisMaker analysis, Job& job)
      : trace_(trace),
        events_(trace.events()),
        tree_(trace.tree()),
        analysis_(std::move(analysis)),
        job_(job),
        chains_(events_, tree_) {}

  Result<Relation> Make(std::string_view name);

 private:
  using Rows = std::shared_ptr<std::vector<trace::EventIndex>>;
  // Events that `chosen` picks, by start.
  template <typename Chosen>
  Rows Select(const Chosen& chosen) const;
  void MakeHostSums();
  void MakeOwners();

  Relation GpuWork();
  Relation HostCalls();
  Relation PythonFrames();
  Relation Ops();
  Relation Grouped(analysis::GroupBy by) const;
  Result<Relation> Steps() const;
  Result<Relation> Phases() const;
  Result<Relation> Iterations() const;
  Result<Relation> Ledger() const;
  Relation Gaps() const;
  Result<Relation> Launches() const;
  Relation Collectives();
  Result<Relation> Findings() const;
  Relation ArgsOf() const;

  Value IdOf(trace::EventIndex e) const {
    return e == trace::kNoEvent ? Value() : Value(static_cast<std::int64_t>(events_[e].uid));
  }
  Value StepOf(trace::EventIndex gpu) const {
    const std::int64_t step = analysis::StepOf(events_, tree_, trace_.steps(), gpu);
    return step < 0 ? Value() : Value(step);
  }
  Value StreamOf(trace::EventIndex gpu) const {
    const std::int64_t recorded = events_.args_of(gpu).stream;
    if (recorded != trace::kAbsent) return recorded;
    const auto parsed = trace::IntegerOf(events_.tracks[events_[gpu].track].tid);
    return parsed ? Value(*parsed) : Value();
  }
  Value ModuleOf(trace::EventIndex e) {
    const analysis::ChainTree::Node node = chains_.Of(e);
    const auto [found, fresh] = modules_.try_emplace(node);
    if (fresh) found->second = analysis::ModulePath(chains_.Frames(node));
    return TextOr(found->second);
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const AnalysisMaker analysis_;
  Job& job_;
  analysis::ChainTree chains_;
  std::unordered_map<analysis::ChainTree::Node, std::string> modules_;
  // By event; empty until they are needed.
  std::vector<std::int64_t> self_ns_;
  std::vector<std::int32_t> depth_;
  std::vector<std::int64_t> below_ns_;      // GPU work launched here or below
  std::vector<trace::EventIndex> op_of_;    // of GPU work
  std::vector<std::uint32_t> launcher_of_;  // of ops; kNone: launches nothing itself
  std::vector<std::uint32_t> op_row_;       // of launchers: SummaryBy(kOp).rows
  std::vector<std::uint32_t> kernel_row_;   // of GPU work: SummaryBy(kKernel).rows
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
};

template <typename Chosen>
Catalogue::Parts::Rows Catalogue::Parts::Select(const Chosen& chosen) const {
  auto rows = std::make_shared<std::vector<trace::EventIndex>>();
  for (trace::EventIndex e = 0; e < events_.size(); ++e) {
    const trace::Event& event = events_[e];
    if ((event.flags & trace::kLeftOut) == 0 && chosen(event.kind)) rows->push_back(e);
  }
  std::stable_sort(rows->begin(), rows->end(), [&](trace::EventIndex a, trace::EventIndex b) {
    return events_[a].ts_ns < events_[b].ts_ns;
  });
  return rows;
}

}  // namespace jarvis::query
