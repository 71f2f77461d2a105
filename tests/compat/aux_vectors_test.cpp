// The reference's helpers, vector by vector: names of kernels and of engine steps, dtypes, formulas
// with given sizes, metrics. The vectors are not in the repository; without them the test says so
// and passes. What is not run is printed with the reason.
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/attribution/clock.h"
#include "analysis/attribution/work_calls.h"
#include "compat/tracelens_models.h"
#include "json/json.h"
#include "perf/gemm_kernel_name.h"
#include "perf/iteration_annotation.h"
#include "perf/model.h"
#include "perf/triton_name.h"
#include "support/trace_builder.h"

namespace jarvis {
namespace {

using Failure = perf::OpWork::Failure;

// What a check says of a vector: nothing wrong, what is wrong, or why it is not run.
struct Verdict {
  std::string wrong;
  std::string skipped;
};
Verdict Wrong(std::string what) {
  return {std::move(what), {}};
}
Verdict Skip(std::string why) {
  return {{}, std::move(why)};
}

bool Near(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Verdict GemmKernelName(const Json& vector) {
  const auto name = perf::ParseGemmKernelName(vector.at("input").get<std::string>());
  const Json& want = vector.at("expect");
  if (want.is_null()) return Wrong(name ? "a name of this kind" : "");
  if (!name) return Wrong("not a name of this kind");
  if (name->malformed || want.value("error", false)) {
    return Wrong(name->malformed == want.value("error", false) ? "" : "malformed");
  }
  Json got = {{"transpose", {OrNull(name->transpose_a), OrNull(name->transpose_b)}},
              {"mt_m", OrNull(name->tile_m)},
              {"mt_n", OrNull(name->tile_n)},
              {"depth_u", OrNull(name->depth)}};
  for (const auto& [key, value] : want.items()) {
    if (got.at(key) != value) return Wrong(key + " " + got.at(key).dump());
  }
  return {};
}

Verdict FusedOps(const Json& vector) {
  Json got = Json::array();
  for (const auto op : perf::FusedOpsOf(vector.at("input").get_ref<const std::string&>(), false)) {
    got.push_back("aten." + std::string(op));
  }
  return Wrong(got == vector.at("expect") ? "" : got.dump());
}

Verdict Iteration(const Json& vector) {
  const Json& input = vector.at("input");
  const std::string name = input.is_null() ? "" : input.get<std::string>();
  const Json& want = vector.at("expect");
  const auto got = perf::ParseIteration(name);
  const auto sums = perf::SumsOf(name);
  if (want.at("chunk_stats").contains("error") != !sums) return Wrong("sums of products");
  // The reference has numbers for other names too: one request of one token.
  if (want.at("format").is_null()) return Wrong(got ? "a step" : "");
  if (!got) return Wrong("no step");
  if (got->format != want.at("format").get<std::string>()) return Wrong(std::string(got->format));
  std::map<std::string, std::int64_t> fields;
  for (const auto& [key, value] : got->Fields())
    fields[key] = value;
  fields["context_requests"] = got->context_requests;
  fields["generation_requests"] = got->generation_requests;
  fields["num_requests"] = got->context_requests + got->generation_requests;
  fields["batch_size"] = got->batch_size;
  fields["has_sqsk"] = got->has_products ? 1 : 0;
  fields["context_sum"] = got->context_sum;
  fields["generation_sum"] = got->generation_sum;
  for (const char* part : {"details", "iter", "chunk_stats"}) {
    for (const auto& [key, value] : want.at(part).items()) {
      if (key == "name" || want.at(part).contains("error")) continue;
      const std::int64_t number =
          value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<std::int64_t>();
      if (fields.at(key) != number) {
        return Wrong(fmt::format("{}.{} {}", part, key, fields.at(key)));
      }
    }
  }
  return {};
}

Verdict Capture(const Json& vector) {
  const auto name = vector.at("input").get<std::string>();
  const auto got = perf::ParseCapture(name);
  const Json& want = vector.at("expect");
  if (got.has_value() != want.at("matched").get<bool>()) return Wrong("matched");
  if (!got) return {};
  return Wrong(got->batch_size == want.at("batch_size").get<std::int64_t>() &&
                       got->mode == want.at("mode").get<std::string>()
                   ? ""
                   : "other values");
}

// The compatible rows and, beside them, one that shows what they say of a dtype.
const perf::ModelRows& Rows() {
  static const Result<perf::ModelRows> rows = [] {
    std::vector<std::pair<std::string_view, std::string_view>> overlays;
    for (const EmbeddedFile& file : compat::OverlayFiles())
      overlays.emplace_back(file.name, file.text);
    overlays.emplace_back("test", R"json({"rows": [{
        "model": "test.dtype", "like": "op", "dtype": "null",
        "size": "bp(dtype)", "spec": "precision_of(dtype)"}]})json");
    return perf::RowsWith(&compat::InTheReference, overlays);
  }();
  REQUIRE(rows.has_value());
  return *rows;
}

