#include "page/work_tree.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "documents/report_parts.h"
#include "page/timeline_lanes.h"

namespace jarvis::page {
namespace {

using findings::Operation;
using trace::EventIndex;

constexpr std::size_t kOpsMax = 1500;
constexpr double kNodeShare = 1.0 / 20'000;  // of all time: what is less cannot be seen
constexpr std::size_t kLevelsOfModules = 24;

// "GPT2 / Block[*] / MLP" in its parts.
std::vector<std::string_view> PartsOfPath(std::string_view path) {
  constexpr std::string_view kBetween = " / ";
  std::vector<std::string_view> parts;
  while (!path.empty() && parts.size() < kLevelsOfModules) {
    const std::size_t end = path.find(kBetween);
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + kBetween.size());
  }
  return parts;
}

// The module path of each piece of GPU work, found once a chain of callers.
class ModulePathsOfWork {
 public:
  explicit ModulePathsOfWork(const session::LoadedTrace& trace)
      : trace_(trace), chains_(trace.events(), trace.tree()) {}

  const std::string& Of(EventIndex gpu) {
    static const std::string kNone;
    const EventIndex call = trace_.tree().parent(gpu);
    if (call == trace::kNoEvent) return kNone;
    const auto [known, added] = paths_.try_emplace(chains_.Of(call));
    if (added) known->second = analysis::ModulePath(chains_.Frames(known->first));
    return known->second;
  }

 private:
  const session::LoadedTrace& trace_;
  analysis::ChainTree chains_;
  std::unordered_map<analysis::ChainTree::Node, std::string> paths_;
};

// A node while its children are gathered.
struct GrowingNode {
  WorkNode node;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::size_t> children;  // by name and op
};

class WorkTreeMaker {
 public:
  WorkTreeMaker(const session::LoadedTrace& trace, const findings::Analysis& analysis,
                ScriptNames* names)
      : trace_(trace.WithCapture()), analysis_(analysis), names_(*names), paths_(trace_) {
    growing_.emplace_back();
  }

  Result<WorkTree> Make(const Job& job) {
    tree_.op_of.assign(trace_.events().size(), kNoOp);
    tree_.module_of.assign(trace_.events().size(), 0);
    for (const findings::CategoryAnalysis& category : analysis_.categories) {
      for (const Operation& operation : category.operations) {
        tree_.ops.push_back(&operation);
        category_of_[&operation] = category.display_name;
      }
    }
    std::stable_sort(tree_.ops.begin(), tree_.ops.end(), [](const auto* a, const auto* b) {
      return documents::OwnMs(*a) > documents::OwnMs(*b);
    });
    if (tree_.ops.size() > kOpsMax) tree_.ops.resize(kOpsMax);
    for (std::uint32_t i = 0; i < tree_.ops.size(); ++i) {
      JV_TRY(job.Check());
      Place(i);
    }
    for (const auto& child : growing_[0].children)
      tree_.total_ms += growing_[child.second].node.ms;
    Write(0);
    return std::move(tree_);
  }

 private:
  // An op's time is the report's; its modules and kernels share it as their own times are.
  void Place(std::uint32_t op) {
    const Operation& operation = *tree_.ops[op];
    const trace::EventStore& events = trace_.events();
    double sum = 0;
    for (const EventIndex e : operation.gpu)
      sum += static_cast<double>(events[e].dur_ns);
    const double scale = sum > 0 ? documents::OwnMs(operation) / sum : 0;
    std::unordered_map<std::string_view, std::size_t> leaf_of;  // by path: the op's node
    for (const EventIndex e : operation.gpu) {
      const std::string& path = paths_.Of(e);
      tree_.op_of[e] = op;
      if (!path.empty()) tree_.module_of[e] = static_cast<std::uint32_t>(names_.Of(path) + 1);
      const auto [known, added] = leaf_of.try_emplace(path, 0);
      if (added) known->second = LeafOf(path, op);
      const double ms = static_cast<double>(events[e].dur_ns) * scale;
      const std::size_t kernel =
          Child(known->second, NodeKind::kKernel, names_.OfEvent(events, e), op);
      Add(kernel, operation.efficiency, ms);
    }
  }

  std::size_t LeafOf(std::string_view path, std::uint32_t op) {
    std::size_t at = 0;
    // Where no module is known an op stands below what kind of work it is.
    if (path.empty())
      at = Child(at, NodeKind::kCategory, names_.Of(category_of_.at(tree_.ops[op])), kNoOp);
    for (const std::string_view part : PartsOfPath(path))
      at = Child(at, NodeKind::kModule, names_.Of(part), kNoOp);
    return Child(at, NodeKind::kOp, names_.Of(tree_.ops[op]->name), op);
  }

