#include "analysis/ranks/collective_params.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventStore;
using trace::kNoEvent;

// By the name of a tensor's type in an op's args, the name that collectives have for it.
std::string DtypeOf(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {{
      {"float", "Float"},
      {"double", "Double"},
      {"int", "Int"},
      {"long", "Long"},
      {"long int", "Long"},
      {"bool", "Bool"},
      {"unsigned char", "Byte"},
      {"signed char", "Char"},
  }};
  for (const auto& [name, dtype] : kNames) {
    if (type == name) return std::string(dtype);
  }
  return type.starts_with("c10::") ? std::string(type.substr(5)) : std::string();
}

// ... and by a piece of the kernel's name.
std::string DtypeOfKernel(std::string_view kernel) {
  constexpr std::array<std::pair<const char*, const char*>, 5> kPieces = {{
      {"_bf16_", "BFloat16"},
      {"_f16_", "Half"},
      {"_f32_", "Float"},
      {"_f64_", "Double"},
      {"_i64_", "Long"},
  }};
  for (const auto& [piece, dtype] : kPieces) {
    if (ContainsNoCase(kernel, piece)) return dtype;
  }
  return {};
}

// "nccl:all_reduce", as the profiler's own records call it.
std::string NameOfAnnotation(std::string_view name) {
  name.remove_prefix(std::string_view("nccl:").size());
  if (name == "all_reduce") return "allreduce";
  if (name == "_all_gather_base") return "_allgather_base";
  return std::string(name);
}

// Elements of the tensors whose sizes are a list of lists.
std::optional<std::int64_t> ElementsIn(std::string_view shapes) {
  std::int64_t total = 0;
  for (const std::string_view shape : trace::ElementsOf(shapes)) {
    std::int64_t product = 1;
    for (const std::string_view size : trace::ElementsOf(shape)) {
      const auto value = trace::IntegerOf(size);
      if (!value || *value < 0 || __builtin_mul_overflow(product, *value, &product))
        return std::nullopt;
    }
    if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
  }
  return total;
}

// Elements that come out, where the kind of collective says so.
Cell OutOf(std::string_view name, std::int64_t in, std::optional<std::int64_t> ranks) {
  const auto has = [&](std::string_view part) { return ContainsNoCase(name, part); };
  std::int64_t out = 0;
  if (has("gather")) {
    if (!ranks || __builtin_mul_overflow(in, *ranks, &out)) return {};
    return out;
  }
  if (has("scatter")) return ranks && *ranks > 0 ? Cell(in / *ranks) : Cell();
  if (has("reduce") || has("broadcast")) return in;
  return {};
}

// The op as PyTorch recorded it before it had named args: (tensors, sequence, group, rank, name,
// input splits, output splits, ..., size of the group).
void ReadConcrete(const EventStore& events, EventIndex op, CollectiveParams* params) {
  const trace::Args& args = events.args_of(op);
  const auto types = trace::ElementsOf(events.text(args.types));
  const auto values = trace::ElementsOf(events.text(args.concrete));
  const auto shapes = trace::ElementsOf(events.text(args.dims));
  if (types.empty() || trace::Unquoted(types[0]) != "TensorList" || values.size() < 8) return;
  const auto text = [&](std::size_t i) { return trace::Unescape(trace::Unquoted(values[i])); };
  params->sequence = trace::IntegerOf(values[1]);
  params->group_handle = text(2);
  if (const std::string name = text(4); !name.empty()) params->keys[kCollective] = name;
  params->keys[kInSplit] = text(5);
  params->keys[kOutSplit] = text(6);
  const auto ranks = trace::IntegerOf(values.back());
  if (ranks && *ranks > 0) params->keys[kGroupSize] = *ranks;
  if (const auto in = shapes.empty() ? std::nullopt : ElementsIn(shapes[0]))
    params->keys[kIn] = *in;
}

void ReadAnnotation(const EventStore& events, EventIndex e, CollectiveParams* params) {
  Cell& name = params->keys[kCollective];
  if (name == Cell()) name = NameOfAnnotation(events.name(e));
  const auto types = trace::ElementsOf(events.text(events.args_of(e).types));
  if (types.empty()) return;
  const std::string dtype = DtypeOf(trace::Unquoted(types[0]));
  if (!dtype.empty()) params->keys[kDtype] = dtype;
}

}  // namespace

std::optional<CollectiveParams> FindCollectiveParams(const EventStore& events,
                                                     const tree::CallTree& tree,
                                                     EventIndex kernel) {
  EventIndex annotation = kNoEvent;
  EventIndex op = tree.parent(kernel);
  while (op != kNoEvent && events.name(op) != "record_param_comms") {
    if (annotation == kNoEvent && events.name(op).starts_with("nccl:")) annotation = op;
    op = tree.parent(op);
  }
  if (op == kNoEvent) return std::nullopt;
  CollectiveParams params;
  params.keys = RecordedCollective(events, op);
  const auto number = [&](std::string_view key) {
    return trace::IntegerOf(trace::MemberOf(events.text(events.args_of(op).other), key));
  };
  params.sequence = number("Seq");
  params.source = number("Src Rank");
  params.target = number("Dst Rank");
  if (params.keys[kIn] == Cell()) ReadConcrete(events, op, &params);
  if (annotation != kNoEvent) ReadAnnotation(events, annotation, &params);
  CollectiveKeys& keys = params.keys;
  keys[kStream] = Cell();
  if (keys[kCollective] == Cell())
    keys[kCollective] = CollectiveOfKernel(events.name(kernel), true);
  if (keys[kDtype] == Cell()) {
    if (std::string dtype = DtypeOfKernel(events.name(kernel)); !dtype.empty())
      keys[kDtype] = std::move(dtype);
  }
  const auto* name = std::get_if<std::string>(&keys[kCollective]);
  const auto* in = std::get_if<std::int64_t>(&keys[kIn]);
  if (keys[kOut] == Cell() && name != nullptr && in != nullptr) {
    const auto* size = std::get_if<std::int64_t>(&keys[kGroupSize]);
    keys[kOut] = OutOf(*name, *in, size == nullptr ? std::nullopt : std::optional(*size));
  }
  return params;
}

}  // namespace jarvis::analysis
