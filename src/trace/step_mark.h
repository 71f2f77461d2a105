// The marks of steps: "ProfilerStep#12", which the schedule of torch.profiler leaves around each,
// and "train#step_num=12#", as a StepTraceAnnotation of JAX and TensorFlow writes itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace jarvis::trace {

// The number of the step that an annotation of this name marks; absent: it marks none.
inline std::optional<std::int64_t> StepNumberOf(std::string_view name) {
  constexpr std::string_view kMark = "ProfilerStep#";
  if (name.starts_with(kMark)) return ParseInt(name.substr(kMark.size()));
  constexpr std::string_view kNumber = "#step_num=";
  if (!name.ends_with('#')) return std::nullopt;
  const std::size_t at = name.rfind(kNumber);
  if (at == std::string_view::npos) return std::nullopt;
  name.remove_suffix(1);
  return ParseInt(name.substr(at + kNumber.size()));
}

// What marks of this name are called, without their number: "ProfilerStep", "train".
inline std::string_view StepMarkName(std::string_view name) {
  return name.substr(0, name.find('#'));
}

}  // namespace jarvis::trace
