#include "trace/import/rocm/csv_set.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/string_pool.h"
#include "base/text.h"
#include "io/byte_source.h"
#include "rocprof/read/csv_stream.h"
#include "trace/import/rocm/rocm_events.h"
#include "trace/import/shared/store_elements.h"
#include "trace/import/shared/store_window.h"

namespace jarvis::trace {
namespace {

// What the files of one prefix are called behind it; calls of HIP come first, as it depends on them
// which others are kept.
constexpr std::string_view kCallParts[] = {
    "hip_api_trace",    "hip_runtime_api_trace", "hip_compiler_api_trace",
    "hip_trace",        "hip_runtime_trace",     "hip_compile_trace",
    "marker_api_trace", "hsa_api_trace",         "rccl_api_trace"};
constexpr std::string_view kKernelPart = "kernel_trace";
constexpr std::string_view kCopyPart = "memory_copy_trace";
constexpr std::string_view kAgentPart = "agent_info";

enum class Table : std::uint8_t { kNone, kCalls, kKernels, kCopies, kAgents };

Table TableOf(std::string_view header) {
  const auto has = [&](std::string_view name) { return header.find(name) != std::string::npos; };
  if (has("Counter_Name")) return Table::kNone;
  if (has("Kernel_Name") && has("Start_Timestamp")) return Table::kKernels;
  if (has("Domain") && has("Function") && has("Correlation_Id")) return Table::kCalls;
  if (has("Kind") && has("Direction")) return Table::kCopies;
  return has("Node_Id") && has("Agent_Type") ? Table::kAgents : Table::kNone;
}

std::string_view FirstLine(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text.substr(0, text.find_first_of("\r\n"));
}

// A row by the names of its columns.
class CsvRow {
 public:
  std::vector<std::string> fields;
  void SetHeader(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i)
      columns_.try_emplace(names[i], i);
  }
  std::string_view Text(std::string_view name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() || found->second >= fields.size()
               ? std::string_view()
               : std::string_view(fields[found->second]);
  }
  std::int64_t Number(std::string_view name) const {
    return ParseInt(Text(name)).value_or(kNoCell);
  }
  // "Agent 4", "4".
  std::int64_t Agent(std::string_view name) const {
    std::string_view text = Text(name);
    text.remove_prefix(std::min(text.find_last_not_of("0123456789") + 1, text.size()));
    return ParseInt(text).value_or(kNoCell);
  }

 private:
  std::map<std::string, std::size_t, std::less<>> columns_;
};

class CsvSet {
 public:
  CsvSet(const TraceInput& input, Job& job)
      : input_(input), job_(job), events_(owners_, writer_, tally_) {}

  Result<ImportedTrace> Run() {
    ImportedTrace read;
    JV_TRY(ReadSet());
    facts_.elements = tally_.rows;
    JV_ASSIGN(read.trace, MakeRocmTrace(std::move(writer_), owners_, tally_, "rocprofv3 csv",
                                        std::move(facts_)));
    read.content_hash = HashText(hashes_);
    return read;
  }

 private:
  Status ReadSet() {
    const std::string& path = input_.file.path;
    const std::size_t slash = path.rfind('/') + 1;
    const std::string_view name = std::string_view(path).substr(slash);
    std::string_view part;
    for (const std::string_view one : AllParts()) {
      if (name.ends_with(fmt::format("{}.csv", one)) && one.size() > part.size()) part = one;
    }
    const bool alone = part.empty() || !input_.layers.empty() || !input_.member.empty() ||
                       !input_.file.member.empty();
    if (alone) {
      JV_ASSIGN(const auto bytes, input_.Bytes(job_));
      return ReadTable(*bytes);
    }
    prefix_ = path.substr(0, path.size() - part.size() - std::string_view(".csv").size());
    pid_ = ParseInt(std::string_view(prefix_).substr(slash, prefix_.find('_', slash) - slash))
               .value_or(0);
    for (const std::string_view one : AllParts())
      JV_TRY(ReadPart(one));
    return {};
  }

