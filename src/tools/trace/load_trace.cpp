#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "documents/frame_text.h"
#include "findings/one/quality.h"
#include "output/number_format.h"
#include "session/file_ranks.h"
#include "session/trace_bound.h"
#include "session/trace_frames.h"
#include "tools/shared/arguments.h"
#include "tools/shared/frame_facts.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

std::string DeviceText(const session::LoadedTrace& trace) {
  std::map<std::string, int> count;
  for (const trace::Device& device : trace.trace().metadata.devices) {
    ++count[device.name.empty() ? "unnamed GPU" : device.name];
  }
  std::string text;
  for (const auto& [name, devices] : count) {
    if (!text.empty()) text += ", ";
    text += devices > 1 ? fmt::format("{} x{}", name, devices) : name;
  }
  return text;
}

std::string StepsText(const std::vector<analysis::Step>& steps) {
  if (steps.empty()) return {};
  return fmt::format("{} ({}-{})", steps.size(), steps.front().number, steps.back().number);
}

session::PartRequest PartOf(const Json& arguments) {
  session::PartRequest part;
  trace::WindowRequest& window = part.window;
  window.steps = TextArgument(arguments, "steps").value_or("");
  const auto ms = [&](const char* name) {
    const auto given = arguments.find(name);
    return given == arguments.end() ? std::optional<double>() : given->get<double>();
  };
  window.from_ms = ms("from_ms");
  window.to_ms = ms("to_ms");
  const auto rank = arguments.find("rank");
  if (rank != arguments.end()) part.rank = rank->get<std::int64_t>();
  return part;
}

// What part of the recording was read; null: all of it.
Json PartFacts(const trace::Trace& trace) {
  if (!trace.window) return nullptr;
  const trace::TraceWindow& window = *trace.window;
  return {{"from_ms", window.from_ms()},
          {"to_ms", window.to_ms()},
          {"recording_ms", window.recording_ms()},
          {"steps", window.steps.empty() ? Json(nullptr) : Json(window.steps)},
          {"events", window.events},
          {"text_bytes_read", window.text_read}};
}

// The ranks of a file with several; null: it is one.
Json RankFacts(const std::vector<session::RankWork>& ranks) {
  if (ranks.empty()) return nullptr;
  Json list = Json::array();
  for (const session::RankWork& one : ranks) {
    list.push_back({{"rank", one.rank},
                    {"busy_ms", output::Rounded(one.busy_ms)},
                    {"without_communication_ms", output::Rounded(one.own_ms)}});
  }
  return list;
}

// What a recorder of its own kind tells.
void AddRecording(const trace::Recording& recording, const analysis::TimeFrames& frames,
                  Json* facts) {
  Json processes = Json::array();
  for (const trace::Recording::Process& one : recording.processes) {
    Json gpus = Json::array();
    for (const std::int64_t gpu : one.gpus)
      gpus.push_back(gpu);
    processes.push_back({{"pid", one.pid},
                         {"name", one.name.empty() ? Json(nullptr) : Json(one.name)},
                         {"rank", one.rank ? Json(*one.rank) : Json(nullptr)},
                         {"gpus", std::move(gpus)}});
  }
  (*facts)["processes"] = std::move(processes);
  Json seen = Json::array();
  for (const trace::Recording::Seen& one : recording.seen) {
    seen.push_back({{"what", one.what},
                    {"count", one.count},
                    {"ms", one.ms ? Json(output::Rounded(*one.ms)) : Json(nullptr)}});
  }
  (*facts)["seen"] = std::move(seen);
  if (recording.time_zero_utc_ns) (*facts)["time_zero_utc_ns"] = *recording.time_zero_utc_ns;
  if (!frames.steps.empty()) return;
  // The program's start and end, which are no part of what is judged.
  const auto ms = [](std::int64_t ns) {
    return output::Rounded(static_cast<double>(std::max<std::int64_t>(ns, 0)) / 1e6);
  };
  (*facts)["start_up_ms"] = ms(frames.frame.start - frames.base.recording.start);
  (*facts)["after_ms"] = ms(frames.base.recording.end - frames.frame.end);
}

