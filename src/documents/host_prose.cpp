#include "documents/host_prose.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/number_text.h"
#include "base/text.h"
#include "documents/base_text.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "findings/one/wall_classes.h"

namespace jarvis::documents {
namespace {

using findings::HostCause;
using findings::HostCauseKind;
using findings::HostPlace;
using findings::WaitKind;

constexpr std::size_t kNameMax = 90;
constexpr std::size_t kPlacesTold = 3;
constexpr double kNearlyAll = 0.97;
constexpr double kMostOfIt = 0.9;

// A name of the program's; parts of a step that have none are told in our own words.
std::string PlaceName(std::string_view name) {
  if (name == "repeated block") return "the repeated block";
  const bool beside = name.starts_with("before the ") || name.starts_with("after the ");
  if (beside && name.ends_with(" repeated blocks")) return "the work " + std::string(name);
  return Code(name, kNameMax);
}

std::string PlaceText(const HostPlace& place) {
  std::string text = PlaceName(place.name);
  if (!place.code.empty() && place.code != place.name) text += " at " + Code(place.code, kNameMax);
  return text;
}

// "`a` (12.3 ms), `b` (4.5 ms)"
std::string PlacesText(const findings::Analysis& analysis, const HostCause& cause,
                       bool once = false) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kPlacesTold, cause.places.size()); ++i) {
    const HostPlace& place = cause.places[i];
    text += (text.empty() ? "" : ", ") + PlaceText(place) + " (" +
            (once ? Ms(place.ms) : EachMs(analysis, place.ms)) + ")";
  }
  return text;
}

// " between `a` and `b`": the GPU work around it.
std::string BetweenText(const HostCause& cause) {
  if (cause.before.empty() && cause.after.empty()) return "";
  if (cause.before.empty()) return " before the GPU's first work (" + Code(cause.after, 60) + ")";
  if (cause.after.empty()) return " after the GPU's last work (" + Code(cause.before, 60) + ")";
  if (cause.before == cause.after)
    return fmt::format(" between one {} and the next", Code(cause.before, 60));
  return fmt::format(" between {} and {}", Code(cause.before, 60), Code(cause.after, 60));
}

// "the host runs `a`": what a section is called by: the place that takes all of the time, else the
// function that holds it with the place that takes most. A member with less is no name for the
// whole.
std::string SectionClause(const findings::Analysis& analysis, const HostCause& cause) {
  const std::string& around = cause.within.empty() ? cause.work : cause.within;
  const bool most = !cause.places.empty() && 2 * cause.places.front().ms >= cause.total_ms;
  // A part is no name for the whole: the function around it is, with what the part takes.
  const bool whole = most && cause.places.front().ms >= kNearlyAll * cause.total_ms;
  if (whole) return "the host runs " + PlaceName(cause.places.front().name);
  const bool same = most && around == cause.places.front().name;
  if (same && cause.loading) return "data is loaded";
  if (most && !same) {
    // Of the idle time that is told beside it, not of the steps left out.
    const double of_idle = cause.late ? 1 : std::min(1.0, IdleMs(analysis, cause) / cause.total_ms);
    return fmt::format(
        "{} ({} of it in {})",
        around.empty() ? std::string(cause.loading ? "data is loaded" : "the host works")
                       : "the host runs " + Code(around, kNameMax),
        EachMs(analysis, of_idle * cause.places.front().ms), PlaceName(cause.places.front().name));
  }
  // Nor is a work beside which the host does others.
  if (cause.within.empty() && cause.work_ms > 0 && cause.work_ms < kMostOfIt * cause.total_ms) {
    const double of_idle = std::min(1.0, IdleMs(analysis, cause) / cause.total_ms);
    return fmt::format("the host works ({} of it in {})", EachMs(analysis, of_idle * cause.work_ms),
                       Code(around, kNameMax));
  }
  if (!around.empty()) return "the host runs " + Code(around, kNameMax);
  if (cause.loading) return "data is loaded";
  if (!cause.places.empty() && 4 * cause.places.front().ms >= cause.total_ms)
    return "the host works (largest part in " + PlaceName(cause.places.front().name) + ")";
  if (cause.before.empty() || cause.after.empty()) return "the host works";
  return "the host works" + BetweenText(cause);
}

