#include "rocprof/read/read_csv.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "rocprof/read/csv_stream.h"

namespace jarvis::rocprof {
namespace {

using Row = std::vector<std::string>;
constexpr std::size_t kMissing = static_cast<std::size_t>(-1);
constexpr std::size_t kCountersMax = 4096;
constexpr std::size_t kAgentsMax = 1024;
constexpr std::size_t kStatsMax = 1'000'000;

// The columns of a file.
class Header {
 public:
  explicit Header(const Row& names) : names_(names) {}

  // The place of the first of these names that there is.
  std::size_t Find(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto found = std::find_if(names_.begin(), names_.end(), [&](const std::string& one) {
        return EqualsNoCase(Trim(one), name);
      });
      if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    }
    return kMissing;
  }
  bool Has(std::string_view name) const { return Find({name}) != kMissing; }
  std::size_t size() const { return names_.size(); }

 private:
  const Row& names_;
};

std::string_view Text(const Row& row, std::size_t column) {
  return column < row.size() ? Trim(row[column]) : std::string_view();
}

// A number that may be written as a float ("304.0"); nothing: the cell is no number.
std::optional<double> Number(const Row& row, std::size_t column) {
  const std::optional<double> value = ParseDouble(Text(row, column));
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::int64_t Whole(const Row& row, std::size_t column) {
  if (column == kMissing) return kUnknown;
  if (const auto value = ParseInt(Text(row, column))) return *value < 0 ? kUnknown : *value;
  const std::optional<double> value = Number(row, column);
  if (!value || *value < 0 || *value > 9e15) return kUnknown;
  return static_cast<std::int64_t>(*value);
}

// Rows that have all the columns of the header, each given to `take`, which says whether it could
// use it.
template <typename Take>
Status ForEachRow(CsvStream& stream, std::size_t columns, Job& job, FileContent* out, Take take) {
  Row row;
  for (;;) {
    JV_ASSIGN(const bool more, stream.Next(&row));
    if (!more) break;
    if (stream.row() % 4096 == 0) JV_TRY(job.Check());
    const bool cut = stream.open_end() && row.size() < columns;
    if (cut) {
      out->damage = fmt::format("cut in row {}", stream.row());
      continue;
    }
    if (row.size() == columns && take(row)) {
      ++out->rows;
      continue;
    }
    if (out->odd_rows++ == 0) out->first_odd = stream.row();
  }
  if (!stream.damage().empty()) out->damage = stream.damage();
  if (out->damage.empty() && stream.open_end())
    out->remark = "the last line has no end: its last value may be cut";
  return {};
}

Status ReadAgents(const Header& header, CsvStream& stream, Job& job, FileContent* out) {
  struct Column {
    std::size_t place;
    std::int64_t Agent::*field;
  };
  const Column columns[] = {
      {header.Find({"Node_Id"}), &Agent::node_id},
      {header.Find({"Logical_Node_Id"}), &Agent::logical_id},
      {header.Find({"Cu_Count"}), &Agent::cus},
      {header.Find({"Num_Xcc"}), &Agent::xccs},
      {header.Find({"Simd_Per_Cu"}), &Agent::simds_per_cu},
      {header.Find({"Max_Waves_Per_Cu"}), &Agent::waves_per_cu},
      {header.Find({"Max_Waves_Per_Simd"}), &Agent::waves_per_simd},
      {header.Find({"Wave_Front_Size"}), &Agent::wave_size},
      {header.Find({"Num_Shader_Banks"}), &Agent::shader_engines},
      {header.Find({"Lds_Size_In_Kb"}), &Agent::lds_kib},
      {header.Find({"Max_Engine_Clk_Fcompute"}), &Agent::clock_mhz},
  };
  const std::size_t type = header.Find({"Agent_Type"});
  const std::size_t name = header.Find({"Name"});
  const std::size_t product = header.Find({"Product_Name"});
  return ForEachRow(stream, header.size(), job, out, [&](const Row& row) {
    const std::string_view kind = Text(row, type);
    const bool gpu = EqualsNoCase(kind, "GPU") || kind == "2";
    if ((!gpu && !EqualsNoCase(kind, "CPU") && kind != "1") || out->agents.size() == kAgentsMax)
      return false;
    Agent agent;
    agent.gpu = gpu;
    for (const Column& column : columns)
      agent.*column.field = Whole(row, column.place);
    agent.name = OneLine(ValidUtf8(Text(row, name)));
    agent.product = OneLine(ValidUtf8(Text(row, product)));
    out->agents.push_back(std::move(agent));
    return true;
  });
}

// Columns that counter and trace files share.
struct DispatchColumns {
  explicit DispatchColumns(const Header& header)
      : kernel(header.Find({"Kernel_Name"})),
        agent(header.Find({"Agent_Id"})),
        id(header.Find({"Dispatch_Id"})),
        correlation(header.Find({"Correlation_Id"})),
        start(header.Find({"Start_Timestamp"})),
        end(header.Find({"End_Timestamp"})),
        lds(header.Find({"LDS_Block_Size", "Group_Segment_Size"})),
        scratch(header.Find({"Scratch_Size", "Private_Segment_Size"})),
        vgpr(header.Find({"VGPR_Count"})),
        agpr(header.Find({"Accum_VGPR_Count"})),
        sgpr(header.Find({"SGPR_Count"})),
        stream(header.Find({"Stream_Id"})),
        thread(header.Find({"Thread_Id"})),
        process(header.Find({"Process_Id"})) {}

  void Read(const Row& row, FileContent* out, Dispatch* to) const {
    to->kernel = out->kernels.Intern(KernelName(row[kernel]));
    to->agent = static_cast<std::int32_t>(out->agent_texts.Intern(Text(row, agent)));
    to->id = Whole(row, id);
    to->correlation = Whole(row, correlation);
    to->start_ns = Whole(row, start);
    to->end_ns = Whole(row, end);
    to->lds = Whole(row, lds);
    to->scratch = Whole(row, scratch);
    to->vgpr = Whole(row, vgpr);
    to->agpr = Whole(row, agpr);
    to->sgpr = Whole(row, sgpr);
    to->stream = Whole(row, stream);
    to->thread = Whole(row, thread);
    if (!out->pid && Whole(row, process) != kUnknown) out->pid = Whole(row, process);
  }

  std::size_t kernel, agent, id, correlation, start, end, lds, scratch, vgpr, agpr, sgpr, stream,
      thread, process;
};

Status ReadCounters(const Header& header, CsvStream& stream, Job& job, FileContent* out) {
  const DispatchColumns columns(header);
  const std::size_t grid = header.Find({"Grid_Size"});
  const std::size_t workgroup = header.Find({"Workgroup_Size"});
  const std::size_t counter = header.Find({"Counter_Name"});
  const std::size_t value = header.Find({"Counter_Value"});
  if (columns.kernel == kMissing || columns.id == kMissing || value == kMissing) {
    return Fail(ErrorCode::kNotATrace,
                "a counter file without the column Kernel_Name, Dispatch_Id or Counter_Value");
  }
  std::map<std::pair<std::int64_t, std::int32_t>, std::size_t> places;  // by id and agent
  bool full = false;
  JV_TRY(ForEachRow(stream, header.size(), job, out, [&](const Row& row) {
    const std::optional<double> number = Number(row, value);
    if (!number || Text(row, counter).empty() || Whole(row, columns.id) == kUnknown) return false;
    Dispatch dispatch;
    columns.Read(row, out, &dispatch);
    dispatch.grid = Whole(row, grid);
    dispatch.workgroup = Whole(row, workgroup);
    const auto [found, fresh] =
        places.try_emplace({dispatch.id, dispatch.agent}, out->dispatches.size());
    if (fresh) {
      if (out->dispatches.size() == out->dispatches_max) {
        places.erase(found);
        full = true;
        return false;
      }
      out->dispatches.push_back(std::move(dispatch));
    }
    if (out->counters.size() == kCountersMax) return false;
    Dispatch& of = out->dispatches[found->second];
    const std::uint32_t id = out->counters.Intern(OneLine(ValidUtf8(Text(row, counter))));
    // A counter twice in one dispatch: files of early versions have a row per instance.
    if (CounterValue* had = of.Find(id)) {
      had->value += *number;
    } else {
      of.counters.push_back({id, 0, *number});
    }
    return true;
  }));
  if (full)
    out->damage = fmt::format("more than {} dispatches: the rest is left out", out->dispatches_max);
  return {};
}

Status ReadKernelTrace(const Header& header, CsvStream& stream, Job& job, FileContent* out) {
  const DispatchColumns columns(header);
  const std::array<std::size_t, 3> grid = {
      header.Find({"Grid_Size_X"}), header.Find({"Grid_Size_Y"}), header.Find({"Grid_Size_Z"})};
  const std::array<std::size_t, 3> workgroup = {header.Find({"Workgroup_Size_X"}),
                                                header.Find({"Workgroup_Size_Y"}),
                                                header.Find({"Workgroup_Size_Z"})};
  if (columns.kernel == kMissing || columns.start == kMissing || columns.end == kMissing) {
    return Fail(ErrorCode::kNotATrace,
                "a kernel trace without the column Kernel_Name, Start_Timestamp or End_Timestamp");
  }
  bool full = false;
  JV_TRY(ForEachRow(stream, header.size(), job, out, [&](const Row& row) {
    Dispatch dispatch;
    columns.Read(row, out, &dispatch);
    if (!dispatch.duration_ns()) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      dispatch.grid_xyz[i] = Whole(row, grid[i]);
      dispatch.workgroup_xyz[i] = Whole(row, workgroup[i]);
    }
    dispatch.grid = ProductOf(dispatch.grid_xyz);
    dispatch.workgroup = ProductOf(dispatch.workgroup_xyz);
    if (out->dispatches.size() == out->dispatches_max) {
      full = true;
      return false;
    }
    out->dispatches.push_back(std::move(dispatch));
    return true;
  }));
  if (full)
    out->damage = fmt::format("more than {} dispatches: the rest is left out", out->dispatches_max);
  return {};
}

Status ReadStats(const Header& header, CsvStream& stream, Job& job, FileContent* out) {
  const bool domain = out->path.find("domain_stats.csv") != std::string::npos;
  const std::size_t name = header.Find({"Name"});
  const std::size_t calls = header.Find({"Calls"});
  const std::size_t total = header.Find({"TotalDurationNs", "TotalDuration(ns)"});
  const std::size_t min = header.Find({"MinNs"});
  const std::size_t max = header.Find({"MaxNs"});
  return ForEachRow(stream, header.size(), job, out, [&](const Row& row) {
    KernelStats one{domain,           KernelName(row[name]), Whole(row, calls), Whole(row, total),
                    Number(row, min), Number(row, max)};
    if (one.calls == kUnknown || one.total_ns == kUnknown || out->stats.size() == kStatsMax)
      return false;
    out->stats.push_back(std::move(one));
    return true;
  });
}

}  // namespace

