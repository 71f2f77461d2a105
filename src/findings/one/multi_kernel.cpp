#include "findings/one/multi_kernel.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_set>

#include "analysis/attribution/arg_text.h"
#include "analysis/attribution/clock.h"
#include "analysis/attribution/collective_kernel.h"
#include "analysis/attribution/gpu_timeline.h"
#include "analysis/attribution/table_rules.h"
#include "analysis/host/runtime_calls.h"
#include "analysis/tables/callers.h"
#include "base/interval.h"
#include "base/text.h"
#include "findings/one/batch_uploads.h"
#include "findings/one/enum_text.h"
#include "findings/one/exclusive.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;
using Set = IntervalSet<std::int64_t>;

constexpr std::size_t kSitesMax = 20;
constexpr std::size_t kCollectivesMax = 50;
constexpr std::size_t kBeneathMax = 3;

// Of the interval, what a set does not cover.
double UncoveredUs(const Set& set, std::int64_t start, std::int64_t end) {
  std::int64_t covered = 0;
  auto piece = std::lower_bound(set.begin(), set.end(), start,
                                [](const auto& one, std::int64_t at) { return one.end <= at; });
  for (; piece != set.end() && piece->start < end; ++piece)
    covered += std::min(piece->end, end) - std::max(piece->start, start);
  return trace::MicrosOf(end - start - covered);
}

// How much of the message crosses each link, for a bus bandwidth: NCCL's own factors.
double TrafficFactor(std::string_view collective, std::int64_t ranks) {
  const double n = static_cast<double>(ranks);
  if (n < 2) return 1;
  if (ContainsNoCase(collective, "allreduce") || ContainsNoCase(collective, "all_reduce"))
    return 2 * (n - 1) / n;
  if (ContainsNoCase(collective, "gather") || ContainsNoCase(collective, "scatter") ||
      ContainsNoCase(collective, "all_to_all") || ContainsNoCase(collective, "alltoall")) {
    return (n - 1) / n;
  }
  return 1;
}

class MultiKernel {
 public:
  explicit MultiKernel(const session::LoadedTrace& trace)
      : trace_(trace),
        events_(trace.events()),
        tree_(trace.tree()),
        chains_(trace.events(), trace.tree()),
        // Nobody can stop this one, so that it cannot fail.
        frames_(session::FramesOf(trace, Job()).value()) {}

  MultiKernelAnalysis Run() {
    if (!trace_.timeline()) return std::move(out_);
    Totals();
    Split();
    Copies();
    Collectives();
    Patterns();
    return std::move(out_);
  }

 private:
  void Totals() {
    const analysis::GpuTimeline& t = *trace_.timeline();
    out_.has_gpu_work = true;
    out_.window_us = t.total;
    out_.computation_us = t.computation;
    out_.comm_us = t.total_comm;
    out_.exposed_comm_us = t.exposed_comm;
    out_.copy_us = t.total_memcpy;
    out_.exposed_copy_us = t.exposed_memcpy;
    if (t.total_comm > 0) out_.comm_overlap_ratio = 1 - t.exposed_comm / t.total_comm;
    if (t.total_memcpy > 0) out_.copy_overlap_ratio = 1 - t.exposed_memcpy / t.total_memcpy;
    const std::optional<std::int64_t> world = trace_.trace().metadata.world_size;
    out_.one_rank = !(world && *world <= 1);
    out_.ranks_in_file = trace_.rank_part() && trace_.rank_part()->ranks.size() > 1;
  }

