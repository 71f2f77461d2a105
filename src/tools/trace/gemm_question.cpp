#include "tools/trace/gemm_question.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "session/loaded_trace.h"
#include "session/trace_work.h"

namespace jarvis::tools {
namespace {

using perf::Gemm;
using perf::Precision;

constexpr const char* kWays =
    "one of: gemm_roofline {\"m\":4096,\"n\":4096,\"k\":8192}; "
    "{\"batch_size\":8,\"seq_len\":2048,\"d_model\":4096,\"d_ff\":14336,\"phase\":\"prefill\"}; "
    "{\"trace\":\"t_...\",\"row\":\"op3\"}";

bool HasAny(const Json& arguments, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return arguments.contains(name); });
}

// A size, as products of sizes stay within what a double holds.
Result<std::int64_t> Size(const Json& arguments, const char* name) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const auto found = arguments.find(name);
  if (found == arguments.end()) {
    return Fail(ErrorCode::kBadValue, fmt::format("{} is missing", name), kWays);
  }
  const auto value = found->get<std::int64_t>();
  if (value < 1 || value > kMost) {
    return Fail(
        ErrorCode::kBadValue,
        fmt::format("{}: expected an integer from 1 to {}, received {}", name, kMost, value));
  }
  return value;
}

Result<const Precision*> PrecisionArgument(const Json& arguments, const char* name) {
  const auto text = TextArgument(arguments, name);
  if (!text) return nullptr;
  if (const Precision* known = perf::FindPrecision(*text)) return known;
  std::string names;
  for (const Precision& precision : perf::Precisions())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", precision.name);
  return Fail(ErrorCode::kBadValue, fmt::format("{}: expected one of: {}; received \"{}\"", name,
                                                names, text->substr(0, 40)));
}

struct Formats {
  const Precision* in = nullptr;   // null: not given
  const Precision* out = nullptr;  // null: not given

  // Gives a product what was asked for, or what it has, or bf16.
  void Fill(Gemm* gemm, const Precision* fallback) const {
    if (in != nullptr) gemm->in = in;
    if (gemm->in == nullptr) gemm->in = fallback;
    if (gemm->in != nullptr) gemm->out = perf::FindPrecision(gemm->in->result);
    if (out != nullptr) gemm->out = out;
  }
};

bool IsTraining(const Json& arguments) {
  return TextArgument(arguments, "phase").value_or("") == "training";
}

// Nobody goes backward but in training.
void AddProducts(const std::string& name, const Gemm& gemm, std::optional<double> time_us,
                 bool training, std::vector<GemmItem>* items) {
  items->push_back({name.empty() ? "forward" : name, gemm, false, 1, time_us});
  if (!training) return;
  const auto [dx, dw] = perf::BackwardOf(gemm);
  const std::string prefix = name.empty() ? "" : name + " ";
  items->push_back({prefix + "dX", dx, true, 1, {}});
  items->push_back({prefix + "dW", dw, true, 1, {}});
}

Status ReadSizes(const Json& arguments, const Formats& formats, GemmQuestion* question) {
  Gemm gemm;
  JV_ASSIGN(gemm.m, Size(arguments, "m"));
  JV_ASSIGN(gemm.n, Size(arguments, "n"));
  JV_ASSIGN(gemm.k, Size(arguments, "k"));
  JV_ASSIGN(gemm.batch, Size(arguments, "batch"));
  formats.Fill(&gemm, perf::FindPrecision("bf16"));
  std::optional<double> time_us;
  if (arguments.contains("time_us")) {
    time_us = arguments.at("time_us").get<double>();
    if (!(*time_us > 0)) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("time_us: expected a number above 0, received {}", *time_us));
    }
  }
  AddProducts("", gemm, time_us, IsTraining(arguments), &question->items);
  return {};
}

