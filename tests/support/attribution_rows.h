// The rows K1 to K19 that pin which operation a kernel belongs to, as traces; what is made of each
// is in tests/analysis (the default) and tests/compat (the reference).
#pragma once

#include <string>

#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "support/trace_builder.h"

namespace jarvis::testing {

// "op 2 70/90 x": each launcher by start, with count, direct and subtree time.
inline std::string Launchers(const trace::EventStore& events,
                             const analysis::Attribution& attribution) {
  std::string text;
  for (const analysis::Launcher& launcher : attribution.launchers) {
    if (!text.empty()) text += ", ";
    text += launcher.op == trace::kNoEvent ? std::string("(unlinked)")
                                           : std::string(events.name(launcher.op));
    text += fmt::format(" {} {}/{}", launcher.count, launcher.direct_us, launcher.subtree_us);
  }
  return text;
}

// A launch of one kernel with its arrow.
inline TraceText& Launch(TraceText& text, double ts, std::string_view kernel, double kernel_ts,
                         double kernel_dur, int id, std::string_view call = "hipLaunchKernel") {
  return text.Runtime(call, ts, 2, id).Kernel(kernel, kernel_ts, kernel_dur, id).Arrow(id);
}

inline TraceText K1() {
  TraceText text;
  text.Op("op", 0, 100);
  return Launch(text, 10, "k", 200, 50, 1);
}
inline TraceText K2() {
  TraceText text;
  text.Op("op", 0, 100);
  Launch(text, 10, "k", 200, 30, 1);
  return Launch(text, 20, "l", 300, 40, 2);
}
// K3 and K4: Python frames between the op and the launch.
inline TraceText K4(int frames) {
  TraceText text;
  text.Op("op", 0, 100);
  for (int i = 0; i < frames; ++i)
    text.Python("frame", 1 + i, 90 - 2 * i);
  return Launch(text, 40, "k", 200, 50, 1);
}
inline TraceText K5() {
  TraceText text;
  return Launch(text, 10, "k", 200, 50, 1);
}
inline TraceText K6() {
  TraceText text = K1();
  return Launch(text, 150, "l", 300, 20, 2);
}
inline TraceText K7() {
  TraceText text;
  text.Op("op", 0, 100);
  return Launch(text, 10, "ncclDevKernel_AllReduce", 200, 50, 1);
}
inline TraceText K8() {
  TraceText text;
  text.Op("op", 0, 100);
  Launch(text, 10, "k", 200, 30, 1);
  return Launch(text, 20, "ncclDevKernel_AllReduce", 300, 40, 2);
}
// K9 and K10: three kernels of one graph launch, without arrows.
inline TraceText K9(std::string_view call) {
  TraceText text;
  text.Op("op", 0, 100).Runtime(call, 10, 5, 1);
  return text.Kernel("a", 200, 20, 1).Kernel("b", 220, 30, 1).Kernel("c", 250, 40, 1);
}
// K11 and K12: an op that only wraps.
inline TraceText K11() {
  TraceText text;
  text.Op("conv_bn_fused", 0, 100).Op("execute", 1, 90);
  return Launch(text, 10, "k", 200, 80, 1);
}
inline TraceText K13() {
  TraceText text;
  text.Op("execute", 1, 90);
  return Launch(text, 10, "k", 200, 50, 1);
}
inline TraceText K14() {
  TraceText text;
  text.Op("outer", 0, 100).Op("inner", 5, 50);
  return Launch(text, 10, "k", 200, 50, 1);
}
// K15 and K18: a parent of two ops.
inline TraceText K15() {
  TraceText text;
  text.Op("parent", 0, 100).Op("left", 5, 20);
  Launch(text, 10, "k", 200, 50, 1);
  text.Op("right", 30, 20);
  return Launch(text, 35, "l", 300, 40, 2);
}
inline TraceText K16() {
  TraceText text;
  text.Op("aten::copy_", 0, 20)
      .Runtime("hipMemcpyAsync", 5, 2, 1)
      .Memcpy("Memcpy DtoD", 200, 10, 1);
  text.Op("aten::zero_", 30, 20).Runtime("hipMemsetAsync", 35, 2, 2);
  text.Memset("Memset (Device)", 300, 5, 2).Runtime("hipLaunchKernel", 90, 2, 9);
  return text.Arrow(1).Arrow(2);
}
inline TraceText K17() {
  TraceText text;
  text.Op("op", 0, 100).Runtime("cudaLaunchKernelExC", 10, 20, 1);
  return text.Driver("cuLaunchKernelEx", 12, 5, 2).Kernel("k", 200, 50, 2).Arrow(2);
}
inline TraceText K19() {
  TraceText text;
  text.Op("op", 0, 10).Runtime("hipLaunchKernel", 8, 10, 1);
  return text.Kernel("k", 200, 50, 1).Arrow(1);
}

}  // namespace jarvis::testing
