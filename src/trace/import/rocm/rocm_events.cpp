#include "trace/import/rocm/rocm_events.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "trace/how_to_record.h"
#include "trace/import/shared/range_name.h"

namespace jarvis::trace {
namespace {

// "HtoD" of "MEMORY_COPY_HOST_TO_DEVICE"; empty: another word.
std::string_view DirectionOf(std::string_view word) {
  constexpr std::string_view kPrefix = "MEMORY_COPY_";
  if (word.starts_with(kPrefix)) word.remove_prefix(kPrefix.size());
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"HOST_TO_DEVICE", "HtoD"},
                                                                      {"DEVICE_TO_HOST", "DtoH"},
                                                                      {"DEVICE_TO_DEVICE", "DtoD"},
                                                                      {"HOST_TO_HOST", "HtoH"}};
  for (const auto& [known, direction] : kWords) {
    if (word == known) return direction;
  }
  return {};
}

std::optional<std::int64_t> VariableOf(simdjson::dom::element environment,
                                       std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string_view text;
    if (environment[name].get_string().get(text)) continue;
    const auto value = ParseInt(text);
    if (value && *value >= 0) return value;
  }
  return std::nullopt;
}

std::int64_t Blocks(std::int64_t items, std::int64_t block) {
  if (items == kNoCell || block == kNoCell || block <= 0 || items < 0) return items;
  return items / block + (items % block != 0 ? 1 : 0);
}

}  // namespace

RocmWord RocmWordOf(std::string_view category) {
  if (IsOneOf(category, {"HIP_RUNTIME_API", "HIP_RUNTIME_API_EXT", "HIP_COMPILER_API",
                         "HIP_COMPILER_API_EXT", "rocm_hip_api", "hip_runtime_api", "hip_api"}))
    return RocmWord::kHip;
  if (IsOneOf(category, {"HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API",
                         "HSA_FINALIZE_EXT_API", "rocm_hsa_api", "hsa_api"}))
    return RocmWord::kHsa;
  if (IsOneOf(category, {"MARKER_CORE_API", "MARKER_CORE_RANGE_API", "rocm_marker_api",
                         "marker_api", "ROCTX"}))
    return RocmWord::kMarker;
  if (IsOneOf(category, {"RCCL_API", "RCCL_API_EXT", "rocm_rccl_api", "rccl_api"}))
    return RocmWord::kRccl;
  return IsOneOf(category, {"mpi", "MPI"}) ? RocmWord::kMpi : RocmWord::kOther;
}

void IdSet::Insert(std::int64_t id) {
  // A file that skips ids pays for a set of them, not for a bit each.
  const auto near = static_cast<std::int64_t>(std::max<std::size_t>(dense_.size() * 4, 1 << 20));
  if (id < 0 || id >= std::min(near, kDenseMax)) {
    sparse_.insert(id);
    return;
  }
  if (dense_.size() <= static_cast<std::size_t>(id))
    dense_.resize(static_cast<std::size_t>(id) + 1);
  dense_[static_cast<std::size_t>(id)] = true;
}

bool IdSet::Has(std::int64_t id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < dense_.size() &&
      dense_[static_cast<std::size_t>(id)])
    return true;
  return !sparse_.empty() && sparse_.contains(id);
}

std::int64_t RocmCalls::LaunchOf(std::int64_t own, std::int64_t parent) const {
  if (hip.Has(own)) return own;
  constexpr int kDepthMax = 64;
  std::int64_t at = own;
  for (int depth = 0; depth < kDepthMax; ++depth) {
    const auto above = parent_of.find(at);
    if (above == parent_of.end()) break;
    at = above->second;
    if (hip.Has(at)) return at;
  }
  return parent != kNoCell && hip.Has(parent) ? parent : own;
}

StringId RocmEvents::NameOf(Names* names, std::int64_t key, std::string_view name) {
  if (key == kNoCell) return writer_.Name(name);
  if (key == names->last_key) return names->last;
  const auto [found, added] = names->by_key.try_emplace(key, kNoString);
  if (added) found->second = writer_.Name(name);
  names->last_key = key;
  names->last = found->second;
  return names->last;
}

