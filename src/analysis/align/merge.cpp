#include "analysis/align/merge.h"

#include <algorithm>
#include <map>
#include <set>

namespace jarvis::analysis {
namespace {

using List = std::vector<DiffIndex>;

struct Pair {
  DiffIndex a;
  DiffIndex b;
  bool matched() const { return a != kNoDiffNode && b != kNoDiffNode; }
};
using Pairs = std::vector<Pair>;

class Merger {
 public:
  Merger(const DiffTree& a, const DiffTree& b, const DiffRules& rules, Job& job)
      : trees_{&a, &b}, rules_(rules), job_(job) {}

  Result<MergedTree> Run() {
    const List& a = trees_[0]->roots;
    const List& b = trees_[1]->roots;
    for (std::size_t i = std::max(a.size(), b.size()); i-- > 0;) {
      waiting_.push_back(
          {i < a.size() ? a[i] : kNoDiffNode, i < b.size() ? b[i] : kNoDiffNode, kNoMerged});
    }
    const std::uint64_t all = trees_[0]->size() + trees_[1]->size();
    while (!waiting_.empty()) {
      if (out_.nodes.size() % 1024 == 0) {
        JV_TRY(job_.Check());
        job_.Report(out_.nodes.size(), all, "aligning");
      }
      const Waiting next = waiting_.back();
      waiting_.pop_back();
      Merge(next);
    }
    JV_TRY(job_.Check());  // what was stopped in the middle of a list is not whole
    Close();
    return std::move(out_);
  }

 private:
  struct Waiting {
    DiffIndex a;
    DiffIndex b;
    std::uint32_t parent;
  };

  const DiffNode& Node(int side, DiffIndex n) const { return trees_[side]->nodes[n]; }
  StringId Name(int side, DiffIndex n) const { return Node(side, n).name; }
  bool IsLaunch(int side, DiffIndex n) const { return Node(side, n).kind == DiffKind::kLaunch; }
  // Neither passed over nor replaced by what is below: the ends of a tree.
  bool IsEnd(int side, DiffIndex n) const { return trees_[side]->IsGpu(n) || IsLaunch(side, n); }

  List GpuChildren(int side, DiffIndex n) const {
    List out;
    for (const DiffIndex child : trees_[side]->ChildrenOf(n)) {
      if (Node(side, child).gpu_path) out.push_back(child);
    }
    Sort(side, &out);
    return out;
  }

  void Sort(int side, List* list) const {
    std::sort(list->begin(), list->end(),
              [&](DiffIndex x, DiffIndex y) { return trees_[side]->Before(x, y); });
  }

  std::set<StringId> NamesOf(int side, const List& list) const {
    std::set<StringId> names;
    for (const DiffIndex n : list)
      names.insert(Name(side, n));
    return names;
  }

  // What launched GPU work in one trace may have launched none in the other: it is the same call.
  void AddWithoutGpu(int side, DiffIndex parent, const List& others, List* list) const {
    if (trees_[side]->ChildrenOf(parent).size() == list->size()) return;
    const std::set<StringId> here = NamesOf(side, *list);
    std::map<StringId, DiffIndex> last;
    for (const StringId name : NamesOf(1 - side, others)) {
      if (here.count(name) == 0) last[name] = kNoDiffNode;
    }
    if (last.empty()) return;
    for (const DiffIndex child : trees_[side]->ChildrenOf(parent)) {
      const auto wanted = last.find(Name(side, child));
      if (wanted != last.end() && !Node(side, child).gpu_path) wanted->second = child;
    }
    for (const auto& [name, child] : last) {
      if (child != kNoDiffNode) list->push_back(child);
    }
    Sort(side, list);
  }