  void Split() {
    const analysis::TimeFrames& frames = frames_->frames;
    analysis::WorkClasses classes(events_, analysis::Communicators::kAll);
    for (const EventIndex e : trace_.attribution().timeline) {
      const bool own = !frames.IsLeftOut(e);
      switch (classes.Of(e)) {
        case analysis::WorkClass::kComputation:
          computation_.push_back(e);
          if (own) own_computation_.push_back(e);
          break;
        case analysis::WorkClass::kCommunication:
          if (own) communication_.push_back(e);
          break;
        case analysis::WorkClass::kMemcpy:
          if (own) copies_.push_back(e);
          break;
      }
    }
    const auto by_start = [&](EventIndex a, EventIndex b) {
      return std::pair(events_[a].ts_ns, a) < std::pair(events_[b].ts_ns, b);
    };
    std::sort(computation_.begin(), computation_.end(), by_start);
    std::sort(communication_.begin(), communication_.end(), by_start);
    computing_ = Union(analysis::IntervalsOf<std::int64_t>(events_, computation_));
    auto both = analysis::IntervalsOf<std::int64_t>(events_, communication_);
    both.insert(both.end(), computing_.begin(), computing_.end());
    working_ = Union(std::move(both));
    if (!frames.left_out.empty()) OwnTotals();
    out_.comm_count = communication_.size();
    out_.copy_count = copies_.size();
  }

  // What was launched before the recording, or in a step that is left out, is no step's.
  void OwnTotals() {
    const auto own = [&](const std::vector<EventIndex>& work) {
      return Union(analysis::IntervalsOf<std::int64_t>(events_, work));
    };
    const auto measure = [](const Set& all, const Set& beside, double* us, double* exposed_us,
                            std::optional<double>* ratio) {
      *us = trace::MicrosOf(Length(all));
      *exposed_us = trace::MicrosOf(Length(Subtract(all, beside)));
      ratio->reset();
      if (*us > 0) *ratio = 1 - *exposed_us / *us;
    };
    measure(own(communication_), computing_, &out_.comm_us, &out_.exposed_comm_us,
            &out_.comm_overlap_ratio);
    measure(own(copies_), working_, &out_.copy_us, &out_.exposed_copy_us, &out_.copy_overlap_ratio);
    out_.computation_us = trace::MicrosOf(Length(own(own_computation_)));
    if (frames_->frames.apart()) out_.window_us = trace::MicrosOf(frames_->frames.steady.own_ns());
  }

  std::optional<double> BytesOf(EventIndex e) const {
    const std::string_view more = events_.text(events_.args_of(e).other);
    for (const char* key : {"bytes", "Bytes", "size"}) {
      const auto value = ParseDouble(trace::Unquoted(trace::MemberOf(more, key)));
      if (value && *value > 0) return value;
    }
    return std::nullopt;
  }

  EventIndex OpOf(EventIndex gpu) const {
    for (EventIndex up = tree_.parent(gpu); up != kNoEvent; up = tree_.parent(up)) {
      if (events_[up].kind == EventKind::kCpuOp) return up;
    }
    return kNoEvent;
  }

  std::unordered_set<std::uint32_t> ComputingStreams() const {
    std::unordered_set<std::uint32_t> streams;
    for (const EventIndex e : computation_)
      streams.insert(events_[e].track);
    return streams;
  }

