#include "trace/import/rocm/results_json.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/limits.h"
#include "base/text.h"
#include "rocprof/read/json_mend.h"
#include "trace/import/rocm/rocm_events.h"
#include "trace/import/shared/store_elements.h"
#include "trace/import/shared/store_window.h"

namespace jarvis::trace {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

// Larger documents are not read: a database and CSV files of the same run have no such limit.
constexpr std::size_t kResultsBytesMax = std::size_t{2} << 30;
// Records lie this deep: root, list of tools, tool, kind of records, list.
constexpr std::size_t kRecordDepth = 5;

// Handles are unsigned and may be addresses.
std::int64_t Whole(element from, const char* key) {
  element value;
  if (from[key].get(value)) return kNoCell;
  std::int64_t number = 0;
  if (!value.get_int64().get(number)) return number;
  std::uint64_t large = 0;
  if (!value.get_uint64().get(large)) return static_cast<std::int64_t>(large >> 1);
  return kNoCell;
}

std::int64_t Handle(element from, const char* key) {
  element inner;
  if (from[key].get(inner)) return kNoCell;
  return inner.is_object() ? Whole(inner, "handle") : Whole(from, key);
}

std::string_view Text(element from, const char* key) {
  std::string_view text;
  return from[key].get_string().get(text) ? std::string_view() : text;
}

template <typename Each>
void EachOf(element from, const char* key, const Each& each) {
  array list;
  if (from[key].get_array().get(list)) return;
  for (const element one : list) {
    if (one.is_object()) each(one);
  }
}

struct Kind {
  std::string word;
  std::vector<std::string> operations;
};

// One tool of the document: what one process recorded.
class ToolReader {
 public:
  ToolReader(element tool, std::int64_t ordinal, Owners& owners, EventWriter& writer,
             RecordingFacts& facts, TableTally& tally, Job& job)
      : tool_(tool),
        ordinal_(ordinal),
        facts_(facts),
        tally_(tally),
        writer_(writer),
        job_(job),
        events_(owners, writer, tally) {
    element metadata;
    std::int64_t pid = 0;
    if (!tool["metadata"].get(metadata) && metadata.is_object()) {
      pid = std::max<std::int64_t>(Whole(metadata, "pid"), 0);
      process_ = owners.ProcessOf(ordinal << 32 | (pid & 0xFFFFFFFF), pid);
      ReadMetadata(metadata, &owners.processes()[process_]);
    } else {
      process_ = owners.ProcessOf(ordinal << 32, 0);
    }
  }

  Status Run() {
    ReadAgents();
    ReadStrings();
    ReadSymbols();
    element records;
    if (!tool_["buffer_records"].get(records) && records.is_object()) {
      NoteCalls(records);
      for (const char* group : {"hip_api", "hsa_api", "marker_api", "rccl_api"})
        JV_TRY(AddCalls(records, group));
      JV_TRY(AddKernels(records));
      JV_TRY(AddCopies(records));
    }
    if (kernels_ == 0) JV_TRY(AddCounted());
    return status_;
  }

 private:
  void ReadMetadata(element metadata, ProcessOwner* process) {
    process->apart = ordinal_;
    array command;
    if (!metadata["command"].get_array().get(command) && command.begin() != command.end()) {
      std::string_view name;
      if (!(*command.begin()).get_string().get(name))
        process->name = name.substr(name.rfind('/') + 1).substr(0, limits::kNameBytesShort);
    }
    for (const char* place : {"environment", "env"}) {
      element environment;
      if (metadata[place].get(environment) || !environment.is_object()) continue;
      process->rank = RankIn(environment);
      if (!facts_.world_size) facts_.world_size = WorldSizeIn(environment);
    }
  }

  void ReadAgents() {
    EachOf(tool_, "agents", [&](element one) {
      RocmAgent agent;
      agent.gpu = Whole(one, "type") == 2;
      agent.index = Whole(one, "logical_node_type_id");
      if (agent.index == kNoCell) agent.index = Whole(one, "node_id");
      std::string_view name = Text(one, "product_name");
      if (name.empty()) name = Text(one, "name");
      agent.about.name = name.substr(0, limits::kDeviceNameBytesMax);
      const auto known = [&](const char* key) {
        const std::int64_t value = Whole(one, key);
        return value == kNoCell ? std::nullopt : std::optional(value);
      };
      agent.about.sm_count = known("cu_count");
      agent.about.warp_size = known("wave_front_size");
      events_.agents[Handle(one, "id")] = std::move(agent);
    });
  }

