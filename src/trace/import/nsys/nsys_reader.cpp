#include "trace/import/nsys/nsys_reader.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parallel.h"
#include "base/text.h"
#include "trace/how_to_record.h"
#include "trace/import/nsys/nsys_host.h"
#include "trace/import/nsys/nsys_scope.h"
#include "trace/import/nsys/nsys_tables.h"
#include "trace/import/nsys/nsys_work.h"
#include "trace/import/shared/make_trace.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

// Tables of what is no event of a trace: their rows are counted.
struct SeenTable {
  std::string_view table;
  std::string_view what;
  bool timed;  // their time is added up
};
constexpr SeenTable kSeen[] = {
    {"OSRT_API", "calls of the operating system", true},
    {"PROFILER_OVERHEAD", "pauses of the profiler", true},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUDA events", false},
    {"COMPOSITE_EVENTS", "CPU samples", false},
    {"SCHED_EVENTS", "thread switches", false},
    {"GPU_METRICS", "GPU metrics", false},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS", "changes of GPU memory", false},
    {"CUDNN_EVENTS", "cuDNN calls", false},
    {"CUBLAS_EVENTS", "cuBLAS calls", false},
    {"MPI_COLLECTIVES_EVENTS", "MPI collectives", false},
    {"MPI_P2P_EVENTS", "MPI messages", false},
    {"GENERIC_EVENTS", "events of other recorders", false},
};

class NsysReader {
 public:
  NsysReader(const io::InputFile& file, io::SqliteFile& tables, const ReadOptions& options,
             Job& job)
      : file_(file), tables_(tables), options_(options), job_(job) {}

  Result<Trace> Run() {
    ReadMeta();
    facts_.bytes = file_.size;
    if (!tables_.cut().empty()) facts_.damage.push_back(tables_.cut());
    if (std::string damage = scope_.texts.Read(tables_, "StringIds", "id", "value");
        !damage.empty())
      facts_.damage.push_back(std::move(damage));
    JV_TRY(job_.Check());
    JV_TRY(ReadEvents());
    CountSeen();
    ReadStartUp();
    JV_TRY(job_.Check());
    if (writer_.events() == 0) return tl::make_unexpected(NothingThere());
    DescribeGpus();
    scope_.owners.Settle(true);
    GiveRanks();
    EndOpenRanges();
    PutNumbersRight();
    NameOwners();
    TellAll();
    return MakeTrace(std::move(writer_), scope_.owners, std::move(facts_));
  }

 private:
  // Rows of a table that few of are read, by the columns that it has.
  template <typename Row>
  void Each(std::string_view table, const std::vector<std::string_view>& columns, const Row& row) {
    io::SqliteRows rows = tables_.Read(NsysTable(tables_, table), columns);
    while (rows.Next())
      row(rows);
  }

