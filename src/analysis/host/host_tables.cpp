#include "analysis/host/host_tables.h"

#include <algorithm>
#include <utility>

namespace jarvis::analysis {
namespace {

double HostMs(std::int64_t ns) {
  return trace::MicrosOf(ns) / 1000;
}

Cell TextOrNone(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

Cell CountCell(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

Cell NonZeroMs(std::int64_t ns) {
  return ns == 0 ? Cell() : Cell(HostMs(ns));
}

// Of the base of shares.
Cell BaseShare(const HostSummary& summary, std::int64_t ns) {
  const std::int64_t base = summary.time.base.end - summary.time.base.start;
  return base <= 0 ? Cell() : Cell(100.0 * static_cast<double>(ns) / static_cast<double>(base));
}

// Of the span of the threads that launch.
Cell SpanShare(const HostSummary& summary, std::int64_t ns) {
  const std::int64_t span = summary.threads.span.end - summary.threads.span.start;
  return span <= 0 ? Cell() : Cell(100.0 * static_cast<double>(ns) / static_cast<double>(span));
}

// Absent without steps.
std::optional<double> PerStep(const HostSummary& summary, double all) {
  if (!summary.steps_marked || summary.threads.steps.empty()) return {};
  return all / static_cast<double>(summary.threads.steps.size());
}

}  // namespace

std::vector<StepThreads> SteadySteps(const HostSummary& summary) {
  std::vector<StepThreads> steps;
  for (const StepThreads& step : summary.threads.steps) {
    if (!step.odd) steps.push_back(step);
  }
  return steps.empty() ? summary.threads.steps : steps;
}

Table HostTimeTable(const HostSummary& summary, HostRowKind kind) {
  Table table;
  table.name = "host_time";
  table.columns = {"name",     "self_ms",     "percent", "count", "median_us",
                   "total_ms", "ms_per_step", "thread",  "waits", "code"};
  for (const HostTimeRow& row : summary.time.rows) {
    if (row.kind != kind) continue;
    const WorkingThread& thread = summary.threads.threads[row.thread];
    table.rows.push_back(
        {row.name, HostMs(row.self_ns), BaseShare(summary, row.self_ns), CountCell(row.count),
         trace::MicrosOf(row.median_self_ns), HostMs(row.total_ns),
         CellOf(PerStep(summary, HostMs(row.self_ns))),
         thread.role == ThreadRole::kMain ? Cell() : Cell(std::string(ThreadRoleText(thread.role))),
         row.waits ? Cell(true) : Cell(), TextOrNone(row.code)});
  }
  return table;
}

Table SynchronisationsTable(const HostSummary& summary) {
  Table table;
  table.name = "synchronisations";
  table.columns = {
      "call",     "op",         "code",          "range",     "ms",   "percent",      "count",
      "per_step", "median_us",  "max_ms",        "waits_for", "work", "work_percent", "gpu_ms",
      "copy_ms",  "foreign_ms", "unrecorded_ms", "found_done"};
  for (const WaitGroup& group : summary.waits) {
    const bool named = !group.waits_for.empty() && group.cause != WaitCause::kNothing;
    table.rows.push_back(
        {group.call, TextOrNone(group.op), TextOrNone(group.code), TextOrNone(group.range),
         HostMs(group.total_ns), BaseShare(summary, group.total_ns), CountCell(group.count),
         CellOf(PerStep(summary, static_cast<double>(group.count))),
         trace::MicrosOf(group.median_ns), HostMs(group.max_ns),
         std::string(WaitCauseText(group.cause)), named ? Cell(group.waits_for) : Cell(),
         named ? Cell(group.waits_for_percent) : Cell(), NonZeroMs(group.gpu_ns),
         NonZeroMs(group.copy_ns), NonZeroMs(group.foreign_ns), NonZeroMs(group.unrecorded_ns),
         group.found_done == 0 ? Cell() : CountCell(group.found_done)});
  }
  return table;
}

Table HostStretchesTable(const HostSummary& summary) {
  Table table;
  table.name = "host_stretches";
  table.columns = {"before",       "after",     "range",    "ms",        "percent",     "count",
                   "per_step",     "median_ms", "max_ms",   "period_ms", "gpu_busy_ms", "meanwhile",
                   "meanwhile_ms", "frame",     "frame_ms", "code"};
  for (const StretchGroup& group : summary.stretches.groups) {
    const StretchFrame* frame = group.frames.empty() ? nullptr : &group.frames.front();
    table.rows.push_back(
        {TextOrNone(group.before), TextOrNone(group.after), TextOrNone(group.range),
         HostMs(group.total_ns), BaseShare(summary, group.total_ns), CountCell(group.count),
         CellOf(PerStep(summary, static_cast<double>(group.count))), HostMs(group.median_ns),
         HostMs(group.max_ns), group.period_ns ? Cell(HostMs(*group.period_ns)) : Cell(),
         NonZeroMs(group.gpu_busy_ns), TextOrNone(group.meanwhile), NonZeroMs(group.meanwhile_ns),
         frame == nullptr ? Cell() : Cell(frame->name),
         frame == nullptr ? Cell() : Cell(HostMs(frame->ns)),
         frame == nullptr ? Cell() : TextOrNone(frame->code)});
  }
  return table;
}

Table HostThreadsTable(const HostSummary& summary) {
  Table table;
  table.name = "host_threads";
  table.columns = {"thread",   "role",      "span_ms",     "work_ms",         "percent",
                   "ops_ms",   "calls_ms",  "gpu_wait_ms", "foreign_wait_ms", "python_ms",
                   "pause_ms", "loader_ms", "backward_ms", "launches",        "to_next_us",
                   "work_us",  "lead_us",   "idle_percent"};
  std::vector<const WorkingThread*> order;
  for (const WorkingThread& thread : summary.threads.threads)
    order.push_back(&thread);
  std::stable_sort(order.begin(), order.end(), [](const WorkingThread* a, const WorkingThread* b) {
    if ((a->role == ThreadRole::kMain) != (b->role == ThreadRole::kMain))
      return a->role == ThreadRole::kMain;
    return a->WorkNs() > b->WorkNs();
  });
  for (const WorkingThread* thread : order) {
    const auto ns = [&](HostState state) {
      return NonZeroMs(thread->ns[static_cast<std::size_t>(state)]);
    };
    LaunchFigures figures;
    for (const TrackLaunches& one : summary.by_thread) {
      if (one.track == thread->track) figures = one.figures;
    }
    table.rows.push_back(
        {thread->name.empty() ? thread->tid : thread->name,
         std::string(ThreadRoleText(thread->role)), HostMs(thread->span.end - thread->span.start),
         HostMs(thread->WorkNs()), SpanShare(summary, thread->WorkNs()), ns(HostState::kOp),
         ns(HostState::kCall), ns(HostState::kGpuWait), ns(HostState::kForeignWait),
         ns(HostState::kPython), ns(HostState::kPause), NonZeroMs(thread->loader_ns),
         NonZeroMs(thread->backward_ns), CountCell(thread->launches),
         CellOf(figures.to_next_median_us), CellOf(figures.work_median_us),
         CellOf(figures.lead_median_us), CellOf(figures.idle_percent)});
  }
  return table;
}

Table StepPartsTable(const HostSummary& summary) {
  Table table;
  table.name = "step_parts";
  table.columns = {"part", "ms", "percent_of_step", "min_ms", "max_ms", "critical_in"};
  const std::vector<StepThreads> steps = SteadySteps(summary);
  std::int64_t all = 0;
  for (const StepThreads& step : steps)
    all += step.window.end - step.window.start;
  for (std::size_t p = 0; p < kStepParts; ++p) {
    std::int64_t sum = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::int64_t critical = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::int64_t ns = steps[i].ns[p];
      sum += ns;
      least = i == 0 ? ns : std::min(least, ns);
      most = std::max(most, ns);
      if (static_cast<std::size_t>(steps[i].critical) == p) ++critical;
    }
    if (sum == 0) continue;
    table.rows.push_back({std::string(StepPartText(static_cast<StepPart>(p))),
                          HostMs(sum) / static_cast<double>(steps.size()),
                          100.0 * static_cast<double>(sum) / static_cast<double>(all),
                          HostMs(least), HostMs(most), critical});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<double>(a[1]) > std::get<double>(b[1]);
  });
  return table;
}

Table HostStepsTable(const HostSummary& summary) {
  Table table;
  table.name = "host_steps";
  table.columns = {
      "step",      "start_ms",    "ms",       "longest_part", "main_ms",         "python_ms",
      "loader_ms", "autograd_ms", "other_ms", "gpu_wait_ms",  "foreign_wait_ms", "between_ms",
      "launches",  "to_next_us",  "lead_us",  "idle_percent"};
  const std::vector<StepThreads>& steps = summary.threads.steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepThreads& step = steps[i];
    const LaunchFigures& figures = summary.by_step[i];
    table.rows.push_back(
        {static_cast<std::int64_t>(i + 1), HostMs(step.window.start - steps.front().window.start),
         HostMs(step.window.end - step.window.start), std::string(StepPartText(step.critical))});
    std::vector<Cell>& row = table.rows.back();
    for (const std::int64_t ns : step.ns)
      row.push_back(NonZeroMs(ns));
    row.push_back(CountCell(figures.launches));
    row.push_back(CellOf(figures.to_next_median_us));
    row.push_back(CellOf(figures.lead_median_us));
    row.push_back(CellOf(figures.idle_percent));
  }
  return table;
}

}  // namespace jarvis::analysis
