#include "formats/tree_data.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "formats/json_parts.h"
#include "output/number_format.h"

namespace jarvis::formats {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr int kSubtreeDepth = 8;
constexpr std::size_t kSubtreeNodes = 60;
constexpr std::size_t kCallersMax = 20;
constexpr std::size_t kChainEndsMax = 48;
constexpr std::size_t kSiblingsMax = 3;
constexpr double kLargeShare = 10;  // percent of the category

}  // namespace

TreeData::TreeData(const session::LoadedTrace& trace, std::size_t rows_max)
    : trace_(trace),
      rows_max_(rows_max),
      input_(trace.Input()),
      chains_(trace.events(), trace.tree()),
      launcher_of_(trace.events().size(), 0xFFFFFFFFu) {
  const analysis::Attribution& attribution = trace.attribution();
  for (std::size_t i = 0; i < attribution.launchers.size(); ++i) {
    for (const EventIndex e : attribution.KernelsOf(attribution.launchers[i]))
      launcher_of_[e] = static_cast<std::uint32_t>(i);
  }
}

Json TreeData::Of(const findings::CategoryAnalysis& category) {
  Json tree = Json::object();
  for (std::size_t i = 0; i < category.operations.size(); ++i) {
    const findings::Operation& operation = category.operations[i];
    const bool matters =
        operation.percent_of_category.value_or(0) > kLargeShare || !operation.patterns.empty();
    if (i >= rows_max_ && !(matters && tree.size() < 10 * rows_max_)) continue;
    tree[std::to_string(operation.uid)] = Node(operation);
  }
  rows_ = tree.size();
  return tree;
}

Json TreeData::Node(const findings::Operation& o) {
  const bool host = trace_.tree().position(o.example) != tree::kNoPosition;
  Json kernels = Json::array();
  for (const findings::KernelShare& kernel : o.kernels) {
    kernels.push_back(
        {{"name", kernel.name},
         {"stream", kernel.stream == trace::kAbsent ? Json(nullptr) : Json(kernel.stream)},
         {"mean_us", Number(kernel.total_us / static_cast<double>(kernel.count))},
         {"count", kernel.count}});
  }
  return {
      {"name", o.name},
      {"op_name", o.name},
      {"ex_uid", o.uid},
      {"operation_id", o.id},
      {"row_id", TextOrNull(o.row_id)},
      {"time_ms", Number(o.gpu_us / 1000)},
      {"count", o.count},
      {"percent_of_category",
       o.percent_of_category ? Number(*o.percent_of_category) : Json(nullptr)},
      {"input_dims", TextOrNull(o.dims)},
      {"input_type", TextOrNull(o.types)},
      {"parent_chain", host ? ParentChain(o.example) : Json::array()},
      {"callers", Callers(o)},
      {"subtree", host ? Subtree(o.example) : Json(nullptr)},
      {"kernels", std::move(kernels)},
      {"siblings_before", host ? Siblings(o.example, true) : Json::array()},
      {"siblings_after", host ? Siblings(o.example, false) : Json::array()},
      {"fusion_opportunity", o.fusion_candidate.empty() ? Json(false) : Json(o.fusion_candidate)},
      {"sync_inside", {{"count", o.sync_calls}, {"us", Number(o.sync_us)}}},
      {"notes", host ? "" : "no launch call in the trace, so no callers"}};
}

// From the op outward to the root; of a longer chain the ends, with an entry for what is between.
Json TreeData::ParentChain(EventIndex example) const {
  std::vector<EventIndex> callers;
  for (EventIndex up = example; up != kNoEvent; up = trace_.tree().parent(up))
    callers.push_back(up);
  Json chain = Json::array();
  for (std::size_t i = 0; i < callers.size(); ++i) {
    if (i == kChainEndsMax && callers.size() > 2 * kChainEndsMax) {
      const std::size_t between = callers.size() - 2 * kChainEndsMax;
      chain.push_back(
          {{"uid", nullptr}, {"name", fmt::format("(+{} more)", between)}, {"kind", "more"}});
      i += between;
    }
    const EventIndex up = callers[i];
    const std::string_view name = trace_.events().name(up);
    chain.push_back({{"uid", trace_.events()[up].uid},
                     {"name", name},
                     {"kind", analysis::KindText(trace_.events()[up].kind, name)}});
  }
  return chain;
}

Json TreeData::Callers(const findings::Operation& operation) {
  std::set<std::uint32_t> launchers;
  for (const EventIndex e : operation.gpu) {
    if (launcher_of_[e] != 0xFFFFFFFFu) launchers.insert(launcher_of_[e]);
  }
  analysis::SummaryRow row;
  row.launchers.assign(launchers.begin(), launchers.end());
  Json callers = Json::array();
  for (const analysis::Caller& caller :
       analysis::FindCallers(input_, row, analysis::GroupBy::kOp, &chains_)) {
    const std::vector<std::string> code = analysis::CodePlaces(caller.frames, 8);
    callers.push_back({{"chain_id", "c" + std::to_string(callers.size() + 1)},
                       {"module_path", TextOrNull(analysis::ModulePath(caller.frames))},
                       {"entry_point", code.empty() ? Json(nullptr) : Json(code.front())},
                       {"code", code},
                       {"count", caller.count},
                       {"time_ms", Number(caller.gpu_us / 1000)}});
    if (callers.size() == kCallersMax) break;
  }
  return callers;
}

Json TreeData::Subtree(EventIndex root) const {
  const auto nodes = analysis::PrintableSubtree(input_, root, kSubtreeDepth, kSubtreeNodes);
  // Depth first to nested: the open nodes are a stack.
  std::vector<Json> open;
  const auto close = [&](std::size_t depth) {
    while (open.size() > depth + 1) {
      Json done = std::move(open.back());
      open.pop_back();
      open.back()["children"].push_back(std::move(done));
    }
  };
  for (const analysis::SubtreeNode& node : nodes) {
    if (node.depth > 0) close(static_cast<std::size_t>(node.depth - 1));
    Json json = Json::object();
    if (node.kind == "more") {
      json["truncated"] = true;
    } else {
      json["uid"] = node.uid;
    }
    json["name"] = node.name;
    json["kind"] = node.kind;
    json["dur_us"] = node.host_us > 0 ? Number(node.host_us) : Json(nullptr);
    json["gpu_time_us"] = Number(node.gpu_us);
    json["children"] = Json::array();
    open.push_back(std::move(json));
  }
  close(0);
  return open.empty() ? Json(nullptr) : std::move(open.front());
}

// What its caller did on the GPU just before or after it.
Json TreeData::Siblings(EventIndex example, bool before) const {
  const EventIndex parent = trace_.tree().parent(example);
  Json out = Json::array();
  if (parent == kNoEvent) return out;
  std::vector<EventIndex> working;
  std::size_t self = 0;
  for (const EventIndex child : trace_.tree().Children(parent)) {
    if (trace_.tree().GpuBelow(child).empty()) continue;
    if (child == example) self = working.size();
    working.push_back(child);
  }
  const std::size_t first = before ? self - std::min(self, kSiblingsMax) : self + 1;
  const std::size_t end = before ? self : std::min(working.size(), self + 1 + kSiblingsMax);
  for (std::size_t i = first; i < end && i < working.size(); ++i) {
    out.push_back(
        {{"uid", trace_.events()[working[i]].uid}, {"name", trace_.events().name(working[i])}});
  }
  return out;
}

}  // namespace jarvis::formats
