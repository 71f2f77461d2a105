// What kind of work a piece of GPU time is, in words that two traces share whatever their ops and
// kernels are called.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/attribution/attribution.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

enum class WorkClass : std::uint8_t {
  kProducts,  // matrix products, grouped ones too
  kAttention,
  kConvolution,
  kExperts,        // of fused expert layers what is neither product nor communication
  kCommunication,  // collectives, and what expert layers send and fetch by kernels of their own
  kQuantisation,
  kIndexing,     // gather, scatter, sort
  kMemoryBound,  // elementwise, reductions, norms: bytes set the time
  kCopies,       // copies and fills
  kOther,
  kCount,
};
inline constexpr std::size_t kWorkClasses = static_cast<std::size_t>(WorkClass::kCount);

// "matrix products", "memory-bound ops"...
std::string_view WorkClassText(WorkClass of);

// Of one kernel, by its own name where that tells, else by its op.
WorkClass WorkClassOf(const session::LoadedTrace& trace, const analysis::Launcher& launcher,
                      trace::EventIndex kernel);
// Of most of the launcher's time.
WorkClass WorkClassOf(const session::LoadedTrace& trace, const analysis::Launcher& launcher);

}  // namespace jarvis::findings
