#include "ledger/kinds/kinds_of_work.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "base/text.h"
#include "ledger/kinds/kernel_name.h"
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
constexpr int kCallersMax = 64;  // events around it that are looked at
// Programs have some thousand kernels. Of recordings with more names the rest has no kind, so that
// they do not take seconds.
constexpr std::size_t kDistinctMax = 20'000;

// The sub of the row of names/inductor_triton.json for names that tell nothing.
constexpr std::string_view kNoOpList = "inductor without op list";

// More than pointwise kernels stage: they transpose tiles of at most 64 x 64 elements, which with
// padding are two of 64 x 66 x 4 bytes. Products stage operands as well, and accumulate in
// registers.
constexpr std::int64_t kStagedBytesMin = std::int64_t{36} << 10;
constexpr std::int64_t kAccumulatorRegistersMin = 128;
// The least that a product with a signature stages: two operands of 16 x 16 elements of 2 bytes.
constexpr std::int64_t kOperandBytesMin = 1024;
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

// What ops say, asked once an op's name and types.
using OpKinds = std::unordered_map<std::uint64_t, KernelKind>;

KernelKind KindOfOp(const EventStore& events, EventIndex op, OpKinds* known) {
  const std::uint64_t key =
      std::uint64_t{events.KnownAs(op)} << 32 | std::uint64_t{events.args_of(op).types};
  const auto [found, added] = known->try_emplace(key);
  if (!added || known->size() > kDistinctMax) return found->second;
  std::string text(events.strings[events.KnownAs(op)]);
  if (const auto types = TypesOf(events, op); !types.empty()) text.append(" ").append(types);
  found->second = OpTable().Find(text);
  return found->second;
}

KernelKind KindByOp(const EventStore& events, const tree::CallTree& tree, EventIndex gpu_event,
                    OpKinds* known) {
  int asked = 0;
  int looked = 0;
  for (EventIndex e = tree.parent(gpu_event);
       e != kNoEvent && asked < kOpsMax && looked < kCallersMax; e = tree.parent(e), ++looked) {
    // A graph is launched as one: its kernels are not the work of the op around the launch.
    if (trace::IsLaunchCall(events[e].kind) && ContainsNoCase(events.name(e), "graphlaunch")) {
      return {};
    }
    if (events[e].kind != EventKind::kCpuOp) continue;
    ++asked;
    KernelKind kind = KindOfOp(events, e, known);
    if (kind.kind == WorkKind::kUnknown) continue;
    kind.basis = KindBasis::kOp;
    return kind;
  }
  return {};
}

std::optional<std::int64_t> NumberAt(std::string_view members, std::string_view key) {
  return trace::IntegerOf(trace::MemberOf(members, key));
}

std::optional<std::int64_t> ThreadsIn(std::string_view block) {
  std::int64_t threads = 1;
  const auto sizes = trace::ElementsOf(block);
  if (sizes.size() != 3) return std::nullopt;
  for (const std::string_view size : sizes) {
    const auto count = trace::IntegerOf(size);
    if (!count || *count < 1 || *count > 1024) return std::nullopt;
    threads *= *count;
  }
  return threads;
}

KernelKind ByShape(WorkKind kind, std::string_view sub) {
  return {.kind = kind,
          .basis = KindBasis::kLaunchShape,
          .sub = sub,
          .precision = {},
          .library = "inductor_triton",
          .sizes = {}};
}

