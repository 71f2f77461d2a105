#include "findings/one/launched_ops.h"

#include <map>
#include <string_view>
#include <utility>

#include "analysis/host/host_names.h"

namespace jarvis::findings {

using trace::EventIndex;
using trace::kNoEvent;

std::vector<std::vector<LaunchedOp>> LaunchedOpsByThread(const Calls& calls) {
  const trace::EventStore& events = calls.events();
  const analysis::Attribution& attribution = calls.trace.attribution();
  std::map<std::uint32_t, std::vector<LaunchedOp>> threads;
  for (const analysis::Launcher& launcher : attribution.launchers) {
    if (launcher.op == kNoEvent || events[launcher.op].kind != trace::EventKind::kCpuOp) continue;
    threads[events[launcher.op].track].push_back({launcher.op, attribution.KernelsOf(launcher)});
  }
  std::vector<std::vector<LaunchedOp>> out;
  for (auto& [track, ops] : threads)
    out.push_back(std::move(ops));
  return out;
}

OpArguments ArgumentsOf(const trace::EventStore& events, EventIndex op) {
  const trace::Args& args = events.args_of(op);
  OpArguments out;
  if (args.dims != kNoString) out.shapes = ParseShapes(events.text(args.dims));
  if (args.types != kNoString) out.types = ParseTypes(events.text(args.types));
  for (std::string& type : out.types)
    type = ShortType(type);
  if (args.concrete != kNoString) out.values = ParseTypes(events.text(args.concrete));
  return out;
}

bool HoldsFloats(const OpArguments& arguments, std::size_t at, bool otherwise) {
  if (arguments.types.size() != arguments.shapes.size()) return otherwise;
  const std::string_view type = arguments.types[at];
  return type.starts_with("fp") || type == "bf16";
}

bool IsBackwardOp(const Calls& calls, EventIndex op) {
  for (EventIndex up = calls.trace.tree().parent(op); up != kNoEvent;
       up = calls.trace.tree().parent(up)) {
    if (analysis::IsAutogradNode(calls.events().name(up))) return true;
  }
  return false;
}

}  // namespace jarvis::findings
