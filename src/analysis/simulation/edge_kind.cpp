#include "analysis/simulation/edge_kind.h"

namespace jarvis::analysis {

std::string_view EdgeKindText(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kHostSegment: return "host_segment";
    case EdgeKind::kHostCall: return "host_call";
    case EdgeKind::kLaunch: return "launch";
    case EdgeKind::kStream: return "stream";
    case EdgeKind::kGpuWork: return "gpu_work";
    case EdgeKind::kSync: break;
  }
  return "sync";
}

}  // namespace jarvis::analysis