std::int64_t ProductOf(const std::array<std::int64_t, 3>& sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 52;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size <= 0 || size > kMost / product) return kUnknown;
    product *= size;
  }
  return product;
}

std::string KernelName(std::string_view text) {
  text = Trim(text);
  if (text.ends_with(".kd")) text.remove_suffix(3);
  return OneLine(ValidUtf8(Utf8Prefix(text, kNameBytesMax)));
}

FileKind KindOfName(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with("agent_info.csv")) return FileKind::kAgents;
  if (path.ends_with("counter_collection.csv")) return FileKind::kCounters;
  if (path.ends_with("kernel_trace.csv")) return FileKind::kKernelTrace;
  if (path.ends_with("kernel_stats.csv") || path.ends_with("domain_stats.csv")) {
    return FileKind::kStats;
  }
  if (path.ends_with("_results.csv")) return FileKind::kStats;
  if (path.ends_with("_results.json")) return FileKind::kResults;
  if (path.ends_with(".db")) return FileKind::kDatabase;
  return FileKind::kOther;
}

FileKind KindOfHeader(const std::vector<std::string>& names) {
  const Header header(names);
  if (header.Has("Counter_Name") && header.Has("Counter_Value")) return FileKind::kCounters;
  if (header.Has("Kernel_Name") && header.Has("Start_Timestamp")) return FileKind::kKernelTrace;
  if (header.Has("Agent_Type")) return FileKind::kAgents;
  if (header.Has("Name") && header.Has("Calls") &&
      header.Find({"TotalDurationNs", "TotalDuration(ns)"}) != kMissing) {
    return FileKind::kStats;
  }
  return FileKind::kOther;
}

