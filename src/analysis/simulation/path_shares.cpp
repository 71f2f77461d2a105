#include "analysis/simulation/path_shares.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"

namespace jarvis::analysis {
namespace {

using trace::Event;
using trace::EventIndex;
using trace::EventKind;

std::size_t PlaceOfClass(PathClass path_class) {
  return static_cast<std::size_t>(path_class);
}

PathClass Prevailing(const PathShares& shares) {
  const auto* most = std::max_element(std::begin(shares.us), std::end(shares.us));
  return static_cast<PathClass>(most - std::begin(shares.us));
}

void Join(PathStretch* stretch, const PathStretch& next) {
  stretch->end_us = next.end_us;
  for (std::size_t c = 0; c < kPathClasses; ++c)
    stretch->shares.us[c] += next.shares.us[c];
}

// "<built-in method f of C object at 0x7f01>" without what differs from run to run.
std::string WithoutAddress(std::string_view name) {
  constexpr std::string_view kAt = " at 0x";
  std::string kept;
  for (;;) {
    const std::size_t at = name.find(kAt);
    kept += name.substr(0, at);
    if (at == std::string_view::npos) return kept;
    const std::size_t end = name.find_first_not_of("0123456789abcdefABCDEF", at + kAt.size());
    if (end == std::string_view::npos) return kept;
    name.remove_prefix(end);
  }
}

// A piece of host time on the path.
struct HostPiece {
  std::uint32_t track;
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

class OwnerFinder {
 public:
  OwnerFinder(const trace::EventStore& events, const tree::CallTree& tree,
              const Attribution& attribution, const RecordedWork& recorded, PathOwnership ownership)
      : events_(events),
        recorded_(recorded),
        by_module_(ownership == PathOwnership::kModule),
        chains_(events, tree) {
    for (const Launcher& launcher : attribution.launchers) {
      if (launcher.op == trace::kNoEvent) continue;
      for (const EventIndex kernel : attribution.KernelsOf(launcher))
        op_of_.emplace_back(kernel, launcher.op);
    }
    std::sort(op_of_.begin(), op_of_.end());
  }

  std::vector<PathOwner> Run(std::span<const PathStep> path) {
    std::vector<HostPiece> pieces;
    for (const PathStep& step : path) {
      const PathClass path_class = ClassOf(step);
      const bool on_thread = step.thread != kNoPlace;
      if (path_class == PathClass::kHost && on_thread) {
        pieces.push_back(
            {recorded_.threads[step.thread].track, Nanos(step.begin_us), Nanos(step.end_us)});
      } else if (path_class == PathClass::kGpu || path_class == PathClass::kLaunch) {
        OwnerOf(OpOf(step.event)).gpu_us += step.us();
      } else {
        OwnerOf(on_thread ? step.event : OpOf(step.event)).wait_us += step.us();
      }
    }
    AddHost(std::move(pieces));
    std::vector<PathOwner> owners;
    for (auto& [key, owner] : owners_) {
      if (owner.us() > 0) owners.push_back(owner);
    }
    std::stable_sort(owners.begin(), owners.end(), [](const PathOwner& a, const PathOwner& b) {
      return a.us() != b.us() ? a.us() > b.us() : a.name < b.name;
    });
    return owners;
  }

 private:
  std::int64_t Nanos(double us) const {
    return recorded_.base_ns + static_cast<std::int64_t>(us * 1000);
  }

  EventIndex OpOf(EventIndex gpu) const {
    const auto found =
        std::lower_bound(op_of_.begin(), op_of_.end(), std::pair(gpu, EventIndex{0}));
    if (found != op_of_.end() && found->first == gpu) return found->second;
    return gpu;
  }

