#include "compat/tracelens.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "compat/python_set.h"
#include "compat/tracelens_models.h"
#include "compat/tracelens_tree.h"
#include "perf/op_category.h"
#include "tree/recompute.h"

namespace jarvis::compat {
namespace {

using analysis::Attribution;
using analysis::Clock;
using analysis::Launcher;
using trace::EventKind;
using trace::EventStore;

class Attributor {
 public:
  Attributor(const EventStore& events, const TraceLensTree& tree, const TraceLensOptions& options)
      : events_(events), options_(options), tree_(tree) {
    if (options.pseudo_ops) result_.pseudo = FindPseudoOpsLikeTraceLens(events, tree);
  }

  // By event: below a frame in which a checkpoint runs the forward pass again, or such a frame.
  std::vector<char> MarkRecompute() const {
    std::vector<char> marked(events_.size(), 0);
    for (EventIndex e = 0; e < events_.size(); ++e) {
      for (EventIndex up = e; up != kNoEvent; up = tree_.parent[up]) {
        if (events_[up].kind == EventKind::kPythonFunction &&
            tree::IsRecomputeFrame(events_.name(up))) {
          marked[e] = 1;
          break;
        }
      }
    }
    return marked;
  }

  Attribution Run() {
    result_.clock = Clock::kDoubleMicros;
    result_.cpu_ops = false;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const EventKind kind = TraceLensKind(events_, e);
      result_.cpu_ops = result_.cpu_ops || kind == EventKind::kCpuOp;
      if (!trace::IsGpuWork(kind)) continue;
      if (tree_.in_tree[e] != 0 || options_.include_unlinked_kernels) result_.timeline.push_back(e);
      // P11: the kernel tables know kernels only.
      if (kind == EventKind::kKernel) result_.places.push_back({e, tree_.parent[e], NearestOp(e)});
      AddToLauncher(e);
    }
    CollectSubtrees();
    std::vector<std::size_t> order(owners_.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return tree_.ts[owners_[a].event] < tree_.ts[owners_[b].event];
    });
    for (const std::size_t i : order)
      AddLauncher(&owners_[i]);
    return std::move(result_);
  }

 private:
  struct Owner {
    EventIndex event;
    std::vector<EventIndex> kernels;
    std::vector<EventIndex> subtree;
  };

  bool IsPseudo(EventIndex e) const { return result_.pseudo.AtFrame(e) != nullptr; }

  EventIndex NearestOp(EventIndex e) const {
    for (EventIndex up = tree_.parent[e]; up != kNoEvent; up = tree_.parent[up]) {
      if (TraceLensKind(events_, up) == EventKind::kCpuOp || IsPseudo(up)) return up;
    }
    return kNoEvent;
  }

  // T10: a call nested in another call ends the climb, so that the inner call is the launcher.
  EventIndex LauncherOf(EventIndex call) const {
    for (EventIndex up = tree_.parent[call]; up != kNoEvent; up = tree_.parent[up]) {
      const EventKind kind = TraceLensKind(events_, up);
      if (IsPseudo(up)) return up;
      if (kind == EventKind::kPythonFunction) continue;
      if (kind != EventKind::kCpuOp) return call;
      if (events_.name(up) != "execute") return up;
    }
    return call;
  }

  void AddToLauncher(EventIndex kernel) {
    const EventIndex call = tree_.parent[kernel];
    if (call == kNoEvent || analysis::IsCollectiveName(events_.name(kernel))) return;
    const EventIndex owner = LauncherOf(call);
    const auto [found, added] = owner_index_.try_emplace(owner, owners_.size());
    if (added) owners_.push_back({owner, {}, {}});
    owners_[found->second].kernels.push_back(kernel);
  }

  void CollectSubtrees() {
    for (const auto& [call, kernel] : tree_.links) {
      for (EventIndex up = call; up != kNoEvent; up = tree_.parent[up]) {
        const auto owner = owner_index_.find(up);
        if (owner != owner_index_.end()) owners_[owner->second].subtree.push_back(kernel);
      }
    }
  }