  std::size_t Child(std::size_t of, NodeKind kind, std::int64_t name, std::uint32_t op) {
    const auto [known, added] = growing_[of].children.try_emplace({name, op}, growing_.size());
    const std::size_t child = known->second;
    if (added) {
      const int depth = growing_[of].node.depth + 1;
      growing_.push_back(
          {.node = {.kind = kind, .depth = depth, .name = name, .op = op}, .children = {}});
      parent_.resize(growing_.size());
      parent_[child] = of;
    }
    return child;
  }

  void Add(std::size_t leaf, const findings::Efficiency& efficiency, double ms) {
    const bool known = efficiency.percent && !efficiency.anomaly && !efficiency.impossible;
    for (std::size_t at = leaf; at != 0; at = parent_[at]) {
      WorkNode& node = growing_[at].node;
      node.ms += ms;
      if (!known) continue;
      node.roofed_ms += ms;
      node.roof_ms += ms * *efficiency.percent / 100;
    }
  }

  void Write(std::size_t from) {
    std::vector<std::size_t> children;
    for (const auto& child : growing_[from].children) {
      if (growing_[child.second].node.ms > kNodeShare * tree_.total_ms)
        children.push_back(child.second);
    }
    std::stable_sort(children.begin(), children.end(), [&](std::size_t a, std::size_t b) {
      return growing_[a].node.ms > growing_[b].node.ms;
    });
    for (const std::size_t child : children) {
      tree_.nodes.push_back(growing_[child].node);
      Write(child);
    }
  }

  const session::LoadedTrace& trace_;
  const findings::Analysis& analysis_;
  ScriptNames& names_;
  ModulePathsOfWork paths_;
  std::unordered_map<const Operation*, std::string_view> category_of_;
  std::vector<GrowingNode> growing_;
  std::vector<std::size_t> parent_ = {0};
  WorkTree tree_;
};

}  // namespace

Result<WorkTree> MakeWorkTree(const session::LoadedTrace& trace, const findings::Analysis& analysis,
                              ScriptNames* names, const Job& job) {
  return WorkTreeMaker(trace, analysis, names).Make(job);
}

std::string WorkTreeJson(const WorkTree& tree, ScriptNames* names) {
  std::string depth = "[", kind = "[", name = "[", op = "[", us = "[", efficiency = "[";
  for (const WorkNode& node : tree.nodes) {
    AppendNumber(node.depth - 1, &depth);
    AppendNumber(static_cast<std::int64_t>(node.kind), &kind);
    AppendNumber(names->Shown(node.name), &name);
    AppendNumber(node.op == kNoOp ? -1 : static_cast<std::int64_t>(node.op), &op);
    us += (us.back() == '[' ? "" : ",") + ScriptNumber(node.ms * 1000);
    const bool known = node.roofed_ms > node.ms / 2;
    efficiency += efficiency.back() == '[' ? "" : ",";
    efficiency += known ? fmt::format("{:.3g}", node.roof_ms / node.roofed_ms * 100) : "-1";
  }
  return fmt::format(
      "{{\"depth\":{}],\"kind\":{}],\"name\":{}],\"op\":{}],\"us\":{}],\"roof\":{}],\"total\":{}}}",
      depth, kind, name, op, us, efficiency, ScriptNumber(tree.total_ms * 1000));
}

std::string OpsJson(const WorkTree& tree, const findings::Analysis& analysis) {
  std::string json = "[";
  for (const Operation* operation : tree.ops) {
    const double ms = documents::OwnMs(*operation);
    const std::string time =
        fmt::format("{} {} ({}), {} {}", documents::EachMs(analysis, ms),
                    documents::UnitPhrase(analysis), documents::BaseShare(analysis, ms),
                    documents::EachCalls(analysis, operation->count, operation->foreign_calls),
                    analysis.base.count > 1 ? "calls each" : "calls");
    json += fmt::format("{}[{},{},{},{},{}]", json.size() > 1 ? "," : "",
                        ScriptString(operation->name, 160),
                        ScriptString(documents::ArgsText(operation->args), 200),
                        static_cast<int>(KindOfCategory(operation->category)), ScriptString(time),
                        ScriptString(documents::EfficiencyText(*operation)));
  }
  return json + "]";
}

}  // namespace jarvis::page