  PathOwner& OwnerOf(EventIndex e) {
    if (e == trace::kNoEvent) return owners_[{}];
    const bool on_host = events_[e].kind == EventKind::kCpuOp ||
                         events_[e].kind == EventKind::kPythonFunction ||
                         events_[e].kind == EventKind::kUserAnnotation;
    if (by_module_ && !on_host) return owners_[{}];
    PathOwner*& known = owner_of_[by_module_ ? chains_.Of(e) : events_[e].name];
    if (known != nullptr) return *known;
    const std::string name =
        by_module_ ? ModulePath(chains_.Frames(chains_.Of(e))) : WithoutAddress(events_.name(e));
    PathOwner& owner = owners_[name];
    owner.name = name;
    owner.is_op = !by_module_ && events_[e].kind == EventKind::kCpuOp;
    known = &owner;
    return owner;
  }

  // Sweeps every thread that the path visits once, with the events that are open.
  void AddHost(std::vector<HostPiece> pieces) {
    std::stable_sort(pieces.begin(), pieces.end(), [](const HostPiece& a, const HostPiece& b) {
      return std::tie(a.track, a.begin_ns) < std::tie(b.track, b.begin_ns);
    });
    std::vector<bool> visited(events_.tracks.size(), false);
    for (const HostPiece& piece : pieces)
      visited[piece.track] = true;
    std::vector<EventIndex> host;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const Event& event = events_[e];
      const bool owns = event.kind == EventKind::kCpuOp ||
                        event.kind == EventKind::kPythonFunction ||
                        event.kind == EventKind::kUserAnnotation;
      if (owns && visited[event.track] && (event.flags & trace::kLeftOut) == 0) host.push_back(e);
    }
    std::sort(host.begin(), host.end(), [&](EventIndex a, EventIndex b) {
      const Event& x = events_[a];
      const Event& y = events_[b];
      return std::tuple(x.track, x.ts_ns, -x.dur_ns, a) <
             std::tuple(y.track, y.ts_ns, -y.dur_ns, b);
    });
    std::size_t next = 0;
    for (std::size_t first = 0, end = 0; first < pieces.size(); first = end) {
      const std::uint32_t track = pieces[first].track;
      while (end < pieces.size() && pieces[end].track == track)
        ++end;
      while (next < host.size() && events_[host[next]].track < track)
        ++next;
      std::size_t host_end = next;
      while (host_end < host.size() && events_[host[host_end]].track == track)
        ++host_end;
      Sweep(std::span(pieces).subspan(first, end - first),
            std::span(host).subspan(next, host_end - next));
      next = host_end;
    }
  }

  void Close(std::int64_t now_ns, std::vector<EventIndex>* open) const {
    while (!open->empty() && events_[open->back()].end_ns() <= now_ns)
      open->pop_back();
  }

  void Sweep(std::span<const HostPiece> pieces, std::span<const EventIndex> host) {
    std::vector<EventIndex> open;
    std::size_t next = 0;
    for (const HostPiece& piece : pieces) {
      std::int64_t at = piece.begin_ns;
      while (at < piece.end_ns) {
        for (; next < host.size() && events_[host[next]].ts_ns <= at; ++next) {
          Close(events_[host[next]].ts_ns, &open);
          open.push_back(host[next]);
        }
        Close(at, &open);
        std::int64_t until = piece.end_ns;
        if (next < host.size()) until = std::min(until, events_[host[next]].ts_ns);
        if (!open.empty()) until = std::min(until, events_[open.back()].end_ns());
        OwnerOf(OwnerAmong(open)).host_us += static_cast<double>(until - at) / 1000;
        at = until;
      }
    }
  }

  // The innermost op; frames below an op are part of it. Without an op, the innermost frame.
  EventIndex OwnerAmong(const std::vector<EventIndex>& open) const {
    constexpr std::size_t kDepthMax = 200;
    for (std::size_t i = 0; i < open.size() && i < kDepthMax; ++i) {
      const EventIndex e = open[open.size() - 1 - i];
      if (events_[e].kind == EventKind::kCpuOp) return e;
    }
    return open.empty() ? trace::kNoEvent : open.back();
  }

