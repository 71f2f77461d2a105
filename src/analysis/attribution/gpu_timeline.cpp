#include "analysis/attribution/gpu_timeline.h"

#include <unordered_map>

#include "analysis/attribution/collective_kernel.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

bool IsCopyKernel(std::string_view name) {
  if (name.ends_with(".kd")) name.remove_suffix(3);
  if (name == "MEMORY_COPY_HOST_TO_DEVICE" || name == "MEMORY_COPY_DEVICE_TO_HOST" ||
      name == "MEMORY_COPY_DEVICE_TO_DEVICE") {
    return true;
  }
  static constexpr std::string_view kCopyBuffer = "__amd_rocclr_copyBuffer";
  if (!name.starts_with(kCopyBuffer)) return false;
  name.remove_prefix(kCopyBuffer.size());
  if (name.starts_with("Rect")) name.remove_prefix(4);
  if (name.starts_with("Aligned")) name.remove_prefix(7);
  return name.empty();
}

template <typename T>
double Us(T length);
template <>
double Us(double length) {
  return length;
}
template <>
double Us(std::int64_t length) {
  return trace::MicrosOf(length);
}

template <typename T>
GpuTimeline Compute(const EventStore& events, const std::vector<EventIndex> (&by_class)[3],
                    std::optional<double> threshold) {
  const auto set = [&](WorkClass c) {
    return Union(IntervalsOf<T>(events, by_class[static_cast<std::size_t>(c)]));
  };
  const IntervalSet<T> computation = set(WorkClass::kComputation);
  const IntervalSet<T> communication = set(WorkClass::kCommunication);
  const IntervalSet<T> memcpy = set(WorkClass::kMemcpy);
  std::vector<Interval<T>> all = computation;
  all.insert(all.end(), communication.begin(), communication.end());
  all.insert(all.end(), memcpy.begin(), memcpy.end());
  all = Union(std::move(all));

  GpuTimeline t;
  t.computation = Us(Length(computation));
  t.exposed_comm = Us(Length(Subtract(communication, computation)));
  t.exposed_memcpy = Us(Length(Subtract(Subtract(memcpy, computation), communication)));
  const T busy = Length(all);
  const T total = all.back().end - all.front().start;
  t.busy = Us(busy);
  t.total = Us(total);
  t.idle = Us(static_cast<T>(total - busy));
  t.total_comm = Us(Length(communication));
  t.total_memcpy = Us(Length(memcpy));
  if (threshold) {
    t.micro_idle = 0;
    t.macro_idle = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      const double gap = Us(static_cast<T>(all[i].start - all[i - 1].end));
      *(gap < *threshold ? t.micro_idle : t.macro_idle) += gap;
    }
  }
  return t;
}

}  // namespace

WorkClass ClassOf(EventKind kind, std::string_view name, Communicators who) {
  if (kind == EventKind::kMemcpy) return WorkClass::kMemcpy;
  if (kind == EventKind::kKernel && IsCopyKernel(name)) return WorkClass::kMemcpy;
  if (IsCollectiveName(name)) return WorkClass::kCommunication;
  if (who == Communicators::kAll && kind == EventKind::kKernel && CommFamilyOfKernel(name))
    return WorkClass::kCommunication;
  return WorkClass::kComputation;
}

WorkClass WorkClasses::Of(EventIndex e) {
  const trace::Event& event = events_[e];
  const std::uint64_t key =
      (std::uint64_t{event.name} << 8) | static_cast<std::uint64_t>(event.kind);
  const auto [found, added] = known_.try_emplace(key, WorkClass::kComputation);
  if (added) found->second = ClassOf(event.kind, events_.strings[event.name], who_);
  return found->second;
}

std::optional<GpuTimeline> ComputeGpuTimeline(const EventStore& events,
                                              std::span<const EventIndex> work, Clock clock,
                                              std::optional<double> micro_idle_thresh_us,
                                              Communicators who) {
  if (work.empty()) return std::nullopt;
  std::vector<EventIndex> by_class[3];
  WorkClasses classes(events, who);
  for (const EventIndex e : work)
    by_class[static_cast<std::size_t>(classes.Of(e))].push_back(e);
  return clock == Clock::kDoubleMicros
             ? Compute<double>(events, by_class, micro_idle_thresh_us)
             : Compute<std::int64_t>(events, by_class, micro_idle_thresh_us);
}

Table GpuTimelineTable(const std::optional<GpuTimeline>& timeline) {
  Table table{"gpu_timeline", {"type", "time ms", "percent"}, {}};
  const GpuTimeline t = timeline.value_or(GpuTimeline{});
  const auto add = [&](const char* type, double us) {
    if (!timeline) {
      table.rows.push_back({std::string(type), Cell(), Cell()});
      return;
    }
    const Cell percent = t.total > 0 ? Cell(us / t.total * 100) : Cell();
    table.rows.push_back({std::string(type), us / 1000, percent});
  };
  add("computation_time", t.computation);
  add("exposed_comm_time", t.exposed_comm);
  add("exposed_memcpy_time", t.exposed_memcpy);
  add("busy_time", t.busy);
  if (t.micro_idle) {
    add("micro_idle_time", *t.micro_idle);
    add("macro_idle_time", *t.macro_idle);
  } else {
    add("idle_time", t.idle);
  }
  add("total_time", t.total);
  add("total_comm_time", t.total_comm);
  add("total_memcpy_time", t.total_memcpy);
  return table;
}

Table RecomputeTimelineTable(const std::optional<GpuTimeline>& first,
                             const std::optional<GpuTimeline>& recomputed) {
  Table table = GpuTimelineTable(first);
  for (auto& row : table.rows)
    row.emplace_back(false);
  table.columns.emplace_back("is_recompute");
  if (!recomputed) return table;
  for (auto& row : GpuTimelineTable(recomputed).rows) {
    row.emplace_back(true);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace jarvis::analysis
