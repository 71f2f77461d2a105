#include "replay/entry.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "analysis/attribution/work_calls.h"
#include "base/text.h"
#include "output/number_format.h"
#include "perf/iteration_annotation.h"
#include "replay/initialisers.h"
#include "replay/match.h"
#include "replay/schema_table.h"

namespace jarvis::replay {
namespace {

using trace::kNoEvent;

constexpr int kIrVersion = 2;
constexpr std::size_t kKernelNamesMax = 8;
constexpr std::int64_t kBytesMost = 1'000'000'000'000'000'000;  // two of them can be added

// Why a name is no operator that could be called again, if it is none.
Entry Unreplayable(const Signature& signature) {
  const std::string lower = LowerAscii(signature.op);
  if (signature.event == kNoEvent) {
    return {nullptr, false, "no op around this GPU work",
            "record CPU activities too; for a GPU-only trace there are no arguments to replay"};
  }
  if (lower.starts_with("triton_") || lower.find("inductor") != std::string::npos) {
    return {nullptr, false, "a kernel that the compiler made, not an operator",
            "rerun with TORCH_COMPILE_DEBUG=1 and run the benchmark in its output_code.py"};
  }
  for (const char* part : {"nccl", "rccl", "c10d::", "record_param_comms"}) {
    if (lower.find(part) == std::string::npos) continue;
    return {nullptr, false, "communication between ranks",
            "measure it with nccl-tests or rccl-tests at this size"};
  }
  if (lower.ends_with("graphlaunch")) {
    return {nullptr, false, "the replay of a GPU graph, whose kernels have no ops here",
            "load the trace with the graphs' capture, or take the ops from an eager run"};
  }
  if (!IsOperatorName(signature.op)) {
    return {nullptr, false,
            "not an operator of the dispatcher (an autograd function, a runtime call or a mark)",
            "choose the ops below it: parent_chain with mode=subtree lists them"};
  }
  return {};
}

// The element type of tensor lists, which only the kernel's template arguments tell.
MatchHints HintsOf(const EntryInput& input, const Signature& signature) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kMarks = {{
      {"c10::BFloat16", "c10::BFloat16"},
      {"c10::Half", "c10::Half"},
      {"OpaqueType<1", "bool"},
      {"OpaqueType<2", "c10::Half"},
      {"OpaqueType<4", "float"},
      {"OpaqueType<8", "long int"},
      {"double", "double"},
      {"float", "float"},
      {"<long", "long int"},
  }};
  if (signature.launchers.empty()) return {};
  const analysis::Attribution& attribution = input.trace.attribution();
  for (const trace::EventIndex kernel :
       attribution.KernelsOf(attribution.launchers[signature.launchers[0]])) {
    for (const auto& [mark, type] : kMarks) {
      if (input.trace.events().name(kernel).find(mark) != std::string_view::npos)
        return {std::string(type), true};
    }
  }
  return {};
}

Json ArgJson(const MatchedArg& arg) {
  Json json = Json::object();
  json["arg_name"] = arg.schema->name;
  json["arg_type"] = arg.schema->type.text;
  json["value"] = arg.value;
  return json;
}

Json RawOf(const ProfiledCall& call) {
  Json raw = Json::object();
  for (const char* name : {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"})
    raw[name] = Json::array();
  for (const ProfiledArg& arg : call.args) {
    raw["Input Dims"].push_back(arg.dims);
    if (call.types_recorded) raw["Input type"].push_back(arg.type);
    if (call.strides_recorded) raw["Input Strides"].push_back(arg.strides);
    if (call.values_recorded) raw["Concrete Inputs"].push_back(arg.text);
  }
  return raw;
}

// Bytes of the storage behind a tensor; strides of 0 share elements. As a double, because the sizes
// of a damaged trace overflow any integer.
std::int64_t StorageBytes(const Json& tensor) {
  double elements = 1;
  const Json& shape = tensor.at("shape");
  const Json& strides = tensor.at("strides");  // null: contiguous, and too large for a number
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = shape[i].get<double>();
    if (size <= 0) return 0;
    if (strides.is_array()) {
      elements += (size - 1) * std::abs(strides[i].get<double>());
    } else {
      elements *= size;
    }
  }
  const int width = ElementBytes(tensor.at("dtype").get<std::string>());
  return static_cast<std::int64_t>(std::min(elements * width, static_cast<double>(kBytesMost)));
}

void ForEachTensor(const Json& value, const auto& visit) {
  if (value.is_object()) visit(value);
  if (!value.is_array()) return;
  for (const Json& element : value) {
    if (element.is_object()) visit(element);
  }
}

void AddMatched(const OpSchema& schema, Match match, Json* ir) {
  SetInitialisers(schema, &match);
  Json positional = Json::array();
  Json keywords = Json::array();
  std::int64_t bytes = 0;
  for (const MatchedArg& arg : match.args) {
    (arg.schema->keyword_only ? keywords : positional).push_back(ArgJson(arg));
    ForEachTensor(arg.value, [&](const Json& tensor) {
      bytes = std::min(bytes + StorageBytes(tensor), kBytesMost);
    });
  }
  (*ir)["replay_ir"] = {{"list_pos_args", std::move(positional)},
                        {"list_kwargs", std::move(keywords)}};
  (*ir)["schema"] = schema.text;
  (*ir)["resolved_overload"] = schema.overload;
  (*ir)["input_bytes"] = bytes;
  for (std::string& warning : match.warnings)
    (*ir)["warnings"].push_back(std::move(warning));
}

std::string ArchOf(const session::LoadedTrace& trace) {
  const auto& devices = trace.trace().metadata.devices;
  return devices.empty() ? "" : devices[0].name;
}

Json NumberOrNull(std::optional<double> value) {
  return value ? Json(output::Rounded(*value)) : Json(nullptr);
}

Json KernelNames(const EntryInput& input, const Signature& signature) {
  Json names = Json::array();
  if (signature.launchers.empty()) return names;
  const analysis::Attribution& attribution = input.trace.attribution();
  for (const trace::EventIndex kernel :
       attribution.KernelsOf(attribution.launchers[signature.launchers[0]])) {
    if (names.size() == kKernelNamesMax) break;
    names.push_back(ValidUtf8(input.trace.events().name(kernel)));
  }
  return names;
}

// What the trace says about the time, to compare with.
Json ReferenceOf(const EntryInput& input, const Signature& signature) {
  std::vector<double> sorted = signature.call_us;
  std::sort(sorted.begin(), sorted.end());
  const double mean = signature.total_us / static_cast<double>(sorted.size());
  Json reference = Json::object();
  reference["mean_us"] = output::Rounded(mean);
  reference["median_us"] = output::Rounded(sorted[sorted.size() / 2]);
  reference["min_us"] = output::Rounded(sorted.front());
  reference["max_us"] = output::Rounded(sorted.back());
  reference["kernel_names"] = KernelNames(input, signature);
  std::optional<double> share;
  if (!signature.launchers.empty() && input.platform) {
    share = analysis::RoofShareOf(input.trace.attribution(), input.trace.Works(),
                                  signature.launchers, {&*input.platform})
                .pct_roof;
  }
  reference["roofline_us"] = NumberOrNull(share ? std::optional(mean * *share / 100) : share);
  reference["pct_roofline"] = NumberOrNull(share);
  reference["source_row"] = signature.row.empty() ? Json(nullptr) : Json(signature.row);
  const std::string arch = ArchOf(input.trace);
  reference["device"] = signature.launchers.empty() ? "cpu" : "gpu";
  reference["arch"] = arch.empty() || signature.launchers.empty() ? Json(nullptr) : Json(arch);
  return reference;
}

// How many requests the engine step around a call worked on, for operators whose work depends on
// it.
void AddContext(const EntryInput& input, const Signature& signature, Json* ir) {
  const trace::EventStore& events = input.trace.events();
  trace::EventIndex at = signature.event;
  while ((at = input.trace.tree().Enclosing(events, at, trace::EventKind::kUserAnnotation)) !=
         kNoEvent) {
    const auto step = perf::ParseIteration(events.name(at));
    if (!step) continue;
    (*ir)["context"] = {{"prefills", step->context_requests},
                        {"decodes", step->generation_requests},
                        {"prefill_tokens", step->context_sum},
                        {"decode_tokens", step->generation_sum}};
    return;
  }
}

// The best overload; empty where none fits, with what the nearest one lacks.
struct Chosen {
  std::optional<OpSchema> schema;
  Match match;
  Error nearest;
};
Chosen ChooseOverload(const Signature& signature, const ProfiledCall& call,
                      const MatchHints& hints) {
  Chosen chosen;
  std::vector<OpSchema> overloads = OverloadsOf(signature.op);
  // First those of just as many arguments; then those that have grown since the trace.
  for (const bool same_count : {true, false}) {
    for (OpSchema& schema : overloads) {
      if ((schema.args.size() == call.args.size()) != same_count) continue;
      auto match = MatchCall(schema, call, hints);
      if (match) {
        // The match points at the schema's arguments, which moving the schema leaves in place.
        chosen.match = std::move(*match);
        chosen.schema = std::move(schema);
        return chosen;
      }
      const bool about_shapes = match.error().code == ErrorCode::kNoShapes;
      if (chosen.nearest.message.empty() || about_shapes) chosen.nearest = match.error();
      if (about_shapes) return chosen;
    }
  }
  return chosen;
}

}  // namespace

bool IsOperatorName(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos || name.size() > 200) return false;
  for (const std::string_view part : {name.substr(0, colons), name.substr(colons + 2)}) {
    const bool word = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
    if (!word || std::isdigit(static_cast<unsigned char>(part.front())) != 0) return false;
  }
  return true;
}

