#include "trace/import/xplane/recording.h"

#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/limits.h"
#include "base/text.h"
#include "trace/how_to_record.h"
#include "trace/import/shared/make_trace.h"
#include "trace/json_text.h"

namespace jarvis::trace::xplane {
namespace {

std::string Quoted(std::string_view text) {
  return fmt::format("\"{}\"", Escape(ValidUtf8(text)));
}

std::optional<double> NumberAt(const Plane& plane, std::string_view name) {
  const Stat* stat = plane.Find(name);
  if (stat == nullptr) return std::nullopt;
  using Kind = Stat::Kind;
  if (stat->kind == Kind::kDouble) return std::bit_cast<double>(stat->number);
  if (stat->kind == Kind::kSigned || stat->kind == Kind::kUnsigned)
    return static_cast<double>(static_cast<std::int64_t>(stat->number));
  return ParseDouble(plane.TextOf(*stat));
}

std::string DevicesText(const std::vector<DevicePlane>& devices) {
  struct Property {
    std::string_view stat, key;
  };
  constexpr Property kProperties[] = {
      {"memory_size", "totalGlobalMem"},
      {"core_count", "numSms"},
      {"compute_cap_major", "computeMajor"},
      {"compute_cap_minor", "computeMinor"},
      {"clock_rate", "clockRateKHz"},
      {"memory_bandwidth", "memoryBandwidth"},
      {"peak_teraflops_per_second", "peakTeraflops"},
      {"peak_hbm_bw_gigabytes_per_second", "peakMemoryGigabytes"},
  };
  std::vector<std::string> texts;
  for (const DevicePlane& device : devices) {
    const auto number = ParseInt(device.name);
    if (!number) continue;
    const Stat* type = device.plane->Find("device_type_string");
    const std::string name(type == nullptr ? std::string_view() : device.plane->TextOf(*type));
    std::string text = fmt::format("{{\"id\":{},\"name\":{}", *number,
                                   Quoted(Shortened(name, limits::kDeviceNameBytesMax)));
    for (const Property& property : kProperties) {
      constexpr double kMost = 9e15;
      const auto value = NumberAt(*device.plane, property.stat);
      if (value && *value >= 0 && *value < kMost)
        text += fmt::format(",\"{}\":{}", property.key, *value);
    }
    texts.push_back(text + "}");
  }
  return fmt::format("[{}]", fmt::join(texts, ","));
}

class Teller {
 public:
  Teller(const Space& space, const Found& found) : space_(space), found_(found) {}

  Recording Run() {
    told_.profiler = kByXplane;
    told_.framework = found_.signs.framework;
    Lacks();
    RunsWithoutKernels();
    Drawn();
    Skipped();
    Said();
    told_.backward_scope = found_.signs.backward;
    told_.optimizer_scope = found_.signs.optimizer;
    return std::move(told_);
  }

 private:
  void Note(std::string code, std::uint64_t count, std::string text, std::string_view record) {
    told_.notes.push_back({std::move(code), std::move(text), count, PlainWords(record)});
  }

  void Lacks() {
    const HowToRecord& how = HowToRecordNext(&told_);
    if (!found_.host && found_.work > 0)
      Note("no_host_events", 0,
           "The profile holds no events of the host: why a device was idle cannot be told.",
           how.ops);
    if (found_.ops && !found_.programs && !found_.tpu)
      Note("no_programs", 0,
           "The profile holds no compiled programs (HLO): ops have names and times, and no shapes, "
           "types or source lines.",
           how.shapes);
    if (found_.unresolved > 0 && found_.programs)
      Note("unresolved_ops", found_.unresolved,
           fmt::format("{} ops are in none of the profile's programs: they have no shapes.",
                       found_.unresolved),
           how.shapes);
    if (!found_.step_marks && found_.work > 0)
      Note("no_step_marks", 0, "The profile marks no steps.", how.marked_steps);
    if (found_.host && !found_.python)
      Note("no_python_frames", 0, "The profile holds no Python frames.", how.stacks);
    Note("not_in_xplane", 0,
         "A profile of XLA holds no autograd graph, no process groups and no arguments' values: "
         "phases are those that JAX writes into names of ops, groups those of the programs.",
         "");
  }

