#include "rocprof/read/read_results.h"

#include <array>
#include <map>
#include <unordered_map>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"
#include "io/byte_source.h"
#include "rocprof/read/agent_facts.h"
#include "rocprof/read/json_mend.h"

namespace jarvis::rocprof {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Records lie this deep: root, list of tools, tool, kind of records, list.
constexpr std::size_t kRecordDepth = 5;

// What a member that is not there is taken for; an object without a document cannot be asked.
struct Nothing {
  Nothing() {
    element both;
    JV_CHECK(ParseDom(&parser, "[{},[]]", &both) == simdjson::SUCCESS);
    JV_CHECK(both.at(0).get(members) == simdjson::SUCCESS);
    JV_CHECK(both.at(1).get(items) == simdjson::SUCCESS);
  }
  simdjson::dom::parser parser;
  object members;
  array items;
};
const Nothing& None() {
  static const Nothing none;
  return none;
}

object ObjectOf(const object& of, std::string_view key) {
  object found;
  return of[key].get(found) == simdjson::SUCCESS ? found : None().members;
}

array ArrayOf(const object& of, std::string_view key) {
  array found;
  return of[key].get(found) == simdjson::SUCCESS ? found : None().items;
}

// A whole number that is not negative, else kUnknown. Handles are unsigned and may be addresses.
std::int64_t Whole(const object& of, std::string_view key) {
  const auto value = of[key];
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number < 0 ? kUnknown : number;
  std::uint64_t large = 0;
  if (value.get(large) == simdjson::SUCCESS) return static_cast<std::int64_t>(large >> 1);
  double real = 0;
  if (value.get(real) != simdjson::SUCCESS || !(real >= 0) || real > 9e15) return kUnknown;
  return static_cast<std::int64_t>(real);
}

std::int64_t Handle(const object& of, std::string_view key) {
  object inner;
  if (of[key].get(inner) == simdjson::SUCCESS) return Whole(inner, "handle");
  return Whole(of, key);
}

std::string_view TextOf(const object& of, std::string_view key) {
  std::string_view text;
  if (of[key].get(text) != simdjson::SUCCESS) return {};
  return text;
}

std::array<std::int64_t, 3> Sizes(const object& of, std::string_view key) {
  const object sizes = ObjectOf(of, key);
  return {Whole(sizes, "x"), Whole(sizes, "y"), Whole(sizes, "z")};
}

struct Symbol {
  std::uint32_t name = 0;
  std::int64_t vgpr = kUnknown;
  std::int64_t agpr = kUnknown;
  std::int64_t sgpr = kUnknown;
};

class Reader {
 public:
  Reader(const object& tool, Job& job, FileContent* out) : tool_(tool), job_(job), out_(out) {}

  Status Read() {
    ReadMetadata();
    ReadAgents();
    ReadCounterNames();
    ReadSymbols();
    JV_TRY(ReadDispatches());
    JV_TRY(ReadCounters());
    ReadCopies();
    return {};
  }

 private:
  void ReadMetadata() {
    const object metadata = ObjectOf(tool_, "metadata");
    const auto known = [](std::int64_t value) {
      return value == kUnknown ? std::nullopt : std::optional(value);
    };
    out_->pid = known(Whole(metadata, "pid"));
    out_->init_ns = known(Whole(metadata, "init_time"));
    out_->fini_ns = known(Whole(metadata, "fini_time"));
    out_->host = OneLine(TextOf(ObjectOf(metadata, "node"), "hostname"));
    for (const element part : ArrayOf(metadata, "command")) {
      std::string_view text;
      if (part.get(text) != simdjson::SUCCESS || out_->command.size() > 4000) continue;
      if (!out_->command.empty()) out_->command.push_back(' ');
      out_->command += OneLine(text);
    }
    for (const std::string_view place : {"environment", "env"}) {
      const object environment = ObjectOf(metadata, place);
      for (const std::string_view name : {"RANK", "LOCAL_RANK"}) {
        if (out_->environment_rank.empty()) out_->environment_rank = TextOf(environment, name);
      }
    }
  }

