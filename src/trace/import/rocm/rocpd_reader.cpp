#include "trace/import/rocm/rocpd_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/limits.h"
#include "base/parallel.h"
#include "base/text.h"
#include "rocprof/read/rocpd_groups.h"
#include "trace/import/rocm/rocpd_tables.h"
#include "trace/import/shared/make_trace.h"
#include "trace/import/shared/table_reader.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

namespace dom = simdjson::dom;

struct Symbol {
  std::string name;
  std::int64_t vgpr, agpr, sgpr;
};

// Where a row lies that names its track alone.
struct TrackRow {
  std::int64_t pid, tid, agent, queue, stream;
};

// What the two parts of a group's reader share. Const while they read.
struct GroupScope {
  rocprof::RocpdGroup group;
  std::int64_t ordinal = 0;
  TextTable strings;
  RocpdEvents events;
  RocmCalls calls;
  std::unordered_map<std::int64_t, std::int64_t> pids, tids;  // by id
  std::unordered_map<std::int64_t, TrackRow> tracks;
  std::unordered_map<std::int64_t, RocmAgent> agents;
  std::unordered_map<std::int64_t, Symbol> symbols;
  bool by_queue = false;

  std::string Table(const char* base) const {
    const auto found = group.find(base);
    return found == group.end() ? std::string() : found->second;
  }
  TrackRow TrackOf(std::int64_t id) const {
    const auto found = tracks.find(id);
    return found == tracks.end() ? TrackRow{kNoCell, kNoCell, kNoCell, kNoCell, kNoCell}
                                 : found->second;
  }
  std::int64_t Correlation(std::int64_t stack) const {
    if (stack == kNoCell || stack <= 0) return kNoCell;
    return ordinal << 48 | (stack & ((std::int64_t{1} << 48) - 1));
  }
  OwnerId ProcessOf(std::int64_t id, Owners& owners) const {
    const auto found = pids.find(id);
    const std::int64_t pid = found != pids.end() ? found->second : id == kNoCell ? 0 : id;
    const OwnerId owner = owners.ProcessOf(ordinal << 32 | (pid & 0xFFFFFFFF), pid);
    return owner;
  }
};

class GroupPart : public TableReader {
 public:
  GroupPart(io::SqliteFile& file, const GroupScope& scope, Owners& owners, EventWriter& writer,
            Job& job)
      : TableReader(file, writer, job),
        scope_(scope),
        owners_(owners),
        events_(owners, writer, tally) {
    events_.agents = scope.agents;
    events_.by_queue = scope.by_queue;
  }

  Status Regions() {
    const auto rccl = RcclArgs();
    EachRow(scope_.Table("region"),
            {"start", "end", "name_id", "event_id", "pid", "tid", "track_id"}, 2,
            [&](io::SqliteRows& row) -> Status {
              const std::int64_t start = row.Time(0);
              const std::int64_t end = row.Time(1);
              if (!Timed(start, end, "regions")) return {};
              const std::int64_t event_id = row.Int(3);
              const RocpdEvents::Row event = scope_.events.At(event_id);
              if (event.word == RocmWord::kHsa && scope_.calls.has_hip) {
                ++hsa_calls_;
                return {};
              }
              std::int64_t pid = row.Int(4);
              std::int64_t tid = row.Int(5);
              if (pid == kNoCell) {
                const TrackRow track = scope_.TrackOf(row.Int(6));
                pid = track.pid;
                tid = track.tid;
              }
              const auto thread = scope_.tids.find(tid);
              const std::int64_t name_id = row.Int(2);
              std::string unnamed;
              auto name = scope_.strings.TextOf(name_id);
              if (!name) {
                unnamed = fmt::format("region {}", name_id == kNoCell ? 0 : name_id);
                name = unnamed;
              }
              const auto args = rccl.find(event_id);
              return events_.Add(
                  RocmCall{event.word, *name, start, end, ProcessOf(pid),
                           thread != scope_.tids.end() ? thread->second
                           : tid == kNoCell            ? 0
                                                       : tid,
                           scope_.Correlation(event.stack), scope_.events.MessageOf(event_id),
                           args == rccl.end() ? std::string_view() : args->second, name_id});
            });
    if (hsa_calls_ > 0) tally.counts["HSA calls"] += hsa_calls_;
    return status_;
  }