  void AddLauncher(Owner* owner) {
    std::stable_sort(owner->kernels.begin(), owner->kernels.end(),
                     [&](EventIndex a, EventIndex b) { return tree_.ts[a] < tree_.ts[b]; });
    Launcher launcher;
    launcher.op = owner->event;
    launcher.first = static_cast<std::uint32_t>(result_.kernels.size());
    launcher.count = static_cast<std::uint32_t>(owner->kernels.size());
    launcher.direct_us = analysis::BusyUs(events_, owner->kernels, Clock::kDoubleMicros);
    launcher.subtree_us = analysis::BusyUs(events_, owner->subtree, Clock::kDoubleMicros);
    launcher.category = result_.PlaceOfCategory(perf::CategoryOfOp(
        options_.models != nullptr ? *options_.models : TraceLensModels(),
        result_.pseudo.NameOf(events_, owner->event), events_.name(owner->kernels.front())));
    result_.kernels.append(owner->kernels.data(), owner->kernels.size());
    result_.launchers.push_back(launcher);
  }

  const EventStore& events_;
  const TraceLensOptions& options_;
  const TraceLensTree& tree_;
  Attribution result_;
  std::vector<Owner> owners_;  // in order of their first kernel
  std::unordered_map<EventIndex, std::size_t> owner_index_;
};

// Ascending order of the values by the introsort that the reference's library uses (P39): above 16
// rows, where equal values end up depends on its partitions. Its fallback for degenerate input, a
// heap sort, is not reproduced: it needs depths that tables do not reach.
std::vector<std::size_t> LibraryAscending(std::span<const double> values) {
  constexpr std::ptrdiff_t kSmall = 16;
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  const auto less = [&](std::size_t a, std::size_t b) { return values[a] < values[b]; };
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> waiting = {
      {0, static_cast<std::ptrdiff_t>(order.size()) - 1}};
  const auto at = [&](std::ptrdiff_t i) -> std::size_t& {
    return order[static_cast<std::size_t>(i)];
  };
  while (!waiting.empty()) {
    auto [left, right] = waiting.back();
    waiting.pop_back();
    while (right - left > kSmall) {
      const std::ptrdiff_t middle = left + (right - left) / 2;
      if (less(at(middle), at(left))) std::swap(at(middle), at(left));
      if (less(at(right), at(middle))) std::swap(at(right), at(middle));
      if (less(at(middle), at(left))) std::swap(at(middle), at(left));
      const std::size_t pivot = at(middle);
      std::ptrdiff_t i = left;
      std::ptrdiff_t j = right - 1;
      std::swap(at(middle), at(j));
      for (;;) {
        do {
          ++i;
        } while (less(at(i), pivot));
        do {
          --j;
        } while (less(pivot, at(j)));
        if (i >= j) break;
        std::swap(at(i), at(j));
      }
      std::swap(at(i), at(right - 1));
      if (i - left < right - i) {
        waiting.emplace_back(i + 1, right);
        right = i - 1;
      } else {
        waiting.emplace_back(left, i - 1);
        left = i + 1;
      }
    }
    for (std::ptrdiff_t i = left + 1; i <= right; ++i) {
      const std::size_t value = at(i);
      std::ptrdiff_t j = i;
      for (; j > left && less(value, at(j - 1)); --j)
        at(j) = at(j - 1);
      at(j) = value;
    }
  }
  return order;
}

std::vector<std::size_t> LibraryDescending(std::span<const double> values) {
  const std::vector<double> reversed(values.rbegin(), values.rend());
  std::vector<std::size_t> order = LibraryAscending(reversed);
  std::reverse(order.begin(), order.end());
  for (std::size_t& row : order)
    row = values.size() - 1 - row;
  return order;
}

// P13: other types have no size.
std::optional<std::int64_t> ElementBytes(std::string_view dtype) {
  for (const char* known :
       {"Float", "Int", "Long", "BFloat16", "Bool", "Byte", "Double", "Half", "Short"}) {
    if (dtype == known) return analysis::CollectiveElementBytes(dtype);
  }
  return std::nullopt;
}

// Names as they are spelled in the reference's lists.
analysis::CollectiveType TypeOf(std::string_view name) {
  using analysis::CollectiveType;
  constexpr std::pair<std::string_view, CollectiveType> kTypes[] = {
      {"allreduce", CollectiveType::kAllReduce},
      {"allreduce_coalesced", CollectiveType::kAllReduce},
      {"reducescatter", CollectiveType::kReduceScatter},
      {"_reduce_scatter_base", CollectiveType::kReduceScatter},
      {"reduce_scatter_tensor_coalesced", CollectiveType::kReduceScatter},
      {"allgather", CollectiveType::kAllGather},
      {"all_gather", CollectiveType::kAllGather},
      {"_allgather_base", CollectiveType::kAllGather},
      {"all_gather_into_tensor_coalesced", CollectiveType::kAllGather},
      {"allgather_into_tensor_coalesced", CollectiveType::kAllGather},
      {"all_to_all", CollectiveType::kAllToAll},
      {"all_to_allv", CollectiveType::kAllToAllV},
  };
  for (const auto& [known, type] : kTypes) {
    if (name == known) return type;
  }
  return CollectiveType::kOther;
}