  void ReadStrings() {
    element strings;
    if (tool_["strings"].get(strings) || !strings.is_object()) return;
    EachOf(strings, "buffer_records", [&](element one) {
      Kind& kind = kinds_.emplace_back();
      kind.word = Text(one, "kind");
      array operations;
      if (one["operations"].get_array().get(operations)) return;
      for (const element operation : operations) {
        std::string_view name;
        kind.operations.emplace_back(operation.get_string().get(name) ? "" : name);
      }
    });
    EachOf(strings, "marker_api",
           [&](element one) { messages_[Whole(one, "key")] = Text(one, "value"); });
  }

  void ReadSymbols() {
    EachOf(tool_, "kernel_symbols", [&](element one) {
      std::string_view name = Text(one, "formatted_kernel_name");
      if (name.empty()) name = Text(one, "kernel_name");
      if (name.ends_with(".kd")) name.remove_suffix(3);
      symbols_[Whole(one, "kernel_id")] = {name, Whole(one, "arch_vgpr_count"),
                                           Whole(one, "accum_vgpr_count"),
                                           Whole(one, "sgpr_count")};
    });
  }

  const Kind* KindOf(element record) const {
    const std::int64_t at = Whole(record, "kind");
    return at >= 0 && at < static_cast<std::int64_t>(kinds_.size())
               ? &kinds_[static_cast<std::size_t>(at)]
               : nullptr;
  }
  RocmWord WordOf(element record) const {
    const Kind* kind = KindOf(record);
    return kind == nullptr ? RocmWord::kOther : RocmWordOf(kind->word);
  }
  std::string_view OperationOf(element record) const {
    const Kind* kind = KindOf(record);
    const std::int64_t at = Whole(record, "operation");
    return kind != nullptr && at >= 0 && at < static_cast<std::int64_t>(kind->operations.size())
               ? std::string_view(kind->operations[static_cast<std::size_t>(at)])
               : std::string_view();
  }
  static std::int64_t CorrelationPart(element record, const char* part) {
    element correlation;
    return record["correlation_id"].get(correlation) || !correlation.is_object()
               ? kNoCell
               : Whole(correlation, part);
  }

  void NoteCalls(element records) {
    EachOf(records, "hip_api", [&](element one) {
      if (WordOf(one) != RocmWord::kHip) return;
      calls_.has_hip = true;
      if (const std::int64_t own = CorrelationPart(one, "internal"); own != kNoCell)
        calls_.hip.Insert(own);
    });
    EachOf(records, "hsa_api", [&](element one) {
      const std::int64_t own = CorrelationPart(one, "internal");
      const std::int64_t above = CorrelationPart(one, "ancestor");
      if (WordOf(one) == RocmWord::kHsa && above != kNoCell && above != 0 && above != own)
        calls_.parent_of.try_emplace(own, above);
    });
  }

  bool Timed(std::int64_t start, std::int64_t end, const char* what) {
    ++tally_.rows;
    if (start != kNoCell && end != kNoCell && end >= start && (start != 0 || end != 0)) return true;
    ++tally_.counts[fmt::format("{} without time", what)];
    writer_.oddities().Count(Oddity::kNoTimestamp, writer_.events());
    return false;
  }

  // Stops at the first error, and when the job is.
  template <typename Add>
  Status AddEach(element records, const char* group, const Add& add) {
    std::size_t seen = 0;
    EachOf(records, group, [&](element one) {
      if (status_) status_ = ++seen % 4096 == 0 ? job_.Check() : Status();
      if (status_) status_ = add(one);
    });
    return status_;
  }