  void Copies() {
    std::map<CopyDirection, CopyGroup> groups;
    std::map<CopyDirection, double> timed_us;  // of copies that recorded their bytes
    std::map<CopyDirection, std::vector<CopyGroup::Large>> each;
    const std::unordered_set<std::uint32_t> computing = ComputingStreams();
    struct Site {
      CopySite site;
      EventIndex first = kNoEvent;
    };
    std::map<std::tuple<CopyDirection, analysis::ChainTree::Node, std::string>, Site> sites;
    for (const EventIndex e : copies_) {
      const trace::Event& event = events_[e];
      const double us = trace::MicrosOf(event.dur_ns);
      const CopyDirection direction = DirectionOf(trace_, e);
      CopyGroup& group = groups[direction];
      group.direction = direction;
      ++group.count;
      group.total_us += us;
      group.max_us = std::max(group.max_us, us);
      if (!computing.contains(event.track)) group.aside_us += us;
      group.exposed_us += UncoveredUs(working_, event.ts_ns, event.end_ns());
      if (ContainsNoCase(events_.name(e), "pageable")) {
        ++group.pageable;
        group.pageable_us += us;
        if (direction == CopyDirection::kToDevice && IsJustMade(trace_, OpOf(e)))
          group.made_us += us;
      }
      const auto bytes = BytesOf(e);
      each[direction].push_back({us, bytes.value_or(0), false});
      if (bytes) {
        group.bytes = group.bytes.value_or(0) + *bytes;
        timed_us[direction] += us;
      }
      const EventIndex launch = tree_.parent(e);
      const EventIndex op = OpOf(e);
      const std::string name(op == kNoEvent ? std::string_view() : events_.name(op));
      const auto node = launch == kNoEvent ? analysis::ChainTree::kRoot : chains_.Of(launch);
      Site& place = sites[{direction, node, name}];
      CopySite& site = place.site;
      if (site.count++ == 0) {
        place.first = e;
        site.direction = direction;
        site.op = name;
        site.uid = event.uid;
      }
      site.total_us += us;
      if (bytes) site.bytes = site.bytes.value_or(0) + *bytes;
      site.blocking = site.blocking || Blocks(launch, op);
    }
    for (auto& [direction, group] : groups) {
      if (group.bytes && timed_us[direction] > 0)
        group.tb_per_s = *group.bytes / timed_us[direction] / 1e6;
      group.large = LargeOf(std::move(each[direction]), group.total_us);
      Flag(&group);
      out_.copies.push_back(std::move(group));
    }
    for (auto& [key, place] : sites) {
      Describe(std::get<1>(key), place.first, &place.site);
      out_.copy_sites.push_back(std::move(place.site));
    }
    std::stable_sort(out_.copy_sites.begin(), out_.copy_sites.end(),
                     [](const auto& a, const auto& b) { return a.total_us > b.total_us; });
    if (out_.copy_sites.size() > kSitesMax) out_.copy_sites.resize(kSitesMax);
  }

  void Flag(CopyGroup* group) const {
    const CopyDirection direction = group->direction;
    if (out_.window_us > 0) group->percent_of_total = group->total_us / out_.window_us * 100;
    const bool crosses =
        direction == CopyDirection::kToHost || direction == CopyDirection::kToDevice;
    const double exposed = out_.window_us > 0 ? group->exposed_us / out_.window_us * 100 : 0;
    const bool pageable = group->pageable > 0 && exposed > limits::kPageableShare;
    group->flagged = crosses
                         ? pageable || group->percent_of_total.value_or(0) > limits::kCopyShare ||
                               static_cast<double>(group->count) > limits::kCopyCount
                         : direction == CopyDirection::kOnDevice && exposed > limits::kCopyShare;
  }

