#include "query/catalogue.h"

#include <cmath>

#include "analysis/attribution/collective_kernel.h"
#include "base/check.h"
#include "base/text.h"
#include "documents/prose.h"
#include "findings/one/idle.h"
#include "ledger/books/ledger_rows.h"
#include "query/catalogue_parts.h"
#include "session/trace_frames.h"
#include "session/trace_host.h"
#include "trace/json_text.h"

namespace jarvis::query {
namespace {

using analysis::GroupBy;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

Value Nanoseconds(const std::optional<double>& ms) {
  return ms ? Value(std::int64_t{std::llround(*ms * 1e6)}) : Value();
}

}  // namespace

Relation Catalogue::Parts::Grouped(GroupBy by) const {
  const auto* rows = &trace_.SummaryBy(by).rows;
  const auto of = [rows](auto cell) {
    return [rows, cell](std::size_t row) -> Value { return cell((*rows)[row]); };
  };
  using Row = analysis::SummaryRow;
  Relation made{rows->size(),
                {of([](const Row& row) -> Value { return std::string_view(row.id); }),
                 of([](const Row& row) -> Value { return std::string_view(row.name); })}};
  if (by == GroupBy::kKernel) {
    made.cells.emplace_back(
        of([](const Row& row) -> Value { return analysis::ShortKernelName(row.name); }));
    made.cells.emplace_back(of([](const Row& row) { return TextOr(row.category); }));
  }
  made.cells.emplace_back(
      of([](const Row& row) -> Value { return std::int64_t{std::llround(row.gpu_us * 1000)}; }));
  made.cells.emplace_back(of([](const Row& row) { return Count(row.count); }));
  return made;
}

Result<Relation> Catalogue::Parts::Steps() const {
  JV_ASSIGN(const std::shared_ptr<const session::TraceFrames> frames,
            session::FramesOf(trace_, job_));
  const auto of = [frames](auto cell) {
    return [frames, cell](std::size_t row) -> Value { return cell(frames->frames.steps[row]); };
  };
  using Step = analysis::StepFrame;
  return Relation{frames->frames.steps.size(),
                  {of([](const Step& step) -> Value { return step.number; }),
                   of([](const Step& step) { return TextOr(step.name); }),
                   of([](const Step& step) -> Value { return step.host.start; }),
                   of([](const Step& step) -> Value { return step.host.end; }),
                   of([](const Step& step) -> Value { return step.host_ns(); }),
                   of([](const Step& step) { return step.gpu ? Value(step.gpu->start) : Value(); }),
                   of([](const Step& step) { return step.gpu ? Value(step.gpu->end) : Value(); }),
                   of([](const Step& step) -> Value { return step.busy_ns; }),
                   of([](const Step& step) -> Value { return step.computation_ns; }),
                   of([](const Step& step) -> Value { return step.exposed_comm_ns; }),
                   of([](const Step& step) -> Value { return step.exposed_copy_ns; }),
                   of([](const Step& step) { return Count(step.gpu_events); }),
                   of([](const Step& step) -> Value { return std::int64_t{step.steady}; }),
                   of([](const Step& step) { return TextOr(step.odd_because); })}};
}

Result<Relation> Catalogue::Parts::Phases() const {
  JV_ASSIGN(const std::shared_ptr<const session::TraceFrames> frames,
            session::FramesOf(trace_, job_));
  const auto of = [frames](auto cell) {
    return [frames, cell](std::size_t row) -> Value { return cell(frames->phases.phases[row]); };
  };
  using Phase = analysis::Phase;
  return Relation{
      frames->phases.phases.size(),
      {of([](const Phase& phase) -> Value { return std::string_view(phase.name); }),
       of([](const Phase& phase) -> Value { return analysis::PhaseKindText(phase.kind); }),
       of([](const Phase& phase) -> Value { return std::int64_t{phase.level}; }),
       of([frames](const Phase& phase) {
         return phase.within ? TextOr(frames->phases.phases[*phase.within].name) : Value();
       }),
       of([](const Phase& phase) { return Count(phase.count); }),
       of([](const Phase& phase) -> Value { return phase.start_ns; }),
       of([](const Phase& phase) -> Value { return phase.host_ns; }),
       of([](const Phase& phase) -> Value { return phase.host_each_ns; }),
       of([](const Phase& phase) -> Value { return phase.gpu_busy_ns; }),
       of([](const Phase& phase) -> Value { return phase.gpu_each_ns; }),
       of([](const Phase& phase) -> Value { return phase.gpu_idle_ns; }),
       of([](const Phase& phase) { return Count(phase.gpu_events); })}};
}

Result<Relation> Catalogue::Parts::Ledger() const {
  JV_ASSIGN(const std::shared_ptr<const findings::Analysis> all, analysis_(job_));
  const auto rows = std::make_shared<const std::vector<ledger::LedgerRow>>(
      ledger::LedgerRows(events_, all->frames->frames.base, all->frames->books, all->line_bounds));
  const auto of = [rows](auto cell) {
    return [rows, cell](std::size_t row) -> Value { return cell((*rows)[row]); };
  };
  using Row = ledger::LedgerRow;
  const auto or_null = [](const std::optional<std::int64_t>& ns) {
    return ns ? Value(*ns) : Value();
  };
  return Relation{rows->size(),
                  {of([](const Row& row) -> Value { return row.book; }),
                   of([](const Row& row) -> Value { return std::string_view(row.line); }),
                   of([](const Row& row) -> Value { return std::string_view(row.kind); }),
                   of([](const Row& row) -> Value { return row.ns; }),
                   of([or_null](const Row& row) { return or_null(row.exposed_ns); }),
                   of([](const Row& row) -> Value { return row.share_percent; }),
                   of([or_null](const Row& row) { return or_null(row.bound.ns); }),
                   of([](const Row& row) { return TextOr(row.bound.basis); })}};
}

Result<Relation> Catalogue::Parts::Iterations() const {
  JV_ASSIGN(const std::shared_ptr<const session::TraceFrames> frames,
            session::FramesOf(trace_, job_));
  const auto of = [frames](auto cell) {
    return [frames, cell](std::size_t row) -> Value { return cell(frames->iterations[row]); };
  };
  using One = analysis::Iteration;
  return Relation{frames->iterations.size(),
                  {of([](const One& one) -> Value { return std::string_view(one.name); }),
                   of([](const One& one) -> Value { return perf::PhaseOf(one.sums); }),
                   of([](const One& one) -> Value { return one.host.start; }),
                   of([](const One& one) -> Value { return one.host.end; }),
                   of([](const One& one) -> Value { return one.sums.context_requests; }),
                   of([](const One& one) -> Value { return one.sums.c_sq; }),
                   of([](const One& one) -> Value { return one.sums.generation_requests; }),
                   of([](const One& one) -> Value { return one.sums.g_sq; }),
                   of([](const One& one) { return one.gpu ? Value(one.gpu->start) : Value(); }),
                   of([](const One& one) { return one.gpu ? Value(one.gpu->end) : Value(); }),
                   of([](const One& one) { return one.gpu ? Value(one.busy_ns) : Value(); }),
                   of([](const One& one) { return Count(one.gpu_events); }), of([](const One& one) {
                     return one.period_ns ? Value(*one.period_ns) : Value();
                   })}};
}

Relation Catalogue::Parts::Gaps() const {
  constexpr std::size_t kGapsMax = 100'000;
  const auto idle = std::make_shared<const findings::IdleAnalysis>(
      findings::AnalyzeIdle(trace_, {.gaps_max = kGapsMax}));
  const auto of = [idle](auto cell) {
    return [idle, cell](std::size_t row) -> Value { return cell(idle->gaps[row]); };
  };
  using findings::Gap;
  const auto ns = [](const Gap& gap) { return std::int64_t{std::llround(gap.dur_us * 1000)}; };
  return {idle->gaps.size(),
          {of([ns](const Gap& gap) -> Value { return gap.end_ns - ns(gap); }),
           of([](const Gap& gap) -> Value { return gap.end_ns; }),
           of([ns](const Gap& gap) -> Value { return ns(gap); }),
           of([](const Gap& gap) -> Value { return findings::GapText(gap.kind); }),
           of([](const Gap& gap) { return TextOr(gap.previous_op); }),
           of([](const Gap& gap) { return TextOr(gap.next_op); }),
           of([](const Gap& gap) -> Value { return std::int64_t{gap.next_uid}; }),
           of([](const Gap& gap) { return TextOr(gap.dominant); }), of([](const Gap& gap) {
             return gap.dominant.empty()
                        ? Value()
                        : Value(std::int64_t{std::llround(gap.dominant_us * 1000)});
           }),
           of([](const Gap& gap) { return TextOr(gap.module_path); }),
           of([](const Gap& gap) { return gap.step < 0 ? Value() : Value(gap.step); })}};
}

Result<Relation> Catalogue::Parts::Launches() const {
  JV_ASSIGN(const std::shared_ptr<const analysis::HostSummary> host, session::HostOf(trace_, job_));
  const auto of = [host](auto cell) {
    return [host, cell](std::size_t row) -> Value { return cell(host->launches.all()[row]); };
  };
  using analysis::Launch;
  return Relation{host->launches.all().size(),
                  {of([this](const Launch& one) { return IdOf(one.call); }),
                   of([this](const Launch& one) { return IdOf(one.work); }),
                   of([this](const Launch& one) { return TextOr(events_.tracks[one.thread].tid); }),
                   of([this](const Launch& one) { return TextOr(events_.tracks[one.stream].tid); }),
                   of([](const Launch& one) -> Value { return one.call_ns; }),
                   of([](const Launch& one) -> Value { return one.start_ns; }),
                   of([](const Launch& one) -> Value { return one.start_ns - one.call_ns; }),
                   of([](const Launch& one) -> Value { return one.work_ns; }),
                   of([](const Launch& one) -> Value { return std::int64_t{one.pieces}; }),
                   of([](const Launch& one) -> Value { return std::int64_t{one.stream_idle}; }),
                   of([](const Launch& one) -> Value { return std::int64_t{one.device_idle}; })}};
}

Relation Catalogue::Parts::Collectives() {
  const Rows rows = Select([](EventKind kind) { return kind == EventKind::kKernel; });
  std::erase_if(*rows, [this](EventIndex e) {
    return !analysis::CommFamilyOfKernel(events_.name(e)).has_value();
  });
  const auto of = [rows](auto cell) {
    return [rows, cell](std::size_t row) -> Value { return cell((*rows)[row]); };
  };
  const auto key = [&](analysis::CollectiveKey which) {
    return of([this, which](EventIndex e) -> Value {
      const analysis::CollectiveKeys keys = analysis::RecordedCollective(events_, e);
      if (const auto* number = std::get_if<std::int64_t>(&keys[which])) return *number;
      if (const auto* text = std::get_if<std::string>(&keys[which])) return *text;
      return {};
    });
  };
  return {rows->size(),
          {of([this](EventIndex e) { return IdOf(e); }), of([this](EventIndex e) -> Value {
             return analysis::CommFamilyName(*analysis::CommFamilyOfKernel(events_.name(e)));
           }),
           key(analysis::kCollective), key(analysis::kGroup), key(analysis::kGroupSize),
           key(analysis::kDtype), key(analysis::kIn), key(analysis::kOut),
           of([this](EventIndex e) -> Value { return events_[e].ts_ns; }),
           of([this](EventIndex e) -> Value { return events_[e].end_ns(); }),
           of([this](EventIndex e) -> Value { return events_[e].dur_ns; }),
           of([this](EventIndex e) { return StreamOf(e); }),
           of([this](EventIndex e) { return StepOf(e); })}};
}

Result<Relation> Catalogue::Parts::Findings() const {
  JV_ASSIGN(const std::shared_ptr<const findings::Analysis> all, analysis_(job_));
  const auto of = [all](auto cell) {
    return [all, cell](std::size_t row) -> Value { return cell(all->findings[row]); };
  };
  using findings::Finding;
  const auto wall = [&](auto ms) {
    return of([ms](const Finding& one) {
      const findings::WallSaving* best = findings::BestWall(one);
      return best == nullptr ? Value() : Nanoseconds(ms(*best));
    });
  };
  return Relation{
      all->findings.size(),
      {of([](const Finding& one) -> Value { return std::int64_t{one.global_rank}; }),
       of([](const Finding& one) -> Value { return std::string_view(one.id); }),
       of([all](const Finding& one) -> Value { return documents::DraftText(*all, one).title; }),
       of([](const Finding& one) -> Value { return std::string_view(one.category); }),
       of([](const Finding& one) -> Value { return findings::PriorityText(one.priority); }),
       of([](const Finding& one) -> Value {
         std::string text;
         for (const std::string& row : one.row_ids)
           text += (text.empty() ? "" : " ") + row;
         return text.empty() ? Value() : Value(text);
       }),
       of([](const Finding& one) { return Nanoseconds(one.time_ms); }),
       of([](const Finding& one) -> Value {
         const findings::WallSaving* best = findings::BestWall(one);
         if (best == nullptr) return {};
         return std::string_view(one.wall_a && best == &*one.wall_a ? "A" : "B");
       }),
       wall([](const findings::WallSaving& saving) { return saving.ms.low; }),
       wall([](const findings::WallSaving& saving) { return saving.ms.high; }),
       wall([](const findings::WallSaving& saving) { return saving.after_others_ms; })}};
}

Relation Catalogue::Parts::ArgsOf() const {
  using Member = std::pair<std::string, std::string>;
  struct Contents {
    std::unordered_map<StringId, std::vector<Member>> members;  // by text, which events share
    std::vector<std::pair<EventIndex, const Member*>> rows;
  };
  const auto all = std::make_shared<Contents>();
  for (EventIndex e = 0; e < events_.size(); ++e) {
    const StringId other = events_.args_of(e).other;
    if (other == kNoString) continue;
    const auto [found, fresh] = all->members.try_emplace(other);
    if (fresh) {
      const std::string list = "[" + std::string(events_.text(other)) + "]";
      for (const std::string_view element : trace::ElementsOf(list)) {
        const std::size_t end = element.empty() ? 0 : element.find('"', 1);
        const std::size_t colon = end == 0 ? end : element.find(':', end);
        if (end == 0 || colon == std::string_view::npos) continue;
        found->second.emplace_back(trace::Unescape(element.substr(1, end - 1)),
                                   Trim(element.substr(colon + 1)));
      }
    }
    for (const Member& member : found->second)
      all->rows.emplace_back(e, &member);
  }
  return {
      all->rows.size(),
      {[all, this](std::size_t row) { return IdOf(all->rows[row].first); },
       [all](std::size_t row) -> Value { return std::string_view(all->rows[row].second->first); },
       [all](std::size_t row) -> Value {
         return std::string_view(all->rows[row].second->second);
       }}};
}

Result<Relation> Catalogue::Parts::Make(std::string_view name) {
  if (name == "gpu_work") return GpuWork();
  if (name == "host_calls") return HostCalls();
  if (name == "python_frames") return PythonFrames();
  if (name == "ops") return Ops();
  if (name == "kernels") return Grouped(GroupBy::kKernel);
  if (name == "modules") return Grouped(GroupBy::kModule);
  if (name == "steps") return Steps();
  if (name == "phases") return Phases();
  if (name == "iterations") return Iterations();
  if (name == "ledger") return Ledger();
  if (name == "gaps") return Gaps();
  if (name == "launches") return Launches();
  if (name == "collectives") return Collectives();
  if (name == "findings") return Findings();
  JV_CHECK(name == "args");
  return ArgsOf();
}

Catalogue::Catalogue(const session::LoadedTrace& trace, AnalysisMaker analysis, Job& job)
    : parts_(std::make_unique<Parts>(trace, std::move(analysis), job)), made_(Schema().size()) {}

Catalogue::~Catalogue() = default;

Result<const Relation*> Catalogue::At(std::size_t place) {
  if (made_[place] == nullptr) {
    JV_ASSIGN(Relation relation, parts_->Make(Schema()[place].name));
    JV_CHECK(relation.cells.size() == Schema()[place].attributes.size());
    made_[place] = std::make_unique<const Relation>(std::move(relation));
  }
  return made_[place].get();
}

}  // namespace jarvis::query