// Of a few stretches of unlike length the sum says more than the middle one.
std::string TimesText(const findings::Analysis& analysis, const HostCause& cause) {
  constexpr std::uint64_t kFew = 3;
  const auto stretches = static_cast<std::uint64_t>(static_cast<double>(cause.count) /
                                                    static_cast<double>(analysis.base.count));
  if (stretches <= kFew || !cause.alike())
    return EachMs(analysis, IdleMs(analysis, cause)) + " " + UnitPhrase(analysis);
  return fmt::format("{} x {}", stretches, Ms(cause.each_ms));
}

// How long one stretch of a section is: "about 7.47 ms", "3.74 to 12.9 ms".
std::string StretchText(const HostCause& cause) {
  if (cause.alike()) return "about " + Ms(cause.each_ms);
  return fmt::format("{} to {}", Ms(cause.shortest_ms), Ms(cause.longest_ms));
}

std::string LateInsight(const findings::Analysis& analysis, const HostCause& cause) {
  return fmt::format(
      "For {} {} ({}) the thread that launches GPU work does other work and launches nothing. The "
      "GPU works on what was launched before and is idle later: the host has lost its lead, and "
      "launches come late.",
      EachMs(analysis, cause.total_ms), UnitPhrase(analysis), BaseShare(analysis, cause.total_ms));
}

// Whether the calls that can be named are a part of the host's time worth naming.
bool NamesHostWork(const HostCause& cause) {
  constexpr double kPart = 0.05;
  double named_ms = 0;
  for (std::size_t i = 0; i < std::min(kPlacesTold, cause.places.size()); ++i)
    named_ms += cause.places[i].ms;
  return named_ms >= kPart * cause.total_ms && !cause.places.empty();
}

std::string SectionInsight(const findings::Analysis& analysis, const HostCause& cause) {
  if (cause.late) return LateInsight(analysis, cause);
  std::string text =
      fmt::format("The GPU is idle for {} {} ({})", EachMs(analysis, IdleMs(analysis, cause)),
                  UnitPhrase(analysis), BaseShare(analysis, IdleMs(analysis, cause)));
  if (cause.loading) text += " while data is loaded";
  const bool regular = cause.period_ms && cause.count > 2 && *cause.period_ms >= cause.longest_ms;
  std::string every = regular ? " every " + Ms(*cause.period_ms) : std::string();
  if (cause.count > 3) {
    const std::string stretches = EachCalls(analysis, cause.count);
    const auto units = static_cast<std::uint64_t>(analysis.base.count);
    // Not one in each: how many there are, of how many. Those of steps left out count as well.
    if (units > 1 && 10 * cause.count < 9 * units) {
      text +=
          fmt::format(" (in the whole recording {} gaps of {})", cause.count, StretchText(cause));
    } else {
      text += stretches == "1" ? ", in one gap" + every
                               : ", in " + stretches + " gaps of " + StretchText(cause) + every;
      every.clear();
    }
  }
  if (!cause.scattered) text += BetweenText(cause);
  if (!every.empty()) text += "," + every;
  const bool nothing = 4 * cause.nothing_ms > cause.total_ms;
  if (NamesHostWork(cause)) text += ". The host is then in " + PlacesText(analysis, cause);
  // Told of a small part, too: what is named beside it is not all of the host's work.
  if (nothing) {
    text += fmt::format(
        ". No host event is recorded for {} of this (Python or C code without stacks, a sleep, or "
        "another process)",
        EachMs(analysis, NothingMs(analysis, cause)));
  }
  if (cause.after_copy_back || cause.before_copy_in) {
    text += fmt::format(
        ". This host work comes {}{}{}: it probably handles the results of one batch or the input "
        "of the next [inferred]",
        cause.after_copy_back ? "after a copy to the host" : "",
        cause.after_copy_back && cause.before_copy_in ? " and " : "",
        cause.before_copy_in ? "before a copy from the host" : "");
  }
  if (cause.mostly_recorder())
    text +=
        fmt::format(". About {} of the {} is profiler overhead",
                    EachMs(analysis, cause.recorder_ms), EachMs(analysis, IdleMs(analysis, cause)));
  return text + ".";
}

