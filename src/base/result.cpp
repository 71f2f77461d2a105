#include "base/result.h"

namespace jarvis {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnknownArgument: return "unknown_argument";
    case ErrorCode::kBadValue: return "bad_value";
    case ErrorCode::kUnknownTrace: return "unknown_trace";
    case ErrorCode::kTraceNotFound: return "trace_not_found";
    case ErrorCode::kNotAllowed: return "not_allowed";
    case ErrorCode::kNotATrace: return "not_a_trace";
    case ErrorCode::kTooLarge: return "too_large";
    case ErrorCode::kOutOfMemory: return "out_of_memory";
    case ErrorCode::kUnknownRow: return "unknown_row";
    case ErrorCode::kStaleCursor: return "stale_cursor";
    case ErrorCode::kNoGpuEvents: return "no_gpu_events";
    case ErrorCode::kNoShapes: return "no_shapes";
    case ErrorCode::kNoStacks: return "no_stacks";
    case ErrorCode::kExists: return "exists";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kBusy: return "busy";
    case ErrorCode::kLoading: return "loading";
    case ErrorCode::kExecDisabled: return "EXEC_DISABLED";  // as the warnings of sweeps are written
    case ErrorCode::kIo: return "io";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

}  // namespace jarvis
