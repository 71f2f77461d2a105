#include "trace/import/nsys/nsys_work.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace jarvis::trace {
namespace {

// Names by number; beyond them "Unknown".
template <std::size_t kNames>
std::string_view NameAt(const std::array<std::string_view, kNames>& names, std::int64_t number) {
  return number >= 0 && number < static_cast<std::int64_t>(kNames)
             ? names[static_cast<std::size_t>(number)]
             : "Unknown";
}

// CUPTI's kinds of copies.
constexpr std::array<std::string_view, 14> kCopies = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH",
                                                      "AtoA",    "AtoD", "DtoA", "DtoD", "HtoH",
                                                      "PtoP",    "HtoD", "DtoH", "DtoD"};
constexpr std::int64_t kPeerCopy = 10;
constexpr std::int64_t kFirstUnifiedCopy = 11;
// Kinds of memory by Nsight Systems' own numbers; CUPTI's begin with Unknown.
constexpr std::array<std::string_view, 8> kMemories = {"Pageable",       "Pinned",  "Device",
                                                       "Array",          "Managed", "Device Static",
                                                       "Managed Static", "Unknown"};
constexpr std::array<std::string_view, 5> kSyncs = {"Unknown", "Event Sync", "Stream Wait Event",
                                                    "Stream Sync", "Context Sync"};
constexpr std::int64_t kNoEventId = 0xFFFFFFFF;

// Of CUPTI_ACTIVITY_KIND_KERNEL. Its first six are also those of copies, fills and graphs.
enum KernelColumn : int {
  kStart,
  kEnd,
  kDevice,
  kStream,
  kCorrelation,
  kPid,
  kDemangled,
  kShort,
  kMangled,
  kGrid,
  kBlock = kGrid + 3,
  kRegisters = kBlock + 3,
  kStatic,
  kDynamic,
  kContext,
  kLocal,
  kGraph,
  kNode,
  kCluster
};
std::vector<std::string_view> KernelColumns() {
  return {"start",
          "end",
          "deviceId",
          "streamId",
          "correlationId",
          "globalPid",
          "demangledName",
          "shortName",
          "mangledName",
          "gridX",
          "gridY",
          "gridZ",
          "blockX",
          "blockY",
          "blockZ",
          "registersPerThread",
          "staticSharedMemory",
          "dynamicSharedMemory",
          "contextId",
          "localMemoryPerThread",
          "graphId",
          "graphNodeId",
          "clusterX",
          "clusterY",
          "clusterZ"};
}
std::array<std::int64_t, 17> KernelKey(io::SqliteRows& row, std::int64_t device) {
  return {row.Int(kGrid),
          row.Int(kGrid + 1),
          row.Int(kGrid + 2),
          row.Int(kBlock),
          row.Int(kBlock + 1),
          row.Int(kBlock + 2),
          row.Int(kRegisters),
          row.Int(kStatic),
          row.Int(kDynamic),
          row.Int(kContext),
          row.Int(kCluster),
          row.Int(kCluster + 1),
          row.Int(kCluster + 2),
          row.Int(kLocal),
          row.Int(kGraph),
          row.Int(kNode),
          device};
}

}  // namespace

StringId NsysWork::ArgsOf(const KernelArgs::Key& key) {
  const auto& [gx, gy, gz, bx, by, bz, registers, fixed, dynamic, context, cx, cy, cz, local, graph,
               node, device] = key;
  const auto or_zero = [](std::int64_t value) { return value == kNoCell ? 0 : value; };
  ArgsText& text = text_;
  text.Clear();
  text.AddList("grid", gx, gy, gz);
  text.AddList("block", bx, by, bz);
  text.Add("registers per thread", registers);
  text.Add("shared memory",
           static_cast<std::int64_t>(static_cast<std::uint64_t>(or_zero(fixed)) +
                                     static_cast<std::uint64_t>(or_zero(dynamic))));
  text.Add("context", context);
  if (or_zero(cx) != 0 && (cx != 1 || cy != 1 || cz != 1)) text.AddList("cluster", cx, cy, cz);
  if (or_zero(local) != 0) text.Add("local memory per thread", local);
  text.Add("graph node id", node);
  text.Add("graph id", graph);
  text.Add("device", device);
  return writer_.Raw(text.text());
}

Status NsysWork::Run() {
  JV_TRY(Kernels());
  JV_TRY(Copies());
  JV_TRY(Fills());
  JV_TRY(Graphs());
  return Synchronisations();
}

bool NsysWork::Placed(std::int64_t device, std::int64_t global_pid, const char* what,
                      OwnerId* gpu) {
  if (device == kNoCell || device < 0) {
    ++tally.counts[fmt::format("{} without a GPU", what)];
    return false;
  }
  const OwnerId process = ProcessOf(global_pid);
  if (device != last_device_ || process != last_process_of_gpu_) {
    last_device_ = device;
    last_process_of_gpu_ = process;
    last_gpu_ = scope_.owners.GpuOf(process, device);
  }
  *gpu = last_gpu_;
  return true;
}

bool NsysWork::Begin(io::SqliteRows& row, const char* what, Work* work) {
  work->start = row.Time(kStart);
  work->end = row.Time(kEnd);
  work->device = row.Int(kDevice);
  if (!Timed(work->start, work->end, what) ||
      !Placed(work->device, row.Int(kPid), what, &work->gpu))
    return false;
  work->args.correlation = Correlation(last_process_of_gpu_, row.Int(kCorrelation));
  work->args.stream = row.Int(kStream);
  return true;
}