  static std::vector<std::string_view> AllParts() {
    std::vector<std::string_view> parts = {kAgentPart};
    parts.insert(parts.end(), std::begin(kCallParts), std::end(kCallParts));
    parts.push_back(kKernelPart);
    parts.push_back(kCopyPart);
    return parts;
  }

  // One that is not there is none of this run. They lie beside a file that may be read, and are
  // opened without following links.
  Status ReadPart(std::string_view part) {
    auto file = io::FilePolicy::OpenUnchanged(fmt::format("{}{}.csv", prefix_, part));
    if (!file || file->size == 0) return {};
    JV_ASSIGN(const auto bytes, io::OpenBytes(std::move(*file), {.job = &job_}));
    return ReadTable(*bytes);
  }

  Status ReadTable(io::ByteSource& bytes) {
    rocprof::CsvStream stream(bytes);
    CsvRow row;
    JV_ASSIGN(const bool any, stream.Next(&row.fields));
    if (!any) return {};
    std::string header;
    if (!row.fields.empty()) row.fields[0] = FirstLine(row.fields[0]);
    for (const std::string& name : row.fields)
      header += name + ",";
    const Table table = TableOf(header);
    row.SetHeader(row.fields);
    for (std::uint64_t rows = 0;; ++rows) {
      if (rows % 4096 == 0) {
        JV_TRY(job_.Check());
        job_.Report(bytes.consumed(), bytes.file_size(), "reading");
      }
      JV_ASSIGN(const bool more, stream.Next(&row.fields));
      if (!more) break;
      switch (table) {
        case Table::kCalls: JV_TRY(AddCall(row)); break;
        case Table::kKernels: JV_TRY(AddKernel(row)); break;
        case Table::kCopies: JV_TRY(AddCopy(row)); break;
        case Table::kAgents: AddAgent(row); break;
        case Table::kNone: break;
      }
    }
    if (!agents_.empty()) NumberAgents();
    facts_.bytes += bytes.consumed();
    for (const std::string* damage : {&bytes.damage(), &stream.damage()}) {
      if (!damage->empty()) facts_.damage.push_back(*damage);
    }
    hashes_ += fmt::format("{:016x} ", bytes.content_hash());
    return {};
  }

  void AddAgent(const CsvRow& row) {
    RocmAgent agent;
    agent.gpu = row.Text("Agent_Type") == "GPU";
    const std::string_view product = row.Text("Product_Name");
    agent.about.name = ValidUtf8(
        (product.empty() ? row.Text("Name") : product).substr(0, limits::kDeviceNameBytesMax));
    const auto known = [&](const char* name) {
      const std::int64_t value = row.Number(name);
      return value == kNoCell ? std::nullopt : std::optional(value);
    };
    agent.about.sm_count = known("Cu_Count");
    agent.about.warp_size = known("Wave_Front_Size");
    constexpr std::size_t kAgentsMax = 4096;
    if (agents_.size() < kAgentsMax) agents_[row.Number("Node_Id")] = std::move(agent);
  }

  void NumberAgents() {
    std::int64_t gpus = 0;
    for (auto& [node, agent] : agents_) {
      agent.index = agent.gpu ? gpus++ : 0;
      events_.agents[node] = agent;
    }
    agents_.clear();
  }

  OwnerId Process() { return owners_.ProcessOf(pid_, pid_); }

  bool Timed(std::int64_t start, std::int64_t end, const char* what) {
    ++tally_.rows;
    if (start != kNoCell && end != kNoCell && end >= start && (start != 0 || end != 0)) return true;
    ++tally_.counts[fmt::format("{} without time", what)];
    writer_.oddities().Count(Oddity::kNoTimestamp, writer_.events());
    return false;
  }

  static std::int64_t Correlation(const CsvRow& row) {
    const std::int64_t own = row.Number("Correlation_Id");
    return own > 0 ? own : kNoCell;
  }

