#include <algorithm>
#include <unordered_set>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/runtime_calls.h"
#include "base/median.h"
#include "trace/by_name.h"

namespace jarvis::analysis {
namespace {

// A first launch that loads code is this many times a usual one, and at least this long.
constexpr std::int64_t kFirstLaunchFactor = 20;
constexpr std::int64_t kFirstLaunchNs = 300'000;
constexpr std::int64_t kSetUpLeastNs = 100'000;
constexpr std::int64_t kMemoryLeastNs = 5'000'000;
constexpr double kMemoryBusyMost = 0.1;
constexpr double kOneTimeIdle = 0.7;  // of the call the GPU has nothing to do

enum class OneTimeName : std::uint8_t { kOther, kLaunch, kGraphLaunch, kSetUp, kMemory };

OneTimeName OneTimeNameOf(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  static constexpr std::string_view kSetUpParts[] = {
      "ModuleGetFunction", "FuncSetAttribute",   "FuncSetCacheConfig",
      "GetSymbolAddress",  "OccupancyMaxActive", "LinkComplete",
      "ModuleUnload",      "hipModule",          "GraphInstantiate"};
  if (has("aunch")) return IsGraphLaunch(name) ? OneTimeName::kGraphLaunch : OneTimeName::kLaunch;
  if (IsSetUpCall(name) || std::any_of(std::begin(kSetUpParts), std::end(kSetUpParts), has))
    return OneTimeName::kSetUp;
  const RuntimeKind kind = RuntimeKindOf(name);
  if (kind == RuntimeKind::kAllocate || kind == RuntimeKind::kFree) return OneTimeName::kMemory;
  return OneTimeName::kOther;
}

}  // namespace

std::vector<TimeSpan> FindOneTimeCalls(const FrameFacts& facts) {
  trace::ByName<OneTimeName> names(facts.events, OneTimeNameOf);
  std::vector<std::int64_t> launches;
  for (const EventIndex call : facts.calls) {
    const OneTimeName name = names.Of(call);
    if (name == OneTimeName::kLaunch || name == OneTimeName::kGraphLaunch)
      launches.push_back(facts.events[call].dur_ns);
  }
  const std::int64_t usual = launches.empty() ? 0 : LowerMedian(std::move(launches));
  const std::int64_t long_launch = std::max(kFirstLaunchNs, kFirstLaunchFactor * usual);
  const TimeMeter busy(facts.busy);
  std::unordered_set<StringId> seen;
  std::vector<TimeSpan> out;
  for (const EventIndex call : facts.calls) {
    const trace::Event& event = facts.events[call];
    const TimeSpan span{event.ts_ns, event.end_ns()};
    bool once = false;
    switch (names.Of(call)) {
      case OneTimeName::kLaunch: {
        const auto work = facts.tree.GpuOf(call);
        const bool first =
            seen.insert(work.empty() ? event.name : facts.events[work.front()].name).second;
        once = first && event.dur_ns > long_launch;
        break;
      }
      case OneTimeName::kSetUp: once = event.dur_ns > kSetUpLeastNs; break;
      case OneTimeName::kMemory:
        once = !facts.allocator.Recurs(call) && event.dur_ns > kMemoryLeastNs &&
               static_cast<double>(busy.In(span)) <
                   kMemoryBusyMost * static_cast<double>(event.dur_ns);
        break;
      case OneTimeName::kGraphLaunch:
      case OneTimeName::kOther: break;
    }
    if (once && static_cast<double>(event.dur_ns - busy.In(span)) >
                    kOneTimeIdle * static_cast<double>(event.dur_ns)) {
      out.push_back(span);
    }
  }
  return out;
}

}  // namespace jarvis::analysis