OwnerId RocmEvents::GpuOf(OwnerId process, std::int64_t agent) {
  if (agent == last_agent_ && process == last_process_) return last_gpu_;
  const OwnerId id = owners_.GpuOf(process, agent);
  last_agent_ = agent;
  last_process_ = process;
  last_gpu_ = id;
  GpuOwner& gpu = owners_.gpus()[id & ~kGpuOwner];
  if (gpu.about) return id;
  const auto found = agents.find(agent);
  gpu.about = found == agents.end() ? Device() : found->second.about;
  if (found != agents.end() && found->second.index != kNoCell) gpu.index = found->second.index;
  gpu.by_queue = by_queue;
  return id;
}

Status RocmEvents::Add(const RocmCall& call) {
  Args args;
  EventKind kind = EventKind::kRuntime;
  StringId name = kNoString;
  bool beside = false;
  switch (call.word) {
    case RocmWord::kHsa: kind = EventKind::kDriver; [[fallthrough]];
    case RocmWord::kHip:
      if (call.correlation != kNoCell) args.correlation = call.correlation;
      break;
    case RocmWord::kMarker: {
      const RangeName range = ParseRangeName(call.text.empty() ? call.name : call.text);
      kind = range.is_op ? EventKind::kCpuOp : EventKind::kUserAnnotation;
      args.sequence = range.sequence.value_or(kAbsent);
      args.external_id = range.op_id.value_or(kAbsent);
      if (!range.sizes.empty()) args.dims = writer_.Raw(range.sizes);
      name = writer_.Name(range.name);
      // Ranges that a program starts and stops do not nest.
      beside = call.name.find("ProcessRange") != std::string_view::npos;
      break;
    }
    case RocmWord::kRccl:
    case RocmWord::kMpi: kind = EventKind::kUserAnnotation; break;
    case RocmWord::kOther: ++tally_.counts["other regions"]; return {};
  }
  if (!call.other.empty()) args.other = writer_.Raw(call.other);
  if (name == kNoString) name = NameOf(&call_names_, call.name_key, call.name);
  return writer_.Add({kind, name, writer_.TrackOf(call.process, call.tid, beside), call.start,
                      call.end - call.start},
                     args);
}

Status RocmEvents::Add(const RocmKernel& kernel) {
  if (kernel.agent == kNoCell) {
    ++tally_.counts["kernels without a GPU"];
    return {};
  }
  const OwnerId gpu = GpuOf(kernel.process, kernel.agent);
  const std::int64_t device = owners_.gpu(gpu).index;
  const auto& [gx, gy, gz] = kernel.grid;
  const auto& [bx, by, bz] = kernel.block;
  Args args;
  args.stream = kernel.lane;
  if (kernel.correlation != kNoCell) args.correlation = kernel.correlation;
  args.other =
      kernel_args_.Of({gx, gy, gz, bx, by, bz, kernel.shared_bytes, kernel.scratch, kernel.vgpr,
                       kernel.agpr, kernel.sgpr, kernel.queue, kernel.graph, kernel.node, device},
                      [&] { return ArgsOf(kernel, device); });
  return writer_.Add({EventKind::kKernel, NameOf(&kernel_names_, kernel.name_key, kernel.name),
                      writer_.TrackOf(gpu, kernel.lane), kernel.start, kernel.end - kernel.start},
                     args);
}

StringId RocmEvents::ArgsOf(const RocmKernel& kernel, std::int64_t device) {
  text_.Clear();
  text_.AddList("grid", Blocks(kernel.grid[0], kernel.block[0]),
                Blocks(kernel.grid[1], kernel.block[1]), Blocks(kernel.grid[2], kernel.block[2]));
  text_.AddList("block", kernel.block[0], kernel.block[1], kernel.block[2]);
  text_.Add("shared memory", kernel.shared_bytes);
  text_.Add("scratch", kernel.scratch);
  text_.Add("vgpr", kernel.vgpr);
  text_.Add("agpr", kernel.agpr);
  text_.Add("sgpr", kernel.sgpr);
  text_.Add("queue", kernel.queue);
  if (kernel.graph != kNoCell && kernel.graph != 0) {
    text_.Add("graph exec id", kernel.graph);
    text_.Add("graph node id", kernel.node);
  }
  text_.Add("device", device);
  return writer_.Raw(text_.text());
}

