// Which framework a program is written in, by names of its kernels, ops and ranges: recordings of
// Nsight Systems, rocprofv3 and Perfetto do not say.
#pragma once

#include <string_view>

#include "trace/event_store.h"

namespace jarvis::trace {

// "PyTorch", "JAX", "ggml"; empty: no name shows one.
std::string_view FrameworkOf(const EventStore& events);

}  // namespace jarvis::trace
