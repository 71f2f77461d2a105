#include "compat/tracelens_rocprof.h"

namespace jarvis::compat {

rocprof::ReportRules TraceLensRocprofRules() {
  return {.nanoseconds = true, .cumulate_by_name = true, .tool_span = true};
}

}  // namespace jarvis::compat