// T14.
void OrderPartners(const EventStore& events, std::vector<EventIndex>* partners) {
  std::vector<std::uint64_t> uids;
  std::unordered_map<std::uint64_t, EventIndex> by_uid;
  for (const EventIndex e : *partners) {
    uids.push_back(events[e].uid);
    by_uid[events[e].uid] = e;
  }
  partners->clear();
  for (const std::uint64_t uid : InPythonSetOrder(uids))
    partners->push_back(by_uid[uid]);
}

}  // namespace

analysis::TableRules TraceLensRules() {
  analysis::TableRules rules;
  rules.clock = Clock::kDoubleMicros;
  rules.skip_deviating_kernel_lists = true;  // P8
  rules.drop_null_keys = true;               // P12
  rules.descending = &LibraryDescending;     // P39
  rules.models = &TraceLensModels();
  rules.megabyte = 1024.0 * 1024.0;      // E40
  rules.float_parameter_columns = true;  // A4
  rules.stack_frames_max = std::numeric_limits<std::size_t>::max();
  rules.empty_stack_tail = true;
  rules.empty_sums_are_zero = true;           // as its library adds
  rules.overlap_names_by_first_sight = true;  // T14
  // P13, P18.
  rules.collectives = {.element_bytes = &ElementBytes,
                       .rank = 0,
                       .name_missing_groups = true,
                       .name_from_kernel = false,
                       .kernel_args_only = true,
                       .type_of = &TypeOf,
                       .split_groups = false,            // P19
                       .skew_before_last_end = true,     // P20
                       .destination_is_position = true,  // P21
                       .own_columns = false,
                       .tenths = true};
  return rules;
}

Attribution AttributeLikeTraceLens(const EventStore& events, const TraceLensOptions& options,
                                   std::vector<char>* recompute) {
  return AttributeLikeTraceLens(events, BuildTraceLensTree(events, options.python_frames), options,
                                recompute);
}

Attribution AttributeLikeTraceLens(const EventStore& events, const TraceLensTree& tree,
                                   const TraceLensOptions& options, std::vector<char>* recompute) {
  Attributor attributor(events, tree, options);
  if (recompute != nullptr) *recompute = attributor.MarkRecompute();
  return attributor.Run();
}

analysis::PseudoOps FindPseudoOpsLikeTraceLens(const EventStore& events,
                                               const TraceLensTree& tree) {
  analysis::PseudoTree walked{events, {}, tree.links, [&](EventIndex e) { return tree.parent[e]; }};
  for (EventIndex e = 0; e < events.size(); ++e) {
    if (tree.in_tree[e] != 0 && !trace::IsGpuWork(TraceLensKind(events, e)))
      walked.hosts.push_back(e);
  }
  std::stable_sort(walked.hosts.begin(), walked.hosts.end(),
                   [&](EventIndex a, EventIndex b) { return tree.ts[a] < tree.ts[b]; });
  return analysis::FindPseudoOps(walked, {.none_with_paged_attention = true});  // T15
}

analysis::OverlapOptions TraceLensOverlapOptions() {
  // T13: no list of ops, so that work of one op can overlap with itself.
  return {.clock = Clock::kDoubleMicros, .op_of = {}, .order = &OrderPartners};
}

void ShapeEmptyShortKernels(const analysis::TableInput& input, double threshold_us, Table* table) {
  if (!table->rows.empty()) return;
  table->columns.clear();
  const auto is_short = [&](const analysis::KernelPlace& place) {
    return input.events.dur_us(place.kernel) < threshold_us;
  };
  const auto& places = input.attribution.places;
  if (std::none_of(places.begin(), places.end(), is_short)) return;
  table->columns.assign(3, "Kernel duration (µs)");
  table->rows.push_back({std::string("sum"), std::string("count"), std::string("mean")});
}

}  // namespace jarvis::compat
