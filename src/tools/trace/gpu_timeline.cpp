#include "analysis/attribution/gpu_timeline.h"

#include <fmt/format.h>

#include "formats/timeline_parts.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using analysis::GpuTimeline;
using analysis::GroupBy;

// Rows of the whole trace, or of one stream or step.
void AddRows(const GpuTimeline& timeline, const std::string& where, Answer* answer) {
  for (const formats::TimelinePart& part : formats::kTimelineParts) {
    std::vector<Cell> row;
    if (!where.empty()) row.emplace_back(where);
    row.insert(row.end(), {std::string(part.name), timeline.*part.us / 1000,
                           CellOf(Percent(timeline.*part.us, timeline.total))});
    answer->rows.push_back(std::move(row));
  }
}

// The next question by the largest loss.
NextCall NextOf(const std::string& id, const GpuTimeline& timeline) {
  constexpr double kIdleShare = 20;
  constexpr double kCommShare = 15;
  if (Percent(timeline.exposed_comm, timeline.total).value_or(0) > kCommShare) {
    return {"ops_summary",
            {{"trace", id}, {"by", "op"}, {"category", "record_param_comms"}},
            "exposed communication is large: which collectives"};
  }
  if (Percent(timeline.idle, timeline.total).value_or(0) > kIdleShare) {
    return {"ops_summary", {{"trace", id}, {"by", "step"}}, "the GPU idles: in which steps"};
  }
  return {"ops_summary", {{"trace", id}, {"by", "op"}}, "which ops took the time"};
}

}  // namespace

Result<Answer> GpuTimeline(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  const std::string by = arguments.at("by").get<std::string>();
  Answer answer;
  answer.trace = trace->id();
  answer.columns = {"part", "ms", "percent"};
  const auto& whole = trace->timeline();
  if (!whole) {
    answer.summary = "The trace has no GPU work, so there is no GPU time to divide.";
    answer.notes = {"record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"};
    return answer;
  }
  answer.summary = fmt::format(
      "GPU busy {:.1f} % of {} ms: computation {:.1f} %, exposed communication {:.1f} %, exposed "
      "copies {:.1f} %; idle {:.1f} %.",
      Percent(whole->busy, whole->total).value_or(0), output::Rounded(whole->total / 1000),
      Percent(whole->computation, whole->total).value_or(0),
      Percent(whole->exposed_comm, whole->total).value_or(0),
      Percent(whole->exposed_memcpy, whole->total).value_or(0),
      Percent(whole->idle, whole->total).value_or(0));
  if (by == "all") {
    AddRows(*whole, {}, &answer);
  } else {
    answer.columns.insert(answer.columns.begin(), by);
    const GroupBy group = by == "step" ? GroupBy::kStep : GroupBy::kStream;
    for (const analysis::SummaryRow& row : trace->SummaryBy(group).rows) {
      const auto part =
          analysis::ComputeGpuTimeline(trace->events(), row.gpu, analysis::Clock::kNanoseconds, {},
                                       analysis::Communicators::kAll);
      if (part) AddRows(*part, row.name, &answer);
    }
  }
  answer.total = answer.rows.size();
  answer.notes = CoverageNotes(*trace);
  answer.next = {NextOf(trace->id(), *whole)};
  return answer;
}

}  // namespace jarvis::tools