  Status Work() {
    JV_TRY(Kernels());
    return Copies();
  }

 private:
  // Args of RCCL's calls, by event.
  std::unordered_map<std::int64_t, std::string> RcclArgs() {
    std::unordered_map<std::int64_t, std::string> args;
    if (!scope_.events.has_rccl()) return args;
    ArgsText text;
    EachRow(scope_.Table("arg"), {"event_id", "name", "value"}, 3,
            [&](io::SqliteRows& row) -> Status {
              const std::int64_t event = row.Int(0);
              if (scope_.events.At(event).word != RocmWord::kRccl) return {};
              const auto name = row.Text(1);
              const auto value = row.Text(2);
              if (!name || !value ||
                  !IsOneOf(*name, {"count", "sendcount", "recvcount", "datatype", "op", "peer",
                                   "root", "comm", "nranks"}))
                return {};
              text.Clear();
              text.AddText(*name, value->substr(0, limits::kNameBytesShort));
              std::string& all = args[event];
              if (all.size() < limits::kOtherArgsBytesMax) all += text.text();
              return {};
            });
    return args;
  }

  Status Kernels() {
    enum : int {
      kStart,
      kEnd,
      kKernel,
      kEvent,
      kPid,
      kAgent,
      kQueue,
      kStream,
      kTrack,
      kScratch,
      kShared,
      kBlock,
      kGrid = kBlock + 3,
      kGraph = kGrid + 3,
      kNode
    };
    EachRow(
        scope_.Table("kernel_dispatch"),
        {"start", "end", "kernel_id", "event_id", "pid", "agent_id", "queue_id", "stream_id",
         "track_id", "private_segment_size", "group_segment_size", "workgroup_size_x",
         "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
         "graph_exec_id", "graph_node_id"},
        3, [&](io::SqliteRows& row) -> Status {
          const std::int64_t start = row.Time(kStart);
          const std::int64_t end = row.Time(kEnd);
          if (!Timed(start, end, "kernels")) return {};
          TrackRow at{row.Int(kPid), kNoCell, row.Int(kAgent), row.Int(kQueue), row.Int(kStream)};
          if (at.agent == kNoCell) at = scope_.TrackOf(row.Int(kTrack));
          const std::int64_t kernel = row.Int(kKernel);
          const auto symbol = scope_.symbols.find(kernel);
          const bool known = symbol != scope_.symbols.end() && !symbol->second.name.empty();
          const std::string unnamed =
              known ? std::string() : fmt::format("kernel {}", kernel == kNoCell ? 0 : kernel);
          const RocpdEvents::Row event = scope_.events.At(row.Int(kEvent));
          return events_.Add(
              RocmKernel{known ? std::string_view(symbol->second.name) : std::string_view(unnamed),
                         start,
                         end,
                         ProcessOf(at.pid),
                         at.agent,
                         LaneOf(at),
                         scope_.Correlation(scope_.calls.LaunchOf(event.stack, event.parent)),
                         {row.Int(kGrid), row.Int(kGrid + 1), row.Int(kGrid + 2)},
                         {row.Int(kBlock), row.Int(kBlock + 1), row.Int(kBlock + 2)},
                         row.Int(kShared),
                         row.Int(kScratch),
                         symbol != scope_.symbols.end() ? symbol->second.vgpr : kNoCell,
                         symbol != scope_.symbols.end() ? symbol->second.agpr : kNoCell,
                         symbol != scope_.symbols.end() ? symbol->second.sgpr : kNoCell,
                         at.queue,
                         row.Int(kGraph),
                         row.Int(kNode)});
        });
    return status_;
  }

  Status Copies() {
    EachRow(
        scope_.Table("memory_copy"),
        {"start", "end", "name_id", "dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id",
         "event_id", "pid", "track_id"},
        2, [&](io::SqliteRows& row) -> Status {
          const std::int64_t start = row.Time(0);
          const std::int64_t end = row.Time(1);
          if (!Timed(start, end, "copies")) return {};
          TrackRow at{row.Int(9), kNoCell, kNoCell, row.Int(6), row.Int(7)};
          if (at.pid == kNoCell) at = scope_.TrackOf(row.Int(10));
          const RocpdEvents::Row event = scope_.events.At(row.Int(8));
          return events_.Add(RocmCopy{
              scope_.strings.TextOf(row.Int(2)).value_or(""), start, end, ProcessOf(at.pid),
              row.Int(4), row.Int(3), LaneOf(at),
              scope_.Correlation(scope_.calls.LaunchOf(event.stack, event.parent)), row.Int(5)});
        });
    return status_;
  }