  // What the host ran and the profile has no kernels of.
  void RunsWithoutKernels() {
    const Recording::Runs& runs = found_.runs;
    if (runs.program.empty() || found_.ran_on.empty()) return;
    told_.runs = runs;
    std::vector<std::string> parts;
    if (runs.gpus > found_.ran_on.size()) {
      parts.push_back(found_.ran_on.size() == 1
                          ? fmt::format("of GPU {} only", *found_.ran_on.begin())
                          : fmt::format("of {} GPUs only", found_.ran_on.size()));
    }
    if (runs.count > runs.with_kernels)
      parts.push_back(runs.with_kernels == 1
                          ? std::string("of the first run only")
                          : fmt::format("of the first {} runs only", runs.with_kernels));
    if (parts.empty()) return;
    const std::string on = runs.gpus > 1 ? fmt::format(" on {} GPUs", runs.gpus) : "";
    const std::string times = runs.count > 1 ? fmt::format(" {} times", runs.count) : "";
    Note("runs_without_kernels", runs.count - runs.with_kernels,
         fmt::format("`{}` runs{}{}; kernels were recorded {}. The GPU time of the "
                     "rest is unknown.",
                     OneLine(ValidUtf8(runs.program)), times, on, fmt::join(parts, " and ")),
         "fewer runs of the program");
  }

  void Drawn() {
    if (found_.drawn > 0)
      Note("drawn_ops", found_.drawn,
           fmt::format("{} ops are drawn around their launches, which name them: the profile has "
                       "no event of theirs, so what the host does between launches is not theirs.",
                       found_.drawn),
           "");
    if (found_.drawn_alone > 0)
      Note("ops_without_launch", found_.drawn_alone,
           fmt::format("{} ops have no launch in the profile: they are drawn at the begin of their "
                       "program's run, and say nothing of the host.",
                       found_.drawn_alone),
           found_.tpu ? "" : HowToRecordNext(&told_).ops);
  }

  void Skipped() {
    const auto seen = [&](std::string what, std::uint64_t count) {
      if (count > 0) told_.seen.push_back({std::move(what), count, std::nullopt});
    };
    seen("events that are totals, without a time", found_.totals);
    seen("events of lines that are drawn from others", found_.drawn_lines);
    seen("allocations and frees of device memory", found_.allocations);
    for (const Plane& plane : space_.planes) {
      std::uint64_t events = 0;
      for (const Line& line : plane.lines)
        events += line.events;
      const bool read = plane.name.starts_with("/host:") ||
                        plane.name.starts_with("/device:GPU:") ||
                        plane.name.starts_with("/device:TPU:");
      if (!read) seen("events of the plane " + OneLine(ValidUtf8(plane.name)), events);
    }
  }

  void Said() {
    constexpr std::size_t kToldMax = 8;
    std::size_t told = 0;
    for (const auto* list : {&space_.errors, &space_.warnings}) {
      for (const std::string_view text : *list) {
        if (told++ == kToldMax) return;
        Note("profiler_said", 0, "The profiler wrote: " + Shortened(OneLine(ValidUtf8(text)), 300),
             "");
      }
    }
  }

  const Space& space_;
  const Found& found_;
  Recording told_;
};

std::optional<std::int64_t> StartOf(const Space& space) {
  for (const Plane& plane : space.planes) {
    if (plane.name != "Task Environment") continue;
    if (const Stat* stat = plane.Find("profile_start_time"))
      return static_cast<std::int64_t>(stat->number);
  }
  return std::nullopt;
}

}  // namespace

std::vector<TopLevelValue> ValuesOf(const Space& space, const std::vector<DevicePlane>& devices,
                                    const Found& found) {
  std::vector<TopLevelValue> values = {{"schemaVersion", "1"}, {kRecorderKey, Quoted(kRecorder)}};
  if (!devices.empty()) values.push_back({"deviceProperties", DevicesText(devices)});
  bool amd = false, nvidia = false;
  for (const DevicePlane& device : devices) {
    amd = amd || device.amd;
    nvidia = nvidia || (!device.amd && !device.tpu);
  }
  if (amd) values.push_back({"rocprofiler", "1"});
  if (nvidia && !amd) values.push_back({"cupti_version", "1"});
  Recording recording = Teller(space, found).Run();
  recording.time_zero_utc_ns = StartOf(space);
  values.push_back(ValueOf(recording));
  if (!space.hostnames.empty())
    values.push_back({"hostname", Quoted(Shortened(ValidUtf8(space.hostnames.front()), 200))});
  return values;
}

}  // namespace jarvis::trace::xplane