Entry MakeEntry(const EntryInput& input, const Signature& signature) {
  Entry entry = Unreplayable(signature);
  if (!entry.reason.empty()) return entry;
  const auto call =
      ReadProfiledCall(input.trace.events(), input.trace.events().args_of(signature.event));
  if (!call) return {nullptr, false, call.error().message, "record with record_shapes=True"};
  Chosen chosen = ChooseOverload(signature, *call, HintsOf(input, signature));
  if (!chosen.schema && chosen.nearest.code == ErrorCode::kNoShapes) {
    return {nullptr, false, chosen.nearest.message,
            "record with a newer PyTorch, which writes the shapes of tensor lists"};
  }
  Json ir = Json::object();
  ir["op_name"] = signature.op;
  ir["replay_ir"] = {{"list_pos_args", Json::array()}, {"list_kwargs", Json::array()}};
  ir["count"] = signature.call_us.size();
  ir["ir_version"] = kIrVersion;
  ir["namespace"] = signature.op.substr(0, signature.op.find("::"));
  ir["warnings"] = Json::array();
  if (chosen.schema) {
    AddMatched(*chosen.schema, std::move(chosen.match), &ir);
  } else {
    ir["needs_runtime_match"] = true;
    ir["warnings"].push_back(chosen.nearest.message.empty()
                                 ? "the operator is not in the table of schemas"
                                 : "no known overload fits: " + chosen.nearest.message);
  }
  if (ir["namespace"] != "aten") AddContext(input, signature, &ir);
  ir["raw"] = RawOf(*call);
  ir["reference"] = ReferenceOf(input, signature);
  return {std::move(ir), chosen.schema.has_value(), "", ""};
}

std::string ShapesText(const Json& ir) {
  std::string text;
  const auto add = [&](const Json& shape) {
    if (text.size() < 96) text += (text.empty() ? "" : " ") + shape.dump();
  };
  for (const char* list : {"list_pos_args", "list_kwargs"}) {
    for (const Json& arg : ir.at("replay_ir").at(list))
      ForEachTensor(arg.at("value"), [&](const Json& tensor) { add(tensor.at("shape")); });
  }
  if (text.empty()) {
    for (const Json& dims : ir.at("raw").at("Input Dims")) {
      if (!dims.empty()) add(dims);
    }
  }
  return text;
}

}  // namespace jarvis::replay