  static std::vector<CopyGroup::Large> LargeOf(std::vector<CopyGroup::Large> all, double total_us) {
    constexpr std::size_t kFew = 3;
    constexpr double kNearlyAll = 0.9;
    std::map<double, std::size_t> sizes;
    for (const CopyGroup::Large& one : all)
      ++sizes[one.bytes];
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.us > b.us; });
    double us = 0;
    for (std::size_t i = 0; i < std::min(kFew, all.size()); ++i) {
      all[i].once = all[i].bytes > 0 && sizes[all[i].bytes] == 1;
      us += all[i].us;
      if (us <= kNearlyAll * total_us) continue;
      all.resize(i + 1);
      return all;
    }
    return {};
  }

  // Whether the host waited for the copy: a synchronous call, or a synchronisation in its op.
  bool Blocks(EventIndex launch, EventIndex op) const {
    if (launch == kNoEvent || !trace::IsLaunchCall(events_[launch].kind)) return false;
    if (analysis::IsSyncCall(events_.name(launch))) return true;
    if (op == kNoEvent) return false;
    const auto below = tree_.Subtree(op);
    return std::any_of(below.begin(), below.end(), [&](EventIndex e) {
      return trace::IsLaunchCall(events_[e].kind) && analysis::IsSyncCall(events_.name(e));
    });
  }

  void Describe(analysis::ChainTree::Node node, EventIndex first, CopySite* site) {
    const auto frames = chains_.Frames(node);
    site->module_path = analysis::ModulePath(frames);
    site->code = analysis::CodePlaces(frames, 4);
    const EventIndex op = OpOf(first);
    if (op == kNoEvent) return;
    for (const analysis::SummaryRow& row : trace_.SummaryBy(analysis::GroupBy::kOp).rows) {
      if (row.name == site->op) site->row_id = row.id;
    }
  }

  static std::string TextOf(std::string_view raw) { return trace::Unescape(trace::Unquoted(raw)); }

  void Collectives() {
    using Key = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
    struct Sum {
      CollectiveRow row;
      std::map<std::string_view, double> beneath;
    };
    std::map<Key, Sum> rows;
    std::size_t first = 0;  // of the computation that may still run
    for (const EventIndex e : communication_) {
      const trace::Event& event = events_[e];
      out_.nccl = out_.nccl || ContainsNoCase(events_.name(e), "nccl") ||
                  ContainsNoCase(events_.name(e), "rccl");
      const std::string_view more = events_.text(events_.args_of(e).other);
      std::string name = TextOf(trace::MemberOf(more, "Collective name"));
      if (name.empty()) name = NameOfKernel(events_.name(e));
      const std::string dtype = TextOf(trace::MemberOf(more, "dtype"));
      const auto elements =
          std::max(ParseInt(trace::Unquoted(trace::MemberOf(more, "In msg nelems"))).value_or(0),
                   ParseInt(trace::Unquoted(trace::MemberOf(more, "Out msg nelems"))).value_or(0));
      const auto ranks = ParseInt(trace::Unquoted(trace::MemberOf(more, "Group size")));
      Sum& sum = rows[{name, dtype, elements, ranks.value_or(0)}];
      CollectiveRow& row = sum.row;
      const double us = trace::MicrosOf(event.dur_ns);
      if (row.count++ == 0) {
        row.name = name;
        row.dtype = dtype;
        row.group_size = ranks;
        row.uid = event.uid;
        row.example = e;
        if (const EventIndex op = OpOf(e); op != kNoEvent) row.op = events_.name(op);
        const auto size = analysis::CollectiveElementBytes(dtype);
        if (elements > 0 && size)
          row.bytes = static_cast<double>(elements) * static_cast<double>(*size);
      }
      row.total_us += us;
      row.exposed_us += UncoveredUs(computing_, event.ts_ns, event.end_ns());
      while (first < computation_.size() && events_[computation_[first]].end_ns() < event.ts_ns)
        ++first;
      for (std::size_t i = first;
           i < computation_.size() && events_[computation_[i]].ts_ns < event.end_ns(); ++i) {
        const trace::Event& other = events_[computation_[i]];
        const std::int64_t both =
            std::min(other.end_ns(), event.end_ns()) - std::max(other.ts_ns, event.ts_ns);
        if (both > 0) sum.beneath[events_.name(computation_[i])] += trace::MicrosOf(both);
      }
    }
    for (auto& [key, sum] : rows) {
      CollectiveRow& row = sum.row;
      if (row.bytes && row.total_us > 0) {
        row.algorithm_gb_per_s = *row.bytes * static_cast<double>(row.count) / row.total_us / 1e3;
        if (row.group_size)
          row.bus_gb_per_s = *row.algorithm_gb_per_s * TrafficFactor(row.name, *row.group_size);
      }
      std::vector<std::pair<double, std::string_view>> beneath;
      for (const auto& [name, us] : sum.beneath)
        beneath.emplace_back(-us, name);
      std::sort(beneath.begin(), beneath.end());
      for (std::size_t i = 0; i < beneath.size() && i < kBeneathMax; ++i)
        row.beneath.emplace_back(beneath[i].second);
      out_.collectives.push_back(std::move(row));
    }
    std::stable_sort(out_.collectives.begin(), out_.collectives.end(),
                     [](const auto& a, const auto& b) { return a.total_us > b.total_us; });
    if (out_.collectives.size() > kCollectivesMax) out_.collectives.resize(kCollectivesMax);
  }

  static std::string NameOfKernel(std::string_view kernel) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"allreduce", "allreduce"},  {"cross_device_reduce", "allreduce"},
        {"all_reduce", "allreduce"}, {"reduce_scatter", "reduce_scatter"},
        {"all_gather", "allgather"}, {"all_to_all", "all_to_all"},
        {"allgather", "allgather"},  {"reducescatter", "reduce_scatter"},
        {"alltoall", "all_to_all"},  {"broadcast", "broadcast"},
        {"sendrecv", "send_recv"},   {"reduce", "reduce"}};
    for (const auto& [part, name] : kNames) {
      if (ContainsNoCase(kernel, part)) return std::string(name);
    }
    const auto family = analysis::CommFamilyOfKernel(kernel);
    return std::string(analysis::CommFamilyName(family.value_or(analysis::CommFamily::kOther)));
  }

  void Patterns() {
    const auto share = [&](double us) {
      return out_.window_us > 0 ? us / out_.window_us * 100 : 0;
    };
    out_.comm_flagged = share(out_.exposed_comm_us) > limits::kExposedComm;
    out_.overlap_flagged = out_.comm_us >= limits::kCommMinUs && out_.comm_overlap_ratio &&
                           *out_.comm_overlap_ratio < limits::kOverlapRatio;
    for (const CopyGroup& group : out_.copies) {
      if (!group.flagged) continue;
      out_.patterns.emplace_back(group.direction == CopyDirection::kToHost ? "high_d2h_memcpy"
                                 : group.direction == CopyDirection::kOnDevice
                                     ? "exposed_d2d_memcpy"
                                     : "high_h2d_memcpy");
    }
    if (out_.comm_flagged) out_.patterns.emplace_back("nccl_blocking_compute");
    if (out_.overlap_flagged) out_.patterns.emplace_back("poor_comm_compute_overlap");
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  analysis::ChainTree chains_;
  const std::shared_ptr<const session::TraceFrames> frames_;
  std::vector<EventIndex> computation_;  // all of it: what hides the rest
  std::vector<EventIndex> own_computation_, communication_, copies_;  // of the steps
  Set computing_;                                                     // computation
  Set working_;  // computation and communication
  MultiKernelAnalysis out_;
};

}  // namespace

