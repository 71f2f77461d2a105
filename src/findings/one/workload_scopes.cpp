#include "findings/one/workload_scopes.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/how_to_record.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

constexpr double kScopesMost = 0.5;  // of the GPU's ops

// What a transformation of a function is called, whose argument is the scope.
constexpr std::string_view kWrapping[] = {"transpose", "jvp", "vmap", "remat", "checkpoint"};
// Scopes that say nothing of the model.
constexpr std::string_view kNoScopes[] = {"gradient_tape",
                                          "ConstantFolding",
                                          "while",
                                          "body",
                                          "cond",
                                          "scan",
                                          "checkpoint",
                                          "remat",
                                          "pjit",
                                          "closed_call",
                                          "shard_map",
                                          "rematted_computation",
                                          "custom_jvp_call",
                                          "custom_vjp_call",
                                          "core_call",
                                          "StatefulPartitionedCall",
                                          "PartitionedCall",
                                          "n",
                                          "main"};
// What many programs call a part of theirs: no model's name.
constexpr std::string_view kPartNames[] = {"model", "layer", "layers",      "block",   "blocks",
                                           "loss",  "train", "transformer", "encoder", "decoder",
                                           "mlp",   "attn",  "attention"};
constexpr std::string_view kLayerNames[] = {"layer",
                                            "layers",
                                            "block",
                                            "blocks",
                                            "encoder_layer",
                                            "decoder_layer",
                                            "encoder_block",
                                            "resblocks",
                                            "resblock",
                                            "transformer_layer",
                                            "h",
                                            "encoderblock"};

template <std::size_t kCount>
bool IsIn(const std::string_view (&names)[kCount], std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view one) { return EqualsNoCase(one, name); });
}

// "transpose(jvp(Block))" is Block, "jit(main)" nothing.
std::string_view Unwrapped(std::string_view scope) {
  while (scope.ends_with(')')) {
    const std::size_t open = scope.find('(');
    if (open == std::string_view::npos || !IsIn(kWrapping, scope.substr(0, open))) return {};
    scope = scope.substr(open + 1, scope.size() - open - 2);
  }
  const bool plain = std::ranges::all_of(scope, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  });
  const bool none = !plain || IsIn(kNoScopes, scope) || scope.starts_with("replica_") ||
                    scope.starts_with("branch_") || scope.starts_with("cluster_");
  return none ? std::string_view() : scope;
}

// A scope's name and its number; -1: it has none.
std::pair<std::string_view, std::int64_t> Numbered(std::string_view scope) {
  const std::size_t end = scope.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == scope.size()) return {scope, -1};
  const std::string_view name = scope.substr(0, scope[end] == '_' ? end : end + 1);
  return {name, ParseInt(scope.substr(end + 1)).value_or(-1)};
}

// Of one kind of event: kernels that name their op, or ops.
struct ScopedEvents {
  std::size_t all = 0;
  std::map<std::string, std::size_t> of_model;                          // by its scope
  std::map<std::pair<std::string, std::string>, std::set<int>> layers;  // by model and place

  void Add(std::string_view op_name) {
    ++all;
    const std::vector<std::string_view> scopes = ModelScopes(op_name);
    if (scopes.empty()) return;
    const std::string model(scopes.front());
    ++of_model[model];
    std::string place;
    for (const std::string_view scope : scopes) {
      constexpr std::int64_t kMost = 10'000;
      const auto [name, number] = Numbered(scope);
      if (number >= 0 && number < kMost && IsIn(kLayerNames, name))
        layers[{model, place + std::string(name)}].insert(static_cast<int>(number));
      place += std::string(scope) + "/";
    }
  }
  // The end of the map: most have none in common.
  auto Most() const {
    const auto most = std::ranges::max_element(
        of_model, [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool enough = most != of_model.end() &&
                        static_cast<double>(most->second) >= kScopesMost * static_cast<double>(all);
    return enough ? most : of_model.end();
  }
  // Those that are numbered from 0 on without a gap; 0: there are none.
  std::size_t LayersOf(const std::string& model) const {
    std::size_t most = 0;
    for (const auto& [place, numbers] : layers) {
      const bool whole = *numbers.begin() == 0 &&
                         static_cast<std::size_t>(*numbers.rbegin()) + 1 == numbers.size();
      if (place.first == model && whole) most = std::max(most, numbers.size());
    }
    return most;
  }
};

std::string_view Unquoted(std::string_view json) {
  return json.size() >= 2 && json.front() == '"' ? json.substr(1, json.size() - 2) : json;
}

// The op that each kernel names, and of each op with GPU work its name; may be empty. Other formats
// than XPlane name modules.
template <typename Take>
void EachOpName(const WorkloadFacts& facts, const Take& take) {
  const trace::EventStore& events = facts.trace.events();
  const auto& recording = facts.trace.trace().metadata.recording;
  if (!recording || recording->profiler != trace::kByXplane) return;
  const auto args = [&](EventIndex e) { return events.text(events.args_of(e).other); };
  for (const EventIndex e : facts.trace.attribution().timeline) {
    if (events[e].kind != trace::EventKind::kKernel) continue;
    const std::string_view op = trace::MemberOf(args(e), "tf_op");
    take(Unquoted(op.empty() ? trace::MemberOf(args(e), "annotation") : op), true);
  }
  for (const EventIndex e : facts.trace.tree().preorder()) {
    if (events[e].kind != trace::EventKind::kCpuOp || facts.trace.tree().GpuBelow(e).empty())
      continue;
    take(Unquoted(trace::MemberOf(args(e), "op_name")), false);
  }
}

}  // namespace

std::vector<std::string_view> ModelScopes(std::string_view op_name) {
  std::vector<std::string_view> scopes;
  for (std::size_t begin = 0, end = 0; (end = op_name.find('/', begin)) != op_name.npos;
       begin = end + 1) {
    const std::string_view scope = Unwrapped(op_name.substr(begin, end - begin));
    if (!scope.empty()) scopes.push_back(scope);
  }
  return scopes;
}

std::set<std::string> ScopesOfWork(const WorkloadFacts& facts) {
  std::set<std::string> scopes;
  EachOpName(facts, [&](std::string_view name, bool) {
    for (const std::string_view scope : ModelScopes(name))
      scopes.emplace(scope);
  });
  return scopes;
}

void TellScopes(const WorkloadFacts& facts, Workload* out) {
  ScopedEvents kernels, ops;
  EachOpName(facts,
             [&](std::string_view name, bool of_kernel) { (of_kernel ? kernels : ops).Add(name); });
  for (const auto& [named, what] : {std::pair{&kernels, "kernels"}, std::pair{&ops, "ops"}}) {
    const auto most = named->Most();
    if (most == named->of_model.end()) continue;
    const std::string evidence =
        fmt::format("scope in the names of {} of {} {}", most->second, named->all, what);
    const std::size_t layers = named->LayersOf(most->first);
    if (layers > 1 && !(*out)[WorkloadPart::kLayers].known()) {
      out->Set(WorkloadPart::kLayers, fmt::format("{}", layers), Certainty::kRecorded,
               fmt::format("numbered scopes in the names of {}", what));
    }
    if (!(*out)[WorkloadPart::kModel].known() && !IsIn(kPartNames, Numbered(most->first).first))
      out->Set(WorkloadPart::kModel, most->first, Certainty::kRecorded, evidence);
    return;
  }
}

}  // namespace jarvis::findings