bool IsOfChecks(const HostCause& cause) {
  return !cause.places.empty() && cause.places.front().wait == WaitKind::kCheck;
}

bool IsOfBreaks(const HostCause& cause) {
  return !cause.places.empty() && cause.places.front().wait == WaitKind::kBranch;
}

// "16 graph breaks per pass: the compiled code runs in 33 parts"
std::string BreaksTitle(const findings::Analysis& analysis, const HostCause& cause) {
  const bool several = analysis.base.count > 1;
  return fmt::format(
      "{} graph breaks{}: the compiled code runs in {} parts, and the host reads a "
      "value between them",
      EachCalls(analysis, cause.count), several ? " " + UnitPhrase(analysis) : "",
      EachCalls(analysis, cause.parts));
}

std::string WaitsInsight(const findings::Analysis& analysis, const HostCause& cause) {
  const double idle = IdleMs(analysis, cause);
  std::string places;
  for (std::size_t i = 0; i < std::min(kPlacesTold, cause.places.size()); ++i) {
    const HostPlace& place = cause.places[i];
    const std::string calls = EachCalls(analysis, place.count);
    places += (i == 0 ? "" : ", ") + PlaceText(place) +
              fmt::format(" ({}, {} idle)", calls == "1" ? "once" : calls + " times",
                          EachMs(analysis, std::min(place.idle_ms, idle)));
  }
  std::string text =
      fmt::format("{} syncs drain the GPU queue and leave the GPU idle for {} {}",
                  EachCalls(analysis, cause.count), EachMs(analysis, idle), UnitPhrase(analysis));
  if (cause.small_kernels && cause.behind_ms < idle) {
    text += fmt::format(
        ": {} directly after the syncs, the rest between the few small kernels that follow each",
        EachMs(analysis, cause.behind_ms));
  }
  if (cause.gpu_ms > 0) {
    text +=
        fmt::format(". Another {} of GPU time goes to kernels whose results only the host reads",
                    EachMs(analysis, cause.gpu_ms));
  }
  if (cause.rounds > 0) {
    text += fmt::format(". Most of the syncs are in one loop of {} rounds, with about {} each",
                        EachCalls(analysis, cause.rounds), cause.waits_a_round);
  }
  if (IsOfBreaks(cause)) {
    text += fmt::format(
        ". Each call ends a compiled part, and the next part begins with guards and a call of its "
        "own: {} parts {}. Between the last launch of one part and the first of the next the host "
        "takes {} in all",
        EachCalls(analysis, cause.parts), UnitPhrase(analysis), EachMs(analysis, cause.total_ms));
  }
  return text + ". The longest idle time follows " + places + ".";
}

// "in `encode_prompt` (1234 launches, one every 29.9 µs; median kernel 6.73 µs)"
std::string PhasesText(const findings::Analysis& analysis, const HostCause& cause) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kPlacesTold, cause.places.size()); ++i) {
    const HostPlace& place = cause.places[i];
    const double idle_ms = std::min(place.idle_ms, IdleMs(analysis, cause));
    const bool all = idle_ms >= kNearlyAll * IdleMs(analysis, cause) || idle_ms <= 0.001;
    text += fmt::format("{}{}in {} ({} launches, one every {} µs; median kernel {} µs)",
                        i == 0 ? "" : ", ", all ? "" : EachMs(analysis, idle_ms) + " of it ",
                        PlaceName(place.name), EachCalls(analysis, place.count),
                        ThreeDigits(place.launch_us), ThreeDigits(place.kernel_us));
  }
  return text;
}

// Launches come late at the start of a step only, and the phase they are of goes on long after: its
// pace as a whole is no cause.
bool IsRamp(const findings::Analysis& analysis, const HostCause& cause) {
  if (!cause.ramp || cause.until_ms <= 0) return false;
  const double all_ms = cause.until_ms * static_cast<double>(analysis.base.count);
  return cause.places.empty() || 2 * all_ms < cause.places.front().ms;
}

