#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "findings/one/idle.h"
#include "findings/one/thresholds.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/trace/trace_tools.h"
#include "trace/how_to_record.h"

namespace jarvis::tools {
namespace {

using findings::Gap;
using findings::GapGroup;
using findings::IdleAnalysis;

Cell Text(const std::string& text, std::size_t most = 80) {
  return text.empty() ? Cell() : Cell(OneLine(Utf8Prefix(text, most)));
}

void ShowGroups(const std::vector<GapGroup>& groups, const std::string& by, std::size_t limit,
                bool reliable, Answer* answer) {
  answer->columns = {by, "gaps", "ms", "percent_of_idle", "median_us", "max_us", "saves_ms"};
  for (std::size_t i = 0; i < groups.size() && i < limit; ++i) {
    const GapGroup& group = groups[i];
    answer->rows.push_back({std::string(Utf8Prefix(group.name, 100)),
                            static_cast<std::int64_t>(group.count), group.total_us / 1000,
                            CellOf(group.percent_of_idle), group.median_us, group.max_us,
                            reliable ? Cell(group.saved_us / 1000) : Cell()});
  }
  answer->total = groups.size();
}

void ShowGaps(const IdleAnalysis& idle, std::size_t limit, Answer* answer) {
  answer->columns = {"start_ms", "us",      "cause",  "op_before", "op_after",
                     "host_did", "host_us", "module", "code",      "step"};
  for (std::size_t i = 0; i < idle.gaps.size() && i < limit; ++i) {
    const Gap& gap = idle.gaps[i];
    const auto op = [](const std::string& name, const std::string& kernel) {
      return name.empty() ? Text(analysis::ShortKernelName(kernel)) : Text(name);
    };
    answer->rows.push_back(
        {gap.start_us / 1000, gap.dur_us, std::string(findings::GapText(gap.kind)),
         op(gap.previous_op, gap.previous_kernel), op(gap.next_op, gap.next_kernel),
         Text(gap.dominant), gap.dominant.empty() ? Cell() : Cell(gap.dominant_us),
         Text(gap.module_path), gap.call_stack.empty() ? Cell() : Text(gap.call_stack.front()),
         gap.step < 0 ? Cell() : Cell(gap.step)});
  }
  answer->total = idle.gap_count;
}

}  // namespace

Result<Answer> IdleGaps(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  const auto limit = arguments.at("limit").get<std::size_t>();
  const std::string by = arguments.at("by").get<std::string>();
  const IdleAnalysis idle = findings::AnalyzeIdle(*trace, {.gaps_max = limit, .job = &job});
  JV_TRY(job.Check());
  Answer answer;
  answer.trace = trace->id();
  if (!idle.has_gpu_work) {
    answer.summary = "The trace has no GPU work, so there is no idle time to explain.";
    answer.notes = {trace::RecordGpuWork(trace->trace().metadata)};
    return answer;
  }
  answer.summary =
      fmt::format("The GPU is idle {} of {} ms ({:.1f} %), in {} gaps of {} µs or more.",
                  output::Rounded(idle.idle_us / 1000), output::Rounded(idle.window_us / 1000),
                  idle.idle_percent.value_or(0), idle.gap_count, findings::limits::kGapUs);
  if (by == "gap") {
    ShowGaps(idle, limit, &answer);
  } else {
    ShowGroups(by == "cause"    ? idle.by_class
               : by == "module" ? idle.by_module
                                : idle.by_step,
               by, limit, idle.reliable, &answer);
  }
  if (!idle.reliable) {
    const bool graphs = idle.unreliable_because == "graph_replay";
    answer.notes.push_back(fmt::format(
        "unreliable ({}): {}", idle.unreliable_because,
        graphs ? std::string("graph replay hides launches; record one run without graphs")
        : idle.unreliable_because == "no_launches"
            ? "launch calls were not recorded; " + trace::RecordGpuWork(trace->trace().metadata)
            : std::string("several devices in one file; analyse each rank by itself")));
  }
  if (by == "step" && idle.by_step.empty()) {
    answer.notes.push_back(fmt::format(
        "no steps are marked: record {}, or group by cause",
        trace::PlainWords(trace::HowToRecordNext(trace->trace().metadata).marked_steps)));
  }
  if (idle.micro_count > 0) {
    answer.notes.push_back(fmt::format("{} ms in {} shorter gaps",
                                       output::Rounded(idle.micro_us / 1000), idle.micro_count));
  }
  if (by != "gap" && idle.gap_count > 0) {
    answer.next = {{"idle_gaps", {{"trace", trace->id()}, {"by", "gap"}}, "the longest gaps"}};
  }
  return answer;
}

}  // namespace jarvis::tools
