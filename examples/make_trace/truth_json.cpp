// Writes the truth file.
#include "text.h"
#include "truth.h"

namespace make_trace {
namespace {

struct PlantedText {
  std::string_view name;
  std::string_view op;
  std::string_view module;
  std::string_view what;
};

constexpr PlantedText kPlantedTexts[kPlantedCount] = {
    {},
    {"tall_skinny_gemm", "aten::mm", "Linear",
     "The key and value projections (128 columns) run at 8 % of the nearer roof. Ideal: a GEMM at "
     "the efficiency of the others."},
    {"unfused_rmsnorm", "aten::pow, aten::mean, aten::add, aten::rsqrt, aten::mul", "RMSNorm",
     "Each RMSNorm is six kernels forward and more backward. Ideal: one kernel forward that reads "
     "and writes once, one backward that reads twice and writes once."},
    {"launch_bound_token_count", "aten::eq, aten::sum, aten::add_", "(none)",
     "metrics.py(57): count_tokens launches 240 tiny kernels a step slower than the GPU runs them. "
     "Actual: from the end of the work before to the end of the last of them. Ideal: their own "
     "time, as in a graph."},
    {"exposed_all_reduce", "record_param_comms", "(none)",
     "More than half of the gradients wait in one last bucket and are reduced after the backward "
     "pass. "
     "Actual: its time without computation beside it. Ideal: the embedding's gradients alone at "
     "the same bandwidth."},
};

// Nested objects and arrays with two spaces a level.
class Json {
 public:
  void Open(std::string_view key, char bracket) {
    Key(key);
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void Close(char bracket) {
    --depth_;
    if (!first_) NewLine();
    text_ += bracket;
    first_ = false;
  }
  void Number(std::string_view key, std::int64_t value) {
    Key(key);
    AppendInt(text_, value);
  }
  void Text(std::string_view key, std::string_view value) {
    Key(key);
    AppendQuoted(text_, value);
  }
  void Flag(std::string_view key, bool value) {
    Key(key);
    text_ += value ? "true" : "false";
  }
  std::string Take() { return std::move(text_) + "\n"; }

 private:
  void NewLine() {
    text_ += '\n';
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  }
  void Key(std::string_view key) {
    if (depth_ > 0) {
      if (!first_) text_ += ',';
      NewLine();
    }
    first_ = false;
    if (key.empty()) return;
    AppendQuoted(text_, key);
    text_ += ": ";
  }

  std::string text_;
  int depth_ = 0;
  bool first_ = true;
};

void WriteShares(Json& json, std::string_view key,
                 const std::map<std::string_view, Share>& shares) {
  json.Open(key, '{');
  for (const auto& [name, share] : shares) {
    json.Open(name.empty() ? "(none)" : name, '{');
    json.Number("count", share.count);
    json.Number("time_ns", share.time_ns);
    json.Close('}');
  }
  json.Close('}');
}

void WriteCounts(Json& json, std::string_view key,
                 const std::map<std::string_view, std::int64_t>& counts) {
  json.Open(key, '{');
  for (const auto& [name, count] : counts)
    json.Number(name.empty() ? "(none)" : name, count);
  json.Close('}');
}

void WriteTimes(Json& json, const BusyTimes& times, Ns begin, Ns end) {
  json.Number("computation_ns", times.computation_ns);
  json.Number("communication_ns", times.communication_ns);
  json.Number("exposed_communication_ns", times.exposed_communication_ns);
  json.Number("memcpy_ns", times.memcpy_ns);
  json.Number("exposed_memcpy_ns", times.exposed_memcpy_ns);
  json.Number("busy_ns", times.busy_ns);
  json.Number("idle_ns", end - begin - times.busy_ns);
  json.Number("total_ns", end - begin);
}

void WriteSteps(Json& json, const std::vector<StepTruth>& steps) {
  json.Open("steps", '[');
  for (const StepTruth& step : steps) {
    json.Open("", '{');
    json.Text("name", "ProfilerStep#" + Number(step.number));
    json.Number("ts_ns", step.ts);
    json.Number("dur_ns", step.dur);
    json.Number("kernels", step.kernels);
    json.Number("gpu_begin_ns", step.gpu_begin);
    json.Number("gpu_end_ns", step.gpu_end);
    WriteTimes(json, step.times, step.gpu_begin, step.gpu_end);
    json.Close('}');
  }
  json.Close(']');
}

void WriteNames(Json& json, std::string_view key, const std::set<std::string_view>& names) {
  json.Open(key, '[');
  for (const std::string_view name : names)
    json.Text("", name);
  json.Close(']');
}

void WritePlanted(Json& json, const std::array<PlantedTruth, kPlantedCount>& planted) {
  json.Open("planted", '[');
  for (std::size_t i = 1; i < kPlantedCount; ++i) {
    const PlantedTruth& one = planted[i];
    if (one.count == 0) continue;
    json.Open("", '{');
    json.Text("name", kPlantedTexts[i].name);
    json.Text("what", kPlantedTexts[i].what);
    json.Text("op", kPlantedTexts[i].op);
    json.Text("module", kPlantedTexts[i].module);
    json.Number("count", one.count);
    json.Number("kernel_sum_ns", one.kernel_sum_ns);
    json.Number("actual_ns", one.actual_ns);
    json.Number("ideal_ns", one.ideal_ns);
    json.Number("saving_ns", one.actual_ns - one.ideal_ns);
    WriteNames(json, "ops", one.ops);
    WriteNames(json, "kernels", one.kernels);
    json.Close('}');
  }
  json.Close(']');
}

void WriteOptions(Json& json, const Options& options, int rank) {
  json.Open("options", '{');
  json.Number("layers", options.layers);
  json.Number("hidden", options.hidden);
  json.Number("seq", options.seq);
  json.Number("batch", options.batch);
  json.Number("vocab", options.vocab);
  json.Number("world", options.world);
  json.Number("rank", rank);
  json.Number("seed", static_cast<std::int64_t>(options.seed));
  json.Text("platform", options.platform == Platform::kH100 ? "h100" : "mi300x");
  json.Flag("planted", options.planted);
  json.Flag("python_frames", options.python_frames);
  json.Close('}');
}

}  // namespace

std::string Truth::Json(const Options& options, int rank, const KinetoWriter& writer) const {
  make_trace::Json json;
  json.Open("", '{');
  json.Text("definition",
            "Nanoseconds. computation: union of kernels whose name has neither nccl nor rccl, and "
            "of memsets. communication: union of the other kernels; exposed: minus computation. "
            "memcpy: union of copies; exposed: minus both. busy: union of all. total: first start "
            "to last end; idle: total minus busy. In the shares below, time is the sum of "
            "durations; op: the innermost cpu_op around the launch; module: the innermost "
            "nn.Module class around the launch, for backward work around the forward op.");
  WriteOptions(json, options, rank);
  json.Open("events", '{');
  std::int64_t total = 0;
  for (const auto& [phase, count] : writer.by_phase())
    total += count;
  json.Number("total", total);
  WriteCounts(json, "by_category", writer.by_category());
  WriteCounts(json, "by_phase", writer.by_phase());
  json.Close('}');
  json.Number("json_bytes", writer.bytes());
  json.Open("gpu", '{');
  json.Number("kernels", kernels_);
  json.Number("begin_ns", gpu_begin_);
  json.Number("end_ns", gpu_end_);
  WriteTimes(json, times_, gpu_begin_, gpu_end_);
  json.Close('}');
  WritePlanted(json, planted_);
  WriteShares(json, "by_op", by_op_);
  WriteShares(json, "by_op_group", by_group_);
  WriteShares(json, "by_event_category", by_category_);
  WriteShares(json, "by_module_forward", by_module_forward_);
  WriteShares(json, "by_module_backward", by_module_backward_);
  WriteShares(json, "by_kernel", by_kernel_);
  WriteSteps(json, steps_);
  json.Close('}');
  return json.Take();
}

}  // namespace make_trace