  OwnerId ProcessOf(std::int64_t id) {
    if (id != last_pid_ || !any_process_) last_process_ = scope_.ProcessOf(id, owners_);
    last_pid_ = id;
    any_process_ = true;
    return last_process_;
  }
  std::int64_t LaneOf(const TrackRow& at) const {
    const std::int64_t lane = scope_.by_queue ? at.queue : at.stream;
    return lane == kNoCell ? 0 : lane;
  }

  const GroupScope& scope_;
  Owners& owners_;
  RocmEvents events_;
  std::uint64_t hsa_calls_ = 0;
  std::int64_t last_pid_ = 0;
  OwnerId last_process_ = 0;
  bool any_process_ = false;
};

class RocpdReader {
 public:
  RocpdReader(const io::InputFile& file, io::SqliteFile& tables, const ReadOptions& options,
              Job& job)
      : file_(file), tables_(tables), options_(options), job_(job) {}

  Result<Trace> Run() {
    facts_.bytes = file_.size;
    if (!tables_.cut().empty()) facts_.damage.push_back(tables_.cut());
    std::int64_t ordinal = 0;
    for (auto& [suffix, group] : rocprof::RocpdGroups(tables_)) {
      GroupScope scope;
      scope.group = group;
      scope.ordinal = ordinal++;
      JV_TRY(ReadGroup(&scope));
    }
    const auto major = ParseInt(version_.substr(0, version_.find('.')));
    if (major && *major >= 5) {
      facts_.Note("newer_schema", 0,
                  fmt::format("The schema is {}, newer than those that were known when this reader "
                              "was made.",
                              version_));
    }
    return MakeRocmTrace(std::move(writer_), owners_, tally_,
                         "rocpd" + (version_.empty() ? "" : " " + version_), std::move(facts_));
  }

 private:
  template <typename Row>
  void Each(const GroupScope& scope, const char* base, const std::vector<std::string_view>& columns,
            const Row& row) {
    io::SqliteRows rows = tables_.Read(scope.Table(base), columns);
    while (rows.Next())
      row(rows);
    Finished(rows.damage(), rows.odd_cells());
  }
  void Finished(const std::string& damage, std::uint64_t odd_cells) {
    if (!damage.empty()) facts_.damage.push_back(damage);
    tally_.odd_cells += odd_cells;
  }

  Status ReadGroup(GroupScope* scope) {
    ReadMetadata(*scope);
    Finished(scope->strings.Read(tables_, scope->Table("string"), "id", "string"),
             scope->strings.odd_cells());
    TextTable categories;  // of schema 4
    Finished(categories.Read(tables_, scope->Table("info_category"), "id", "name"),
             categories.odd_cells());
    ReadWho(scope);
    ReadAgents(scope);
    ReadSymbols(scope);
    JV_TRY(job_.Check());
    job_.Report(0, 1, "reading");
    Finished(scope->events.Read(tables_, scope->Table("event"),
                                categories.size() > 0 ? categories : scope->strings),
             scope->events.odd_cells());
    scope->events.TellCalls(&scope->calls);
    if (scope->events.has_hsa() && scope->calls.has_hip) FindParents(scope);
    scope->by_queue = IsByQueue(*scope);
    JV_TRY(job_.Check());
    JV_TRY(ReadEvents(*scope));
    CountSeen(*scope);
    return job_.Check();
  }

  void ReadMetadata(const GroupScope& scope) {
    Each(scope, "metadata", {"tag", "value"}, [&](io::SqliteRows& row) {
      const auto tag = row.Text(0);
      const auto value = row.Text(1);
      if (!tag || !value) return;
      if (*tag == "schema_version") version_ = OneLine(ValidUtf8(value->substr(0, 24)));
      if (*tag != "compression" || value->empty()) return;
      facts_.Note(
          "compressed_texts", 0,
          fmt::format("Texts of this file are compressed ({}): names of ranges are not read.",
                      OneLine(ValidUtf8(value->substr(0, 40)))));
    });
  }

