#include "findings/two/gate_condition.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::findings {
namespace {

constexpr std::array<std::string_view, 8> kWhole = {"total",      "window",       "busy",
                                                    "idle",       "exposed_comm", "exposed_copy",
                                                    "unexpected", "comparability"};
constexpr std::array<std::string_view, 4> kRows = {"op", "category", "kernel", "module"};
constexpr const char* kHint =
    "write such as 'total > +5%', 'op:aten::mm > +10% and > +0.1ms', 'category:* > +20%', "
    "'idle > 3ms', 'comparability < 80'";

tl::unexpected<Error> Bad(std::string_view text, const std::string& why) {
  return Fail(ErrorCode::kBadValue,
              fmt::format("condition \"{}\": {}", OneLine(Utf8Prefix(text, 80)), why), kHint);
}

// The comparison that a text begins with, taken off it.
std::optional<GateLimit> TakeSign(std::string_view* text) {
  GateLimit limit;
  if (!text->starts_with('>') && !text->starts_with('<')) return std::nullopt;
  limit.above = text->front() == '>';
  text->remove_prefix(1);
  limit.inclusive = text->starts_with('=');
  if (limit.inclusive) text->remove_prefix(1);
  *text = Trim(*text);
  return limit;
}

Result<GateLimit> ParseLimit(std::string_view whole, std::string_view text, bool score) {
  std::optional<GateLimit> limit = TakeSign(&text);
  if (!limit) return Bad(whole, "a comparison (>, >=, <, <=) is missing");
  const bool change = text.starts_with('+') || text.starts_with('-');
  double factor = 1;
  if (text.ends_with('%')) {
    limit->unit = GateUnit::kPercent;
    text.remove_suffix(1);
  } else if (score) {
    limit->unit = GateUnit::kScore;
  } else {
    limit->unit = change ? GateUnit::kChangeMs : GateUnit::kMs;
    if (text.ends_with("us")) {
      factor = 1e-3;
    } else if (text.ends_with("ms")) {
      factor = 1;
    } else {
      return Bad(whole, "the limit needs a unit: %, ms or us");
    }
    text.remove_suffix(2);
  }
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto number = ParseDouble(Trim(text));
  if (!number) return Bad(whole, fmt::format("\"{}\" is no number", Utf8Prefix(text, 20)));
  if (score && limit->unit == GateUnit::kPercent) {
    return Bad(whole, "comparability is a number from 0 to 100");
  }
  limit->limit = *number * factor;
  return *limit;
}

}  // namespace

Result<GateCondition> ParseGateCondition(std::string_view text) {
  GateCondition condition;
  condition.text = std::string(Trim(text));
  const std::string_view whole = condition.text;
  // A kernel's name may hold < and >: the condition begins at the last blank with one behind it.
  static constexpr std::string_view kAnd = " and ";
  std::vector<std::string_view> parts;
  std::string_view rest = whole;
  for (std::size_t at = rest.rfind(kAnd); at != std::string_view::npos; at = rest.rfind(kAnd)) {
    const std::string_view part = Trim(rest.substr(at + kAnd.size()));
    if (!part.starts_with('>') && !part.starts_with('<')) break;
    parts.push_back(part);
    rest = rest.substr(0, at);
  }
  const std::size_t last = rest.find_last_of("<>");
  if (last == std::string_view::npos) {
    return Bad(whole, "a comparison (>, >=, <, <=) is missing");
  }
  parts.push_back(rest.substr(last));
  const std::string_view metric = Trim(rest.substr(0, last));
  const std::size_t colon = metric.find(':');
  condition.metric = LowerAscii(metric.substr(0, colon));
  std::replace(condition.metric.begin(), condition.metric.end(), '-', '_');
  const bool of_row = colon != std::string_view::npos;
  if (of_row) condition.name = std::string(Trim(metric.substr(colon + 1)));
  const bool known =
      of_row ? std::find(kRows.begin(), kRows.end(), condition.metric) != kRows.end()
             : std::find(kWhole.begin(), kWhole.end(), condition.metric) != kWhole.end();
  if (!known || (of_row && condition.name.empty())) {
    return Bad(whole, fmt::format("\"{}\" is not a metric: {}; or op:, category:, kernel:, module: "
                                  "with a name",
                                  OneLine(Utf8Prefix(metric, 40)), fmt::join(kWhole, ", ")));
  }
  const bool score = condition.metric == "comparability";
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    JV_ASSIGN(const GateLimit limit, ParseLimit(whole, *part, score));
    if (condition.metric == "unexpected" && limit.unit != GateUnit::kMs) {
      return Bad(whole, "unexpected is a time of its own: give ms or us without a sign");
    }
    condition.limits.push_back(limit);
  }
  return condition;
}

}  // namespace jarvis::findings