  Status AddCalls(element records, const char* group) {
    return AddEach(records, group, [&](element one) -> Status {
      const std::int64_t start = Whole(one, "start_timestamp");
      const std::int64_t end = Whole(one, "end_timestamp");
      if (!Timed(start, end, "regions")) return {};
      const RocmWord word = WordOf(one);
      if (word == RocmWord::kHsa && calls_.has_hip) {
        ++tally_.counts["HSA calls"];
        return {};
      }
      if (word == RocmWord::kMarker && start == end) {
        ++tally_.counts["marks"];
        return {};
      }
      const std::int64_t own = CorrelationPart(one, "internal");
      std::string_view name = OperationOf(one);
      const std::string unnamed =
          fmt::format("operation {}", std::max<std::int64_t>(Whole(one, "operation"), 0));
      if (name.empty()) name = unnamed;
      const auto message = messages_.find(own);
      return events_.Add(RocmCall{word,
                                  name,
                                  start,
                                  end,
                                  process_,
                                  std::max<std::int64_t>(Whole(one, "thread_id"), 0),
                                  Correlation(own),
                                  message == messages_.end() ? std::string_view() : message->second,
                                  {}});
    });
  }

  Status AddKernel(element info, std::int64_t start, std::int64_t end, std::int64_t stream,
                   std::int64_t own) {
    ++kernels_;
    const std::int64_t kernel = Whole(info, "kernel_id");
    const auto symbol = symbols_.find(kernel);
    const Symbol about =
        symbol == symbols_.end() ? Symbol{{}, kNoCell, kNoCell, kNoCell} : symbol->second;
    const std::string unnamed =
        about.name.empty() ? fmt::format("kernel {}", std::max<std::int64_t>(kernel, 0)) : "";
    RocmKernel made{};
    made.name = about.name.empty() ? std::string_view(unnamed) : about.name;
    made.start = start;
    made.end = end;
    made.process = process_;
    made.agent = Handle(info, "agent_id");
    made.queue = Handle(info, "queue_id");
    made.lane = stream != kNoCell ? stream : std::max<std::int64_t>(made.queue, 0);
    made.correlation = Correlation(calls_.LaunchOf(own, kNoCell));
    Sizes(info, "grid_size", made.grid);
    Sizes(info, "workgroup_size", made.block);
    made.shared_bytes = Whole(info, "group_segment_size");
    made.scratch = Whole(info, "private_segment_size");
    made.vgpr = about.vgpr;
    made.agpr = about.agpr;
    made.sgpr = about.sgpr;
    made.graph = made.node = kNoCell;
    return events_.Add(made);
  }

  static void Sizes(element info, const char* key, std::int64_t (&to)[3]) {
    element sizes;
    const bool there = !info[key].get(sizes) && sizes.is_object();
    constexpr const char* kAxes[] = {"x", "y", "z"};
    for (std::size_t i = 0; i < 3; ++i)
      to[i] = there ? Whole(sizes, kAxes[i]) : kNoCell;
  }

  Status AddKernels(element records) {
    return AddEach(records, "kernel_dispatch", [&](element one) -> Status {
      const std::int64_t start = Whole(one, "start_timestamp");
      const std::int64_t end = Whole(one, "end_timestamp");
      element info;
      if (!Timed(start, end, "kernels") || one["dispatch_info"].get(info) || !info.is_object())
        return {};
      return AddKernel(info, start, end, Handle(one, "stream_id"),
                       CorrelationPart(one, "internal"));
    });
  }

  // A recording of counters alone has its dispatches there.
  Status AddCounted() {
    element records;
    if (tool_["callback_records"].get(records) || !records.is_object()) return {};
    return AddEach(records, "counter_collection", [&](element one) -> Status {
      element data, info;
      if (one["dispatch_data"].get(data) || !data.is_object() || data["dispatch_info"].get(info) ||
          !info.is_object())
        return {};
      const std::int64_t start = Whole(data, "start_timestamp");
      const std::int64_t end = Whole(data, "end_timestamp");
      if (!Timed(start, end, "kernels")) return {};
      return AddKernel(info, start, end, kNoCell, CorrelationPart(data, "internal"));
    });
  }

  Status AddCopies(element records) {
    return AddEach(records, "memory_copy", [&](element one) -> Status {
      const std::int64_t start = Whole(one, "start_timestamp");
      const std::int64_t end = Whole(one, "end_timestamp");
      if (!Timed(start, end, "copies")) return {};
      const std::int64_t stream = Handle(one, "stream_id");
      const std::int64_t own = CorrelationPart(one, "internal");
      return events_.Add(RocmCopy{OperationOf(one), start, end, process_,
                                  Handle(one, "src_agent_id"), Handle(one, "dst_agent_id"),
                                  stream == kNoCell ? 0 : stream,
                                  Correlation(calls_.LaunchOf(own, kNoCell)), Whole(one, "bytes")});
    });
  }

