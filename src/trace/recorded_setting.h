// What a trace's metadata says of a setting of the process that it was recorded in: some producers
// keep the environment. Who asks names the setting, so that nothing else of an environment is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/metadata.h"

namespace jarvis::trace {

// The value of the first member of that name, at any depth; absent: there is none, or it is longer
// than a setting. Pure.
std::optional<std::string> RecordedSetting(const Metadata& metadata, std::string_view name);

}  // namespace jarvis::trace