Status ReadMlp(const Json& arguments, const Formats& formats, GemmQuestion* question) {
  perf::MlpLayer layer;
  const std::string phase = TextArgument(arguments, "phase").value_or("prefill");
  layer.decode = phase == "decode";
  JV_ASSIGN(layer.batch_size, Size(arguments, "batch_size"));
  if (!layer.decode) {
    JV_ASSIGN(layer.seq_len, Size(arguments, "seq_len"));
  }
  JV_ASSIGN(layer.d_model, Size(arguments, "d_model"));
  JV_ASSIGN(layer.d_ff, Size(arguments, "d_ff"));
  Gemm shape;
  formats.Fill(&shape, perf::FindPrecision("bf16"));
  const perf::MlpGemms gemms = perf::GemmsOf(layer, *shape.in, *shape.out);
  AddProducts("up", gemms.up, {}, IsTraining(arguments), &question->items);
  AddProducts("down", gemms.down, {}, IsTraining(arguments), &question->items);
  return {};
}

Result<const analysis::SummaryRow*> GemmRow(const session::LoadedTrace& trace,
                                            const std::string& id) {
  const analysis::SummaryRow* row = trace.FindRow(id);
  const std::string next =
      fmt::format("ops_summary {{\"trace\":\"{}\",\"category\":\"gemm\"}}", trace.id());
  if (row == nullptr) {
    return Fail(ErrorCode::kUnknownRow,
                fmt::format("no row \"{}\" in trace {}", id.substr(0, 40), trace.id()), next);
  }
  if (row->launchers.empty()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("row \"{}\" ({}) is no operation", row->id, OneLine(ShownName(*row))),
                next);
  }
  return row;
}

// The product that a call makes by its model; nothing: it is none, or its shapes are not known.
std::optional<GemmItem> ItemOf(const analysis::LauncherWork& work) {
  using Failure = perf::OpWork::Failure;
  if (work.work == nullptr || work.model == nullptr || work.model->category != "GEMM" ||
      work.work->failure != Failure::kNone || !work.work->flops) {
    return std::nullopt;
  }
  GemmItem item;
  item.work = work.work;
  Gemm& gemm = item.gemm;
  for (const auto& [key, size] : {std::pair("M", &gemm.m), std::pair("N", &gemm.n),
                                  std::pair("K", &gemm.k), std::pair("B", &gemm.batch)}) {
    const perf::Value* value = work.work->Find(key);
    if (value == nullptr || value->kind != perf::Value::Kind::kInt || value->number < 1) {
      if (size != &gemm.batch) return std::nullopt;
      continue;
    }
    *size = value->number;
  }
  const perf::Value* bias = work.work->Find("bias");
  gemm.bias = bias != nullptr && bias->kind == perf::Value::Kind::kBool && bias->number != 0;
  const std::string_view spec = work.work->spec;
  gemm.in = perf::FindPrecision(spec.substr(spec.find('_') + 1));
  return item;
}

// Calls with the same key are one item.
auto Key(const GemmItem& item) {
  const Gemm& gemm = item.gemm;
  return std::tuple(gemm.m, gemm.n, gemm.k, gemm.batch, gemm.in, gemm.out, gemm.bias,
                    item.work == nullptr ? 0.0 : item.work->flops.value_or(0),
                    item.work == nullptr ? 0.0 : item.work->bytes.value_or(0));
}

