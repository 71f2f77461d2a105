#include "documents/comparative_base.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "documents/base_text.h"
#include "findings/one/quality.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

constexpr const char* kSides[] = {"candidate", "baseline"};

// "left out: 124 ms in no step that was kept": what of the recording is not in the base.
std::string NotInBase(const analysis::BaseOfTime& base) {
  constexpr double kShown = 0.001;  // of the recording
  const std::int64_t recording = base.recording.end - base.recording.start;
  std::vector<std::string> parts;
  bool any = false;
  const auto add = [&](std::int64_t ns, const std::string& what) {
    any = any || ns > 0;
    if (static_cast<double>(ns) >= kShown * static_cast<double>(recording) && ns > 0)
      parts.push_back(fmt::format("{} {}", Ms(MillisOf(ns)), what));
  };
  if (!base.one_time_in_base) add(base.one_time_ns, "of one-time work");
  add(base.unrecorded_ns, base.head.foreign.empty() ? "of GPU work that is not in the trace"
                                                    : "of GPU work launched before the recording");
  add(base.left_out_ns,
      base.unit == analysis::TimeUnit::kRecording
          ? std::string("outside of it")
          : fmt::format("in no {} that was kept", analysis::TimeUnitText(base.unit)));
  if (!any) return "all of it counts";
  if (parts.empty()) return "all but 0.1 % of the recording counts";
  return fmt::format("excluded: {}", fmt::join(parts, ", "));
}

std::int64_t OneTimeInBase(const analysis::BaseOfTime& base) {
  return base.one_time_in_base ? base.one_time_ns : 0;
}

std::string BaseOfSide(const findings::Analysis& analysis, int side) {
  const analysis::BaseOfTime& base = analysis.frames->frames.base;
  std::string text = fmt::format("Base of the {}: {} of {}", kSides[side], OneUnit(base.unit),
                                 Ms(MillisOf(base.part_ns())));
  if (base.parts() > 1) text += fmt::format(", mean of {}", base.parts());
  if (base.warm_estimated) text += ", estimated warm from one cold pass";
  return text + "; " + NotInBase(base) + ".";
}

// Codes of what limits this side's figures.
std::set<std::string> LimitsOf(const findings::Analysis& analysis) {
  std::set<std::string> codes;
  for (const findings::Quality& item : analysis.quality) {
    // What was measured against a limit is a property of the run, not of its recording.
    if (item.severity != findings::Severity::kNote && !item.threshold) codes.insert(item.code);
  }
  return codes;
}

std::string BoundOfSide(const findings::Analysis& analysis, int side) {
  const ledger::StepBound& bound = analysis.bound;
  if (bound.kind == ledger::BoundKind::kUnknown) return fmt::format("{} not known", kSides[side]);
  const std::string kind = bound.kind == ledger::BoundKind::kInTurns
                               ? "bound by GPU and host in turns"
                               : std::string(ledger::BoundKindText(bound.kind));
  return fmt::format("{} {} ({})", kSides[side], kind, bound.because);
}

}  // namespace

double OneTimeMs(const findings::ComparedPair& pair, int side) {
  const findings::Analysis& of = side == 0 ? *pair.primary : *pair.comparison;
  return MillisOf(OneTimeInBase(of.frames->frames.base)) / pair.balance.units[side];
}

std::string OneUnit(analysis::TimeUnit unit) {
  const std::string_view text = analysis::TimeUnitText(unit);
  if (unit == analysis::TimeUnit::kRecording) return "the recording";
  return fmt::format("{} {}", text.starts_with('i') ? "an" : "a", text);
}

std::vector<std::string> UnlikeBases(const findings::ComparedPair& pair) {
  const findings::Analysis* sides[2] = {pair.primary.get(), pair.comparison.get()};
  const analysis::BaseOfTime& a = sides[0]->frames->frames.base;
  const analysis::BaseOfTime& b = sides[1]->frames->frames.base;
  std::vector<std::string> reasons;
  if (a.unit != b.unit)
    reasons.push_back(fmt::format("{} is held against {}", OneUnit(a.unit), OneUnit(b.unit)));
  if (a.warm_estimated != b.warm_estimated)
    reasons.push_back(fmt::format("the {}'s is estimated warm, the other is measured",
                                  kSides[a.warm_estimated ? 0 : 1]));
  for (int i = 0; i < 2; ++i) {
    constexpr double kMuch = 0.01;  // of the base
    const std::int64_t own = OneTimeInBase(i == 0 ? a : b);
    const std::int64_t other = OneTimeInBase(i == 0 ? b : a);
    if (static_cast<double>(own - other) > kMuch * static_cast<double>((i == 0 ? a : b).ns()))
      reasons.push_back(
          fmt::format("the {}'s holds {} of one-time work", kSides[i], Ms(MillisOf(own))));
  }
  const std::set<std::string> codes[2] = {LimitsOf(*sides[0]), LimitsOf(*sides[1])};
  for (int i = 0; i < 2; ++i) {
    std::vector<std::string> alone;
    std::set_difference(codes[i].begin(), codes[i].end(), codes[1 - i].begin(), codes[1 - i].end(),
                        std::back_inserter(alone));
    if (!alone.empty())
      reasons.push_back(
          fmt::format("only the {} has the limits {}", kSides[i], fmt::join(alone, ", ")));
  }
  return reasons;
}

std::vector<std::string> PairBases(const ComparativeFacts& facts) {
  const findings::ComparedPair& pair = facts.pair;
  if (pair.balance.lines.empty()) return {};
  std::vector<std::string> lines = {BaseOfSide(*pair.primary, 0), BaseOfSide(*pair.comparison, 1)};
  lines.push_back(fmt::format("Bound: {}; {}.", BoundOfSide(*pair.primary, 0),
                              BoundOfSide(*pair.comparison, 1)));
  if (const std::vector<std::string> unlike = UnlikeBases(pair); !unlike.empty())
    lines.push_back(fmt::format("The two bases are not alike: {}.", fmt::join(unlike, "; ")));
  return lines;
}

}  // namespace jarvis::documents
