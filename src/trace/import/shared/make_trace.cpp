#include "trace/import/shared/make_trace.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "trace/framework_signs.h"
#include "trace/how_to_record.h"
#include "trace/json_text.h"
#include "trace/repair.h"

namespace jarvis::trace {
namespace {

std::string Quoted(std::string_view text) {
  return fmt::format("\"{}\"", Escape(text));
}

class TraceMaker {
 public:
  TraceMaker(const Owners& owners, RecordingFacts facts)
      : owners_(owners), facts_(std::move(facts)) {}

  Trace Run(EventWriter writer) {
    const std::vector<OwnerId> owner_of_track = writer.owner_of_track();
    Trace trace;
    trace.events = writer.Finish(owners_);
    trace.events.elements = facts_.elements;
    trace.events.text_bytes = facts_.bytes;
    trace.events.dialect.SetRecorder(facts_.recorder);
    NameTracks(owner_of_track, &trace.events);
    TellProcesses();
    trace.metadata = ReadMetadata(Values());
    trace.damage = fmt::format("{}", fmt::join(facts_.damage, "; "));
    trace.partial = !trace.damage.empty();
    trace.track_names = ReadTrackNames(trace.events);
    Repair(&trace.events);
    return trace;
  }

 private:
  static void Meta(EventStore* events, std::uint32_t track, std::string_view name,
                   std::string_view key, std::string_view value) {
    const StringId args = events->strings.Intern(fmt::format("\"{}\": {},", key, Quoted(value)));
    events->meta_events.push_back({track, events->strings.Intern(name), args});
  }

  void NameTracks(const std::vector<OwnerId>& owner_of_track, EventStore* events) const {
    std::set<OwnerId> named;
    for (std::uint32_t track = 0; track < owner_of_track.size(); ++track) {
      const OwnerId owner = owner_of_track[track];
      const OwnerId process = IsGpuOwner(owner) ? owners_.gpu(owner).process : owner;
      if (named.insert(owner).second) {
        Meta(events, track, "process_name", "name", owners_.NameOf(owners_.processes()[process]));
        Meta(events, track, "process_labels", "labels",
             IsGpuOwner(owner) ? fmt::format("GPU {}", owners_.gpu(owner).index) : "CPU");
      }
      if (IsGpuOwner(owner)) {
        if (owners_.gpu(owner).by_queue)
          Meta(events, track, "thread_name", "name",
               fmt::format("queue {}", events->tracks[track].tid));
        continue;
      }
      const auto tid = ParseInt(events->tracks[track].tid);
      if (!tid) continue;
      const auto thread = facts_.threads.find({owner, *tid});
      if (thread != facts_.threads.end())
        Meta(events, track, "thread_name", "name",
             fmt::format("thread {} ({})", *tid, thread->second));
    }
  }

  void TellProcesses() {
    for (const ProcessOwner* process : owners_.ProcessesInOrder()) {
      Recording::Process& told = facts_.recording.processes.emplace_back();
      told.pid = process->pid_text;
      told.name = process->name;
      told.rank = process->rank;
      for (const GpuOwner* gpu : owners_.GpusInOrder()) {
        if (&owners_.processes()[gpu->process] == process) told.gpus.push_back(gpu->index);
      }
    }
  }

  std::vector<TopLevelValue> Values() const {
    std::vector<TopLevelValue> values = {{"schemaVersion", "1"},
                                         {"traceName", Quoted(facts_.trace_name)}};
    if (std::string devices = Devices(); !devices.empty())
      values.push_back({"deviceProperties", "[" + devices + "]"});
    if (facts_.rank || facts_.world_size) {
      std::string members;
      if (facts_.rank) members = fmt::format("\"rank\":{}", *facts_.rank);
      if (facts_.world_size)
        members +=
            fmt::format("{}\"world_size\":{}", members.empty() ? "" : ",", *facts_.world_size);
      values.push_back({"distributedInfo", "{" + members + "}"});
    }
    values.push_back({facts_.amd ? "rocprofiler-sdk_version" : "cupti_version", "1"});
    values.push_back({kRecorderKey, Quoted(facts_.recorder)});
    values.push_back(ValueOf(facts_.recording));
    return values;
  }

  // Of GPUs with work, where one of them has a name.
  std::string Devices() const {
    std::vector<std::string> devices;
    bool named = false;
    for (const GpuOwner* gpu : owners_.GpusInOrder()) {
      const Device about = gpu->about.value_or(Device());
      named = named || !about.name.empty();
      std::string text = fmt::format("{{\"id\":{},\"name\":{}", gpu->index, Quoted(about.name));
      const auto number = [&](const char* key, const std::optional<std::int64_t>& value) {
        if (value) text += fmt::format(",\"{}\":{}", key, *value);
      };
      number("totalGlobalMem", about.memory_bytes);
      number("numSms", about.sm_count);
      number("warpSize", about.warp_size);
      number("computeMajor", about.compute_major);
      number("computeMinor", about.compute_minor);
      text += "}";
      if (std::find(devices.begin(), devices.end(), text) == devices.end())
        devices.push_back(std::move(text));
    }
    return named ? fmt::format("{}", fmt::join(devices, ",")) : "";
  }

  const Owners& owners_;
  RecordingFacts facts_;
};

}  // namespace

void RecordingFacts::Note(std::string code, std::uint64_t count, std::string text,
                          std::string record) {
  recording.notes.push_back({std::move(code), std::move(text), count, std::move(record)});
}

void RecordingFacts::Seen(std::string what, std::uint64_t count, std::optional<double> ms) {
  if (count > 0) recording.seen.push_back({std::move(what), count, ms});
}

void JudgeParts(const EventStore& events, std::string_view profiler, RecordingFacts* facts) {
  facts->recording.profiler = profiler;
  facts->recording.framework = FrameworkOf(events);
  const HowToRecord& how = HowToRecordNext(&facts->recording);
  bool work = false, calls = false, ranges = false, ops = false;
  for (const Event& event : events.events) {
    work = work || IsGpuWork(event.kind);
    calls = calls || IsLaunchCall(event.kind);
    ops = ops || event.kind == EventKind::kCpuOp;
    ranges = ranges || ops || event.kind == EventKind::kUserAnnotation;
  }
  if (work && !calls) {
    facts->Note("no_calls", 0, "No calls that launch GPU work were recorded.",
                PlainWords(how.gpu_work));
  }
  if (calls && !work) {
    facts->Note("api_only", 0,
                "Calls were recorded, and no GPU work: the job may have been killed "
                "before it was written.",
                PlainWords(how.gpu_work));
  }
  if (!ranges) {
    facts->Note("no_ranges", 0, "No ranges of the program were recorded.", PlainWords(how.ops));
  } else if (!ops) {
    facts->Note("no_ops", 0, "Ranges were recorded, and none of them is an op of PyTorch.",
                PlainWords(how.ops));
  }
}

Trace MakeTrace(EventWriter writer, const Owners& owners, RecordingFacts facts) {
  return TraceMaker(owners, std::move(facts)).Run(std::move(writer));
}

}  // namespace jarvis::trace