Status ReadRow(const std::string& id, const Formats& formats, GemmQuestion* question) {
  const session::LoadedTrace& trace = *question->trace;
  JV_ASSIGN(question->row, GemmRow(trace, id));
  const std::vector<analysis::LauncherWork>& works = trace.Works();
  using ItemKey = decltype(std::tuple_cat(std::tuple(GemmItem().name), Key(GemmItem())));
  std::map<ItemKey, std::size_t> known;  // places of items
  for (const std::uint32_t i : question->row->launchers) {
    const analysis::Launcher& launcher = trace.attribution().launchers[i];
    std::optional<GemmItem> item = ItemOf(works[i]);
    if (!item) {
      question->other_us += launcher.direct_us;
      continue;
    }
    item->name = trace.events().name(launcher.op);
    formats.Fill(&item->gemm, nullptr);
    if (formats.in != nullptr || formats.out != nullptr) item->work = nullptr;
    const auto [same, added] = known.try_emplace(std::tuple_cat(std::tuple(item->name), Key(*item)),
                                                 question->items.size());
    if (added) {
      item->time_us = launcher.direct_us;
      question->items.push_back(std::move(*item));
    } else {
      GemmItem& all = question->items[same->second];
      ++all.calls;
      *all.time_us += launcher.direct_us;
    }
  }
  for (GemmItem& item : question->items)
    *item.time_us /= static_cast<double>(item.calls);
  if (question->items.empty() && !trace.recorded().shapes) {
    return Fail(ErrorCode::kNoShapes, "the trace has no shapes: m, n and k are not known",
                "record with record_shapes=True, or give m, n and k");
  }
  const bool untyped = std::any_of(
      question->row->launchers.begin(), question->row->launchers.end(), [&](std::uint32_t i) {
        const trace::EventIndex op = trace.attribution().launchers[i].op;
        if (op == trace::kNoEvent) return false;
        const trace::Args& args = trace.events().args_of(op);
        return args.dims != kNoString && args.types == kNoString;
      });
  if (question->items.empty() && untyped && ContainsNoCase(question->row->category, "gemm")) {
    return Fail(
        ErrorCode::kNoShapes,
        fmt::format("row \"{}\" ({}) was recorded with sizes and without dtypes, so its work "
                    "is not known",
                    question->row->id, OneLine(Utf8Prefix(question->row->name, 80))),
        "give m, n, k and dtype; parent_chain shows the sizes");
  }
  if (question->items.empty()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("row \"{}\" ({}) is no matrix product with recorded shapes",
                            question->row->id, OneLine(Utf8Prefix(question->row->name, 80))),
                fmt::format("ops_summary {{\"trace\":\"{}\",\"category\":\"gemm\"}}", trace.id()));
  }
  const auto key = [](const GemmItem& item) {
    const Gemm& gemm = item.gemm;
    return std::tuple(-item.time_us.value_or(0) * static_cast<double>(item.calls), gemm.m, gemm.n,
                      gemm.k, gemm.batch);
  };
  std::stable_sort(question->items.begin(), question->items.end(),
                   [&](const GemmItem& a, const GemmItem& b) { return key(a) < key(b); });
  return {};
}

}  // namespace

Result<GemmQuestion> ReadGemmQuestion(session::Workspace& workspace, const Json& arguments,
                                      Job& job) {
  GemmQuestion question;
  const bool sizes = HasAny(arguments, {"m", "n", "k"});
  const bool mlp = HasAny(arguments, {"batch_size", "seq_len", "d_model", "d_ff"});
  const auto row = TextArgument(arguments, "row");
  if (int{sizes} + int{mlp} + int{row.has_value()} != 1) {
    return Fail(
        ErrorCode::kBadValue,
        sizes || mlp || row ? "a product is named in more than one way" : "no product is named",
        kWays);
  }
  if (arguments.contains("time_us") && !sizes) {
    return Fail(ErrorCode::kBadValue, "time_us is the time of one product: give its m, n and k",
                kWays);
  }
  Formats formats;
  JV_ASSIGN(formats.in, PrecisionArgument(arguments, "dtype"));
  JV_ASSIGN(formats.out, PrecisionArgument(arguments, "out_dtype"));
  if (arguments.contains("trace")) {
    JV_ASSIGN(question.trace, OpenTrace(workspace, arguments, job));
    JV_TRY(session::WorkOf(*question.trace, nullptr, job));  // here it can be stopped
  }
  if (row && question.trace == nullptr) {
    return Fail(ErrorCode::kBadValue, "row needs the trace it is of", kWays);
  }
  if (row) {
    JV_TRY(ReadRow(*row, formats, &question));
  } else if (mlp) {
    JV_TRY(ReadMlp(arguments, formats, &question));
  } else {
    JV_TRY(ReadSizes(arguments, formats, &question));
  }
  return question;
}

}  // namespace jarvis::tools