Verdict Dtype(perf::ModelSet& models, const Json& vector) {
  const std::string dtype = vector.at("input").dump();
  const perf::GivenQuantity given[] = {{"dtype", dtype}};
  const std::string_view wanted[] = {"size", "spec"};
  const auto got = models.Quantities(*Rows().FindModel("test.dtype"), given, wanted);
  for (const perf::Quantity& quantity : got) {
    if (quantity.failure != Failure::kNone) return Wrong(quantity.reason);
  }
  const Json& want = vector.at("expect");
  const Json size = OrNull(got[0].value.as_double());
  const Json spec =
      got[1].value.kind == perf::Value::Kind::kText ? Json(got[1].value.text) : Json();
  return Wrong(size == want.at("bytes") && spec == want.at("precision")
                   ? ""
                   : size.dump() + " " + spec.dump());
}

// One of the reference's functions of sizes: the row that has the formula, its arguments by name.
struct Static {
  const char* model;
  const char* quantity;
  std::vector<const char*> arguments;  // null: plays no part in the formula
};

const std::map<std::string, Static>& Statics() {
  const std::vector<const char*> attention = {"B",    "N_Q",    "H_Q",   "N_KV",
                                              "H_KV", "d_h_qk", "d_h_v", "causal"};
  const auto with = [&](std::vector<const char*> list, const char* more) {
    list.push_back(more);
    return list;
  };
  static const std::map<std::string, Static> statics = {
      {"gemm.flops(M,N,K,bias)", {"gemm", "flops", {"M", "N", "K", "bias"}}},
      {"gemm.bytes(M,N,K,bias,bA,bB,bBias,bOut)",
       {"gemm", "bytes", {"M", "N", "K", "bias", "size_A", "size_B", nullptr, "size_out"}}},
      {"sdpa.flops(B,Nq,Hq,Nkv,Hkv,dqk,dv,causal)", {"sdpa", "flops", attention}},
      {"sdpa.bytes(...,bpe)", {"sdpa", "bytes", with(attention, nullptr)}},
      {"sdpa.flops_bwd(...,flash)", {"sdpa", "backward_flops", with(attention, "flash_impl")}},
      {"sdpa.bytes_bwd(...,bpe)", {"sdpa", "backward_bytes", with(attention, nullptr)}},
      {"conv.output_shape(x,w,stride,pad,dil,transposed,output_padding)",
       {"conv",
        "computed_output",
        {"input_shape", "filter_shape", "stride", "padding", "dilation", "transposed_conv",
         "output_padding"}}},
      {"conv.flops(x,w,out,bias,transposed)",
       {"conv", "flops", {"input_shape", "filter_shape", "output", "has_bias", "transposed_conv"}}},
      {"conv.bytes(x,w,out,bias,bpe)",
       {"conv", "bytes", {"input_shape", "filter_shape", "output", "has_bias", "size_x"}}},
      {"conv.flops_bwd(out,x,w,bias,transposed)",
       {"conv",
        "backward_flops",
        {"output", "input_shape", "filter_shape", "has_bias", "transposed_conv"}}},
      {"conv.bytes_bwd(x,w,out,bias,bpe)",
       {"conv", "backward_bytes", {"input_shape", "filter_shape", "output", "has_bias", "size_x"}}},
      {"grouped.flops(M,K,N)", {"grouped.fixed_k", "flops", {"M", "K", "N"}}},
      {"grouped.bytes(M,K,N,G,in,out)",
       {"grouped.fixed_k", "bytes", {"M", "K", "N", "G", "bpe_in", "bpe_out"}}},
      {"norm.flops(has_bias,affine,training,elems,channels)",
       {"norm", "flops", {"has_bias", "is_affine", "is_training", "E", "n"}}},
      {"norm.bytes(has_bias,affine,training,elems,channels,in,out)",
       {"norm", "bytes", {"has_bias", "is_affine", "is_training", "E", "n", "s", nullptr}}},
      {"norm.flops_bwd(...,mask)",
       {"norm.bwd", "flops", {"has_bias", "is_affine", "is_training", "E", "n", "output_mask"}}},
      {"norm.bytes_bwd(...,in,out,mask)",
       {"norm.bwd",
        "bytes",
        {"has_bias", "is_affine", "is_training", "E", "n", "s", nullptr, "output_mask"}}},
  };
  return statics;
}

