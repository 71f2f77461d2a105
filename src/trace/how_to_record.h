// What to record next time for what a recording lacks, in the words of the profiler that wrote it.
#pragma once

#include <string>
#include <string_view>

#include "trace/metadata.h"

namespace jarvis::trace {

// Names of Recording::profiler.
inline constexpr std::string_view kByNsys = "nsys";
inline constexpr std::string_view kByRocprof = "rocprofv3";
inline constexpr std::string_view kByPerfetto = "perfetto";
inline constexpr std::string_view kByXplane = "xplane";

// Each text goes on after "Record with" or "Record next:". Empty: that profiler records none of it.
struct HowToRecord {
  std::string_view profiler;   // empty: torch.profiler
  std::string_view framework;  // whose programs it is said for; empty: any
  std::string_view gpu_work;   // with the calls that launch it
  std::string_view ops;
  std::string_view shapes;  // of ops
  std::string_view stacks;  // which line of code calls what
  std::string_view modules;
  std::string_view marked_steps;  // what marks a step
  std::string_view warm_steps;    // steps that no start-up is in
  std::string_view steps_in_a_row;
  std::string_view no_stacks;  // so that recording costs the host less
};

// `recording`: null, or Metadata::recording. Never null of anything that can be loaded.
const HowToRecord& HowToRecordNext(const Recording* recording);
inline const HowToRecord& HowToRecordNext(const Metadata& metadata) {
  return HowToRecordNext(metadata.recording ? &*metadata.recording : nullptr);
}

// "record with nsys profile ...", for what needs GPU work and its launches.
std::string RecordGpuWork(const Metadata& metadata);

// Without the marks of code, for answers that are no Markdown.
std::string PlainWords(std::string_view text);

}  // namespace jarvis::trace