CopyDirection DirectionOf(const session::LoadedTrace& trace, trace::EventIndex copy) {
  const trace::EventStore& events = trace.events();
  CopyDirection named = DirectionOf(events.name(copy));
  // AMD's copy kernel copies in any direction; mostly within a device.
  if (ContainsNoCase(events.name(copy), "copybuffer")) named = CopyDirection::kOnDevice;
  const EventIndex call = trace.tree().parent(copy);
  if (named != CopyDirection::kOnDevice || call == kNoEvent) return named;
  const StringId other = events.args_of(call).other;
  if (!trace::IsLaunchCall(events[call].kind) || other == kNoString) return named;
  // hipMemcpyKind, a number or its text.
  std::string_view text = events.text(other);
  constexpr std::string_view kKey = "\"kind\"";
  const std::size_t at = text.find(kKey);
  if (at == text.npos) return named;
  text.remove_prefix(at + kKey.size());
  const std::size_t digit = text.find_first_not_of(": \"");
  if (digit == text.npos) return named;
  if (text[digit] == '1') return CopyDirection::kToDevice;
  return text[digit] == '2' ? CopyDirection::kToHost : named;
}

bool LeavesDevice(const session::LoadedTrace& trace, std::span<const EventIndex> work) {
  return !work.empty() && std::all_of(work.begin(), work.end(), [&](EventIndex e) {
    return trace.events()[e].kind == trace::EventKind::kMemcpy &&
           DirectionOf(trace, e) != CopyDirection::kOnDevice;
  });
}

std::string_view DirectionText(CopyDirection direction) {
  return EnumText({"D2H", "H2D", "D2D", "P2P", "other"}, direction);
}

MultiKernelAnalysis AnalyzeMultiKernel(const session::LoadedTrace& trace) {
  return MultiKernel(trace).Run();
}

}  // namespace jarvis::findings
