#include "trace/metadata.h"

#include <map>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/limits.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

namespace dom = simdjson::dom;

std::optional<std::int64_t> Integer(dom::element from, const char* key) {
  std::int64_t value = 0;
  if (from[key].get_int64().get(value)) return std::nullopt;
  return value;
}

std::string Text(dom::element from, const char* key) {
  std::string_view value;
  if (from[key].get_string().get(value)) return {};
  return std::string(value);
}

void ReadDevices(dom::element list, Metadata* metadata) {
  dom::array devices;
  if (list.get_array().get(devices)) return;
  for (const dom::element device : devices) {
    if (!device.is_object()) continue;
    Device d;
    d.id = Integer(device, "id").value_or(static_cast<std::int64_t>(metadata->devices.size()));
    d.name = jarvis::Shortened(Text(device, "name"), limits::kDeviceNameBytesMax);
    d.memory_bytes = Integer(device, "totalGlobalMem");
    d.sm_count = Integer(device, "numSms");
    d.warp_size = Integer(device, "warpSize");
    d.compute_major = Integer(device, "computeMajor");
    d.compute_minor = Integer(device, "computeMinor");
    metadata->devices.push_back(std::move(d));
  }
}

void ReadGroups(dom::element list, Metadata* metadata) {
  dom::array groups;
  if (list.get_array().get(groups)) return;
  for (const dom::element group : groups) {
    const auto size = group.is_object() ? Integer(group, "pg_size") : std::nullopt;
    if (size) metadata->groups.push_back({Text(group, "pg_name"), Text(group, "pg_desc"), *size});
  }
}

// Calls each(object) for the objects of a list.
template <typename Each>
void EachObject(dom::element from, const char* key, const Each& each) {
  dom::array list;
  if (from[key].get_array().get(list)) return;
  for (const dom::element one : list) {
    if (one.is_object()) each(one);
  }
}

Recording ReadRecording(dom::element from) {
  Recording recording;
  EachObject(from, "processes", [&](dom::element one) {
    Recording::Process& process = recording.processes.emplace_back();
    process.pid = Text(one, "pid");
    process.name = Text(one, "name");
    process.rank = Integer(one, "rank");
    dom::array gpus;
    if (one["gpus"].get_array().get(gpus)) return;
    for (const dom::element gpu : gpus) {
      if (gpu.is_int64()) process.gpus.push_back(std::int64_t{gpu});
    }
  });
  for (const auto& [key, list] :
       {std::pair{"seen", &recording.seen}, std::pair{"start_up", &recording.start_up}}) {
    EachObject(from, key, [list = list](dom::element one) {
      Recording::Seen& seen = list->emplace_back();
      seen.what = Text(one, "what");
      seen.count = static_cast<std::uint64_t>(Integer(one, "count").value_or(0));
      double ms = 0;
      if (!one["ms"].get_double().get(ms)) seen.ms = ms;
    });
  }
  EachObject(from, "notes", [&](dom::element one) {
    recording.notes.push_back({Text(one, "code"), Text(one, "text"),
                               static_cast<std::uint64_t>(Integer(one, "count").value_or(0)),
                               Text(one, "record")});
  });
  recording.time_zero_utc_ns = Integer(from, "time_zero_utc_ns");
  recording.begin_ns = Integer(from, "begin_ns");
  recording.end_ns = Integer(from, "end_ns");
  recording.profiler = Text(from, "profiler");
  recording.framework = Text(from, "framework");
  recording.backward_scope = Text(from, "backward_scope");
  recording.optimizer_scope = Text(from, "optimizer_scope");
  dom::element runs;
  if (!from["runs"].get(runs) && runs.is_object()) {
    const auto count = [&](const char* key) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, Integer(runs, key).value_or(0)));
    };
    recording.runs = {Text(runs, "program"), count("count"), count("with_kernels"), count("gpus")};
  }
  return recording;
}

void ReadValue(const TopLevelValue& value, dom::parser& parser, Metadata* metadata) {
  const auto starts = [&](std::string_view prefix) { return value.key.starts_with(prefix); };
  metadata->amd |= starts("roctracer") || starts("hip_") || starts("rocprofiler");
  metadata->nvidia |= starts("cupti") || starts("cuda_");
  // The others may be long, and nobody asks for them here.
  if (!IsOneOf(value.key, {"deviceProperties", "distributedInfo", "traceName", "recording"}))
    return;
  dom::element element;
  if (ParseDom(&parser, value.json, &element)) return;
  if (value.key == "deviceProperties") {
    ReadDevices(element, metadata);
  } else if (value.key == "distributedInfo" && element.is_object()) {
    metadata->rank = Integer(element, "rank");
    metadata->world_size = Integer(element, "world_size");
    metadata->backend = Text(element, "backend");
    dom::element groups;
    if (!element["pg_config"].get(groups)) ReadGroups(groups, metadata);
  } else if (value.key == "recording" && element.is_object()) {
    metadata->recording = ReadRecording(element);
  } else if (value.key == "traceName") {
    std::string_view name;
    if (!element.get_string().get(name)) metadata->trace_name = name;
  }
}

}  // namespace