Status RocmEvents::Add(const RocmCopy& copy) {
  const auto of = [&](std::int64_t id) {
    const auto found = agents.find(id);
    return found == agents.end() ? nullptr : &found->second;
  };
  const RocmAgent* source = of(copy.source);
  const RocmAgent* target = of(copy.target);
  const bool from_gpu = source != nullptr && source->gpu;
  const bool to_gpu = target != nullptr && target->gpu;
  const std::int64_t agent = to_gpu ? copy.target : copy.source;
  if (agent == kNoCell || (!to_gpu && source != nullptr && !from_gpu)) {
    ++tally_.counts["copies without a GPU"];
    return {};
  }
  std::string_view direction = DirectionOf(copy.word);
  if (direction.empty())
    direction = to_gpu ? (from_gpu ? "DtoD" : "HtoD") : (from_gpu ? "DtoH" : "HtoH");
  if (direction == "DtoD" && copy.source != copy.target) direction = "PtoP";
  const OwnerId gpu = GpuOf(copy.process, agent);
  text_.Clear();
  text_.AddBytes(copy.bytes, copy.end - copy.start);
  text_.Add("device", owners_.gpu(gpu).index);
  Args args;
  args.stream = copy.lane;
  if (copy.correlation != kNoCell) args.correlation = copy.correlation;
  args.other = writer_.Raw(text_.text());
  return writer_.Add({EventKind::kMemcpy, writer_.Name(fmt::format("Memcpy {}", direction)),
                      writer_.TrackOf(gpu, copy.lane), copy.start, copy.end - copy.start},
                     args);
}

std::optional<std::int64_t> RankIn(simdjson::dom::element environment) {
  return VariableOf(environment, {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
}

std::optional<std::int64_t> WorldSizeIn(simdjson::dom::element environment) {
  return VariableOf(environment,
                    {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
}

Result<Trace> MakeRocmTrace(EventWriter writer, Owners& owners, const TableTally& tally,
                            std::string form, RecordingFacts facts) {
  facts.damage.insert(facts.damage.end(), tally.damage.begin(), tally.damage.end());
  if (writer.events() == 0) {
    std::vector<std::string> there = facts.damage;
    for (const auto& [what, count] : tally.counts)
      there.push_back(fmt::format("{} {}", count, what));
    return Fail(
        ErrorCode::kNotATrace,
        fmt::format("{} without an event: nothing was recorded of what a trace is made of{}{}",
                    form, there.empty() ? "" : "; it has ", fmt::join(there, ", ")),
        "record with rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace");
  }
  owners.Settle(false);
  facts.amd = true;
  facts.recorder = std::move(form);
  facts.elements = tally.rows;
  for (const auto& [what, count] : tally.counts)
    facts.Seen(what, count);
  if (tally.odd_cells > 0) {
    facts.Note("odd_cells", tally.odd_cells,
               "Cells that should be whole numbers are none; they count as absent.");
  }
  if (!tally.missing.empty()) {
    facts.Note("damaged_table", tally.missing.size(),
               fmt::format("Tables without a column that is needed are not read: {}.",
                           fmt::join(tally.missing, "; ")));
  }
  if (owners.processes().size() == 1) facts.rank = owners.processes().front().rank;
  if (owners.HasSharedGpu()) {
    facts.Note("shared_gpu", 0,
               "Several processes have work on a GPU of one number; it is taken for one GPU.");
  }
  JudgeParts(writer.store(), kByRocprof, &facts);
  return MakeTrace(std::move(writer), owners, std::move(facts));
}

}  // namespace jarvis::trace