  // Down through wrappers: nodes with one child on the way to GPU work. An op that launches itself
  // is none.
  DiffIndex Collapsed(int side, DiffIndex n) const {
    for (;;) {
      if (IsLaunch(side, n)) return n;
      DiffIndex only = kNoDiffNode;
      int count = 0;
      bool launches = false;
      for (const DiffIndex child : trees_[side]->ChildrenOf(n)) {
        launches = launches || IsLaunch(side, child);
        if (!Node(side, child).gpu_path) continue;
        only = child;
        if (++count > 1) return n;
      }
      const DiffKind kind = Node(side, n).kind;
      if (count != 1 || (launches && kind == DiffKind::kOp)) return n;
      if (trees_[side]->IsGpu(only) && kind != DiffKind::kGraphLaunch) return n;
      n = only;
    }
  }

  // A list of one wrapper against several nodes: the wrapper's content takes its place.
  void Unwrap(int side, List* list, DiffIndex* node) const {
    if (list->size() != 1) return;
    const DiffIndex reached = Collapsed(side, list->front());
    if (IsLaunch(side, reached)) return;
    List below = GpuChildren(side, reached);
    if (below.size() < 2) return;
    *list = std::move(below);
    *node = reached;
  }

  Pairs Align(const List& a, const List& b, bool stripped) {
    Pairs out;
    const auto launch = [&](int side, const List& list) {
      return std::any_of(list.begin(), list.end(), [&](DiffIndex n) { return IsLaunch(side, n); });
    };
    if (rules_.pair_equal_lists_by_position && a.size() == b.size() && !launch(0, a) &&
        !launch(1, b)) {
      for (std::size_t i = 0; i < a.size(); ++i)
        out.push_back({a[i], b[i]});
      return out;
    }
    const auto names = [&](int side, const List& list) {
      std::vector<StringId> ids;
      for (const DiffIndex n : list)
        ids.push_back(stripped ? Node(side, n).stripped : Node(side, n).name);
      return ids;
    };
    const std::vector<StringId> names_a = names(0, a);
    const std::vector<StringId> names_b = names(1, b);
    Alignment steps = AlignNames(names_a, names_b, rules_.limits, job_, &out_.approximate);
    PairByWhatLiesBelow(
        names_a, names_b,
        [&](int side, std::uint32_t place) {
          return SignatureOf(side, side == 0 ? a[place] : b[place]);
        },
        rules_.limits, &steps, &out_.approximate);
    for (const AlignStep& step : steps) {
      out.push_back({step.a == kUnpaired ? kNoDiffNode : a[step.a],
                     step.b == kUnpaired ? kNoDiffNode : b[step.b]});
    }
    return out;
  }

  Signature SignatureOf(int side, DiffIndex n) const {
    Signature out;
    List level = {n};
    for (int depth = 0; depth < kSignatureLevels; ++depth) {
      List next;
      for (const DiffIndex at : level) {
        for (const DiffIndex child : trees_[side]->ChildrenOf(at)) {
          if (Node(side, child).gpu_path) next.push_back(child);
        }
      }
      std::vector<StringId>& names = out.emplace_back();
      for (const DiffIndex child : next)
        names.push_back(Name(side, child));
      std::sort(names.begin(), names.end());
      level = std::move(next);
    }
    return out;
  }

  static Pairs Matched(const Pairs& pairs) {
    Pairs out;
    std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(out),
                 [](const Pair& pair) { return pair.matched(); });
    return out;
  }
  // What is left over of one side, in order.
  static List Left(const Pairs& pairs, DiffIndex Pair::*side) {
    List out;
    for (const Pair& pair : pairs) {
      if (!pair.matched() && pair.*side != kNoDiffNode) out.push_back(pair.*side);
    }
    return out;
  }