  void ReadMeta() {
    std::string version;
    Each("META_DATA_EXPORT", {"name", "value"}, [&](io::SqliteRows& row) {
      const auto name = row.Text(0);
      const auto value = row.Text(1);
      if (!name || !value) return;
      if (*name == "EXPORT_SCHEMA_VERSION") version = ValidUtf8(value->substr(0, 24));
      if (*name == "EXPORT_PARAM_INPUT_FILE")
        facts_.trace_name = ValidUtf8(value->substr(value->find_last_of("/\\") + 1));
    });
    facts_.recorder = "nsight systems" + (version.empty() ? "" : " " + OneLine(version));
    const auto major = ParseInt(version.substr(0, version.find('.')));
    if (major && *major >= 5) {
      facts_.Note(
          "newer_schema", 0,
          fmt::format("The export's schema is {}, newer than those that were known when this "
                      "reader was made; all columns that it needs are there.",
                      OneLine(version)));
    }
    Each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](io::SqliteRows& row) {
      const std::int64_t time = row.Int(0);
      if (time != kNoCell && !facts_.recording.time_zero_utc_ns)
        facts_.recording.time_zero_utc_ns = time;
    });
    Each("ANALYSIS_DETAILS", {"duration"}, [&](io::SqliteRows& row) {
      const std::int64_t duration = row.Time(0);
      if (duration == kNoCell || duration <= 0) return;
      facts_.recording.begin_ns = 0;
      facts_.recording.end_ns = duration;
    });
  }

  // GPU work beside what the host did, each over a connection of its own.
  Status ReadEvents() {
    NsysWork work(tables_, scope_, writer_, job_);
    EventWriter host_writer(true);
    const bool beside = options_.threads != 1;
    std::unique_ptr<io::SqliteFile> second;
    if (beside) {
      JV_ASSIGN(second, tables_.Another());
    }
    NsysHost host(beside ? *second : tables_, scope_, host_writer, job_);
    Status work_status, host_status;
    job_.Report(0, 1, "reading");
    if (beside) {
      RunBeside([&] { work_status = work.Run(); }, [&] { host_status = host.Run(); });
    } else {
      work_status = work.Run();
      host_status = host.Run();
    }
    JV_TRY(std::move(work_status));
    JV_TRY(std::move(host_status));
    whole_graphs_ = work.whole_graphs();
    tally_.Merge(work.tally);
    tally_.Merge(host.tally);
    for (const std::uint32_t range : host.open_ranges())
      open_ranges_.push_back(writer_.events() + range);
    return writer_.Take(std::move(host_writer));
  }

  void CountSeen() {
    for (const SeenTable& seen : kSeen) {
      const std::string table = NsysTable(tables_, seen.table);
      if (table.empty()) continue;
      const std::vector<std::string>& columns = tables_.tables().at(table);
      if (columns.empty()) continue;
      double ns = 0;
      io::SqliteRows rows =
          seen.timed ? tables_.Read(table, {"start", "end"}) : tables_.Read(table, {columns[0]});
      std::uint64_t count = 0;
      while (rows.Next()) {
        ++count;
        if (!seen.timed) continue;
        const std::int64_t start = rows.Time(0);
        const std::int64_t end = rows.Time(1);
        if (start != kNoCell && end != kNoCell && end > start)
          ns += static_cast<double>(end - start);
      }
      if (count > 0) there_.push_back(fmt::format("{} ({} rows)", OneLine(table), count));
      facts_.Seen(std::string(seen.what), count,
                  seen.timed ? std::optional<double>(ns / 1e6) : std::nullopt);
    }
  }

  // What the profiler, and the driver's calls of the operating system, took before the first GPU
  // work. Rows of the first lie in each other, so each name is told by itself.
  void ReadStartUp() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Event& event : writer_.store().events) {
      if (IsGpuWork(event.kind)) first = std::min(first, event.ts_ns);
    }
    constexpr std::string_view kDriverCall = "ioctl";
    std::map<std::string, Recording::Seen> by_name;
    for (const std::string_view table : {"PROFILER_OVERHEAD", "OSRT_API"}) {
      Each(table, {"start", "end", "nameId"}, [&](io::SqliteRows& row) {
        const std::int64_t start = row.Time(0);
        const std::int64_t end = row.Time(1);
        if (start == kNoCell || end == kNoCell || end <= start || end > first) return;
        const auto name = scope_.texts.TextOf(row.Int(2));
        const bool driver = name && *name == kDriverCall;
        if (!name || *name == "Unknown" || driver != (table == "OSRT_API")) return;
        Recording::Seen& seen =
            by_name[driver ? "calls into the driver (ioctl)"
                           : ValidUtf8(name->substr(0, limits::kNameBytesShort))];
        ++seen.count;
        seen.ms = seen.ms.value_or(0) + static_cast<double>(end - start) / 1e6;
      });
    }
    constexpr std::size_t kMost = 8;
    std::vector<Recording::Seen>& all = facts_.recording.start_up;
    for (auto& [name, seen] : by_name) {
      seen.what = name;
      all.push_back(std::move(seen));
    }
    std::ranges::stable_sort(all, std::greater(), &Recording::Seen::ms);
    all.resize(std::min(all.size(), kMost));
  }

  Error NothingThere() const {
    std::vector<std::string> there = there_;
    there.insert(there.end(), tally_.missing.begin(), tally_.missing.end());
    if (there.empty()) {
      constexpr std::size_t kShown = 5;
      for (const auto& [table, columns] : tables_.tables()) {
        if (there.size() < kShown) there.push_back(OneLine(table));
      }
    }
    if (!facts_.damage.empty() || !tally_.damage.empty()) {
      const auto& all = facts_.damage.empty() ? tally_.damage : facts_.damage;
      return {ErrorCode::kNotATrace,
              fmt::format("an export of Nsight Systems of which no event can be read: {}",
                          fmt::join(all, "; ")),
              "export it again: nsys export --type=sqlite --include-blobs=true -o OUT.sqlite "
              "FILE.nsys-rep"};
    }
    return {
        ErrorCode::kNotATrace,
        fmt::format(
            "the export of Nsight Systems holds no event: nothing was recorded of what a trace is "
            "made of "
            "(it has {})",
            fmt::join(there, ", ")),
        "record with nsys profile --trace=cuda,nvtx,osrt"};
  }

  void DescribeGpus() {
    std::map<std::int64_t, Device> gpus;
    Each("TARGET_INFO_GPU",
         {"id", "name", "totalMemory", "smCount", "threadsPerWarp", "computeMajor", "computeMinor"},
         [&](io::SqliteRows& row) {
           const auto number = [&](int column) {
             const std::int64_t value = row.Int(column);
             return value == kNoCell ? std::nullopt : std::optional<std::int64_t>(value);
           };
           if (const auto id = number(0))
             gpus[*id] = {*id,       std::string(row.Text(1).value_or("")),
                          number(2), number(3),
                          number(4), number(5),
                          number(6)};
         });
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> physical;  // by pid, number
    Each("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, [&](io::SqliteRows& row) {
      if (row.Int(0) != kNoCell) physical[{row.Int(2), row.Int(1)}] = row.Int(0);
    });
    for (GpuOwner& gpu : scope_.owners.gpus()) {
      const std::int64_t pid = scope_.owners.processes()[gpu.process].pid;
      const auto found = physical.find({pid, gpu.device});
      if (found != physical.end()) gpu.physical = found->second;
      const auto about = gpu.physical                           ? gpus.find(*gpu.physical)
                         : physical.empty() && gpus.size() == 1 ? gpus.begin()
                                                                : gpus.end();
      if (about != gpus.end()) gpu.about = about->second;
    }
    if (!scope_.owners.gpus().empty() && gpus.empty()) {
      facts_.Note("no_gpu_name", 0, "The export does not say what GPU it was.",
                  "give the tools `platform`, or export again with a version of nsys that keeps "
                  "TARGET_INFO_GPU");
    }
  }

  // Processes with a GPU each are ranks: by NCCL's own word, else in the order of their GPUs.
  void GiveRanks() {
    Owners& owners = scope_.owners;
    if (owners.HasSharedGpu()) {
      facts_.Note("shared_gpu", 0,
                  "Several processes have work on a GPU of one number; it is taken for one GPU.");
    }
    if (!owners.IsOneGpuEach()) return;
    std::set<std::uint64_t> told;
    for (const GpuOwner& gpu : owners.gpus()) {
      const auto rank = scope_.nccl_ranks.find(gpu.process);
      if (rank != scope_.nccl_ranks.end()) told.insert(rank->second.rank);
    }
    const bool by_nccl = told.size() == owners.gpus().size();
    std::int64_t next = 0;
    for (const GpuOwner* gpu : owners.GpusInOrder()) {
      owners.processes()[gpu->process].rank =
          by_nccl ? static_cast<std::int64_t>(scope_.nccl_ranks.at(gpu->process).rank) : next;
      ++next;
    }
    if (by_nccl) return;
    facts_.Note("ranks_by_order", 0,
                "Which rank a process is was not recorded: they are numbered in the order of their "
                "GPUs.",
                "nsys export --include-blobs=true keeps what NCCL says of it");
  }

  void EndOpenRanges() {
    Column<Event>& events = writer_.store().events;
    for (const std::uint64_t at : open_ranges_) {
      Event& event = events[static_cast<std::size_t>(at)];
      event.dur_ns = std::max<std::int64_t>(0, tally_.last_ns - event.ts_ns);
    }
    if (open_ranges_.empty()) return;
    facts_.Note(
        "open_ranges", open_ranges_.size(),
        fmt::format("{} of the ranges had not ended when the recording did; they end with its last "
                    "event.",
                    open_ranges_.size()));
  }

  // Correlations and args were written with numbers that are known for good only now.
  void PutNumbersRight() {
    EventStore& store = writer_.store();
    const auto& processes = scope_.owners.processes();
    const bool same = [&] {
      for (std::size_t i = 0; i < processes.size(); ++i) {
        if (processes[i].ordinal != i) return false;
      }
      return true;
    }();
    if (!same) {
      for (Args& args : store.args) {
        if (args.correlation == jarvis::trace::kAbsent) continue;
        const auto id = static_cast<std::uint64_t>(args.correlation);
        args.correlation = static_cast<std::int64_t>(
            std::uint64_t{processes[id >> 32].ordinal} << 32 | (id & 0xFFFFFFFFu));
      }
    }
    const auto& gpus = scope_.owners.gpus();
    if (std::all_of(gpus.begin(), gpus.end(),
                    [](const GpuOwner& one) { return one.index == one.device; }))
      return;
    const std::vector<OwnerId> owner_of_track = writer_.owner_of_track();
    std::map<std::pair<StringId, OwnerId>, StringId> made;
    for (const Event& event : store.events) {
      const OwnerId owner = owner_of_track[event.track];
      if (!IsGpuOwner(owner) || event.args == kNoArgs) continue;
      StringId& text = store.args[event.args].other;
      const auto [found, added] = made.try_emplace({text, owner}, kNoString);
      if (added) found->second = WithDevice(store.strings, text, scope_.owners.gpu(owner).index);
      text = found->second;
    }
  }

  // The device is the last of the args of GPU work.
  static StringId WithDevice(StringPool& strings, StringId text, std::int64_t index) {
    const std::string_view old = strings[text];
    const std::size_t at = old.rfind("\"device\": ");
    if (at == std::string_view::npos) return text;
    return strings.Intern(fmt::format("{}\"device\": {},", old.substr(0, at), index));
  }

  void NameOwners() {
    Each("PROCESSES", {"globalPid", "name"}, [&](io::SqliteRows& row) {
      const auto name = row.Text(1);
      if (row.Int(0) == kNoCell || !name) return;
      for (ProcessOwner& process : scope_.owners.processes()) {
        if (process.key == row.Int(0) >> 24)
          process.name = ValidUtf8(name->substr(0, kRecordedNameBytesMax));
      }
    });
    std::map<std::int64_t, OwnerId> by_key;
    for (OwnerId i = 0; i < scope_.owners.processes().size(); ++i)
      by_key[scope_.owners.processes()[i].key] = i;
    Each("ThreadNames", {"nameId", "globalTid"}, [&](io::SqliteRows& row) {
      const auto name = scope_.texts.TextOf(row.Int(0));
      const std::int64_t id = row.Int(1);
      if (!name || id == kNoCell) return;
      const auto process = by_key.find(id >> 24);
      if (process != by_key.end())
        facts_.threads[{process->second, id & 0xFFFFFF}] =
            ValidUtf8(name->substr(0, limits::kNameBytesShort));
    });
  }

  void TellAll() {
    facts_.elements = tally_.rows;
    facts_.damage.insert(facts_.damage.end(), tally_.damage.begin(), tally_.damage.end());
    for (const auto& [what, count] : tally_.counts)
      facts_.Seen(what, count);
    tally_.odd_cells += scope_.texts.odd_cells();
    if (tally_.odd_cells > 0) {
      facts_.Note("odd_cells", tally_.odd_cells,
                  "Cells that should be whole numbers are none; they count as absent.");
    }
    if (!tally_.missing.empty()) {
      facts_.Note("damaged_table", tally_.missing.size(),
                  fmt::format("Tables without a column that is needed are not read: {}.",
                              fmt::join(tally_.missing, "; ")));
    }
    if (scope_.unnamed_among_several()) {
      facts_.Note("unnamed_process", 0,
                  "GPU work does not name its process, and there are several: it has no launches.",
                  "export it again with a newer nsys");
    }
    if (whole_graphs_ > 0) {
      facts_.Note("whole_graphs", whole_graphs_,
                  "CUDA graphs were recorded as a whole: which kernels they ran is not known.",
                  "nsys profile --cuda-graph-trace=node");
    }
    JudgeParts(writer_.store(), kByNsys, &facts_);
  }

  const io::InputFile& file_;
  io::SqliteFile& tables_;
  const ReadOptions& options_;
  Job& job_;
  NsysScope scope_;
  EventWriter writer_;
  TableTally tally_;
  std::vector<std::string> there_;  // tables that are counted
  RecordingFacts facts_;
  std::uint64_t whole_graphs_ = 0;
  std::vector<std::uint64_t> open_ranges_;  // events
};

}  // namespace

Result<Trace> ReadNsysExport(const io::InputFile& file, io::SqliteFile& tables,
                             const ReadOptions& options, Job& job) {
  return NsysReader(file, tables, options, job).Run();
}

}  // namespace jarvis::trace