Verdict StaticFormula(perf::ModelSet& models, const Json& vector) {
  const auto function = vector.at("input").at("function").get<std::string>();
  const auto found = Statics().find(function);
  if (found == Statics().end()) {
    return Skip(function.starts_with("softmax.")
                    ? "softmax.*: no op of the reference uses them"
                    : "grouped.*_bwd: no op of the reference uses them");
  }
  const auto& [model, quantity, names] = found->second;
  const Json& arguments = vector.at("input").at("args");
  if (arguments.size() != names.size()) return Wrong("another number of arguments");
  std::deque<std::string> texts;
  std::vector<perf::GivenQuantity> given;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != nullptr) given.emplace_back(names[i], texts.emplace_back(arguments[i].dump()));
  }
  if (function.starts_with("gemm.")) given.emplace_back("B", "1");
  if (function.starts_with("gemm.bytes")) {
    const double bias = arguments[3].get<bool>() ? arguments[1].get<double>() : 0;
    given.emplace_back("bias_bytes",
                       texts.emplace_back(Json(bias * arguments[6].get<double>()).dump()));
  }
  const std::string_view wanted[] = {quantity};
  const perf::Quantity got = models.Quantities(*Rows().FindModel(model), given, wanted).front();
  const Json& want = vector.at("expect");
  if (want.is_object()) return Wrong(got.failure == Failure::kFailed ? "" : got.value.Str());
  if (got.failure != Failure::kNone) return Wrong(got.reason);
  if (want.is_array()) {
    Json list = want;
    std::string text;
    for (const Json& item : list)
      text += (text.empty() ? "(" : ", ") + item.dump();
    return Wrong(got.value.Str() == text + ")" ? "" : got.value.Str());
  }
  return Wrong(Near(got.value.as_double().value_or(-1), want.get<double>()) ? "" : got.value.Str());
}