// What one input costs the host, several cost it as well.
std::string BatchSentence(const findings::Analysis& analysis) {
  const std::optional<BatchGain> gain = BatchGainOf(analysis);
  if (!gain) return "";
  constexpr std::string_view kFor =
      " For throughput, batch inputs: host time per call does not grow with the batch.";
  if (!gain->longer) {
    return fmt::format(
        "{} A larger batch is almost free until the GPU takes as long as the host, at about {:.0f} "
        "times this one.",
        kFor, gain->times);
  }
  return fmt::format("{} {}.", kFor, Capitalised(BatchText(analysis, *gain)));
}

// Whether most of the idle time lies in a part of the step that can be told.
bool HasPlace(const findings::Analysis& analysis, const HostCause& cause) {
  constexpr double kPart = 0.5;  // of the step
  const double length = cause.gaps_to_ms - cause.gaps_from_ms;
  return analysis.base.count == 1 && length > 0 && length < kPart * analysis.base.total_ms;
}

bool TurnsToBackward(const findings::Analysis& analysis, const HostCause& cause) {
  return cause.backward_ms > 0 && HasPlace(analysis, cause) &&
         cause.backward_ms > cause.gaps_from_ms && cause.backward_ms < cause.gaps_to_ms;
}

// The host is ahead as a rule: where it is not is all that can be told.
std::string AheadTitle(const findings::Analysis& analysis, const HostCause& cause) {
  std::string text =
      "GPU idle for " + EachMs(analysis, IdleMs(analysis, cause)) + " " + UnitPhrase(analysis);
  if (TurnsToBackward(analysis, cause)) return text + ", mostly where backward starts";
  if (HasPlace(analysis, cause)) {
    return text +
           fmt::format(", mostly from {} to {}", Ms(cause.gaps_from_ms), Ms(cause.gaps_to_ms));
  }
  if (!cause.places.empty()) text += ", largest part in " + PlaceName(cause.places.front().name);
  return text;
}

std::string AheadInsight(const findings::Analysis& analysis, const HostCause& cause) {
  std::string text = fmt::format("The GPU is idle for {} {} because launches come late",
                                 EachMs(analysis, IdleMs(analysis, cause)), UnitPhrase(analysis));
  if (HasPlace(analysis, cause)) {
    text += fmt::format(", mostly from {} to {} of the {}", Ms(cause.gaps_from_ms),
                        Ms(cause.gaps_to_ms), analysis.base.unit);
  }
  if (TurnsToBackward(analysis, cause)) {
    text += fmt::format(
        ": from {} on a second thread launches, which runs the backward pass [inferred]",
        Ms(cause.backward_ms));
  }
  text += '.';
  if (cause.launch_us < cause.kernel_us) {
    text +=
        fmt::format(" The host is usually ahead: {} µs from launch to launch, median kernel {} µs.",
                    ThreeDigits(cause.launch_us), ThreeDigits(cause.kernel_us));
  }
  if (cause.before.empty() || cause.after.empty()) return text;
  return text + fmt::format(" The longest gap lies between {} and {}.",
                            Code(analysis::ShortKernelName(cause.before), kNameMax),
                            Code(analysis::ShortKernelName(cause.after), kNameMax));
}

