#include "analysis/align/view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "analysis/tables/summary.h"

namespace jarvis::analysis {
namespace {

using Nodes = std::vector<std::uint32_t>;

// Modules, annotations and what is ours are shown; other frames only lead to them.
bool IsPlainFrame(const DiffSide& side, DiffIndex n) {
  const DiffNode& node = side.tree.nodes[n];
  if (node.kind != DiffKind::kFrame || node.event == kNoEvent) return false;
  return (*side.events)[node.event].kind == trace::EventKind::kPythonFunction &&
         ModuleClass(side.events->name(node.event)).empty();
}

}  // namespace

std::string DifferenceInWords(double first, double second, bool in_first, bool in_second,
                              std::string_view unit) {
  if (!in_second) return "in trace 1 only";
  if (!in_first) return "in trace 2 only";
  if (first == second) return "equal";
  return fmt::format("trace 2 takes {:.3f} {} {}", std::abs(second - first), unit,
                     second > first ? "longer" : "less");
}

DiffView::DiffView(const TraceDiff& diff) : diff_(diff) {
  const std::vector<MergedNode>& merged = diff.merged.nodes;
  for (const int side : {0, 1}) {
    const DiffTree& tree = diff.sides[side].tree;
    merged_of_[side].assign(tree.size(), kNoMerged);
    for (std::uint32_t n = 0; n < merged.size(); ++n) {
      const DiffIndex at = side == 0 ? merged[n].a : merged[n].b;
      if (at != kNoDiffNode) merged_of_[side][at] = n;
    }
    std::vector<double>& before = us_before_[side];
    before.push_back(0);
    for (DiffIndex n = 0; n < tree.size(); ++n) {
      const double own =
          tree.IsGpu(n) ? DurationUs(*diff.sides[side].events, tree.nodes[n].event, diff.clock) : 0;
      before.push_back(before.back() + own);
    }
  }
}

double DiffView::Us(std::uint32_t node, int side) const {
  const MergedNode& merged = diff_.merged.nodes[node];
  const DiffIndex at = side == 0 ? merged.a : merged.b;
  if (at == kNoDiffNode) return 0;
  const std::vector<double>& before = us_before_[side];
  return before[diff_.sides[side].tree.nodes[at].end] - before[at];
}

std::vector<std::uint32_t> DiffView::NodesOf(int side, std::span<const EventIndex> events) const {
  const DiffTree& tree = diff_.sides[side].tree;
  std::unordered_map<EventIndex, DiffIndex> node_of;
  for (DiffIndex n = 0; n < tree.size(); ++n)
    node_of.emplace(tree.nodes[n].event, n);
  Nodes out;
  for (const EventIndex e : events) {
    EventIndex up = e;
    while (up != kNoEvent && node_of.count(up) == 0)
      up = diff_.sides[side].caller(up);
    if (up == kNoEvent) continue;
    DiffIndex n = node_of.at(up);
    while (n != kNoDiffNode && merged_of_[side][n] == kNoMerged)
      n = tree.nodes[n].parent;
    if (n != kNoDiffNode) out.push_back(merged_of_[side][n]);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::uint32_t> DiffView::NodesNamed(std::string_view name) const {
  const std::vector<MergedNode>& merged = diff_.merged.nodes;
  const auto called = [&](int side, DiffIndex at) {
    if (at == kNoDiffNode || diff_.sides[side].tree.nodes[at].event == kNoEvent) return false;
    const std::string full = diff_.NameOf(side, at);
    return full == name || FoldedName(full) == name || ModuleClass(full) == name;
  };
  Nodes out;
  for (std::uint32_t n = 0; n < merged.size();) {
    if (called(0, merged[n].a) || called(1, merged[n].b)) {
      out.push_back(n);
      n = merged[n].end;
    } else {
      ++n;
    }
  }
  return out;
}

std::string DiffView::NameOf(std::uint32_t n) const {
  const MergedNode& node = diff_.merged.nodes[n];
  const auto name = [&](int side, DiffIndex at) -> std::string {
    if (at == kNoDiffNode) return {};
    const std::string full = diff_.NameOf(side, at);
    return diff_.sides[side].tree.IsGpu(at) ? ShortKernelName(full) : FoldedName(full);
  };
  const std::string a = name(0, node.a);
  const std::string b = name(1, node.b);
  return a == b || b.empty() ? a : a.empty() ? b : a + " | " + b;
}

// The children to show, of all parents: plain frames replaced by what they lead to.
std::vector<std::uint32_t> DiffView::Shown(const Nodes& parents) const {
  const std::vector<MergedNode>& merged = diff_.merged.nodes;
  Nodes out;
  for (const std::uint32_t parent : parents) {
    for (std::uint32_t n = parent + 1; n < merged[parent].end;) {
      const MergedNode& node = merged[n];
      const bool plain = (node.a == kNoDiffNode || IsPlainFrame(diff_.sides[0], node.a)) &&
                         (node.b == kNoDiffNode || IsPlainFrame(diff_.sides[1], node.b));
      if (plain && node.end > n + 1) {
        ++n;  // its children come next
      } else {
        out.push_back(n);
        n = node.end;
      }
    }
  }
  return out;
}

// Opens one line after the other.
class LinePicker {
 public:
  LinePicker(const DiffView& view, std::size_t lines_max) : view_(view), lines_max_(lines_max) {}

  std::vector<DiffLine> Run(const Nodes& nodes) {
    for (Item& item : Group(nodes))
      Add(std::move(item), kNone);
    smallest_ = 0;
    for (const Item& item : items_)
      smallest_ += Weight(item.line) * 0.005;
    while (!open_.empty() && lines_ < lines_max_) {
      const std::size_t at = open_.top().second;
      open_.pop();
      Open(at);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].parent == kNone) Print(i);
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Item {
    DiffLine line;
    Nodes nodes;
    std::size_t parent = kNone;
    std::vector<std::size_t> children;
  };

  static double Weight(const DiffLine& line) { return std::max(line.us[0], line.us[1]); }

  // Equal siblings as one, the longest first.
  std::vector<Item> Group(const Nodes& nodes) const {
    std::map<std::pair<std::string, int>, Item> groups;
    for (const std::uint32_t n : nodes) {
      const MergedNode& node = view_.diff_.merged.nodes[n];
      const int sides = (node.a != kNoDiffNode ? 1 : 0) + (node.b != kNoDiffNode ? 2 : 0);
      Item& item = groups[{view_.NameOf(n), sides}];
      item.nodes.push_back(n);
      for (const int side : {0, 1}) {
        item.line.present[side] = (sides >> side & 1) != 0;
        item.line.us[side] += view_.Us(n, side);
      }
    }
    std::vector<Item> out;
    for (auto& [key, item] : groups) {
      item.line.name = key.first;
      item.line.count = item.nodes.size();
      if (Weight(item.line) > 0) out.push_back(std::move(item));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Item& a, const Item& b) { return Weight(a.line) > Weight(b.line); });
    return out;
  }

  void Add(Item item, std::size_t parent) {
    const std::size_t at = items_.size();
    item.parent = parent;
    item.line.depth = parent == kNone ? 0 : items_[parent].line.depth + 1;
    const double apart = std::abs(item.line.us[1] - item.line.us[0]);
    if (!item.line.more) open_.emplace(std::max(apart, Weight(item.line) * 0.1), at);
    if (parent != kNone) items_[parent].children.push_back(at);
    items_.push_back(std::move(item));
    ++lines_;
  }

  void Open(std::size_t at) {
    std::vector<Item> children = Group(view_.Shown(items_[at].nodes));
    if (children.empty()) return;
    Item rest;
    rest.line.more = true;
    rest.line.count = 0;
    const std::size_t room = lines_max_ - lines_;
    for (std::size_t i = 0; i < children.size(); ++i) {
      Item& child = children[i];
      const bool fits = i + 1 < room || (i + 1 == room && i + 1 == children.size());
      if (fits && Weight(child.line) >= smallest_) {
        Add(std::move(child), at);
        continue;
      }
      rest.line.count += child.line.count;
      for (const int side : {0, 1}) {
        rest.line.us[side] += child.line.us[side];
        rest.line.present[side] = rest.line.present[side] || child.line.present[side];
      }
    }
    if (rest.line.count > 0) Add(std::move(rest), at);
  }

  void Print(std::size_t top) {
    Nodes waiting = {static_cast<std::uint32_t>(top)};
    while (!waiting.empty()) {
      const Item& item = items_[waiting.back()];
      waiting.pop_back();
      out_.push_back(item.line);
      for (auto child = item.children.rbegin(); child != item.children.rend(); ++child)
        waiting.push_back(static_cast<std::uint32_t>(*child));
    }
  }

  const DiffView& view_;
  const std::size_t lines_max_;
  double smallest_ = 0;  // lines below are not worth one of their own
  std::size_t lines_ = 0;
  std::vector<Item> items_;
  std::priority_queue<std::pair<double, std::size_t>> open_;
  std::vector<DiffLine> out_;
};

std::vector<DiffLine> DiffView::Lines(const Nodes& nodes, std::size_t lines_max) const {
  return LinePicker(*this, lines_max).Run(nodes);
}

}  // namespace jarvis::analysis