Status NsysWork::Add(EventKind kind, StringId name, const Work& work) {
  const std::int64_t lane = work.args.stream == kNoCell ? 0 : work.args.stream;
  return writer_.Add(
      {kind, name, writer_.TrackOf(work.gpu, lane), work.start, work.end - work.start}, work.args);
}

// The name of a row's kernel, which may stand in three columns.
StringId NsysWork::KernelName(io::SqliteRows& row) {
  const std::int64_t id = row.Int(kDemangled);
  StringId name = NameOf(id);
  std::int64_t other_id = kNoCell;
  if (name == kNoString) name = NameOf(other_id = row.Int(kShort));
  if (name == kNoString) name = NameOf(row.Int(kMangled));
  if (name != kNoString) return name;
  ++tally.counts["kernels without a name"];
  const std::int64_t shown = id != kNoCell ? id : other_id;
  return writer_.Name(shown == kNoCell ? std::string("kernel") : fmt::format("kernel {}", shown));
}

Status NsysWork::Kernels() {
  EachRow("CUPTI_ACTIVITY_KIND_KERNEL", KernelColumns(), 4, [&](io::SqliteRows& row) -> Status {
    Work work;
    if (!Begin(row, "kernels", &work)) return {};
    const StringId name = KernelName(row);
    if (row.Int(kNode) != kNoCell && work.args.correlation != jarvis::trace::kAbsent)
      graphs_by_node_.insert(work.args.correlation);
    const KernelArgs::Key key = KernelKey(row, work.device);
    work.args.other = kernel_args_.Of(key, [&] { return ArgsOf(key); });
    return Add(EventKind::kKernel, name, work);
  });
  return status_;
}

Status NsysWork::Copies() {
  EachRow("CUPTI_ACTIVITY_KIND_MEMCPY",
          {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes",
           "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"},
          4, [&](io::SqliteRows& row) -> Status {
            Work work;
            if (!Begin(row, "copies", &work)) return {};
            const std::int64_t kind = row.Int(7);
            const std::int64_t from = row.Int(8);
            const std::int64_t to = row.Int(9);
            std::string name = fmt::format("Memcpy {}", NameAt(kCopies, kind));
            if (kind >= kFirstUnifiedCopy && kind < static_cast<std::int64_t>(kCopies.size())) {
              name += " (Unified)";
            } else if (from != kNoCell && to != kNoCell) {
              name += fmt::format(" ({} -> {})", NameAt(kMemories, from), NameAt(kMemories, to));
            }
            text_.Clear();
            text_.AddBytes(row.Int(6), work.end - work.start);
            if (kind == kPeerCopy) {
              text_.Add("from device", row.Int(10));
              text_.Add("to device", row.Int(11));
            }
            text_.Add("device", work.device);
            work.args.other = writer_.Raw(text_.text());
            return Add(EventKind::kMemcpy, writer_.Name(name), work);
          });
  return status_;
}

Status NsysWork::Fills() {
  EachRow(
      "CUPTI_ACTIVITY_KIND_MEMSET",
      {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "memKind"}, 4,
      [&](io::SqliteRows& row) -> Status {
        Work work;
        if (!Begin(row, "fills", &work)) return {};
        text_.Clear();
        text_.Add("bytes", row.Int(6));
        text_.Add("device", work.device);
        work.args.other = writer_.Raw(text_.text());
        return Add(EventKind::kMemset,
                   writer_.Name(fmt::format("Memset ({})", NameAt(kMemories, row.Int(7)))), work);
      });
  return status_;
}

Status NsysWork::Graphs() {
  EachRow("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
          {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId",
           "graphExecId"},
          4, [&](io::SqliteRows& row) -> Status {
            Work work;
            if (!Begin(row, "graphs", &work)) return {};
            if (graphs_by_node_.contains(work.args.correlation)) {
              ++tally.counts["graphs whose nodes were recorded"];
              return {};
            }
            ++whole_graphs_;
            const std::int64_t graph = row.Int(6);
            text_.Clear();
            text_.Add("whole graph", 1);
            text_.Add("graph id", graph);
            text_.Add("graph exec id", row.Int(7));
            text_.Add("device", work.device);
            work.args.other = writer_.Raw(text_.text());
            return Add(EventKind::kKernel,
                       writer_.Name(graph == kNoCell ? std::string("CUDA graph")
                                                     : fmt::format("CUDA graph {}", graph)),
                       work);
          });
  return status_;
}

Status NsysWork::Synchronisations() {
  EachRow(
      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
      {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType", "eventId"},
      2, [&](io::SqliteRows& row) -> Status {
        const std::int64_t start = row.Time(0);
        const std::int64_t end = row.Time(1);
        const std::int64_t device = row.Int(2);
        if (device == kNoCell || !Timed(start, end, "synchronisations")) return {};
        const OwnerId process = ProcessOf(row.Int(5));
        // The device is often 0 whatever the GPU.
        const auto gpu = scope_.owners.KnownGpuOf(process, device);
        if (!gpu) {
          ++tally.counts["synchronisations of no GPU"];
          return {};
        }
        const std::int64_t event = row.Int(7);
        text_.Clear();
        if (event != kNoEventId) text_.Add("event id", event);
        text_.Add("device", scope_.owners.gpu(*gpu).device);
        Args args;
        args.correlation = Correlation(process, row.Int(4));
        args.stream = row.Int(3);
        args.other = writer_.Raw(text_.text());
        const std::int64_t lane = args.stream == kNoCell ? 0 : args.stream;
        return writer_.Add({EventKind::kSync, writer_.Name(NameAt(kSyncs, row.Int(6))),
                            writer_.TrackOf(*gpu, lane), start, end - start},
                           args);
      });
  return status_;
}

}  // namespace jarvis::trace