std::string LaunchInsight(const findings::Analysis& analysis, const HostCause& cause) {
  const std::string idle = EachMs(analysis, IdleMs(analysis, cause)) + " " + UnitPhrase(analysis);
  const std::string phases = PhasesText(analysis, cause);
  if (cause.ahead) return AheadInsight(analysis, cause);
  if (IsRamp(analysis, cause)) {
    const bool all = cause.early_ms >= kNearlyAll * cause.total_ms;
    return fmt::format(
        "The GPU is idle for {} because launches come late{}, {} the first {} of {} GPU work: "
        "until "
        "then the host is not ahead of the GPU.",
        idle, cause.places.empty() ? "" : " in " + PlaceName(cause.places.front().name),
        all ? "all in" : EachMs(analysis, cause.early_ms) + " of it in", Ms(cause.until_ms),
        analysis.base.count > 1 ? "each " + analysis.base.unit + "'s" : "its");
  }
  if (!phases.empty()) {
    return fmt::format("Late launches leave the GPU idle for {}{} {}.", idle,
                       phases.starts_with("in ") ? "" : ":", phases);
  }
  if (cause.ramp) {
    return fmt::format(
        "The GPU is idle for {} at the start: the host is not ahead until its first work is done.",
        idle);
  }
  if (cause.kernel_us <= 0)
    return fmt::format("The GPU is idle for {} because launches come late.", idle);
  return fmt::format(
      "The GPU is idle for {} because launches come late: the host takes {} µs from launch to "
      "launch, the median kernel {} µs; {} of {} launches go to an idle stream.",
      idle, ThreeDigits(cause.launch_us), ThreeDigits(cause.kernel_us), Pct(cause.idle_percent),
      EachCalls(analysis, cause.count));
}

// Functions that launch nothing: what no graph is needed to be rid of.
std::string PythonSentence(const findings::Analysis& analysis, const HostCause& cause) {
  constexpr std::size_t kFunctionsTold = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kFunctionsTold, cause.python.size()); ++i) {
    const HostPlace& place = cause.python[i];
    text += fmt::format("{}{}, called {} times by {}, takes {}", i == 0 ? "" : "; ",
                        PlaceName(place.name), EachCalls(analysis, place.count),
                        Code(place.code, kNameMax), EachMs(analysis, place.ms));
  }
  if (text.empty()) return text;
  return " Some host time goes to Python that launches nothing: " + text +
         " (profiler overhead included). Cache the result if it does not change from call to "
         "call.";
}

std::string LaunchTitle(const findings::Analysis& analysis, const HostCause& cause) {
  if (cause.ahead) return AheadTitle(analysis, cause);
  // The figure is of all places: one of them is named alone only where it has nearly all.
  constexpr double kAllButSome = 0.9;
  const bool all =
      !cause.places.empty() && cause.places.front().idle_ms >= kAllButSome * cause.idle_ms;
  const std::string at = IsRamp(analysis, cause) ? " at the start of "
                         : all                   ? " in "
                                                 : ", mostly in ";
  const std::string where = cause.places.empty() ? "" : at + PlaceName(cause.places.front().name);
  if (cause.ramp) {
    return fmt::format("Late launches{} leave the GPU idle for {}",
                       where.empty() ? " at the start of a step" : where,
                       EachMs(analysis, IdleMs(analysis, cause)));
  }
  return fmt::format("Launch-bound{} (a launch every {} µs, median kernel {} µs)", where,
                     ThreeDigits(cause.launch_us), ThreeDigits(cause.kernel_us));
}

std::string OptimizerTitle(const findings::Analysis& analysis, const HostCause& cause) {
  return fmt::format("Parameters are updated one by one, by {} launches in {} of host time {}",
                     EachCalls(analysis, cause.count), EachMs(analysis, cause.total_ms),
                     UnitPhrase(analysis));
}

// What is a twentieth of it or less is not worth a word.
bool IsMuchOf(double part_ms, double all_ms) {
  return 20 * part_ms > all_ms;
}

std::string_view ReplayWhere(const findings::Analysis& analysis, const HostCause& cause) {
  const double idle_ms = IdleMs(analysis, cause);
  if (!IsMuchOf(cause.inside_ms, idle_ms)) return "before";
  return IsMuchOf(idle_ms - cause.inside_ms, idle_ms) ? "before and inside" : "inside";
}

// Which of its kernels the GPU waits for, where that is one place.
std::string ReplayPlace(const findings::Analysis& analysis) {
  const auto& replay = analysis.replay;
  if (!replay || 2 * replay->longest_gap_ms < replay->idle_ms) return "";
  return fmt::format(", after {} of {} kernels", replay->gap_after, replay->kernels);
}

