#include "trace/window.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/survey.h"

namespace jarvis::trace {
namespace {

double MsSince(std::int64_t ns, std::int64_t begin_ns) {
  return static_cast<double>(ns - begin_ns) / 1e6;
}

std::string LengthOf(const Survey& survey) {
  return fmt::format("the recording lasts from 0 to {:.3f} ms",
                     MsSince(survey.end_ns, survey.begin_ns));
}

// "3-7, 9": runs of numbers, the first few.
std::string KnownSteps(const Survey& survey) {
  constexpr std::size_t kShownMax = 8;
  std::string text;
  std::size_t shown = 0;
  for (auto step = survey.steps.begin(); step != survey.steps.end();) {
    const std::int64_t first = step->first;
    std::int64_t last = first;
    for (++step; step != survey.steps.end() && step->first == last + 1; ++step)
      last = step->first;
    if (shown++ == kShownMax) return text + " and more";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last != first) text += fmt::format("-{}", last);
  }
  return text;
}

// "5-7" or "5".
std::optional<std::pair<std::int64_t, std::int64_t>> StepRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = ParseInt(Trim(text.substr(0, dash)));
  const auto last = dash == std::string_view::npos ? first : ParseInt(Trim(text.substr(dash + 1)));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

Result<TraceWindow> WindowOfSteps(const WindowRequest& request, const Survey& survey,
                                  TraceWindow window) {
  if (request.from_ms || request.to_ms)
    return Fail(ErrorCode::kBadValue, "steps and a time: give one of them");
  const auto range = StepRange(request.steps);
  if (!range) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("steps: expected a number or a range such as 5-7, not \"{}\"",
                            Shortened(request.steps, 40)));
  }
  if (survey.steps.empty()) {
    return Fail(ErrorCode::kBadValue,
                "steps: the recording marks none (ProfilerStep#n); " + LengthOf(survey),
                "from_ms and to_ms say which part to read");
  }
  const auto first = survey.steps.find(range->first);
  const auto last = survey.steps.find(range->second);
  if (first == survey.steps.end() || last == survey.steps.end()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("steps: {} are not all there; the recording has {}", request.steps,
                            KnownSteps(survey)));
  }
  window.begin_ns = first->second.begin_ns;
  window.end_ns = first->second.end_ns;
  for (auto step = first; step != std::next(last); ++step) {
    window.begin_ns = std::min(window.begin_ns, step->second.begin_ns);
    window.end_ns = std::max(window.end_ns, step->second.end_ns);
  }
  window.end_ns = std::max(window.end_ns, window.begin_ns + 1);
  window.steps = request.steps;
  return window;
}

}  // namespace

std::string WindowRequest::Text() const {
  if (whole()) return {};
  if (!steps.empty()) return "steps " + steps;
  return fmt::format("from {} to {}", from_ms.value_or(0),
                     to_ms ? fmt::format("{}", *to_ms) : "the end");
}

Result<TraceWindow> ResolveWindow(const WindowRequest& request, const Survey& survey) {
  TraceWindow window;
  window.recording_begin_ns = survey.begin_ns;
  window.recording_end_ns = survey.end_ns;
  if (!request.steps.empty()) return WindowOfSteps(request, survey, std::move(window));
  const double length_ms = MsSince(survey.end_ns, survey.begin_ns);
  const double from_ms = request.from_ms.value_or(0);
  const double to_ms = request.to_ms.value_or(length_ms);
  // Written so that what is no number is refused, too.
  if (!(from_ms >= 0 && from_ms < to_ms)) {
    return Fail(ErrorCode::kBadValue, fmt::format("the part from {} to {} ms is empty; {}", from_ms,
                                                  to_ms, LengthOf(survey)));
  }
  if (from_ms > length_ms) {
    return Fail(ErrorCode::kBadValue, fmt::format("the part from {} ms on lies behind the end; {}",
                                                  from_ms, LengthOf(survey)));
  }
  window.begin_ns = survey.begin_ns + std::llround(from_ms * 1e6);
  // What happens at the very end belongs to a part that reaches it.
  window.end_ns =
      to_ms >= length_ms ? survey.end_ns + 1 : survey.begin_ns + std::llround(to_ms * 1e6);
  window.end_ns = std::max(window.end_ns, window.begin_ns + 1);
  return window;
}

}  // namespace jarvis::trace
