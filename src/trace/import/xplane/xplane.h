// Profiles of JAX, TensorFlow and XLA: XSpace messages (.xplane.pb), as the profiler of XLA writes
// them on every host. Messages: tsl/profiler/protobuf/xplane.proto.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

extern const Importer kXplane;

}  // namespace jarvis::trace
