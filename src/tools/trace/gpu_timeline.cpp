#include "analysis/attribution/gpu_timeline.h"

#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/frame_text.h"
#include "formats/timeline_parts.h"
#include "output/number_format.h"
#include "session/trace_bound.h"
#include "session/trace_frames.h"
#include "tools/shared/answer_picture.h"
#include "tools/shared/arguments.h"
#include "tools/shared/frame_facts.h"
#include "tools/trace/simulation_facts.h"
#include "tools/trace/trace_tools.h"
#include "trace/how_to_record.h"

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

// The parts that make up the whole: of the trace a bar each; of streams or steps (`where` is their
// column) a bar for each part of each.
std::string PictureOfParts(const Answer& answer, const std::string& where) {
  static constexpr std::pair<std::string_view, const char*> kParts[] = {
      {"computation", "computes"},
      {"exposed_comm", "communicates alone"},
      {"exposed_memcpy", "copies alone"},
      {"idle", "idle"}};
  output::BarChart bars{.groups = {}, .series = {}, .horizontal = true};
  const std::size_t part = where.empty() ? 0 : 1;
  for (const auto& [name, label] : kParts) {
    if (!where.empty()) bars.series.push_back({label, {}});
    for (const std::vector<Cell>& row : answer.rows) {
      if (row[part] != Cell(std::string(name))) continue;
      const double ms = std::get<double>(row[part + 1]);
      if (where.empty()) {
        bars.groups.emplace_back(label);
        if (bars.series.empty()) bars.series.emplace_back();
        bars.series[0].y.emplace_back(ms);
      } else {
        if (bars.series.size() == 1) bars.groups.push_back(output::CellText(row[0]));
        bars.series.back().y.emplace_back(ms);
      }
    }
  }
  return DrawBars({.title = "What the GPU does from its first event to its last" +
                            (where.empty() ? "" : ", by " + where),
                   .subtitle = answer.summary,
                   .axis = "ms",
                   .bars = std::move(bars)});
}

// Where one file holds several: what each does of the window.
void AddDeviceRows(const session::LoadedTrace& trace, double window_us, Answer* answer) {
  std::map<std::string_view, std::vector<trace::EventIndex>, decltype(&NaturallyBefore)> devices(
      &NaturallyBefore);
  for (const trace::EventIndex e : trace.attribution().timeline)
    devices[trace.events().tracks[trace.events()[e].track].pid].push_back(e);
  if (devices.size() < 2) return;
  for (const auto& [device, work] : devices) {
    const auto part =
        analysis::ComputeGpuTimeline(trace.events(), work, analysis::Clock::kNanoseconds);
    answer->rows.push_back({fmt::format("busy of device {}", OneLine(device)), part->busy / 1000,
                            CellOf(Percent(part->busy, window_us))});
  }
}

// A line each of what the window alone does not tell. Their base is the step, so they have no
// percent of the window.
void AddFrameRows(const analysis::TimeFrames& frames, Answer* answer) {
  const auto add = [&](const char* part, std::int64_t ns) {
    answer->rows.push_back({std::string(part), static_cast<double>(ns) / 1e6, Cell()});
  };
  if (frames.base.source != analysis::StepSource::kNone) add("step", frames.step_ns);
  if (!frames.window) return;
  add("step_host_before_gpu", frames.whole.host_before_ns);
  if (frames.whole.unrecorded_ns > 0) add("unrecorded", frames.whole.unrecorded_ns);
  if (frames.whole.foreign_ns > 0) add("foreign", frames.whole.foreign_ns);
  if (frames.first_calls.calls > 0) add("first_calls", frames.first_calls.total_ns());
}

// The next question by the largest loss; of the step, without what others did in it.
NextCall NextOf(const std::string& id, const analysis::TimeFrames& frames) {
  constexpr double kIdleShare = 20;
  constexpr double kCommShare = 15;
  const analysis::Balance& all = frames.whole;
  const auto own = static_cast<double>(all.own_ns());
  const std::int64_t idle = all.host_before_ns + all.idle_ns() + all.after_ns;
  if (Percent(static_cast<double>(all.exposed_comm_ns), own).value_or(0) > kCommShare) {
    return {"ops_summary",
            {{"trace", id}, {"by", "op"}, {"category", "record_param_comms"}},
            "exposed communication is large: which collectives"};
  }
  if (Percent(static_cast<double>(idle), own).value_or(0) > kIdleShare) {
    return {"ops_summary",
            {{"trace", id}, {"by", "phase"}},
            "the GPU has nothing to do: in which part of the step"};
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
    answer.notes = {trace::RecordGpuWork(trace->trace().metadata)};
    return answer;
  }
  JV_ASSIGN(const auto made, session::FramesOf(*trace, job));
  const analysis::TimeFrames& frames = made->frames;
  answer.summary = fmt::format(
      "{} From the first GPU event to the last: busy {:.1f} % of {} ms: computation {:.1f} %, "
      "exposed communication {:.1f} %, exposed copies {:.1f} %; idle {:.1f} %.",
      documents::StepSentence(frames), Percent(whole->busy, whole->total).value_or(0),
      output::Rounded(whole->total / 1000), Percent(whole->computation, whole->total).value_or(0),
      Percent(whole->exposed_comm, whole->total).value_or(0),
      Percent(whole->exposed_memcpy, whole->total).value_or(0),
      Percent(whole->idle, whole->total).value_or(0));
  JV_ASSIGN(const ledger::StepBound bound, session::BoundOf(*trace, job));
  std::string sentence;
  if (by == "all") {
    AddRows(*whole, {}, &answer);
    AddDeviceRows(*trace, whole->total, &answer);
    AddFrameRows(frames, &answer);
    constexpr std::size_t kEventsMax = 2'000'000;  // a question as quick as this simulates no more
    if (trace->events().size() <= kEventsMax) {
      JV_ASSIGN(sentence, BoundSentence(*trace, frames, job));
    }
    if (!sentence.empty()) answer.summary += " " + sentence;
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
  answer.facts = Json{{"step", StepFacts(frames, bound)}};
  if (!sentence.empty()) answer.facts["bound_by"] = sentence;
  answer.notes = documents::FrameNotes(frames);
  for (std::string& note : CoverageNotes(*trace))
    answer.notes.push_back(std::move(note));
  if (by == "all") {
    answer.notes.emplace_back(
        "rows from step on are of the step, not of the window: they have no percent");
  }
  answer.next = {{"prioritize", {{"trace", trace->id()}}, "what to do first, by wall time saved"},
                 NextOf(trace->id(), frames)};
  if (WantsPicture(arguments)) answer.picture = PictureOfParts(answer, by == "all" ? "" : by);
  return answer;
}

}  // namespace jarvis::tools