  const trace::EventStore& events_;
  const RecordedWork& recorded_;
  const bool by_module_;
  ChainTree chains_;
  std::vector<std::pair<EventIndex, EventIndex>> op_of_;    // by GPU event
  std::map<std::string, PathOwner> owners_;                 // by name
  std::unordered_map<std::uint32_t, PathOwner*> owner_of_;  // by name or chain of callers
};

// Finds the part that a moment is of.
class PartFinder {
 public:
  PartFinder(const RecordedWork& recorded, std::span<const PartSpan> spans, std::size_t parts)
      : recorded_(recorded), spans_(spans), splits_(parts + 1) {}

  std::vector<PathSplit> Run(std::span<const PathStep> path) {
    for (const PathStep& step : path) {
      const PathClass path_class = ClassOf(step);
      const bool on_thread = step.thread != kNoPlace;
      if (path_class == PathClass::kHost && on_thread) {
        AddHost(recorded_.base_ns + static_cast<std::int64_t>(step.begin_us * 1000),
                recorded_.base_ns + static_cast<std::int64_t>(step.end_us * 1000));
      } else if (path_class == PathClass::kGpu || path_class == PathClass::kLaunch) {
        At(LaunchOf(step)).gpu_us += step.us();
      } else {
        At(on_thread ? step.end_us : LaunchOf(step)).wait_us += step.us();
      }
    }
    return std::move(splits_);
  }

 private:
  // The first span that ends after a moment.
  std::size_t After(std::int64_t ns) const {
    const auto after =
        std::upper_bound(spans_.begin(), spans_.end(), ns,
                         [](std::int64_t at, const PartSpan& span) { return at < span.ns.end; });
    return static_cast<std::size_t>(after - spans_.begin());
  }

  PathSplit& At(double us) {
    const std::int64_t ns = recorded_.base_ns + static_cast<std::int64_t>(us * 1000);
    const std::size_t at = After(ns);
    const bool inside = at < spans_.size() && spans_[at].ns.start <= ns;
    return inside ? splits_[spans_[at].part] : splits_.back();
  }

  // When the work was launched; of work without a launch, when it ended.
  double LaunchOf(const PathStep& step) const {
    const std::uint32_t work =
        step.event == trace::kNoEvent ? kNoPlace : recorded_.WorkAt(step.event);
    if (work == kNoPlace || recorded_.works[work].call == kNoPlace) return step.end_us;
    return recorded_.calls[recorded_.works[work].call].begin;
  }

  void AddHost(std::int64_t from, std::int64_t to) {
    for (std::size_t at = After(from); from < to; ++at) {
      const bool more = at < spans_.size();
      const std::int64_t start = more ? std::clamp(spans_[at].ns.start, from, to) : to;
      splits_.back().host_us += static_cast<double>(start - from) / 1000;
      if (!more) return;
      const std::int64_t end = std::clamp(spans_[at].ns.end, start, to);
      splits_[spans_[at].part].host_us += static_cast<double>(end - start) / 1000;
      from = end;
    }
  }