// Only of generated kernels without a name: there the compiler gives shared memory to what needs
// it. Without any, a kernel may be element-wise, a cast, a copy or a reduction of short rows:
// unknown. Inductor (torch/_inductor/codegen/triton.py) passes pointwise kernels one size, or two
// in a grid with y; reductions two, in a grid without; templates of products none.
KernelKind KindByLaunchShape(const EventStore& events, EventIndex gpu_event, bool marks_sizes) {
  const std::string_view members = events.text(events.args_of(gpu_event).other);
  const auto registers = NumberAt(members, "registers per thread");
  const auto shared = NumberAt(members, "shared memory");
  const auto threads = ThreadsIn(trace::MemberOf(members, "block"));
  const auto grid = trace::ElementsOf(trace::MemberOf(members, "grid"));
  if (!registers || !shared || !threads || grid.size() != 3) return {};
  const bool has_y = grid[1] != "1";
  const TritonSignature signature = TritonSignatureOf(events.name(gpu_event));
  if (signature.arguments > 0 && marks_sizes) {
    if (signature.sizes == 0 && *shared >= kOperandBytesMin) {
      return ByShape(WorkKind::kProduct, "gemm or convolution (Triton)");
    }
    if (signature.sizes == 1 && !has_y) return ByShape(WorkKind::kElementwise, "fused");
    if (signature.sizes == 2 && *shared > 0) {
      return has_y ? ByShape(WorkKind::kLayout, "transpose, fused")
                   : ByShape(WorkKind::kReduction, "reduce, norm or softmax");
    }
    return {};
  }
  if (*shared >= kStagedBytesMin && *registers >= kAccumulatorRegistersMin) {
    return ByShape(WorkKind::kProduct, "gemm or convolution (Triton)");
  }
  const std::int64_t warps = *threads / kWarp;
  if (warps > 1 && *threads % kWarp == 0 && *shared >= warps * kBytesPerWarpMin &&
      *shared <= warps * kBytesPerWarpMax) {
    return ByShape(WorkKind::kReduction, "reduce, norm or softmax");
  }
  return {};
}

}  // namespace

KindsOfWork::KindsOfWork(const EventStore& events, const tree::CallTree& tree) : events_(events) {
  std::vector<EventIndex> gpu_events;
  std::vector<std::pair<StringId, KernelKind*>> names;
  for (EventIndex e = 0; e < events.size(); ++e) {
    if (!trace::IsGpuWork(events[e].kind)) continue;
    gpu_events.push_back(e);
    const auto [at, added] = of_name_.try_emplace(events[e].name);
    if (added)
      names.emplace_back(at->first, &at->second);  // the map's elements stay where they are
  }
  // Most of the time goes into compiling the rows that the first names need.
  ParallelFor(std::min(names.size(), kDistinctMax), 0, [&](std::size_t i) {
    *names[i].second = ClassifyKernelName(events.strings[names[i].first]);
  });
  const bool marks_sizes = std::any_of(names.begin(), names.end(), [&](const auto& name) {
    return name.second->sub == kNoOpList &&
           TritonSignatureOf(events.strings[name.first]).marks_sizes;
  });
  OpKinds of_ops;
  for (const EventIndex e : gpu_events) {
    const KernelKind& named = of_name_.at(events[e].name);
    // Libraries compute convolutions by products too (Winograd, im2col), and XLA writes products of
    // a TPU as convolutions: the op says so.
    if (named.kind == WorkKind::kProduct || named.kind == WorkKind::kConvolution) {
      const KernelKind of_op = KindByOp(events, tree, e, &of_ops);
      if (of_op.kind != named.kind &&
          (of_op.kind == WorkKind::kConvolution || of_op.kind == WorkKind::kProduct)) {
        KernelKind kind = named;
        kind.kind = of_op.kind;
        kind.basis = KindBasis::kOp;
        of_event_.emplace(e, kind);
      }
    }
    if (named.kind != WorkKind::kUnknown) continue;
    const trace::Event& event = events[e];
    KernelKind kind;
    if (event.kind != EventKind::kKernel) {
      kind = {.kind = WorkKind::kCopy,
              .basis = KindBasis::kName,
              .sub = event.kind == EventKind::kMemset ? "fill" : "copy",
              .precision = {},
              .library = "memory_operations",
              .sizes = {}};
    } else {
      kind = KindByOp(events, tree, e, &of_ops);
      if (kind.kind == WorkKind::kUnknown && of_name_.at(event.name).sub == kNoOpList) {
        kind = KindByLaunchShape(events, e, marks_sizes);
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

WorkKind KindsOfWork::OfMost(std::span<const EventIndex> gpu_events) const {
  std::array<std::int64_t, kWorkKinds> ns{};
  for (const EventIndex e : gpu_events)
    ns[static_cast<std::size_t>(Of(e).kind)] += events_[e].dur_ns;
  const auto most = std::max_element(ns.begin(), ns.end());
  return *most > 0 ? static_cast<WorkKind>(most - ns.begin()) : WorkKind::kUnknown;
}

}  // namespace jarvis::ledger
