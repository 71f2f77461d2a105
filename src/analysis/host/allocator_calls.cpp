#include "analysis/host/allocator_calls.h"

#include <algorithm>
#include <utility>

#include "analysis/host/runtime_calls.h"
#include "trace/by_name.h"

namespace jarvis::analysis {
namespace {

constexpr std::int64_t kGivesNs = 10'000;  // a shorter call had nothing to give
constexpr std::size_t kFlushMin = 3;       // calls in a row that give back
constexpr std::size_t kRoundsMin = 4;  // a cache that is flushed when memory runs short: one or two

}  // namespace

bool AllocatorCalls::churns() const {
  return rounds >= kRoundsMin && 2 * taken >= rounds;
}

bool AllocatorCalls::Recurs(trace::EventIndex call) const {
  return churns() || std::binary_search(flushes.begin(), flushes.end(), call);
}

AllocatorCalls FindAllocatorCalls(const trace::EventStore& events,
                                  std::span<const trace::EventIndex> calls) {
  AllocatorCalls found;
  trace::ByName<RuntimeKind> kinds(events, RuntimeKindOf);
  const auto of_memory = [&](trace::EventIndex call) {
    return kinds.Of(call) == RuntimeKind::kFree || kinds.Of(call) == RuntimeKind::kAllocate;
  };
  if (std::none_of(calls.begin(), calls.end(), of_memory)) return found;
  std::vector<trace::EventIndex> ordered(calls.begin(), calls.end());
  std::sort(ordered.begin(), ordered.end(), [&](trace::EventIndex a, trace::EventIndex b) {
    return std::pair(events[a].ts_ns, a) < std::pair(events[b].ts_ns, b);
  });
  bool launched = false;
  bool worked = false;                   // something was launched before
  std::vector<trace::EventIndex> given;  // in a row, of at least some time each
  for (const trace::EventIndex call : ordered) {
    if (of_memory(call)) found.calls.push_back(call);
    const RuntimeKind kind = kinds.Of(call);
    found.taken += kind == RuntimeKind::kAllocate ? 1 : 0;
    if (kind == RuntimeKind::kFree && launched && events[call].dur_ns >= kGivesNs) {
      ++found.rounds;
      launched = false;
    }
    const bool launch = kind == RuntimeKind::kLaunch || kind == RuntimeKind::kGraphLaunch;
    launched |= launch;
    worked |= launch;
    if (kind == RuntimeKind::kFree && worked && events[call].dur_ns >= kGivesNs)
      given.push_back(call);
    if (kind == RuntimeKind::kAllocate && given.size() >= kFlushMin)
      found.flushes.insert(found.flushes.end(), given.begin(), given.end());
    // What was given back is taken again, piece by piece.
    if (kind == RuntimeKind::kAllocate && !found.flushes.empty()) found.flushes.push_back(call);
    if (kind == RuntimeKind::kAllocate || launch) given.clear();
  }
  std::sort(found.flushes.begin(), found.flushes.end());
  return found;
}

}  // namespace jarvis::analysis