  const RecordedWork& recorded_;
  std::span<const PartSpan> spans_;
  std::vector<PathSplit> splits_;
};

}  // namespace

std::string_view PathClassText(PathClass path_class) {
  switch (path_class) {
    case PathClass::kHost: return "host";
    case PathClass::kLaunch: return "launch latency";
    case PathClass::kGpu: return "GPU";
    case PathClass::kReturn: return "return of waits";
    case PathClass::kUnrecorded: return "unrecorded GPU work";
    case PathClass::kUnknown: break;
  }
  return "unknown";
}

PathClass ClassOf(const PathStep& step) {
  if (step.opaque) return PathClass::kUnknown;
  switch (step.kind) {
    case EdgeKind::kHostSegment:
    case EdgeKind::kHostCall:
    case EdgeKind::kArrival:
    case EdgeKind::kHandOver: return PathClass::kHost;
    case EdgeKind::kLaunch: return PathClass::kLaunch;
    case EdgeKind::kStream:
    case EdgeKind::kGpuWork:
    case EdgeKind::kStreamWait:
    case EdgeKind::kRoom: return PathClass::kGpu;
    case EdgeKind::kReturn:
    case EdgeKind::kHiddenWait:
    case EdgeKind::kQueueFull: return PathClass::kReturn;
    case EdgeKind::kStart: break;
  }
  return step.thread == kNoPlace ? PathClass::kUnrecorded : PathClass::kUnknown;
}

double PathShares::Total() const {
  double total = 0;
  for (const double part : us)
    total += part;
  return total;
}

double PathShares::PercentOf(PathClass path_class) const {
  const double total = Total();
  return total > 0 ? 100 * us[PlaceOfClass(path_class)] / total : 0;
}

PathShares SharesOf(std::span<const PathStep> path) {
  PathShares shares;
  for (const PathStep& step : path)
    shares.us[PlaceOfClass(ClassOf(step))] += step.us();
  return shares;
}

std::string SharesText(const PathShares& shares) {
  constexpr double kWorthTelling = 1;  // percent
  std::vector<PathClass> order;
  for (std::size_t c = 0; c < kPathClasses; ++c)
    order.push_back(static_cast<PathClass>(c));
  std::stable_sort(order.begin(), order.end(), [&](PathClass a, PathClass b) {
    return shares.PercentOf(a) > shares.PercentOf(b);
  });
  std::string text;
  for (const PathClass path_class : order) {
    const double percent = shares.PercentOf(path_class);
    if (shares.Total() <= 0 || percent < kWorthTelling) continue;
    text +=
        fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", PathClassText(path_class), percent);
  }
  return text;
}

std::vector<PathStretch> StretchesOf(std::span<const PathStep> path, std::size_t parts) {
  std::vector<PathStretch> stretches;
  if (path.empty() || parts == 0) return stretches;
  const double begin = path.front().begin_us;
  const double width = (path.back().end_us - begin) / static_cast<double>(parts);
  if (width <= 0) return stretches;
  std::vector<PathShares> shares(parts);
  for (const PathStep& step : path) {
    auto part = static_cast<std::size_t>(std::max(0.0, (step.begin_us - begin) / width));
    for (double from = step.begin_us; from < step.end_us && part < parts; ++part) {
      const double to = std::min(step.end_us, begin + static_cast<double>(part + 1) * width);
      if (to > from) shares[part].us[PlaceOfClass(ClassOf(step))] += to - from;
      from = std::max(from, to);
    }
  }
  for (std::size_t part = 0; part < parts; ++part) {
    const double from = begin + static_cast<double>(part) * width;
    const PathStretch one{from, from + width, Prevailing(shares[part]), shares[part]};
    if (!stretches.empty() && stretches.back().prevails == one.prevails) {
      Join(&stretches.back(), one);
    } else {
      stretches.push_back(one);
    }
  }
  return stretches;
}

std::vector<PathStep> StepsWithin(const RecordedWork& recorded, std::span<const PathStep> path,
                                  const IntervalSet<std::int64_t>& spans) {
  std::vector<PathStep> within;
  for (const PathStep& step : path) {
    const std::int64_t ns = recorded.base_ns + static_cast<std::int64_t>(step.recorded_us * 1000);
    // A step that ends with a span is of that span.
    const auto after = std::lower_bound(
        spans.begin(), spans.end(), ns,
        [](const Interval<std::int64_t>& span, std::int64_t at) { return span.end < at; });
    if (after != spans.end() && after->start < ns) within.push_back(step);
  }
  return within;
}

std::vector<PathOwner> OwnersOf(const trace::EventStore& events, const tree::CallTree& tree,
                                const Attribution& attribution, const RecordedWork& recorded,
                                std::span<const PathStep> path, PathOwnership ownership) {
  return OwnerFinder(events, tree, attribution, recorded, ownership).Run(path);
}

std::vector<PathSplit> SplitPath(const RecordedWork& recorded, std::span<const PathStep> path,
                                 std::span<const PartSpan> spans, std::size_t parts) {
  return PartFinder(recorded, spans, parts).Run(path);
}

}  // namespace jarvis::analysis
