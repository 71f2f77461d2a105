#include "findings/one/graph_capture.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "findings/one/multi_kernel.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

constexpr std::size_t kStopsTold = 2;

// Names of a trace are text of others: none may end the code that it stands in.
std::string QuotedName(std::string name) {
  constexpr std::size_t kBytesMax = 100;
  std::erase_if(name, [](char c) { return c == '`' || c == '\n' || c == '\r'; });
  return name.empty() || name.size() > kBytesMax ? "" : "`" + name + "`";
}

class CaptureReader {
 public:
  CaptureReader(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                const TimeScope& scope)
      : trace_(trace), events_(trace.events()), tree_(trace.tree()), host_(host) {
    for (const Interval<std::int64_t>& step : scope.spans())
      AddCaptured(step);
  }

  bool empty() const { return captured_.empty(); }

  // Places whose call waits, as they first come.
  std::vector<std::string> Waits() const {
    std::vector<std::string> places;
    for (const analysis::WaitGroup& group : host_.waits) {
      // Launching into a full queue is what a graph ends.
      if (group.cause == analysis::WaitCause::kFullQueue) continue;
      const bool inside = std::any_of(group.calls.begin(), group.calls.end(),
                                      [&](EventIndex call) { return IsInside(call); });
      if (inside) AddPlace(group.op.empty() ? group.call : group.op, group.code, &places);
    }
    return places;
  }

  std::vector<std::string> Uploads() const {
    analysis::HostNames names(events_);
    std::vector<std::string> places;
    for (const EventIndex copy : trace_.attribution().timeline) {
      const EventIndex launch = tree_.parent(copy);
      if (events_[copy].kind != trace::EventKind::kMemcpy || launch == trace::kNoEvent) continue;
      if (DirectionOf(trace_, copy) != CopyDirection::kToDevice || !IsInside(launch)) continue;
      const EventIndex op = analysis::CallingOp(events_, tree_, launch, &names);
      std::string code;
      for (EventIndex up = launch; up != trace::kNoEvent && code.empty(); up = tree_.parent(up)) {
        if (names.Of(up).user_frame) code = events_.name(up);
      }
      AddPlace(std::string(events_.name(op == trace::kNoEvent ? launch : op)), code, &places);
    }
    return places;
  }

 private:
  void AddCaptured(const Interval<std::int64_t>& step) {
    std::int64_t first = step.end, last = step.start;
    for (const analysis::Launch& launch : host_.launches.all()) {
      if (!launch.kernel || launch.call_ns < step.start || launch.call_ns >= step.end) continue;
      first = std::min(first, launch.call_ns);
      last = std::max(last, launch.call_ns);
    }
    if (first < last) captured_.push_back({first, last});
  }

  bool IsInside(EventIndex call) const {
    const std::int64_t at = events_[call].ts_ns;
    const auto after =
        std::upper_bound(captured_.begin(), captured_.end(), at,
                         [](std::int64_t moment, const auto& one) { return moment < one.start; });
    return after != captured_.begin() && at < std::prev(after)->end;
  }

  static void AddPlace(std::string name, const std::string& code,
                       std::vector<std::string>* places) {
    std::string place = QuotedName(std::move(name));
    if (const std::string at = QuotedName(code); !at.empty()) place += " in " + at;
    if (!place.empty() && std::find(places->begin(), places->end(), place) == places->end())
      places->push_back(std::move(place));
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const analysis::HostSummary& host_;
  IntervalSet<std::int64_t> captured_;  // from the first kernel's launch to the last one's
};

// "`a` in `f`, `b` and 3 places more"
std::string PlacesClause(const std::vector<std::string>& places) {
  std::string text;
  for (std::size_t i = 0; i < std::min(places.size(), kStopsTold); ++i)
    text += (i == 0 ? "" : i + 1 == places.size() ? " and " : ", ") + places[i];
  const std::size_t more = places.size() - std::min(places.size(), kStopsTold);
  return more == 0 ? text : text + fmt::format(" and {} place{} more", more, more == 1 ? "" : "s");
}

// Lengths that no multiple of eight is are the input's own: the next one has another.
std::string LengthClause(const WorkContext& context) {
  if (context.training || context.input_tokens == 0 || context.input_tokens % 8 == 0) return "";
  return fmt::format("; a graph holds one length: pad inputs to a few ({} tokens now)",
                     context.input_tokens);
}

}  // namespace

std::string CaptureWords(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                         const session::TraceFrames& frames, const TimeScope& scope,
                         const WorkContext& context) {
  if (frames.frames.steps.empty()) return "";
  const CaptureReader reader(trace, host, scope);
  if (reader.empty()) return "";
  const std::vector<std::string> waits = reader.Waits();
  const std::vector<std::string> uploads = reader.Uploads();
  std::string words;
  if (!waits.empty()) {
    words = fmt::format(
        "{} wait{} for the GPU inside the step: `torch.cuda.graph` fails there, and the compiler "
        "splits the graph or takes another branch",
        PlacesClause(waits), waits.size() == 1 ? "s" : "");
  }
  if (!uploads.empty()) {
    words += fmt::format(
        "{}{} cop{} from the host inside the step: a replay needs that on the device",
        words.empty() ? "" : "; ", PlacesClause(uploads), uploads.size() == 1 ? "ies" : "y");
  }
  if (words.empty()) {
    words =
        "between the first and the last kernel of the step nothing waits for the GPU or copies "
        "from the host, so that it can be captured as it is";
  }
  return words + LengthClause(context);
}

}  // namespace jarvis::findings
