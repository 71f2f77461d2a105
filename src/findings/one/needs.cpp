#include "findings/one/needs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/attribution/table_rules.h"
#include "base/text.h"
#include "findings/one/product_kernels.h"
#include "findings/one/shapes.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

Fit Both(Fit a, Fit b) {
  return std::max(a, b);
}

Fit FitOfMessage(const levers::Needs& needs, int architecture, const Message& message) {
  if (architecture == 0 || !message.bytes || !message.ranks) return Fit::kUnknown;
  const auto sizes = needs.message_mib.find(architecture);
  if (sizes == needs.message_mib.end()) return Fit::kNot;
  const auto most = sizes->second.find(static_cast<int>(*message.ranks));
  return most != sizes->second.end() && *message.bytes <= most->second * kMiB ? Fit::kFits
                                                                              : Fit::kNot;
}

// Of the first operand of the op around it.
std::optional<double> BytesOfOperand(const session::LoadedTrace& trace, trace::EventIndex gpu) {
  const trace::EventStore& events = trace.events();
  for (trace::EventIndex e = trace.tree().parent(gpu); e != trace::kNoEvent;
       e = trace.tree().parent(e)) {
    const trace::Args& args = events.args_of(e);
    if (events[e].kind != trace::EventKind::kCpuOp || args.dims == kNoString) continue;
    const std::vector<Shape> shapes = ParseShapes(events.text(args.dims));
    const std::vector<std::string> types =
        args.types == kNoString ? std::vector<std::string>() : ParseTypes(events.text(args.types));
    if (shapes.empty() || types.size() != shapes.size()) return std::nullopt;
    const double bytes = TypeBytes(ShortType(types.front())) * Elements(shapes.front());
    return shapes.front().empty() || bytes <= 0 ? std::nullopt : std::optional(bytes);
  }
  return std::nullopt;
}

}  // namespace

Message MessageOf(const session::LoadedTrace& trace, trace::EventIndex collective) {
  const std::string_view more = trace.events().text(trace.events().args_of(collective).other);
  Message out;
  out.ranks = ParseInt(trace::Unquoted(trace::MemberOf(more, "Group size")));
  for (const trace::ProcessGroup& group : trace.trace().metadata.groups) {
    if (out.ranks || group.size < 2) continue;
    const bool alike = std::ranges::all_of(
        trace.trace().metadata.groups,
        [&](const trace::ProcessGroup& one) { return one.size < 2 || one.size == group.size; });
    if (alike) out.ranks = group.size;
  }
  const auto elements =
      std::max(ParseInt(trace::Unquoted(trace::MemberOf(more, "In msg nelems"))).value_or(0),
               ParseInt(trace::Unquoted(trace::MemberOf(more, "Out msg nelems"))).value_or(0));
  const auto size = analysis::CollectiveElementBytes(
      trace::Unescape(trace::Unquoted(trace::MemberOf(more, "dtype"))));
  out.bytes = elements > 0 && size
                  ? std::optional(static_cast<double>(elements) * static_cast<double>(*size))
                  : BytesOfOperand(trace, collective);
  return out;
}

Fit FitOf(const levers::Needs& needs, const WorkContext& context, const Message& message) {
  if (needs.cuda && context.amd) return Fit::kNot;
  Fit fit = Fit::kFits;
  const auto has = [](const auto& list, const auto& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  if (!needs.architectures.empty()) {
    if (context.architecture == 0) {
      fit = Fit::kUnknown;
    } else if (!has(needs.architectures, context.architecture)) {
      return Fit::kNot;
    }
  }
  if (!needs.model_files.empty()) {
    const bool one = std::ranges::any_of(
        needs.model_files, [&](const std::string& file) { return has(context.model_files, file); });
    // Without stacks nothing tells which model it is.
    if (!one) fit = Both(fit, context.model_files.empty() ? Fit::kUnknown : Fit::kNot);
  }
  if (needs.tokens_max > 0) {
    const auto tokens = static_cast<std::int64_t>(context.step_tokens);
    if (tokens == 0) fit = Both(fit, Fit::kUnknown);
    if (tokens > needs.tokens_max) return Fit::kNot;
  }
  if (!needs.message_mib.empty())
    fit = Both(fit, FitOfMessage(needs, context.architecture, message));
  return fit;
}

int NvidiaArchitecture(const session::LoadedTrace& trace) {
  int newest = 0;
  for (const trace::EventIndex e : trace.attribution().timeline) {
    if (trace.events()[e].kind == trace::EventKind::kKernel)
      newest = std::max(newest, ArchitectureOf(trace.events().name(e)));
  }
  const auto& devices = trace.trace().metadata.devices;
  if (devices.empty() || !devices.front().compute_major) return newest;
  const auto& device = devices.front();
  return std::max(newest,
                  static_cast<int>(10 * *device.compute_major + device.compute_minor.value_or(0)));
}

}  // namespace jarvis::findings