Json Facts(const session::LoadedTrace& trace, const analysis::TimeFrames& frames,
           const ledger::StepBound& bound) {
  const trace::Metadata& metadata = trace.trace().metadata;
  const trace::EventStore& events = trace.events();
  Json facts = Json::object();
  facts["path"] = trace.path();
  facts["file_bytes"] = trace.file_bytes();
  facts["text_bytes"] = events.text_bytes;
  facts["events"] = events.elements;
  if (Json part = PartFacts(trace.trace()); !part.is_null()) facts["part"] = std::move(part);
  if (const auto& rank = trace.rank_part()) {
    facts["events_left_out"] = rank->host_left_out + rank->gpu_left_out;
    facts["ranks"] = RankFacts(rank->ranks);
  }
  facts["dialect"] = events.dialect.Name();
  const std::string device = DeviceText(trace);
  facts["device"] = device.empty() ? Json(nullptr) : Json(device);
  facts["rank"] = metadata.rank ? Json(*metadata.rank) : Json(nullptr);
  facts["world_size"] = metadata.world_size ? Json(*metadata.world_size) : Json(nullptr);
  const std::string steps = StepsText(trace.steps());
  facts["steps"] = steps.empty() ? Json(nullptr) : Json(steps);
  const auto ms = [](double us) { return output::Rounded(us / 1000); };
  const auto& timeline = trace.timeline();
  facts["window_ms"] = timeline ? Json(ms(timeline->total)) : Json(nullptr);
  facts["busy_ms"] = timeline ? Json(ms(timeline->busy)) : Json(nullptr);
  facts["idle_ms"] = timeline ? Json(ms(timeline->idle)) : Json(nullptr);
  facts["gpu_events"] = trace.coverage().all.count;
  facts["step"] = StepFacts(frames, bound);
  const session::Recorded& recorded = trace.recorded();
  facts["recorded"] = Json{{"ops", recorded.cpu_ops},
                           {"shapes", recorded.shapes},
                           {"python_frames", recorded.python_frames},
                           {"modules", recorded.modules},
                           {"steps", recorded.steps}};
  if (metadata.recording) {
    facts["recorded"]["graph_launches"] = recorded.graph_launches;
    AddRecording(*metadata.recording, frames, &facts);
  }
  facts["partial"] = trace.trace().partial;
  return facts;
}

// "1200 events"; of a part of a recording also what part.
std::string EventsText(const session::LoadedTrace& trace) {
  const std::uint64_t all = trace.events().elements;
  if (const auto& rank = trace.rank_part()) {
    return fmt::format("{}: {} of {} events", rank->Text(), trace.events().size(), all);
  }
  const auto& window = trace.trace().window;
  if (!window) return fmt::format("{} events", all);
  return fmt::format("{} of {} events, {} to {} of {} ms{}", window->events, all,
                     output::Rounded(window->from_ms()), output::Rounded(window->to_ms()),
                     output::Rounded(window->recording_ms()),
                     window->steps.empty() ? "" : " (steps " + window->steps + ")");
}

std::string Headline(const session::LoadedTrace& trace, const analysis::TimeFrames& frames) {
  const auto& timeline = trace.timeline();
  const std::string events = EventsText(trace);
  if (!timeline) {
    return fmt::format("Loaded {}; the trace has no GPU work. {}", events,
                       documents::StepSentence(frames));
  }
  return fmt::format("Loaded {}. {} All GPU events: busy {} of {} ms ({:.1f} %).", events,
                     documents::StepSentence(frames), output::Rounded(timeline->busy / 1000),
                     output::Rounded(timeline->total / 1000),
                     Percent(timeline->busy, timeline->total).value_or(100));
}

// What the reader has to know before any figure: qualities that touch a notable part of a step.
std::string TrustText(const std::vector<findings::Quality>& list) {
  constexpr std::size_t kTold = 3;
  std::string text;
  const auto leading = findings::LeadingQualities(list);
  for (std::size_t i = 0; i < std::min(kTold, leading.size()); ++i) {
    const findings::Quality& one = *leading[i];
    text += fmt::format("{} {} ({}, {})", i == 0 ? " Trust:" : ",", one.code, findings::MsOf(one),
                        findings::ShareOf(one));
  }
  if (leading.size() > kTold) text += fmt::format(" and {} more", leading.size() - kTold);
  return text.empty() ? text : text + ".";
}