  // What is left over may stand one level apart: inside a wrapper that the other trace has not.
  Pairs Reconcile(Pairs pairs) {
    // Beyond this the lists are too different for single wrappers to tell anything.
    constexpr std::size_t kLeftMax = 2000;
    const List left_a = Left(pairs, &Pair::a);
    const List left_b = Left(pairs, &Pair::b);
    if (left_a.empty() || left_b.empty()) return pairs;
    if (left_a.size() > kLeftMax || left_b.size() > kLeftMax) {
      out_.approximate = true;
      return pairs;
    }
    struct Inside {
      List nodes;
      std::vector<StringId> names;
      std::set<StringId> set;
      bool replaced = false;
    };
    const auto look = [&](int side, const List& list) {
      std::vector<Inside> out;
      for (const DiffIndex n : list) {
        Inside& in = out.emplace_back();
        if (IsEnd(side, n)) continue;
        in.nodes = GpuChildren(side, n);
        for (const DiffIndex child : in.nodes)
          in.names.push_back(Name(side, child));
        in.set.insert(in.names.begin(), in.names.end());
      }
      return out;
    };
    std::vector<Inside> in_a = look(0, left_a);
    std::vector<Inside> in_b = look(1, left_b);
    bool any = false;
    for (std::size_t i = 0; i < left_a.size(); ++i) {
      if (IsEnd(0, left_a[i])) continue;
      for (std::size_t j = 0; j < left_b.size() && !in_a[i].replaced; ++j) {
        if (in_b[j].replaced || IsEnd(1, left_b[j])) continue;
        if (in_b[j].set.count(Name(0, left_a[i])) != 0) {
          in_b[j].replaced = true;
        } else if (in_a[i].set.count(Name(1, left_b[j])) != 0) {
          in_a[i].replaced = true;
        } else if (!in_a[i].names.empty() && in_a[i].names == in_b[j].names) {
          in_a[i].replaced = in_b[j].replaced = true;
        }
        any = any || in_a[i].replaced || in_b[j].replaced;
      }
    }
    if (!any) return pairs;
    const auto rest = [&](int side, const List& list, const std::vector<Inside>& inside) {
      List out;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (inside[i].replaced) {
          out.insert(out.end(), inside[i].nodes.begin(), inside[i].nodes.end());
        } else {
          out.push_back(list[i]);
        }
      }
      Sort(side, &out);
      return out;
    };
    Pairs out = Matched(pairs);
    const Pairs more = Align(rest(0, left_a, in_a), rest(1, left_b, in_b), false);
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  // Wrappers around what is left over are passed over; then names are compared more loosely.
  Pairs Canonicalise(const Pairs& pairs) {
    List left_a = Left(pairs, &Pair::a);
    List left_b = Left(pairs, &Pair::b);
    if (left_a.empty() || left_b.empty()) return pairs;
    for (DiffIndex& n : left_a)
      n = Collapsed(0, n);
    for (DiffIndex& n : left_b)
      n = Collapsed(1, n);
    Pairs out = Matched(pairs);
    const Pairs again = Align(left_a, left_b, false);
    left_a = Left(again, &Pair::a);
    left_b = Left(again, &Pair::b);
    if (left_a.empty() || left_b.empty()) {
      out.insert(out.end(), again.begin(), again.end());
      return out;
    }
    const Pairs found = Matched(again);
    out.insert(out.end(), found.begin(), found.end());
    const Pairs loosely = Align(left_a, left_b, true);
    out.insert(out.end(), loosely.begin(), loosely.end());
    return out;
  }