// Busy time of the kernels as the reference counts it.
double BusyOf(const Json& kernels) {
  testing::TraceText text;
  for (const Json& kernel : kernels) {
    text.Kernel(kernel.at("name").get<std::string>(), kernel.at("start").get<double>() + 1,
                kernel.at("dur").get<double>(), -1, kernel.at("stream").get<int>());
  }
  const trace::Trace trace = testing::Read(text.Json());
  std::vector<trace::EventIndex> all(trace.events.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<trace::EventIndex>(i);
  return analysis::BusyUs(trace.events, all, analysis::Clock::kDoubleMicros);
}

Verdict Derived(perf::ModelSet& models, const Json& vector) {
  const Json& input = vector.at("input");
  const Json& want = vector.at("expect");
  std::deque<std::string> texts;
  const auto raw = [&](const char* key) -> std::string_view {
    if (!input.at("args").contains(key)) return {};
    return texts.emplace_back(input.at("args").at(key).dump());
  };
  perf::OpCall call;
  call.name = texts.emplace_back(input.at("op").get<std::string>());
  call.dims = raw("Input Dims");
  call.types = raw("Input type");
  call.strides = raw("Input Strides");
  call.text = raw("Concrete Inputs");
  for (const Json& kernel : input.at("kernels"))
    call.kernels.push_back(texts.emplace_back(kernel.at("name").get<std::string>()));
  std::optional<perf::Platform> platform;
  if (!input.at("arch").is_null()) {
    auto read = perf::ReadPlatform(input.at("arch").dump(), "vector");
    if (!read) return Wrong(read.error().message);
    platform = std::move(*read);
  }
  const perf::ModelRow* row = models.Find(call.name);
  if (row == nullptr) return Wrong("no model");
  const perf::OpWork work = models.Evaluate(*row, call);
  if (want.contains("error")) return Wrong(work.failure == Failure::kFailed ? "" : "no failure");
  const double busy = call.kernels.empty() ? 0 : BusyOf(input.at("kernels"));
  const analysis::Metrics metrics = analysis::MetricsOf(
      &work, busy, {platform ? &*platform : nullptr, perf::RoofRule::kTraceLens});
  Json got = {{"GFLOPS", OrNull(metrics.gflops)},
              {"Kernel Time (µs)", busy},
              {"TFLOPS/s", OrNull(metrics.tflops_per_s)},
              {"Data Moved (MB)", metrics.bytes ? Json(*metrics.bytes / (1024 * 1024)) : Json()},
              {"FLOPS/Byte", OrNull(metrics.flops_per_byte)},
              {"TB/s", OrNull(metrics.tb_per_s)},
              {"Compute Spec", std::string(metrics.spec)}};
  if (metrics.roof_us) {
    got["Roofline Time (µs)"] = *metrics.roof_us;
    got["Roofline Bound"] = std::string(perf::BoundText(*metrics.bound));
    got["Pct Roofline"] = OrNull(metrics.pct_roof);
  }
  std::size_t checked = 0;
  for (const auto& [key, value] : want.items()) {
    // The report has no columns of it; parameters are the subject of the models' vectors.
    if (key.starts_with("Non-Data-Mov") || key.starts_with("param: ")) continue;
    if (!got.contains(key)) return Wrong("no " + key);
    const Json& other = got.at(key);
    const bool same = value.is_number()
                          ? other.is_number() && Near(other.get<double>(), value.get<double>())
                          : other == value;
    if (!same) return Wrong(key + " " + other.dump() + " instead of " + value.dump());
    ++checked;
  }
  return Wrong(checked == got.size() ? "" : "columns too many: " + got.dump());
}

Verdict Check(perf::ModelSet& models, const Json& vector) {
  const auto kind = vector.at("kind").get<std::string>();
  if (kind == "gemm_kernel_name") return GemmKernelName(vector);
  if (kind == "triton_fused_ops") return FusedOps(vector);
  if (kind == "iteration_annotation") return Iteration(vector);
  if (kind == "capture_annotation") return Capture(vector);
  if (kind == "dtype") return Dtype(models, vector);
  if (kind == "static") return StaticFormula(models, vector);
  if (kind == "derived") return Derived(models, vector);
  if (kind == "inductor_wrapper") return Skip(kind + ": generated source files are not read");
  if (kind == "simulator" || kind == "simulated_columns") {
    return Skip(kind + ": no simulator is started");
  }
  if (kind == "jax") return Skip(kind + ": the traces that are read have no XLA metadata");
  return Wrong("a kind that nothing here checks");
}

}  // namespace

TEST_CASE("the reference's helpers, vector by vector") {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  const std::string folder = data != nullptr ? data : JARVIS_SOURCE_DIR "/../shared";
  std::ifstream file(folder + "/spec/perf-aux-vectors.jsonl");
  if (!file) {
    MESSAGE("skipped: no perf-aux-vectors.jsonl in " << folder << "/spec");
    return;
  }
  perf::ModelSet models(Rows());
  std::map<std::string, int> ran, skipped;
  for (std::string line; std::getline(file, line);) {
    const Json vector = Json::parse(line);
    const Verdict verdict = Check(models, vector);
    CHECK_MESSAGE(verdict.wrong.empty(), line << "\n  " << verdict.wrong);
    ++(verdict.skipped.empty() ? ran[vector.at("kind").get<std::string>()]
                               : skipped[verdict.skipped]);
  }
  for (const auto& [kind, n] : ran)
    fmt::print("{} vectors run: {}\n", n, kind);
  for (const auto& [why, n] : skipped)
    fmt::print("{} vectors not run: {}\n", n, why);
  CHECK(ran.size() == 7);
}

}  // namespace jarvis