Result<FileContent> ReadCsvFile(const io::FilePolicy& files, const std::string& path,
                                std::size_t dispatches_max, Job& job) {
  JV_ASSIGN(io::InputFile file, files.OpenInput(path));
  JV_ASSIGN(const auto source, io::OpenBytes(std::move(file)));
  return ReadCsvSource(*source, path, dispatches_max, job);
}

Result<FileContent> ReadCsvSource(io::ByteSource& source, const std::string& path,
                                  std::size_t dispatches_max, Job& job) {
  CsvStream stream(source);
  Row names;
  JV_ASSIGN(const bool any, stream.Next(&names));
  FileContent content;
  content.path = path;
  content.dispatches_max = dispatches_max;
  if (!any) {
    content.damage = stream.damage().empty() ? "the file is empty" : stream.damage();
    return content;
  }
  const Header header(names);
  content.kind = KindOfHeader(names);
  Status read;
  switch (content.kind) {
    case FileKind::kAgents: read = ReadAgents(header, stream, job, &content); break;
    case FileKind::kCounters: read = ReadCounters(header, stream, job, &content); break;
    case FileKind::kKernelTrace: read = ReadKernelTrace(header, stream, job, &content); break;
    case FileKind::kStats: read = ReadStats(header, stream, job, &content); break;
    case FileKind::kResults:
    case FileKind::kDatabase:
    case FileKind::kOther:
      read = Fail(ErrorCode::kNotATrace, "the first line names no columns of a rocprofv3 file");
  }
  JV_TRY(read);
  return content;
}

}  // namespace jarvis::rocprof
