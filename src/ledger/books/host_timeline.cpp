#include "ledger/books/host_timeline.h"

#include <algorithm>
#include <utility>

#include "analysis/host/host_names.h"
#include "analysis/host/host_walk.h"
#include "analysis/host/runtime_calls.h"
#include "base/median.h"

namespace jarvis::ledger {
namespace {

// A piece inside a call that does not wait is a stall from this length on, and this many times the
// usual piece in calls of the name and the longest one in most of them.
constexpr std::int64_t kStallLeastNs = 1'000'000;
constexpr std::int64_t kStallFactor = 30;
constexpr std::int64_t kStallOfCalls = 3;
constexpr std::size_t kUsualOf = 3;  // pieces of a name tell what is usual

CallRole CallRoleOf(std::string_view name) {
  using analysis::RuntimeKind;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (name.ends_with("Synchronize")) return CallRole::kWait;
  if (has("emcpy")) return CallRole::kCopy;
  if (analysis::IsGraphLaunch(name)) return CallRole::kGraphLaunch;
  if (has("aunch")) return CallRole::kLaunch;
  if (analysis::IsMemoryCall(name) || has("MemSetAccess") || has("MemUnmap") || has("MemRelease") ||
      has("MemAddressReserve")) {
    return CallRole::kMemory;
  }
  return CallRole::kOther;
}

struct SegmentMaker {
  std::vector<HostSegment>* out;
  void Open(EventIndex, std::int64_t) {}
  void Close(EventIndex, std::int64_t) {}
  void Piece(EventIndex innermost, std::int64_t start, std::int64_t end) {
    if (!out->empty()) {
      HostSegment& last = out->back();
      // Pieces of one event with nothing between are one.
      if (last.span.end == start && last.innermost == innermost) {
        last.span.end = end;
        return;
      }
      if (last.span.end < start) out->push_back({{last.span.end, start}, trace::kNoEvent});
    }
    out->push_back({{start, end}, innermost});
  }
};

}  // namespace

HostTimeline::HostTimeline(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base)
    : facts_(facts),
      launches_(facts.events.tracks.size(), 0),
      roles_(facts.events.strings.size(), CallRole::kOther),
      first_calls_(base.first_calls),
      feeding_(facts.events, facts.tree, facts.busy) {
  for (const analysis::LaunchedWork& work : facts.launched)
    ++launches_[facts.events[work.launch].track];
  std::vector<bool> told(roles_.size());
  for (const EventIndex call : facts.calls) {
    const StringId name = facts.events[call].name;
    if (told[name]) continue;
    told[name] = true;
    roles_[name] = CallRoleOf(facts.events.name(call));
  }
  for (std::uint32_t track = 0; track < launches_.size(); ++track) {
    if (launches_[track] > 0) launching_.push_back(track);
  }
  // Of threads that launch as much by their names, which parts of a recording keep.
  std::stable_sort(launching_.begin(), launching_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (launches_[a] != launches_[b]) return launches_[a] > launches_[b];
    return facts.events.tracks[a].tid < facts.events.tracks[b].tid;
  });
  const auto slices = analysis::ThreadsOf(facts.events, facts.tree);
  for (const std::span<const EventIndex> slice : slices) {
    if (slice.empty()) continue;
    const std::uint32_t track = facts.events[slice.front()].track;
    if (launches_[track] > 0 || track == facts.track) Walk(track, slice);
  }
  FindStalls();
}

void HostTimeline::Walk(std::uint32_t track, std::span<const EventIndex> events) {
  Thread& thread = threads_[track];
  SegmentMaker maker{&thread.segments};
  analysis::WalkThread(facts_.events, facts_.tree, events, &maker);
  for (const EventIndex e : events) {
    const std::string_view name = facts_.events.name(e);
    if (!name.starts_with("enumerate(DataLoader)")) continue;
    const TimeSpan span{facts_.events[e].ts_ns, facts_.events[e].end_ns()};
    AddInterval(span, &thread.loader);
    if (analysis::IsWaitForWorkers(name)) AddInterval(span, &thread.workers_loader);
  }
  thread.loader = Union(std::move(thread.loader));
  thread.workers_loader = Union(std::move(thread.workers_loader));
}

void HostTimeline::FindStalls() {
  // What is usual is asked only of names that have a long piece.
  const auto counts = [&](const HostSegment& segment) {
    if (segment.innermost == trace::kNoEvent) return false;
    const trace::EventKind kind = facts_.events[segment.innermost].kind;
    if (kind == trace::EventKind::kCpuOp) return true;
    if (!trace::IsLaunchCall(kind)) return false;
    const CallRole role = RoleOf(segment.innermost);
    return role == CallRole::kLaunch || role == CallRole::kGraphLaunch || role == CallRole::kOther;
  };
  struct Lengths {
    std::vector<std::int64_t> pieces, longest;  // of its calls; each call's longest piece
  };
  std::unordered_map<StringId, Lengths> lengths;
  for (const auto& [track, thread] : threads_) {
    for (const HostSegment& segment : thread.segments) {
      if (segment.span.end - segment.span.start >= kStallLeastNs && counts(segment))
        lengths[facts_.events[segment.innermost].name];
    }
  }
  if (lengths.empty()) return;
  std::unordered_map<EventIndex, std::int64_t> longest;  // by call
  for (const auto& [track, thread] : threads_) {
    for (const HostSegment& segment : thread.segments) {
      if (!counts(segment)) continue;
      const auto known = lengths.find(facts_.events[segment.innermost].name);
      if (known == lengths.end()) continue;
      const std::int64_t ns = segment.span.end - segment.span.start;
      known->second.pieces.push_back(ns);
      std::int64_t& of_call = longest[segment.innermost];
      of_call = std::max(of_call, ns);
    }
  }
  for (const auto& [call, ns] : longest)
    lengths[facts_.events[call].name].longest.push_back(ns);
  std::unordered_map<StringId, std::int64_t> limits;
  for (auto& [name, of_name] : lengths) {
    if (of_name.pieces.size() < kUsualOf) continue;
    limits[name] = std::max({kStallLeastNs, kStallFactor * LowerMedian(std::move(of_name.pieces)),
                             kStallOfCalls * LowerMedian(std::move(of_name.longest))});
  }
  for (auto& [track, thread] : threads_) {
    for (HostSegment& segment : thread.segments) {
      if (!counts(segment)) continue;
      const auto limit = limits.find(facts_.events[segment.innermost].name);
      if (limit != limits.end() && segment.span.end - segment.span.start > limit->second)
        segment.stalled = true;
    }
  }
}

std::span<const HostSegment> HostTimeline::Of(std::uint32_t track) const {
  const auto found = threads_.find(track);
  return found == threads_.end() ? std::span<const HostSegment>() : found->second.segments;
}

bool HostTimeline::InLoader(std::uint32_t track, std::int64_t at) const {
  const auto found = threads_.find(track);
  return found != threads_.end() && Contains(found->second.loader, at);
}

bool HostTimeline::InWorkersLoader(std::uint32_t track, std::int64_t at) const {
  const auto found = threads_.find(track);
  return found != threads_.end() && Contains(found->second.workers_loader, at);
}

}  // namespace jarvis::ledger