  void ReadAgents() {
    for (const element item : ArrayOf(tool_, "agents")) {
      object one;
      if (item.get(one) != simdjson::SUCCESS || out_->agents.size() == 1024) continue;
      Agent agent;
      agent.gpu = Whole(one, "type") == 2;
      agent.handle = Handle(one, "id");
      agent.node_id = Whole(one, "node_id");
      agent.logical_id = Whole(one, "logical_node_id");
      AddHardware(one, &agent);
      agent.name = OneLine(TextOf(one, "name"));
      agent.product = OneLine(TextOf(one, "product_name"));
      out_->agents.push_back(std::move(agent));
    }
  }

  void ReadCounterNames() {
    for (const element item : ArrayOf(tool_, "counters")) {
      object one;
      if (item.get(one) != simdjson::SUCCESS || out_->counters.size() > 4096) continue;
      const std::string_view name = TextOf(one, "name");
      if (!name.empty()) counters_[Handle(one, "id")] = out_->counters.Intern(OneLine(name));
    }
  }

  void ReadSymbols() {
    for (const element item : ArrayOf(tool_, "kernel_symbols")) {
      object one;
      if (item.get(one) != simdjson::SUCCESS) continue;
      std::string_view name;
      for (const std::string_view key :
           {"truncated_kernel_name", "formatted_kernel_name", "kernel_name"}) {
        if (name.empty()) name = TextOf(one, key);
      }
      const std::int64_t id = Whole(one, "kernel_id");
      if (name.empty()) continue;
      symbols_[id] = {out_->kernels.Intern(KernelName(name)), Whole(one, "arch_vgpr_count"),
                      Whole(one, "accum_vgpr_count"), Whole(one, "sgpr_count")};
    }
  }

  // What both kinds of records say of a dispatch.
  Dispatch Described(const object& info) {
    Dispatch dispatch;
    const std::int64_t kernel = Whole(info, "kernel_id");
    const auto symbol = symbols_.find(kernel);
    if (symbol == symbols_.end()) {
      dispatch.kernel = out_->kernels.Intern(fmt::format("unknown_kernel_{}", kernel));
    } else {
      dispatch.kernel = symbol->second.name;
      dispatch.vgpr = symbol->second.vgpr;
      dispatch.agpr = symbol->second.agpr;
      dispatch.sgpr = symbol->second.sgpr;
    }
    dispatch.agent = static_cast<std::int32_t>(
        out_->agent_texts.Intern(fmt::format("handle {}", Handle(info, "agent_id"))));
    dispatch.id = Whole(info, "dispatch_id");
    dispatch.grid_xyz = Sizes(info, "grid_size");
    dispatch.workgroup_xyz = Sizes(info, "workgroup_size");
    dispatch.grid = ProductOf(dispatch.grid_xyz);
    dispatch.workgroup = ProductOf(dispatch.workgroup_xyz);
    dispatch.lds = Whole(info, "group_segment_size");
    dispatch.scratch = Whole(info, "private_segment_size");
    return dispatch;
  }

  // The place of the dispatch, made if it is new; nothing: there are too many.
  Dispatch* Place(Dispatch dispatch) {
    const auto [found, fresh] =
        places_.try_emplace({dispatch.id, dispatch.agent}, out_->dispatches.size());
    if (!fresh) return &out_->dispatches[found->second];
    if (out_->dispatches.size() == out_->dispatches_max) {
      places_.erase(found);
      out_->damage =
          fmt::format("more than {} dispatches: the rest is left out", out_->dispatches_max);
      return nullptr;
    }
    out_->dispatches.push_back(std::move(dispatch));
    return &out_->dispatches.back();
  }

  void Odd() {
    if (out_->odd_rows++ == 0) out_->first_odd = out_->rows + 1;
  }

