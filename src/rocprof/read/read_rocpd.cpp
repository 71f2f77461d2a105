#include "rocprof/read/read_rocpd.h"

#include <unordered_map>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/text.h"
#include "io/sqlite_file.h"
#include "rocprof/read/agent_facts.h"
#include "rocprof/read/rocpd_groups.h"

namespace jarvis::rocprof {
namespace {

constexpr std::int64_t kNoCell = io::SqliteRows::kAbsent;

// As records have it.
std::int64_t Known(std::int64_t cell) {
  return cell == kNoCell || cell < 0 ? kUnknown : cell;
}

// One process's tables.
class GroupReader {
 public:
  GroupReader(io::SqliteFile& file, const RocpdGroup& group, std::int64_t ordinal, Job& job,
              FileContent* out)
      : file_(file), group_(group), ordinal_(ordinal), job_(job), out_(out) {}

  Status Read() {
    ReadProcess();
    ReadAgents();
    ReadTracks();
    ReadSymbols();
    JV_TRY(ReadDispatches());
    JV_TRY(ReadCounters());
    Each("memory_copy", {"start", "end"}, [&](io::SqliteRows& row) {
      const std::int64_t start = Known(row.Time(0));
      const std::int64_t end = Known(row.Time(1));
      if (start != kUnknown && end >= start && (start != 0 || end != 0))
        out_->copies.push_back({start, end});
    });
    return job_.Check();
  }

 private:
  template <typename Row>
  void Each(const char* base, const std::vector<std::string_view>& columns, const Row& row) {
    const auto table = group_.find(base);
    if (table == group_.end()) return;
    io::SqliteRows rows = file_.Read(table->second, columns);
    while (rows.Next())
      row(rows);
    if (!rows.damage().empty()) out_->damage = rows.damage();
  }

  void ReadProcess() {
    simdjson::dom::parser parser;
    Each("info_process", {"pid", "command", "environment", "init", "fini"},
         [&](io::SqliteRows& row) {
           if (out_->pid) return;
           if (row.Int(0) != kNoCell) out_->pid = row.Int(0);
           out_->command = OneLine(ValidUtf8(row.Text(1).value_or("").substr(0, 4000)));
           if (row.Int(3) != kNoCell && row.Int(3) > 0) out_->init_ns = row.Int(3);
           if (row.Int(4) != kNoCell && row.Int(4) > 0) out_->fini_ns = row.Int(4);
           simdjson::dom::element environment;
           const auto text = row.Text(2);
           if (!text || ParseDom(&parser, *text, &environment)) return;
           // All variables are there, secrets too: of no other one is anything kept.
           for (const char* name : {"RANK", "LOCAL_RANK"}) {
             std::string_view value;
             if (out_->environment_rank.empty() && !environment[name].get_string().get(value) &&
                 ParseInt(value))
               out_->environment_rank = value;
           }
         });
    Each("info_node", {"hostname"}, [&](io::SqliteRows& row) {
      if (out_->host.empty())
        out_->host = OneLine(ValidUtf8(row.Text(0).value_or("").substr(0, 256)));
    });
  }

  // Agents of a further process are others, whatever their ids.
  std::int64_t HandleOf(std::int64_t id) const { return ordinal_ << 32 | (id & 0xFFFFFFFF); }

  void ReadAgents() {
    simdjson::dom::parser parser;
    Each("info_agent",
         {"id", "type", "absolute_index", "logical_index", "name", "product_name", "extdata"},
         [&](io::SqliteRows& row) {
           if (out_->agents.size() == 1024) return;
           Agent agent;
           agent.gpu = row.Text(1).value_or("") == "GPU";
           agent.handle = HandleOf(row.Int(0));
           agent.node_id = Known(row.Int(2));
           agent.logical_id = Known(row.Int(3));
           agent.name = OneLine(ValidUtf8(row.Text(4).value_or("").substr(0, 256)));
           agent.product = OneLine(ValidUtf8(row.Text(5).value_or("").substr(0, 256)));
           simdjson::dom::element more;
           simdjson::dom::object facts;
           const auto text = row.Text(6);
           if (text && !ParseDom(&parser, *text, &more) && !more.get(facts))
             AddHardware(facts, &agent);
           out_->agents.push_back(std::move(agent));
         });
  }

  // Where a row lies that names its track alone.
  void ReadTracks() {
    Each("track", {"id", "tid", "agent_id", "stream_id"}, [&](io::SqliteRows& row) {
      tracks_[row.Int(0)] = {row.Int(1), row.Int(2), row.Int(3)};
    });
  }

