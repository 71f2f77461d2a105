#include "ledger/kinds/kinds_of_work.h"

#include <optional>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "ledger/kinds/kind_files.h"
#include "ledger/kinds/kind_table.h"
#include "trace/json_text.h"

namespace jarvis::ledger {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::EventStore;
using trace::kNoEvent;

// Ops around a launch that are asked: a kernel belongs to the inner ones.
constexpr int kOpsMax = 4;

// A tile that is staged for the matrix units: two operands of 128 x 64 elements of 2 bytes, and the
// registers of its accumulators. What computes element by element needs no shared memory, a
// transpose a tile of 64 x 64 elements of 4 bytes, a reduction some bytes per warp.
constexpr std::int64_t kStagedBytesMin = std::int64_t{32} << 10;
constexpr std::int64_t kAccumulatorRegistersMin = 128;
// The sub of the row of names/inductor_triton.json for names that tell nothing.
constexpr std::string_view kNoOpList = "inductor without op list";
// What warps hand each other in a reduction: one to four values per warp.
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kBytesPerWarpMin = 4;
constexpr std::int64_t kBytesPerWarpMax = 16;

const KindTable& OpTable() {
  static const KindTable table(OpNameFiles());
  return table;
}

// The first two input types: "same", "differ", or empty where they were not recorded.
std::string_view TypesOf(const EventStore& events, EventIndex op) {
  const auto types = trace::ElementsOf(events.text(events.args_of(op).types));
  if (types.size() < 2 || trace::Unquoted(types[0]).empty() || trace::Unquoted(types[1]).empty()) {
    return {};
  }
  return types[0] == types[1] ? "same" : "differ";
}

KernelKind KindByOp(const EventStore& events, const tree::CallTree& tree, EventIndex gpu_event) {
  int asked = 0;
  for (EventIndex e = tree.parent(gpu_event); e != kNoEvent && asked < kOpsMax;
       e = tree.parent(e)) {
    // A graph is launched as one: its kernels are not the work of the op around the launch.
    if (trace::IsLaunchCall(events[e].kind) && ContainsNoCase(events.name(e), "graphlaunch")) {
      return {};
    }
    if (events[e].kind != EventKind::kCpuOp) continue;
    ++asked;
    std::string text(events.name(e));
    if (const auto types = TypesOf(events, e); !types.empty()) text.append(" ").append(types);
    KernelKind kind = OpTable().Find(text);
    if (kind.kind == WorkKind::kUnknown) continue;
    kind.basis = KindBasis::kOp;
    return kind;
  }
  return {};
}

std::optional<std::int64_t> NumberAt(std::string_view members, std::string_view key) {
  return trace::IntegerOf(trace::MemberOf(members, key));
}

std::optional<std::int64_t> ThreadsOf(std::string_view members) {
  const auto block = trace::ElementsOf(trace::MemberOf(members, "block"));
  if (block.size() != 3) return std::nullopt;
  std::int64_t threads = 1;
  for (const std::string_view size : block) {
    const auto count = trace::IntegerOf(size);
    if (!count || *count < 1 || *count > 1024) return std::nullopt;
    threads *= *count;
  }
  return threads;
}

// Only of generated kernels without a name: there the compiler gives shared memory to what needs
// it. Without any, a kernel may be element-wise, a cast, a copy or a reduction of short rows:
// unknown.
KernelKind KindByLaunchShape(const EventStore& events, EventIndex gpu_event) {
  const std::string_view members = events.text(events.args_of(gpu_event).other);
  const auto registers = NumberAt(members, "registers per thread");
  const auto shared = NumberAt(members, "shared memory");
  const auto threads = ThreadsOf(members);
  if (!registers || !shared || !threads) return {};
  if (*shared >= kStagedBytesMin && *registers >= kAccumulatorRegistersMin) {
    return {.kind = WorkKind::kProduct,
            .basis = KindBasis::kLaunchShape,
            .sub = "gemm or convolution (Triton)",
            .precision = {},
            .library = "inductor_triton"};
  }
  const std::int64_t warps = *threads / kWarp;
  if (warps > 1 && *threads % kWarp == 0 && *shared >= warps * kBytesPerWarpMin &&
      *shared <= warps * kBytesPerWarpMax) {
    return {.kind = WorkKind::kReduction,
            .basis = KindBasis::kLaunchShape,
            .sub = "reduce, norm or softmax (Triton)",
            .precision = {},
            .library = "inductor_triton"};
  }
  return {};
}

}  // namespace

KindsOfWork::KindsOfWork(const EventStore& events, const tree::CallTree& tree) : events_(events) {
  for (EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (!trace::IsGpuWork(event.kind)) continue;
    const auto [at, added] = of_name_.try_emplace(event.name);
    if (added) at->second = ClassifyKernelName(events.name(e));
    if (at->second.kind != WorkKind::kUnknown) continue;
    KernelKind kind;
    if (event.kind != EventKind::kKernel) {
      kind = {.kind = WorkKind::kCopy,
              .basis = KindBasis::kName,
              .sub = event.kind == EventKind::kMemset ? "fill" : "copy",
              .precision = {},
              .library = "memory_operations"};
    } else {
      kind = KindByOp(events, tree, e);
      if (kind.kind == WorkKind::kUnknown && at->second.sub == kNoOpList) {
        kind = KindByLaunchShape(events, e);
      }
    }
    if (kind.kind != WorkKind::kUnknown) of_event_.emplace(e, kind);
  }
}

const KernelKind& KindsOfWork::Of(EventIndex gpu_event) const {
  if (const auto own = of_event_.find(gpu_event); own != of_event_.end()) return own->second;
  const auto named = of_name_.find(events_[gpu_event].name);
  JV_CHECK(named != of_name_.end());
  return named->second;
}

}  // namespace jarvis::ledger