std::string ReplayInsight(const findings::Analysis& analysis, const HostCause& cause) {
  const double idle_ms = IdleMs(analysis, cause);
  const std::string idle = fmt::format("The GPU is idle for {} {} ({})", EachMs(analysis, idle_ms),
                                       UnitPhrase(analysis), BaseShare(analysis, idle_ms));
  if (!IsMuchOf(cause.inside_ms, idle_ms))
    return idle + " before the graph replay, while the host prepares the step.";
  const std::string inside = fmt::format(
      "inside it{}: the graph is submitted in pieces, and the GPU runs out of them. A host that is "
      "ahead of the GPU hides",
      ReplayPlace(analysis));
  if (!IsMuchOf(idle_ms - cause.inside_ms, idle_ms)) {
    return fmt::format("{} in the graph replay, {} that; fewer kernels in the graph shorten it.",
                       idle, inside);
  }
  return fmt::format(
      "{} around the graph replay: before it, while the host prepares the step, and for {} "
      "{} both; fewer kernels in the graph shorten the second.",
      idle, EachMs(analysis, cause.inside_ms), inside);
}

// What they lengthen the recording by; their host time where nobody asked.
double OnceOf(const findings::Finding& finding) {
  return findings::BestWall(finding) != nullptr ? OnceMs(finding) : finding.host->total_ms;
}

std::string FirstCallsInsight(const findings::Analysis& analysis,
                              const findings::Finding& finding) {
  return fmt::format(
      "One-time initialization lengthens the recording by {}. Its longest calls are {}. Other "
      "savings do not count this time.",
      Ms(OnceOf(finding)), PlacesText(analysis, *finding.host, true));
}

}  // namespace

double NothingMs(const findings::Analysis& analysis, const HostCause& cause) {
  if (cause.total_ms <= 0) return 0;
  return std::min(1.0, IdleMs(analysis, cause) / cause.total_ms) * cause.nothing_ms;
}

std::string HostTitle(const findings::Analysis& analysis, const findings::Finding& finding) {
  const HostCause& cause = *finding.host;
  switch (cause.kind) {
    case HostCauseKind::kSection:
      if (cause.late) {
        return fmt::format("{} for {} {} and launches nothing",
                           Capitalised(SectionClause(analysis, cause)),
                           EachMs(analysis, cause.total_ms), UnitPhrase(analysis));
      }
      return fmt::format("The GPU is idle for {} while {}{}", TimesText(analysis, cause),
                         SectionClause(analysis, cause),
                         cause.mostly_recorder() ? ", mostly an effect of recording" : "");
    case HostCauseKind::kWaits: {
      if (IsOfBreaks(cause)) return BreaksTitle(analysis, cause);
      const bool checks = IsOfChecks(cause);
      const std::string count = EachCalls(analysis, cause.count);
      const bool one = count == "1";
      std::string text =
          fmt::format("{} {}{}{}{}", count, checks ? "value check" : "wait", one ? "" : "s",
                      checks ? " (syncs that read one value back)"
                             : fmt::format(" with nothing queued behind {}", one ? "it" : "them"),
                      analysis.base.count > 1 ? " " + UnitPhrase(analysis) : "");
      if (cause.places.empty()) return text;
      const HostPlace& first = cause.places.front();
      // One call from many lines is one thing to look for.
      double of_name_ms = 0;
      for (const HostPlace& place : cause.places)
        of_name_ms += place.name == first.name ? place.idle_ms : 0;
      if (2 * of_name_ms > cause.idle_ms) return text + ", mostly in " + PlaceName(first.name);
      if (cause.rounds > 0)
        return fmt::format("{}, mostly in one loop of {} rounds", text,
                           EachCalls(analysis, cause.rounds));
      if (3 * first.idle_ms > cause.idle_ms)
        return text + ", largest part in " + PlaceName(first.name);
      return text + ", in several places";
    }
    case HostCauseKind::kOptimizer: return OptimizerTitle(analysis, cause);
    case HostCauseKind::kLaunchBound: return LaunchTitle(analysis, cause);
    case HostCauseKind::kReplayGap:
      return fmt::format("The GPU is idle for {} {} {} the graph replay",
                         EachMs(analysis, IdleMs(analysis, cause)), UnitPhrase(analysis),
                         ReplayWhere(analysis, cause));
    case HostCauseKind::kFirstCalls: return "One-time initialization takes " + Ms(OnceOf(finding));
    case HostCauseKind::kStop:  // its rule has the words
    case HostCauseKind::kDescheduled: break;
  }
  return "The host process probably had no CPU for " + Ms(cause.total_ms);
}

