// What a GPU would do: how long a kernel takes (a roofline), what it is called and how it is
// launched on each platform.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "options.h"
#include "text.h"

namespace make_trace {

enum class Kernel : std::uint8_t {
  kGemm,
  kGemmSkinny,
  kFlashForward,
  kFlashBackwardDot,
  kFlashBackward,
  kFlashBackwardConvert,
  kRope,
  kRopeBackward,
  kLayerNorm,
  kLayerNormBackward,
  kLayerNormBackwardWeight,
  kRmsNorm,
  kRmsNormBackward,
  kRmsNormBackwardWeight,
  kPow,
  kRsqrt,
  kAddScalar,
  kMulScalar,
  kAdd,
  kMul,
  kDiv,
  kSilu,
  kSiluBackward,
  kFill,
  kCopy,
  kEqual,
  kMean,
  kSum,
  kSumLong,
  kEmbedding,
  kEmbeddingBackward,
  kLogSoftmax,
  kLogSoftmaxBackward,
  kNll,
  kNllBackward,
  kForeachNorm,
  kForeachMul,
  kFusedAdam,
  kAllReduce,
};

enum class LaunchCall : std::uint8_t { kRuntime, kLibrary, kDriver };

// One kernel on one platform.
struct KernelInfo {
  Kernel kernel;
  std::string_view group;  // of the truth file: gemm, attention, normalization...
  LaunchCall call;
  int block;       // threads
  int per_thread;  // elements a thread
  int registers;
  int shared_bytes;
  std::string_view h100;
  std::string_view mi300x;
};

struct DeviceModel {
  Platform platform;
  std::string_view name;
  double bf16_flops_per_ns;
  double bytes_per_ns;
  double link_bytes_per_ns;  // of an all-reduce, one direction
  double host_link_bytes_per_ns;
  int multiprocessors;
  int warp;
  int compute_stream;
  int comm_stream;
};

const DeviceModel& Device(Platform platform);
const KernelInfo& Info(Kernel kernel);

inline std::string_view NameOf(const KernelInfo& info, Platform platform) {
  return platform == Platform::kH100 ? info.h100 : info.mi300x;
}

// Amount of work of one launch.
struct Work {
  double bytes = 0;
  double flops = 0;
  std::int64_t elements = 0;  // of the output, for the grid
};

inline constexpr double kUsualEfficiency = 0;  // 0: the usual one of the kernel's group
inline constexpr double kPlantedGemmEfficiency = 0.08;

// Time of the work at an efficiency of the nearer of the two roofs.
Ns RooflineTime(const DeviceModel& device, const KernelInfo& info, const Work& work,
                double efficiency = kUsualEfficiency);

// Time of an all-reduce (ring) of bytes among world ranks.
Ns AllReduceTime(const DeviceModel& device, double bytes, int world);

// Names of runtime calls; index by Call.
enum class Call : std::uint8_t {
  kLaunch,
  kLaunchLibrary,
  kLaunchDriver,
  kMemcpyAsync,
  kMemsetAsync,
  kStreamSynchronize,
  kDeviceSynchronize,
  kEventRecord,
  kStreamWaitEvent,
  kIsCapturing,
  kFuncAttribute,
};
struct CallInfo {
  std::string_view h100;
  int cbid;
  bool driver;  // on NVIDIA filed under cuda_driver
  std::string_view mi300x;
  int cid;
  int host_ns;  // usual duration
};
const CallInfo& Info(Call call);

}  // namespace make_trace