  std::int64_t Correlation(std::int64_t own) const {
    if (own == kNoCell || own <= 0) return kNoCell;
    return ordinal_ << 48 | (own & ((std::int64_t{1} << 48) - 1));
  }

  struct Symbol {
    std::string_view name;
    std::int64_t vgpr, agpr, sgpr;
  };

  element tool_;
  std::int64_t ordinal_;
  RecordingFacts& facts_;
  TableTally& tally_;
  EventWriter& writer_;
  Job& job_;
  RocmEvents events_;
  OwnerId process_ = 0;
  RocmCalls calls_;
  std::vector<Kind> kinds_;
  std::unordered_map<std::int64_t, std::string_view> messages_;
  std::unordered_map<std::int64_t, Symbol> symbols_;
  std::uint64_t kernels_ = 0;
  Status status_;
};

Result<std::string> WholeText(io::ByteSource& bytes, std::size_t bytes_max, Job& job) {
  std::string text;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (;;) {
    JV_TRY(job.Check());
    job.Report(bytes.consumed(), bytes.file_size(), "reading");
    const std::size_t had = text.size();
    if (had > bytes_max) {
      return Fail(ErrorCode::kTooLarge,
                  fmt::format("a results.json of more than {} bytes", bytes_max),
                  "record with rocprofv3 --output-format rocpd, or give the CSV files of the run");
    }
    text.resize(had + kPiece);
    JV_ASSIGN(const std::size_t got, bytes.Read({text.data() + had, kPiece}));
    text.resize(had + got);
    if (got == 0) return text;
  }
}

Fit SniffResults(std::string_view head) {
  const std::string_view text = Trim(head);
  return text.starts_with('{') && text.find("\"rocprofiler-sdk-tool\"") != std::string_view::npos &&
                 text.find("\"traceEvents\"") == std::string_view::npos
             ? Fit::kCertain
             : Fit::kNone;
}

Result<ImportedTrace> ReadResults(const TraceInput& input, const ReadOptions& options, Job& job) {
  JV_ASSIGN(const auto bytes, input.Bytes(job));
  JV_ASSIGN(std::string text,
            WholeText(*bytes, std::min<std::uint64_t>(kResultsBytesMax, options.bytes_max), job));
  RecordingFacts facts;
  facts.bytes = text.size();
  if (!bytes->damage().empty()) facts.damage.push_back(bytes->damage());
  simdjson::dom::parser parser;
  element document;
  auto error = ParseDom(&parser, text, &document);
  if (error == simdjson::UTF8_ERROR) {
    text = ValidUtf8(text);
    error = ParseDom(&parser, text, &document);
  }
  if (error) {
    text = rocprof::MendJson(text, kRecordDepth);
    if (text.empty() || ParseDom(&parser, text, &document))
      return Fail(ErrorCode::kNotATrace, "a results.json of rocprofv3 that is no JSON");
    facts.damage.emplace_back("the JSON text is cut or damaged: records up to there are read");
  }
  Owners owners;
  EventWriter writer;
  TableTally tally;
  element body;
  std::vector<element> tools;
  if (!document["rocprofiler-sdk-tool"].get(body)) {
    array list;
    if (!body.get_array().get(list)) {
      tools.assign(list.begin(), list.end());
    } else {
      tools.push_back(body);
    }
  }
  std::int64_t ordinal = 0;
  for (const element tool : tools) {
    if (tool.is_object())
      JV_TRY(ToolReader(tool, ordinal++, owners, writer, facts, tally, job).Run());
  }
  facts.elements = tally.rows;
  ImportedTrace read;
  JV_ASSIGN(read.trace,
            MakeRocmTrace(std::move(writer), owners, tally, "rocprofv3 json", std::move(facts)));
  read.content_hash = bytes->content_hash();
  return read;
}

}  // namespace

const Importer kRocprofv3Json = {
    .name = "rocprofv3_json",
    .what = "results.json files of rocprofv3",
    .one_file = true,
    .sniff = &SniffResults,
    .read = &ReadResults,
    .survey = &SurveyByReading<kRocprofv3Json>,
    .read_window = &WindowOfWhole,
    .elements = &ElementsByReading<&ReadResults>,
};

}  // namespace jarvis::trace