std::string HostInsight(const findings::Analysis& analysis, const findings::Finding& finding) {
  const HostCause& cause = *finding.host;
  switch (cause.kind) {
    case HostCauseKind::kSection: return SectionInsight(analysis, cause);
    case HostCauseKind::kWaits: return WaitsInsight(analysis, cause);
    case HostCauseKind::kLaunchBound:
      return LaunchInsight(analysis, cause) + PythonSentence(analysis, cause) +
             (cause.ramp || cause.ahead ? "" : BatchSentence(analysis));
    case HostCauseKind::kReplayGap: return ReplayInsight(analysis, cause);
    case HostCauseKind::kOptimizer:
      return fmt::format(
          "Gradients are cleared and weights updated one by one: {}. The host falls behind the GPU "
          "in these calls, and the work after them starts late.",
          PhasesText(analysis, cause));
    case HostCauseKind::kFirstCalls: return FirstCallsInsight(analysis, finding);
    case HostCauseKind::kStop:
    case HostCauseKind::kDescheduled: break;
  }
  return fmt::format(
      "The host stalls for {} in {} pauses of up to {} each, inside calls that usually take "
      "microseconds: no op is slow. The process probably had no CPU; only a scheduler trace can "
      "prove it.",
      Ms(cause.total_ms), cause.count, Ms(cause.each_ms));
}

std::string BatchText(const findings::Analysis& analysis, const BatchGain& gain) {
  const std::string_view unit = analysis.base.unit;
  if (!gain.longer) return fmt::format("each {} takes about as long", unit);
  const findings::WallBase& wall = analysis.wall;
  const double now_ms = wall.of_unrecorded ? wall.wall_ms : analysis.base.total_ms;
  return fmt::format("with {:.0f} times the batch each {} takes about {} instead of {}{}",
                     gain.times, unit, Ms(gain.step_ms), EachMs(analysis, now_ms),
                     wall.of_unrecorded ? " (both estimated without profiler overhead)" : "");
}

bool IsInference(const findings::Analysis& analysis) {
  // Where nothing tells a batch, calls one after the other are what could be put together.
  constexpr std::size_t kCallsMin = 3;
  return !analysis.context.training && !analysis.context.IsServer() &&
         (analysis.workload[findings::WorkloadPart::kBatch].known() ||
          analysis.base.count >= kCallsMin);
}

std::optional<BatchGain> BatchGainOf(const findings::Analysis& analysis) {
  constexpr double kBusyMax = 30;  // percent of the base
  const findings::WallBase& wall = analysis.wall;
  const double busy_ms = static_cast<double>(analysis.base.balance.busy_ns()) / 1e6;
  if (!IsInference(analysis) || !wall.known || wall.gpu_floor_ms <= 0) return {};
  if (analysis.base.Percent(busy_ms) >= kBusyMax) return {};
  // What recording cost the host is no room for a larger batch.
  const double floor_ms = wall.host_floor_ms;
  const double host_ms = wall.unrecorded_ms && !wall.of_unrecorded
                             ? std::min(floor_ms, wall.unrecorded_ms->low)
                             : floor_ms;
  constexpr double kTimesLeast = 2;
  if (host_ms < kTimesLeast * wall.gpu_floor_ms) return {};
  BatchGain gain;
  gain.times = std::round(host_ms / wall.gpu_floor_ms);
  gain.longer = wall.in_turns;
  const double step_ms =
      analysis.base.Each(wall.of_unrecorded ? wall.wall_ms : analysis.base.total_ms);
  gain.step_ms = step_ms + (wall.in_turns ? (gain.times - 1) * analysis.base.Each(busy_ms) : 0);
  gain.throughput = gain.times * step_ms / gain.step_ms;
  return gain;
}

}  // namespace jarvis::documents
