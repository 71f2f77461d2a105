// Whether what an action needs (levers::Needs) is there: the platform, the device, the model,
// sizes.
//
// Errors: none. Threads: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "findings/one/work_context.h"
#include "levers/fixes.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// Of a collective.
struct Message {
  std::optional<double> bytes;  // of one rank
  std::optional<std::int64_t> ranks;
};
// As it is recorded with the collective, else by the first operand of its op and the groups of
// ranks that the trace names, where those of more than one rank are equally large.
Message MessageOf(const session::LoadedTrace& trace, trace::EventIndex collective);

enum class Fit : std::uint8_t { kFits, kUnknown, kNot };  // kUnknown: something is not recorded
// Said where the fit is not known.
inline constexpr std::string_view kIfSupported = "if this build supports it here";
Fit FitOf(const levers::Needs& needs, const WorkContext& context, const Message& message = {});

// The device's compute capability, or the newest that names of kernels tell: 90; 0: not known.
int NvidiaArchitecture(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