  void ReadSymbols() {
    Each("info_kernel_symbol",
         {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count"},
         [&](io::SqliteRows& row) {
           std::string_view name = row.Text(1).value_or("");
           if (name.empty()) name = row.Text(2).value_or("");
           if (name.empty()) return;
           symbols_[row.Int(0)] = {out_->kernels.Intern(KernelName(name)), Known(row.Int(3)),
                                   Known(row.Int(4)), Known(row.Int(5))};
         });
  }

  Status ReadDispatches() {
    Each("kernel_dispatch",
         {"event_id", "kernel_id", "dispatch_id", "start", "end", "agent_id", "stream_id", "tid",
          "track_id", "private_segment_size", "group_segment_size", "grid_size_x", "grid_size_y",
          "grid_size_z", "workgroup_size_x", "workgroup_size_y", "workgroup_size_z"},
         [&](io::SqliteRows& row) {
           Dispatch dispatch;
           dispatch.start_ns = Known(row.Time(3));
           dispatch.end_ns = Known(row.Time(4));
           if (!dispatch.duration_ns() || (dispatch.start_ns == 0 && dispatch.end_ns == 0)) {
             if (out_->odd_rows++ == 0) out_->first_odd = out_->rows + 1;
             return;
           }
           if (out_->dispatches.size() == out_->dispatches_max) {
             out_->damage =
                 fmt::format("more than {} dispatches: the rest is left out", out_->dispatches_max);
             return;
           }
           const std::int64_t kernel = row.Int(1);
           const auto symbol = symbols_.find(kernel);
           if (symbol == symbols_.end()) {
             dispatch.kernel =
                 out_->kernels.Intern(fmt::format("unknown_kernel_{}", Known(kernel)));
           } else {
             dispatch.kernel = symbol->second.name;
             dispatch.vgpr = symbol->second.vgpr;
             dispatch.agpr = symbol->second.agpr;
             dispatch.sgpr = symbol->second.sgpr;
           }
           Place place{row.Int(7), row.Int(5), row.Int(6)};
           if (place.agent == kNoCell) {
             const auto track = tracks_.find(row.Int(8));
             if (track != tracks_.end()) place = track->second;
           }
           dispatch.agent = static_cast<std::int32_t>(
               out_->agent_texts.Intern(fmt::format("handle {}", HandleOf(place.agent))));
           dispatch.id = Known(row.Int(2));
           dispatch.stream = Known(place.stream);
           dispatch.thread = Known(place.tid);
           dispatch.scratch = Known(row.Int(9));
           dispatch.lds = Known(row.Int(10));
           for (int axis = 0; axis < 3; ++axis) {
             dispatch.grid_xyz[static_cast<std::size_t>(axis)] = Known(row.Int(11 + axis));
             dispatch.workgroup_xyz[static_cast<std::size_t>(axis)] = Known(row.Int(14 + axis));
           }
           dispatch.grid = ProductOf(dispatch.grid_xyz);
           dispatch.workgroup = ProductOf(dispatch.workgroup_xyz);
           if (row.Int(0) != kNoCell) dispatch_of_[row.Int(0)] = out_->dispatches.size();
           out_->dispatches.push_back(std::move(dispatch));
           ++out_->rows;
         });
    return job_.Check();
  }

  Status ReadCounters() {
    std::unordered_map<std::int64_t, std::uint32_t> names;
    Each("info_pmc", {"id", "name"}, [&](io::SqliteRows& row) {
      constexpr std::size_t kNamesMax = 4096;
      const auto name = row.Text(1);
      if (name && out_->counters.size() < kNamesMax)
        names[row.Int(0)] = out_->counters.Intern(OneLine(ValidUtf8(name->substr(0, 256))));
    });
    Each("pmc_event", {"event_id", "pmc_id", "value", "sample_id"}, [&](io::SqliteRows& row) {
      if (row.Int(3) != kNoCell) return;
      const auto at = dispatch_of_.find(row.Int(0));
      const auto name = names.find(row.Int(1));
      const auto value = row.Number(2);
      if (at == dispatch_of_.end() || name == names.end() || !value) return;
      Dispatch& of = out_->dispatches[at->second];
      if (CounterValue* had = of.Find(name->second)) {
        had->value += *value;
      } else {
        of.counters.push_back({name->second, 0, *value});
      }
    });
    return job_.Check();
  }

  struct Place {
    std::int64_t tid, agent, stream;
  };
  struct KernelSymbol {
    std::uint32_t name;
    std::int64_t vgpr, agpr, sgpr;
  };

  io::SqliteFile& file_;
  const RocpdGroup& group_;
  std::int64_t ordinal_;
  Job& job_;
  FileContent* out_;
  std::unordered_map<std::int64_t, Place> tracks_;
  std::unordered_map<std::int64_t, KernelSymbol> symbols_;
  std::unordered_map<std::int64_t, std::size_t> dispatch_of_;  // by event
};

}  // namespace

Result<FileContent> ReadRocpdFile(const io::FilePolicy& files, const std::string& path,
                                  std::size_t dispatches_max, Job& job) {
  JV_ASSIGN(const io::InputFile file, files.OpenInput(path));
  JV_ASSIGN(const auto tables, io::SqliteFile::Open(file, job));
  const auto groups = RocpdGroups(*tables);
  if (groups.empty()) return Fail(ErrorCode::kNotATrace, "a SQLite database that is no rocpd");
  FileContent content;
  content.kind = FileKind::kDatabase;
  content.path = path;
  content.dispatches_max = dispatches_max;
  std::int64_t ordinal = 0;
  for (const auto& [suffix, group] : groups)
    JV_TRY(GroupReader(*tables, group, ordinal++, job, &content).Read());
  if (!tables->cut().empty()) content.damage = tables->cut();
  return content;
}

}  // namespace jarvis::rocprof