  void TakeSpan(std::int64_t start, std::int64_t end) {
    if (start == kNoCell || end == kNoCell || end <= start) return;
    Recording& of = facts_.recording;
    of.begin_ns = std::min(of.begin_ns.value_or(start), start);
    of.end_ns = std::max(of.end_ns.value_or(end), end);
  }

  void ReadWho(GroupScope* scope) {
    dom::parser parser;
    Each(*scope, "info_process", {"id", "pid", "command", "environment", "start", "end"},
         [&](io::SqliteRows& row) {
           TakeSpan(row.Time(4), row.Time(5));
           const std::int64_t id = row.Int(0);
           const std::int64_t pid = row.Int(1);
           if (id == kNoCell || pid == kNoCell) return;
           scope->pids[id] = pid;
           scope->pids.try_emplace(pid, pid);
           const OwnerId owner = scope->ProcessOf(id, owners_);
           ProcessOwner& process = owners_.processes()[owner];
           process.apart = scope->ordinal;
           std::string_view command = row.Text(2).value_or("");
           command = command.substr(0, command.find(' '));
           command.remove_prefix(command.rfind('/') + 1);
           process.name = ValidUtf8(command.substr(0, limits::kNameBytesShort));
           dom::element environment;
           const auto text = row.Text(3);
           if (!text || ParseDom(&parser, *text, &environment) || !environment.is_object()) return;
           process.rank = VariableOf(environment,
                                     {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
           if (!facts_.world_size) facts_.world_size = WorldSizeIn(environment);
         });
    Each(*scope, "info_thread", {"id", "tid", "name", "pid"}, [&](io::SqliteRows& row) {
      const std::int64_t id = row.Int(0);
      const std::int64_t tid = row.Int(1);
      if (id == kNoCell || tid == kNoCell) return;
      scope->tids[id] = tid;
      const auto name = row.Text(2);
      if (name && !name->empty())
        facts_.threads[{scope->ProcessOf(row.Int(3), owners_), tid}] =
            ValidUtf8(name->substr(0, limits::kNameBytesShort));
    });
    Each(*scope, "track", {"id", "pid", "tid", "agent_id", "queue_id", "stream_id"},
         [&](io::SqliteRows& row) {
           scope->tracks[row.Int(0)] = {row.Int(1), row.Int(2), row.Int(3), row.Int(4), row.Int(5)};
         });
  }

  void ReadAgents(GroupScope* scope) {
    dom::parser parser;
    Each(*scope, "info_agent",
         {"id", "type", "absolute_index", "type_index", "name", "model_name", "product_name",
          "generic_name", "extdata"},
         [&](io::SqliteRows& row) {
           RocmAgent agent;
           agent.gpu = row.Text(1).value_or("") == "GPU";
           agent.index = row.Int(3) != kNoCell ? row.Int(3) : row.Int(2);
           for (const int column : {6, 5, 7, 4}) {
             const auto name = row.Text(column);
             if (agent.about.name.empty() && name)
               agent.about.name = ValidUtf8(name->substr(0, limits::kDeviceNameBytesMax));
           }
           dom::element more;
           const auto text = row.Text(8);
           if (text && !ParseDom(&parser, *text, &more) && more.is_object())
             DescribeAgent(more, &agent.about);
           scope->agents[row.Int(0)] = std::move(agent);
         });
  }

  static void DescribeAgent(dom::element more, Device* device) {
    const auto number = [&](const char* key) -> std::optional<std::int64_t> {
      std::int64_t value = 0;
      if (more[key].get_int64().get(value)) return std::nullopt;
      return value;
    };
    device->sm_count = number("cu_count");
    device->warp_size = number("wave_front_size");
    // 90402: gfx94x.
    if (const auto version = number("gfx_target_version"); version && *version > 0) {
      device->compute_major = *version / 10000;
      device->compute_minor = *version / 100 % 100;
    }
    dom::array banks;
    if (more["mem_banks"].get_array().get(banks)) return;
    for (const dom::element bank : banks) {
      std::int64_t bytes = 0;
      if (!bank["size_in_bytes"].get_int64().get(bytes) && bytes > 0)
        device->memory_bytes = std::max(bytes, device->memory_bytes.value_or(0));
    }
  }

  void ReadSymbols(GroupScope* scope) {
    Each(*scope, "info_kernel_symbol",
         {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count"},
         [&](io::SqliteRows& row) {
           std::string_view name = row.Text(1).value_or("");
           if (name.empty()) name = row.Text(2).value_or("");
           if (name.ends_with(".kd")) name.remove_suffix(3);
           scope->symbols[row.Int(0)] = {std::string(name.substr(0, 2 * kRecordedNameBytesMax)),
                                         row.Int(3), row.Int(4), row.Int(5)};
         });
  }

  // Work under HSA's calls names those, not HIP's.
  void FindParents(GroupScope* scope) {
    std::vector<std::int64_t> wanted;
    for (const char* base : {"kernel_dispatch", "memory_copy"}) {
      Each(*scope, base, {"event_id"}, [&](io::SqliteRows& row) {
        const std::int64_t stack = scope->events.At(row.Int(0)).stack;
        if (stack != kNoCell && stack != 0 && !scope->calls.hip.Has(stack)) wanted.push_back(stack);
      });
    }
    scope->events.TellParents(std::move(wanted), &scope->calls);
  }

  // Whether no kernel has a stream, and there are several queues.
  bool IsByQueue(const GroupScope& scope) {
    std::optional<std::int64_t> first;
    bool several = false;
    io::SqliteRows rows =
        tables_.Read(scope.Table("kernel_dispatch"), {"stream_id", "queue_id", "track_id"});
    const bool by_track = !rows.HasColumn(0);
    while (rows.Next()) {
      TrackRow at{kNoCell, kNoCell, kNoCell, rows.Int(1), rows.Int(0)};
      if (by_track) at = scope.TrackOf(rows.Int(2));
      if (at.stream != kNoCell && at.stream != 0) return false;
      if (!first) first = at.queue;
      several = several || at.queue != *first;
    }
    return several;
  }

  // What the host did beside GPU work, each over a connection of its own.
  Status ReadEvents(const GroupScope& scope) {
    EventWriter work_writer(true);
    std::unique_ptr<io::SqliteFile> second;
    const bool beside = options_.threads != 1;
    if (beside) {
      JV_ASSIGN(second, tables_.Another());
    }
    GroupPart host(tables_, scope, owners_, writer_, job_);
    GroupPart work(beside ? *second : tables_, scope, owners_, work_writer, job_);
    Status host_status, work_status;
    if (beside) {
      RunBeside([&] { host_status = host.Regions(); }, [&] { work_status = work.Work(); });
    } else {
      host_status = host.Regions();
      work_status = work.Work();
    }
    JV_TRY(std::move(host_status));
    JV_TRY(std::move(work_status));
    tally_.Merge(host.tally);
    tally_.Merge(work.tally);
    return writer_.Take(std::move(work_writer));
  }

  void CountSeen(const GroupScope& scope) {
    std::uint64_t marks = 0, graphs = 0;
    Each(scope, "sample", {"id"}, [&](io::SqliteRows&) { ++marks; });
    Each(scope, "graph_launch", {"id"}, [&](io::SqliteRows&) { ++graphs; });
    if (marks > 0) tally_.counts["marks"] += marks;
    if (graphs > 0) tally_.counts["graph launches"] += graphs;
    Each(scope, "memory_allocate", {"level"}, [&](io::SqliteRows& row) {
      const std::string_view level = row.Text(0).value_or("other");
      ++tally_.counts[fmt::format("allocations ({})", LowerAscii(Utf8Prefix(level, 20)))];
    });
    std::uint64_t values = 0, streaming = 0;
    Each(scope, "pmc_event", {"event_id", "sample_id"},
         [&](io::SqliteRows& row) { ++(row.Int(1) == kNoCell ? values : streaming); });
    if (values > 0) tally_.counts["values of counters"] += values;
    if (streaming > 0) tally_.counts["values of streaming counters"] += streaming;
  }

  const io::InputFile& file_;
  io::SqliteFile& tables_;
  const ReadOptions& options_;
  Job& job_;
  Owners owners_;
  EventWriter writer_;
  TableTally tally_;
  RecordingFacts facts_;
  std::string version_;
};

}  // namespace

Result<Trace> ReadRocpd(const io::InputFile& file, io::SqliteFile& tables,
                        const ReadOptions& options, Job& job) {
  return RocpdReader(file, tables, options, job).Run();
}

}  // namespace jarvis::trace