// What was made of captures of GPU graphs: that nothing was is told by a quality.
std::string CaptureNote(const session::CaptureUse& use) {
  if (use.files.empty()) return {};
  return fmt::format(
      "{} of {} replays have the ops and shapes of their capture ({}): {} ms of GPU time",
      use.aligned, use.replays, use.named.empty() ? "found beside the trace" : "as named",
      output::Rounded(use.aligned_us / 1000));
}

std::vector<Cell> RowOf(const findings::Quality& one) {
  const auto text = [](const std::string& t) { return t.empty() ? Cell() : Cell(t); };
  return {one.code,
          one.count > 0 ? Cell(static_cast<std::int64_t>(one.count)) : Cell(),
          CellOf(one.gpu_percent),
          one.first_uid ? Cell(static_cast<std::int64_t>(*one.first_uid)) : Cell(),
          fmt::format("{} ({})", one.text, one.remedy),
          CellOf(one.ms),
          CellOf(one.ms_high),
          CellOf(one.percent),
          text(one.consequence),
          text(one.record)};
}

std::vector<std::string> NotesOf(const session::Opened& opened, std::uint64_t memory_bytes_max,
                                 const analysis::TimeFrames& frames) {
  std::vector<std::string> notes = documents::FrameNotes(frames);
  if (!opened.stale_id.empty()) {
    notes.push_back(
        fmt::format("the file changed: {} is stale, use {}", opened.stale_id, opened.trace->id()));
  }
  if (opened.trace->MemoryBytes() > memory_bytes_max) {
    notes.push_back(
        fmt::format("the trace takes {} MB of memory, more than the server's limit of {} MB: it is "
                    "the only one kept while it is in use (serve --memory-limit)",
                    opened.trace->MemoryBytes() >> 20, memory_bytes_max >> 20));
  }
  return notes;
}

}  // namespace

Result<Answer> LoadTrace(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const session::Opened opened,
            OpenTraceFully(workspace, arguments, job, PartOf(arguments)));
  const TracePtr& trace = opened.trace;
  // Beside others it makes the frames, too.
  JV_ASSIGN(const auto quality, findings::QualityOf(*trace, job));
  JV_ASSIGN(const auto made, session::FramesOf(*trace, job));
  const analysis::TimeFrames& frames = made->frames;
  Answer answer;
  answer.trace = trace->id();
  answer.summary = Headline(*trace, frames) + TrustText(*quality);
  JV_ASSIGN(const ledger::StepBound bound, session::BoundOf(*trace, job));
  answer.facts = Facts(*trace, frames, bound);
  answer.columns = {"quality", "count",   "gpu_percent", "first_uid",   "what",
                    "ms",      "ms_high", "percent",     "consequence", "record_next"};
  for (const findings::Quality& item : *quality)
    answer.rows.push_back(RowOf(item));
  answer.total = answer.rows.size();
  answer.notes = NotesOf(opened, workspace.options().memory_bytes_max, frames);
  if (std::string note = CaptureNote(trace->capture()); !note.empty())
    answer.notes.push_back(std::move(note));
  const Json same = {{"trace", trace->id()}};
  const session::FileRanks ranks = session::RanksOf(*trace);
  if (ranks.several()) {
    const std::vector<session::RankWork> work = session::WorkOfRanks(*trace, ranks);
    answer.facts["ranks"] = RankFacts(work);
    Json one = {{"trace", trace->path()}, {"rank", *session::RankThatBounds(work)}};
    answer.next.push_back({"load_trace", std::move(one), "the rank that bounds the job, alone"});
  }
  if (trace->timeline()) {
    answer.next.push_back({"gpu_timeline", same, "how the GPU spent the window"});
    answer.next.push_back({"ops_summary", same, "which ops took the time"});
  }
  return answer;
}

}  // namespace jarvis::tools
