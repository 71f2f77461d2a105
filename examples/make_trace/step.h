// The events of one profiler step, before they are written. Everything is cleared and used again
// for the next step, so that memory does not grow with the trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device_model.h"
#include "text.h"

namespace make_trace {

inline constexpr std::int64_t kNone = -1;

// A piece of Step::text.
struct TextRef {
  std::size_t at = 0;
  std::size_t size = 0;
};

// What a bottleneck that was planted on purpose is called, in the order of the truth file.
enum class Planted : std::uint8_t { kNo, kSkinnyGemm, kUnfusedNorm, kLaunchBound, kAllReduce };
inline constexpr std::size_t kPlantedCount = 5;

struct OpEvent {
  std::string_view name;
  Ns ts = 0;
  Ns dur = 0;
  std::int64_t external_id = 0;
  std::int64_t sequence = kNone;
  std::int64_t forward_thread = kNone;
  std::int64_t flow =
      0;  // id of the forward-backward arrow: positive at its start, negative at its end
  TextRef inputs;
  int tid = 0;
  bool annotation = false;
};

struct FrameEvent {
  std::string_view name;
  Ns ts = 0;
  Ns dur = 0;
  std::int64_t id = 0;
  std::int64_t parent = kNone;
  std::int64_t module = kNone;
  int tid = 0;
};

struct CallEvent {
  Call call = Call::kLaunch;
  Ns ts = 0;
  Ns dur = 0;
  std::int64_t external_id = 0;
  std::int64_t correlation = 0;
  std::size_t gpu = 0;  // index of what it started, when starts_gpu_work
  int tid = 0;
  bool starts_gpu_work = false;
};

enum class GpuKind : std::uint8_t { kKernel, kMemcpy, kMemset };

struct GpuEvent {
  std::string_view name;
  GpuKind kind = GpuKind::kKernel;
  Planted planted = Planted::kNo;
  bool backward = false;
  int stream = 0;
  Ns ts = 0;
  Ns dur = 0;
  std::int64_t external_id = 0;
  std::int64_t correlation = 0;
  std::int64_t elements = 0;  // kernels: sets the grid
  std::int64_t bytes = 0;     // copies and fills
  const KernelInfo* info = nullptr;
  std::string_view op;      // the cpu_op that launched it
  std::string_view module;  // innermost module class, of the forward op for backward work
  TextRef collective;       // arguments of a collective kernel
};

struct MemoryEvent {
  Ns ts = 0;
  std::int64_t bytes = 0;
  std::int64_t address = 0;
  std::int64_t allocated = 0;
  int tid = 0;
};

struct GpuAnnotationEvent {
  std::string_view name;
  int stream = 0;
  Ns ts = 0;
  Ns dur = 0;
  std::int64_t external_id = 0;
};

struct Step {
  int number = 0;
  Ns ts = 0;
  Ns dur = 0;
  std::vector<OpEvent> ops;
  std::vector<FrameEvent> frames;
  std::vector<CallEvent> calls;
  std::vector<GpuEvent> gpu;
  std::vector<MemoryEvent> memory;
  std::vector<GpuAnnotationEvent> gpu_annotations;
  std::string text;
  // Per planted bottleneck: what the same work would have taken, in this step.
  Ns planted_ideal[kPlantedCount] = {};
  // The stretch of the launch-bound bottleneck.
  Ns launch_bound_begin = 0;
  Ns launch_bound_end = 0;

  void Clear() {
    ops.clear();
    frames.clear();
    calls.clear();
    gpu.clear();
    memory.clear();
    gpu_annotations.clear();
    text.clear();
    for (Ns& ideal : planted_ideal)
      ideal = 0;
    launch_bound_begin = launch_bound_end = 0;
  }
  std::string_view Text(TextRef ref) const {
    return std::string_view(text).substr(ref.at, ref.size);
  }
};

}  // namespace make_trace