  Status ReadDispatches() {
    std::size_t seen = 0;
    for (const element item : ArrayOf(ObjectOf(tool_, "buffer_records"), "kernel_dispatch")) {
      if (++seen % 4096 == 0) JV_TRY(job_.Check());
      object one;
      object info;
      if (item.get(one) != simdjson::SUCCESS ||
          one["dispatch_info"].get(info) != simdjson::SUCCESS) {
        Odd();
        continue;
      }
      Dispatch dispatch = Described(info);
      dispatch.start_ns = Whole(one, "start_timestamp");
      dispatch.end_ns = Whole(one, "end_timestamp");
      dispatch.stream = Handle(one, "stream_id");
      dispatch.thread = Whole(one, "thread_id");
      if (!dispatch.duration_ns() || Place(std::move(dispatch)) == nullptr) {
        Odd();
      } else {
        ++out_->rows;
      }
    }
    return {};
  }

  Status ReadCounters() {
    std::size_t seen = 0;
    for (const element item : ArrayOf(ObjectOf(tool_, "callback_records"), "counter_collection")) {
      if (++seen % 4096 == 0) JV_TRY(job_.Check());
      object one;
      object info;
      if (item.get(one) != simdjson::SUCCESS ||
          one["dispatch_data"]["dispatch_info"].get(info) != simdjson::SUCCESS) {
        Odd();
        continue;
      }
      Dispatch described = Described(info);
      const object data = ObjectOf(one, "dispatch_data");
      described.start_ns = Whole(data, "start_timestamp");
      described.end_ns = Whole(data, "end_timestamp");
      described.thread = Whole(one, "thread_id");
      Dispatch* of = Place(std::move(described));
      if (of == nullptr) continue;
      // The record knows what was allocated; the symbol, what was asked for.
      const auto better = [&](std::int64_t* field, const char* key) {
        if (Whole(one, key) != kUnknown) *field = Whole(one, key);
      };
      better(&of->vgpr, "arch_vgpr_count");
      better(&of->sgpr, "sgpr_count");
      better(&of->lds, "lds_block_size_v");
      AddValues(ArrayOf(one, "records"), of);
      ++out_->rows;
    }
    return {};
  }

  void AddValues(const array& records, Dispatch* of) {
    for (const element record : records) {
      object one;
      double value = 0;
      if (record.get(one) != simdjson::SUCCESS || one["value"].get(value) != simdjson::SUCCESS) {
        Odd();
        continue;
      }
      const std::int64_t handle = Handle(one, "counter_id");
      const auto found = counters_.find(handle);
      const std::uint32_t id =
          found != counters_.end()
              ? found->second
              : counters_
                    .try_emplace(handle,
                                 out_->counters.Intern(fmt::format("unknown_counter_{}", handle)))
                    .first->second;
      if (CounterValue* had = of->Find(id)) {
        had->value += value;
      } else if (of->counters.size() < 4096) {
        of->counters.push_back({id, 0, value});
      }
    }
  }

  void ReadCopies() {
    for (const element item : ArrayOf(ObjectOf(tool_, "buffer_records"), "memory_copy")) {
      object one;
      if (item.get(one) != simdjson::SUCCESS) continue;
      const std::int64_t start = Whole(one, "start_timestamp");
      const std::int64_t end = Whole(one, "end_timestamp");
      if (start != kUnknown && end >= start) out_->copies.push_back({start, end});
    }
  }

  const object& tool_;
  Job& job_;
  FileContent* out_;
  std::unordered_map<std::int64_t, Symbol> symbols_;
  std::unordered_map<std::int64_t, std::uint32_t> counters_;  // by handle
  std::map<std::pair<std::int64_t, std::int32_t>, std::size_t> places_;
};

Result<std::string> ReadAll(io::ByteSource& source, const std::string& path, std::size_t bytes_max,
                            Job& job) {
  std::string text;
  for (;;) {
    JV_TRY(job.Check());
    constexpr std::size_t kChunk = std::size_t{1} << 20;
    const std::size_t had = text.size();
    if (had > bytes_max) {
      return Fail(ErrorCode::kTooLarge,
                  fmt::format("\"{}\" is larger than {} bytes", path, bytes_max));
    }
    text.resize(had + kChunk);
    JV_ASSIGN(const std::size_t got, source.Read({text.data() + had, kChunk}));
    text.resize(had + got);
    if (got == 0) return text;
  }
}

}  // namespace

