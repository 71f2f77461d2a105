// The marks that the profiler's schedule leaves around each step: "ProfilerStep#12".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace jarvis::trace {

// The number of the step that an annotation of this name marks; absent: it marks none.
inline std::optional<std::int64_t> StepNumberOf(std::string_view name) {
  constexpr std::string_view kMark = "ProfilerStep#";
  if (!name.starts_with(kMark)) return std::nullopt;
  return ParseInt(name.substr(kMark.size()));
}

}  // namespace jarvis::trace
