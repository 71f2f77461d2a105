#include "findings/one/too_little.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/host/runtime_calls.h"
#include "base/interval.h"
#include "base/median.h"
#include "base/number_text.h"
#include "base/text.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using analysis::RuntimeKind;
using trace::EventIndex;
using CallSpans = std::vector<Interval<std::int64_t>>;

// A rate of n launches is off by one in the root of n: from ten of a kernel on it can be judged,
// and so can work of many different kernels.
constexpr std::uint64_t kRepeatsJudged = 10;
constexpr std::uint64_t kKernelsJudged = 50;

bool NamePart(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// Calls that build a GPU graph or take it apart.
enum class GraphCall : std::uint8_t { kNone, kBegin, kEnd, kNode, kInstantiate, kOther };
GraphCall GraphCallOf(std::string_view name) {
  if (NamePart(name, "BeginCapture")) return GraphCall::kBegin;
  if (NamePart(name, "EndCapture")) return GraphCall::kEnd;
  if (NamePart(name, "GraphInstantiate")) return GraphCall::kInstantiate;
  if (NamePart(name, "GraphAdd")) return GraphCall::kNode;
  const bool builds = NamePart(name, "GraphCreate") || NamePart(name, "GraphUpload") ||
                      NamePart(name, "GraphDestroy") || NamePart(name, "GraphExecDestroy");
  return builds ? GraphCall::kOther : GraphCall::kNone;
}

// Calls that a program makes when it starts or ends: they launch nothing and wait for nothing.
bool IsStartUpCall(std::string_view name) {
  const RuntimeKind kind = analysis::RuntimeKindOf(name);
  if (kind == RuntimeKind::kSetUp || kind == RuntimeKind::kAllocate || kind == RuntimeKind::kFree)
    return true;
  if (kind != RuntimeKind::kOther) return false;
  return GraphCallOf(name) != GraphCall::kNone || NamePart(name, "Init") || NamePart(name, "Ctx") ||
         NamePart(name, "Module") || NamePart(name, "Library") || NamePart(name, "StreamDestroy") ||
         NamePart(name, "EventCreate") || NamePart(name, "EventDestroy") ||
         NamePart(name, "FuncSet");
}

double LengthMs(CallSpans spans) {
  return MillisOf(Length(Union(std::move(spans))));
}

struct StartUpCalls {
  CallSpans all, start;
  std::map<std::string_view, OnceCall> once;
};

StartUpCalls StartUpCallsOf(const trace::EventStore& events,
                            const analysis::FirstCalls& first_calls) {
  StartUpCalls calls;
  trace::ByName<bool> of_start(events, IsStartUpCall);
  const auto once = [&](std::string_view name, double ms) {
    OnceCall& call = calls.once[name];
    ++call.count;
    call.ms += ms;
  };
  for (EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (!trace::IsLaunchCall(event.kind)) continue;
    calls.all.push_back({event.ts_ns, event.end_ns()});
    if (!of_start.Of(e)) continue;
    calls.start.push_back({event.ts_ns, event.end_ns()});
    once(events.name(e), static_cast<double>(event.dur_ns) / 1e6);
  }
  for (const analysis::FirstCall& first : first_calls.calls) {
    calls.all.push_back({first.begin_ns, first.end_ns});
    calls.start.push_back({first.begin_ns, first.end_ns});
    // Setting up is among the calls above where it has one.
    const trace::EventKind kind = events[first.call].kind;
    if (!trace::IsLaunchCall(kind) || !of_start.Of(first.call))
      once(events.name(first.call), first.ms());
  }
  return calls;
}

}  // namespace

std::optional<TooLittle> FindTooLittle(const session::LoadedTrace& trace,
                                       const analysis::FirstCalls& first_calls) {
  if (trace.steps().size() > 1 || !trace.timeline()) return std::nullopt;
  const trace::EventStore& events = trace.events();
  TooLittle found;
  std::unordered_map<StringId, std::uint64_t> repeats;
  for (const EventIndex e : trace.attribution().timeline) {
    if (events[e].kind != trace::EventKind::kKernel) continue;
    if (++found.kernels >= kKernelsJudged) return std::nullopt;
    if (++repeats[events[e].name] >= kRepeatsJudged) return std::nullopt;
  }
  found.gpu_ms = trace.timeline()->busy / 1000;
  StartUpCalls calls = StartUpCallsOf(events, first_calls);
  found.start_up_ms = LengthMs(std::move(calls.start));
  if (found.kernels == 0 || found.start_up_ms < found.gpu_ms ||
      found.start_up_ms < LengthMs(std::move(calls.all)) / 2) {
    return std::nullopt;
  }
  for (auto& [name, call] : calls.once) {
    call.name = OneLine(ValidUtf8(name));
    found.calls.push_back(std::move(call));
  }
  std::ranges::stable_sort(found.calls, std::greater(), &OnceCall::ms);
  return found;
}

std::optional<GraphBuild> FindCostlyGraph(const session::LoadedTrace& trace) {
  const trace::EventStore& events = trace.events();
  trace::ByName<GraphCall> parts(events, GraphCallOf);
  trace::ByName<RuntimeKind> kinds(events, analysis::RuntimeKindOf);
  std::unordered_map<std::uint32_t, std::int64_t> capturing;  // track: since when
  std::vector<std::int64_t> launches, replays;
  GraphBuild found;
  std::uint64_t nodes = 0;
  std::int64_t build_ns = 0, capture_ns = 0;
  for (const EventIndex e : trace.tree().preorder()) {
    const trace::Event& event = events[e];
    if (!trace::IsLaunchCall(event.kind)) continue;
    const GraphCall part = parts.Of(e);
    if (part == GraphCall::kBegin) capturing[event.track] = event.end_ns();
    if (part == GraphCall::kEnd && capturing.contains(event.track)) {
      capture_ns += event.ts_ns - capturing[event.track];
      capturing.erase(event.track);
    }
    if (part != GraphCall::kNone) build_ns += event.dur_ns;
    found.graphs += part == GraphCall::kInstantiate ? 1 : 0;
    const bool captured = capturing.contains(event.track);
    const bool launch = kinds.Of(e) == RuntimeKind::kLaunch;
    if (part == GraphCall::kNode || (captured && launch)) ++nodes;
    if (launch && !captured) launches.push_back(event.dur_ns);
    if (kinds.Of(e) == RuntimeKind::kGraphLaunch) replays.push_back(event.dur_ns);
  }
  if (found.graphs == 0 || nodes == 0 || replays.empty()) return std::nullopt;
  found.replays = replays.size();
  // What issuing one of its launches takes the host: as it was captured, or as others are.
  double each = static_cast<double>(capture_ns) / static_cast<double>(nodes);
  if (!launches.empty()) each = std::max(each, static_cast<double>(LowerMedian(launches)));
  const double of_graph = each * static_cast<double>(nodes) / static_cast<double>(found.graphs);
  const double replay = static_cast<double>(LowerMedian(std::move(replays)));
  found.build_ms = static_cast<double>(build_ns) / 1e6;
  found.saves_ms = std::max(0.0, (of_graph - replay) * static_cast<double>(found.replays)) / 1e6;
  if (found.saves_ms >= found.build_ms) return std::nullopt;
  return found;
}

}  // namespace jarvis::findings