TopLevelValue ValueOf(const Recording& recording) {
  const auto text = [](std::string_view value) { return fmt::format("\"{}\"", Escape(value)); };
  const auto list = [](const auto& all, const auto& one) {
    std::string json;
    for (const auto& item : all)
      json += (json.empty() ? "" : ",") + one(item);
    return "[" + json + "]";
  };
  std::string json =
      "{\"processes\":" + list(recording.processes, [&](const Recording::Process& one) {
        return fmt::format("{{\"pid\":{},\"name\":{},{}\"gpus\":{}}}", text(one.pid),
                           text(one.name), one.rank ? fmt::format("\"rank\":{},", *one.rank) : "",
                           list(one.gpus, [](std::int64_t gpu) { return fmt::format("{}", gpu); }));
      });
  const auto seen = [&](const Recording::Seen& one) {
    return fmt::format("{{\"what\":{},\"count\":{}{}}}", text(one.what), one.count,
                       one.ms ? fmt::format(",\"ms\":{}", *one.ms) : "");
  };
  json += ",\"seen\":" + list(recording.seen, seen);
  if (!recording.start_up.empty()) json += ",\"start_up\":" + list(recording.start_up, seen);
  json += ",\"notes\":" + list(recording.notes, [&](const Recording::Note& one) {
            return fmt::format("{{\"code\":{},\"text\":{},\"count\":{},\"record\":{}}}",
                               text(one.code), text(one.text), one.count, text(one.record));
          });
  for (const auto& [key, value] :
       {std::pair{"time_zero_utc_ns", recording.time_zero_utc_ns},
        std::pair{"begin_ns", recording.begin_ns}, std::pair{"end_ns", recording.end_ns}}) {
    if (value) json += fmt::format(",\"{}\":{}", key, *value);
  }
  for (const auto& [key, value] :
       {std::pair{"profiler", recording.profiler}, std::pair{"framework", recording.framework},
        std::pair{"backward_scope", recording.backward_scope},
        std::pair{"optimizer_scope", recording.optimizer_scope}}) {
    if (!value.empty()) json += fmt::format(",\"{}\":{}", key, text(value));
  }
  if (const auto& runs = recording.runs) {
    json += fmt::format(",\"runs\":{{\"program\":{},\"count\":{},\"with_kernels\":{},\"gpus\":{}}}",
                        text(runs->program), runs->count, runs->with_kernels, runs->gpus);
  }
  return {"recording", json + "}"};
}

Metadata ReadMetadata(std::vector<TopLevelValue> values) {
  Metadata metadata;
  dom::parser parser;
  for (const TopLevelValue& value : values)
    ReadValue(value, parser, &metadata);
  metadata.values = std::move(values);
  return metadata;
}

std::vector<TrackNames> ReadTrackNames(const EventStore& store) {
  struct Process {
    std::string name = "Unknown";
    std::string label = "Unknown";
  };
  std::map<std::string_view, Process> processes;
  std::map<std::uint32_t, std::string> threads;
  for (const MetaEvent& meta : store.meta_events) {
    const std::string_view name = store.strings[meta.name];
    const std::string_view args = store.text(meta.args);
    const std::string_view pid = store.tracks[meta.track].pid;
    const auto text = [&](std::string_view key) { return Unescape(Unquoted(MemberOf(args, key))); };
    if (name == "process_name") processes[pid].name = text("name");
    if (name == "process_labels") processes[pid].label = text("labels");
    if (name == "thread_name") threads[meta.track] = text("name");
  }
  std::vector<TrackNames> names(store.tracks.size());
  for (std::uint32_t track = 0; track < names.size(); ++track) {
    const auto process = processes.find(store.tracks[track].pid);
    const auto thread = threads.find(track);
    const Process p = process == processes.end() ? Process() : process->second;
    names[track] = {p.name, p.label, thread == threads.end() ? "Unknown" : thread->second};
  }
  return names;
}

}  // namespace jarvis::trace