  // What no name tells, but the place: frames left over between the same neighbours, as many on
  // either side; of ops, one on either side.
  Pairs PairByPlace(Pairs pairs) const {
    const List left[2] = {Left(pairs, &Pair::a), Left(pairs, &Pair::b)};
    if (left[0].empty() || left[1].empty()) return pairs;
    Pairs matched = Matched(pairs);
    std::map<std::pair<DiffIndex, DiffIndex>, std::pair<List, List>> gaps;  // by what stands before
    for (const int side : {0, 1}) {
      const auto of = [side](const Pair& pair) { return side == 0 ? pair.a : pair.b; };
      std::sort(matched.begin(), matched.end(),
                [&](const Pair& x, const Pair& y) { return trees_[side]->Before(of(x), of(y)); });
      for (const DiffIndex n : left[side]) {
        const auto after = std::partition_point(
            matched.begin(), matched.end(),
            [&](const Pair& pair) { return trees_[side]->Before(of(pair), n); });
        const Pair before = after == matched.begin() ? Pair{kNoDiffNode, kNoDiffNode} : after[-1];
        auto& gap = gaps[{before.a, before.b}];
        (side == 0 ? gap.first : gap.second).push_back(n);
      }
    }
    std::map<DiffIndex, DiffIndex> partner;
    for (auto& [before, gap] : gaps) {
      auto& [a, b] = gap;
      if (a.size() != b.size()) continue;
      Sort(0, &a);
      Sort(1, &b);
      bool alike = true;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const DiffKind kind = Node(0, a[i]).kind;
        alike = alike && kind == Node(1, b[i]).kind &&
                (kind == DiffKind::kFrame || (kind == DiffKind::kOp && a.size() == 1));
      }
      for (std::size_t i = 0; alike && i < a.size(); ++i)
        partner[a[i]] = b[i];
    }
    if (partner.empty()) return pairs;
    std::set<DiffIndex> taken;
    for (const auto& [a, b] : partner)
      taken.insert(b);
    Pairs out;
    for (const Pair& pair : pairs) {
      const auto found = pair.b == kNoDiffNode ? partner.find(pair.a) : partner.end();
      if (found != partner.end()) {
        out.push_back({pair.a, found->second});
      } else if (pair.a != kNoDiffNode || taken.count(pair.b) == 0) {
        out.push_back(pair);
      }
    }
    return out;
  }

  Pairs ChildPairs(MergedNode* node) {
    List a, b;
    if (node->a != kNoDiffNode) a = GpuChildren(0, node->a);
    if (node->b != kNoDiffNode) b = GpuChildren(1, node->b);
    if (node->combined()) {
      const List plain_a = a;
      AddWithoutGpu(0, node->a, b, &a);
      AddWithoutGpu(1, node->b, plain_a, &b);
    }
    if (a.size() != b.size()) {
      if (a.size() == 1) {
        Unwrap(0, &a, &node->a);
      } else {
        Unwrap(1, &b, &node->b);
      }
    }
    if (!node->combined()) {
      Pairs out;
      for (const DiffIndex n : a)
        out.push_back({n, kNoDiffNode});
      for (const DiffIndex n : b)
        out.push_back({kNoDiffNode, n});
      return out;
    }
    Pairs pairs = Canonicalise(Reconcile(Align(a, b, false)));
    return rules_.pair_equal_lists_by_position ? pairs : PairByPlace(std::move(pairs));
  }

  void Merge(const Waiting& next) {
    MergedNode node{next.a, next.b, next.parent, 0};
    const auto at = static_cast<std::uint32_t>(out_.nodes.size());
    out_.nodes.push_back(node);
    const Pairs pairs = ChildPairs(&node);
    out_.nodes[at] = node;
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair)
      waiting_.push_back({pair->a, pair->b, at});
  }

  void Close() {
    std::vector<MergedNode>& nodes = out_.nodes;
    for (std::size_t n = nodes.size(); n-- > 0;) {
      nodes[n].end = std::max(nodes[n].end, static_cast<std::uint32_t>(n + 1));
      if (nodes[n].parent == kNoMerged) continue;
      MergedNode& parent = nodes[nodes[n].parent];
      parent.end = std::max(parent.end, nodes[n].end);
    }
  }

  const DiffTree* trees_[2];
  const DiffRules& rules_;
  Job& job_;
  std::vector<Waiting> waiting_;
  MergedTree out_;
};

}  // namespace

Result<MergedTree> MergeTrees(const DiffTree& a, const DiffTree& b, const DiffRules& rules,
                              Job& job) {
  return Merger(a, b, rules, job).Run();
}

}  // namespace jarvis::analysis
