#include "ledger/books/books.h"

#include <numeric>

namespace jarvis::ledger {

std::string_view IdleCauseText(IdleCause cause) {
  switch (cause) {
    case IdleCause::kHostIssues: return "host issues ops";
    case IdleCause::kGraphLaunch: return "host launches a graph";
    case IdleCause::kBetweenLaunches: return "host between launches";
    case IdleCause::kPython: return "host in Python";
    case IdleCause::kOutsideOps: return "host outside recorded ops";
    case IdleCause::kInput: return "input";
    case IdleCause::kAllocator: return "driver allocator";
    case IdleCause::kFirstCall: return "first call";
    case IdleCause::kNotScheduled: return "host not scheduled or blocked";
    case IdleCause::kRoundTrip: return "round trip after a wait";
    case IdleCause::kLaunchLatency: return "launch latency";
    case IdleCause::kQueuedGap: return "gaps of queued work (device)";
    case IdleCause::kTail: return "tail after the last GPU work";
    case IdleCause::kNoLaunch: return "no launch known";
    case IdleCause::kNoHost: break;
  }
  return "no host events";
}

bool IsHosts(IdleCause cause) {
  return cause != IdleCause::kQueuedGap && cause != IdleCause::kNoLaunch;
}

std::int64_t WallBook::total_idle_ns() const {
  return std::accumulate(idle_ns.begin(), idle_ns.end(), std::int64_t{0});
}

std::int64_t WallBook::total_ns() const {
  return std::accumulate(work_ns.begin(), work_ns.end(), unrecorded_ns) + total_idle_ns();
}

Books KeepBooks(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
                const KindsOfWork& kinds) {
  Books books;
  const HostTimeline host(facts, base);
  KeepGpuBook(facts, base, kinds, &books);
  FileIdleTime(facts, base, host, &books.wall);
  books.host = KeepHostBook(base, host);
  return books;
}

}  // namespace jarvis::ledger
