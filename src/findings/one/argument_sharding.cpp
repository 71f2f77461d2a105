#include "findings/one/argument_sharding.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/frames/base_of_time.h"
#include "base/interval.h"
#include "base/job.h"
#include "findings/one/host_cause.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "findings/one/unit_ops.h"
#include "session/trace_frames.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kShardingUnitsLeast = 3;

enum class ShardingRole : std::uint8_t {
  kNone,
  kArguments,  // jaxlib's slow path for arguments of a compiled function
  kCopy,       // of a device's buffer to another device; uploads have other names
};

ShardingRole ShardingRoleOf(std::string_view name) {
  if (name == "cpp_pjit_shard_arg_fallback" || name == "shard_args" ||
      name.ends_with(" shard_args"))
    return ShardingRole::kArguments;
  const bool copy = name.find("CopyToDeviceHelper") != std::string_view::npos ||
                    name.ends_with("Buffer::CopyToDevice") ||
                    name.ends_with("Buffer::CopyToMemorySpace");
  return copy ? ShardingRole::kCopy : ShardingRole::kNone;
}

struct ShardingWork {
  std::vector<analysis::HostStretch> stretches;
  std::int64_t ns = 0;
  std::size_t copies = 0;
  std::string_view frame;  // of the longest
};

// Of the units that figures are of; empty unless most of them have both.
ShardingWork ReadSharding(const session::LoadedTrace& trace, const analysis::BaseOfTime& base) {
  struct Unit {
    std::vector<EventIndex> arguments;
    std::size_t copies = 0;
  };
  const trace::EventStore& events = trace.events();
  trace::ByName<ShardingRole> roles(events, &ShardingRoleOf);
  std::map<std::size_t, Unit> units;
  std::map<std::uint32_t, std::int64_t> until;  // by thread: of the outermost frame so far
  for (const EventIndex e : trace.tree().preorder()) {
    const ShardingRole role = roles.Of(e);
    if (role == ShardingRole::kNone || !Contains(base.base, events[e].ts_ns)) continue;
    const std::size_t place = PlaceOfUnit(base.host_units, events[e].ts_ns);
    if (place == base.host_units.size()) continue;
    if (role == ShardingRole::kCopy) {
      ++units[place].copies;
    } else if (events[e].ts_ns >= until[events[e].track]) {
      until[events[e].track] = events[e].end_ns();
      units[place].arguments.push_back(e);
    }
  }
  ShardingWork work;
  std::size_t both = 0;
  std::int64_t longest = 0;
  for (const auto& [place, unit] : units) {
    if (unit.arguments.empty() || unit.copies == 0) continue;
    ++both;
    work.copies += unit.copies;
    for (const EventIndex e : unit.arguments) {
      // The threads that launch wait for the call, and others copy for it.
      work.stretches.push_back({analysis::kAllTracks, events[e].ts_ns, events[e].end_ns()});
      work.ns += events[e].dur_ns;
      if (events[e].dur_ns <= longest) continue;
      longest = events[e].dur_ns;
      work.frame = events.name(e);
    }
  }
  const auto count = static_cast<std::size_t>(base.count);
  return both >= kShardingUnitsLeast && 2 * both > count ? work : ShardingWork();
}

}  // namespace

void FindArgumentSharding(const Calls& calls, const WorkContext& context,
                          std::vector<Finding>* out) {
  if (context.framework != "JAX") return;
  const auto frames = session::FramesOf(calls.trace, Job()).value();
  const analysis::BaseOfTime& base = frames->frames.base;
  ShardingWork work = ReadSharding(calls.trace, base);
  const double host_ms = static_cast<double>(work.ns) / 1e6;
  if (work.stretches.empty() || 1e5 * host_ms < limits::kHostShareMin * calls.window_us) return;
  std::vector<Fact> facts = {
      StructureText("frame", std::string(work.frame)),
      StructureCount("copies", (work.copies + work.stretches.size() / 2) / work.stretches.size()),
      StructureWords("unit", base.unit_text())};
  Finding f = StructureFinding(calls, Pattern::kArgumentSharding, "Arguments",
                               "host time before the launches", {}, {0, 0, 0},
                               {{}, "none of it", "time in this trace"}, std::move(facts));
  f.change_a.reset();
  HostCause cause;
  cause.count = work.stretches.size();
  cause.total_ms = host_ms;
  cause.changes = {analysis::ScaleHost{std::move(work.stretches), 0}};
  f.count = cause.count;
  f.time_ms = host_ms;
  f.exclusive_ms = host_ms;
  f.upper_bound_ms = host_ms;
  f.savings_ms = Range{0, host_ms, host_ms};
  f.host = std::make_shared<const HostCause>(std::move(cause));
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