  Status AddCall(const CsvRow& row) {
    const std::int64_t start = row.Number("Start_Timestamp");
    const std::int64_t end = row.Number("End_Timestamp");
    if (!Timed(start, end, "regions")) return {};
    const RocmWord word = RocmWordOf(row.Text("Domain"));
    has_hip_ = has_hip_ || word == RocmWord::kHip;
    if (word == RocmWord::kHsa && has_hip_) {
      ++tally_.counts["HSA calls"];
      return {};
    }
    if (word == RocmWord::kMarker && start == end) {
      ++tally_.counts["marks"];
      return {};
    }
    if (const std::int64_t pid = row.Number("Process_Id"); pid != kNoCell && pid != 0) pid_ = pid;
    const std::int64_t tid = row.Number("Thread_Id");
    return events_.Add(RocmCall{word,
                                row.Text("Function"),
                                start,
                                end,
                                Process(),
                                tid == kNoCell ? 0 : tid,
                                Correlation(row),
                                {},
                                {}});
  }

  Status AddKernel(const CsvRow& row) {
    const std::int64_t start = row.Number("Start_Timestamp");
    const std::int64_t end = row.Number("End_Timestamp");
    if (!Timed(start, end, "kernels")) return {};
    std::string_view name = row.Text("Kernel_Name");
    if (name.ends_with(".kd")) name.remove_suffix(3);
    RocmKernel made{};
    made.name = name;
    made.start = start;
    made.end = end;
    made.process = Process();
    made.agent = row.Agent("Agent_Id");
    made.queue = row.Number("Queue_Id");
    const std::int64_t stream = row.Number("Stream_Id");
    made.lane = stream != kNoCell ? stream : std::max<std::int64_t>(made.queue, 0);
    made.correlation = Correlation(row);
    constexpr const char* kGrid[] = {"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"};
    constexpr const char* kBlock[] = {"Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"};
    for (std::size_t i = 0; i < 3; ++i) {
      made.grid[i] = row.Number(kGrid[i]);
      made.block[i] = row.Number(kBlock[i]);
    }
    made.shared_bytes = row.Number("LDS_Block_Size");
    made.scratch = row.Number("Scratch_Size");
    made.vgpr = row.Number("VGPR_Count");
    made.agpr = row.Number("Accum_VGPR_Count");
    made.sgpr = row.Number("SGPR_Count");
    made.graph = made.node = kNoCell;
    return events_.Add(made);
  }

  Status AddCopy(const CsvRow& row) {
    const std::int64_t start = row.Number("Start_Timestamp");
    const std::int64_t end = row.Number("End_Timestamp");
    if (!Timed(start, end, "copies")) return {};
    const std::int64_t stream = row.Number("Stream_Id");
    return events_.Add(RocmCopy{row.Text("Direction"), start, end, Process(),
                                row.Agent("Source_Agent_Id"), row.Agent("Destination_Agent_Id"),
                                stream == kNoCell ? 0 : stream, Correlation(row), kNoCell});
  }

  const TraceInput& input_;
  Job& job_;
  Owners owners_;
  EventWriter writer_;
  TableTally tally_;
  RecordingFacts facts_;
  RocmEvents events_;
  std::string prefix_;
  std::int64_t pid_ = 0;
  bool has_hip_ = false;
  std::map<std::int64_t, RocmAgent> agents_;  // of the table at hand, by node
  std::string hashes_;
};

Fit SniffCsv(std::string_view head) {
  return TableOf(FirstLine(head)) == Table::kNone ? Fit::kNone : Fit::kCertain;
}

Result<ImportedTrace> ReadCsv(const TraceInput& input, const ReadOptions&, Job& job) {
  return CsvSet(input, job).Run();
}

}  // namespace

const Importer kRocprofv3Csv = {
    .name = "rocprofv3_csv",
    .what = "CSV files of rocprofv3",
    .one_file = false,
    .sniff = &SniffCsv,
    .read = &ReadCsv,
    .survey = &SurveyByReading<kRocprofv3Csv>,
    .read_window = &WindowOfWhole,
    .elements = &ElementsByReading<&ReadCsv>,
};

}  // namespace jarvis::trace