void AddHardware(const object& one, Agent* agent) {
  agent->cus = Whole(one, "cu_count");
  agent->xccs = Whole(one, "num_xcc");
  agent->simds_per_cu = Whole(one, "simd_per_cu");
  agent->waves_per_cu = Whole(one, "max_waves_per_cu");
  agent->waves_per_simd = Whole(one, "max_waves_per_simd");
  agent->wave_size = Whole(one, "wave_front_size");
  agent->shader_engines = Whole(one, "num_shader_banks");
  agent->lds_kib = Whole(one, "lds_size_in_kb");
  agent->clock_mhz = Whole(one, "max_engine_clk_fcompute");
  // Files of some versions give the waves of a SIMD alone.
  if (agent->gpu && agent->waves_per_cu <= 0 && agent->waves_per_simd > 0 &&
      agent->simds_per_cu > 0) {
    agent->waves_per_cu = agent->waves_per_simd * agent->simds_per_cu;
  }
}

Result<FileContent> ReadResults(std::string text, std::size_t dispatches_max, Job& job) {
  FileContent content;
  content.dispatches_max = dispatches_max;
  content.kind = FileKind::kResults;
  simdjson::dom::parser parser;
  element document;
  auto error = ParseDom(&parser, text, &document);
  if (error == simdjson::UTF8_ERROR) {
    text = ValidUtf8(text);
    content.remark = "text that is no UTF-8 was mended";
    error = ParseDom(&parser, text, &document);
  }
  if (error != simdjson::SUCCESS) {
    const std::string why = simdjson::error_message(error);
    text = MendJson(text, kRecordDepth);
    if (text.empty() || ParseDom(&parser, text, &document) != simdjson::SUCCESS) {
      return Fail(ErrorCode::kNotATrace, "not a valid rocprofv3 file: " + OneLine(why));
    }
    content.damage = "the JSON text is cut or damaged: records up to there are used";
  }
  // A list of one tool, or the tool itself.
  object root;
  object tool;
  element body;
  bool valid = document.get(root) == simdjson::SUCCESS &&
               root["rocprofiler-sdk-tool"].get(body) == simdjson::SUCCESS;
  if (valid && body.get(tool) != simdjson::SUCCESS) {
    array tools;
    valid = body.get(tools) == simdjson::SUCCESS && tools.at(0).get(tool) == simdjson::SUCCESS;
  }
  if (!valid) {
    return Fail(ErrorCode::kNotATrace,
                "not a valid rocprofv3 file: it has no \"rocprofiler-sdk-tool\"");
  }
  JV_TRY(Reader(tool, job, &content).Read());
  return content;
}

Result<std::string> ReadWhole(const io::FilePolicy& files, const std::string& path,
                              std::size_t bytes_max, Job& job) {
  JV_ASSIGN(io::InputFile file, files.OpenInput(path));
  JV_ASSIGN(const auto source, io::OpenBytes(std::move(file)));
  return ReadAll(*source, path, bytes_max, job);
}

Result<FileContent> ReadResultsFile(const io::FilePolicy& files, const std::string& path,
                                    std::size_t dispatches_max, Job& job) {
  JV_ASSIGN(io::InputFile file, files.OpenInput(path));
  JV_ASSIGN(const auto source, io::OpenBytes(std::move(file)));
  JV_ASSIGN(std::string text, ReadAll(*source, path, kResultsBytesMax, job));
  JV_ASSIGN(FileContent content, ReadResults(std::move(text), dispatches_max, job));
  content.path = path;
  if (!source->damage().empty()) content.damage = source->damage();
  return content;
}

}  // namespace jarvis::rocprof
