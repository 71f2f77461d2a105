#include "findings/one/section_remedies.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "findings/one/advice_rules.h"

namespace jarvis::findings {

std::vector<Advice> AdviceForGrowth(const SectionGroup& group, HostCause* cause) {
  const GrowthCause why = group.growth->cause;
  cause->unsure = why != GrowthCause::kCollected;
  if (why == GrowthCause::kNewResults) return {Advice::kNewResults, Advice::kFindHostWork};
  // The first rounds' work on what is new stays.
  cause->left_ms = (1 - group.growth->growth_ms / group.total_ms) * cause->idle_ms;
  return {why == GrowthCause::kCollected ? Advice::kJoinOnce : Advice::kGrowingRounds,
          Advice::kFindHostWork};
}

// Waits that come in cycles show how many workers take turns; without the waits a step would ask
// for as many more.
void SayWorkers(const HostEvidence& evidence, Finding* finding) {
  constexpr double kSpare = 4;  // workers are slower than the main process, and not even
  const std::size_t workers = evidence.frames.frames.base.regimes.cycle;
  const double left_ms =
      std::max(evidence.base_ms - finding->host->idle_ms, 0.01 * evidence.base_ms);
  const auto whole = [](double count) { return static_cast<std::int64_t>(std::ceil(count)); };
  for (Remedy& remedy : finding->path_b) {
    if (remedy.advice == Advice::kLoaderWorkers) {
      const std::int64_t needed = whole(kSpare * finding->host->total_ms / left_ms);
      remedy.facts.push_back({"needed", std::clamp<std::int64_t>(needed, 2, 16), {}});
    } else if (remedy.advice == Advice::kPrefetchData && workers >= 2) {
      const double times = evidence.base_ms / left_ms;
      remedy.facts.push_back({"needed", whole(static_cast<double>(workers) * times), {}});
      remedy.facts.push_back({"workers", static_cast<std::int64_t>(workers), {}});
    }
  }
}

// Work on what goes to the GPU, or on what came from it.
void SayWhatAndWhen(const SectionGroup* group, Finding* finding) {
  for (Remedy& remedy : finding->path_a) {
    if (remedy.advice == Advice::kNewResults && group != nullptr && group->growth) {
      const GrowingRounds& growth = *group->growth;
      remedy.facts.push_back({"fewest", growth.fewest_rows, {}});
      remedy.facts.push_back({"most", growth.most_rows, {}});
      remedy.facts.push_back({"join", growth.join, {}});
    }
    if (remedy.advice != Advice::kHostOpsToDevice) continue;
    remedy.facts.push_back({"ops", HostOpsNamed(finding->host->places), "words"});
    if (group == nullptr) continue;
    const bool input = group->before_copy_in && !group->after_copy_back;
    remedy.facts.push_back({"when",
                            input ? "after the upload, which moves the data as they were read"
                                  : "before the result is copied to the CPU",
                            "words"});
  }
}

// Transforms by torch's ops on the host: the GPU has them as well.
void SayTransforms(Finding* finding) {
  constexpr double kGoodPart = 0.25;  // of the loading
  std::vector<std::string> ops;
  double ms = 0;
  for (const HostPlace& place : finding->host->places) {
    if (!place.name.starts_with("aten::") || place.name == "aten::copy_") continue;
    ms += place.ms;
    ops.push_back("`" + place.name + "`");
  }
  if (ms < kGoodPart * finding->host->total_ms) return;
  std::string words = fmt::format("{}", fmt::join(ops, ", "));
  for (Remedy& remedy : finding->path_b) {
    if (remedy.advice == Advice::kLoaderWorkers || remedy.advice == Advice::kPrefetchData)
      remedy.facts.push_back({"transforms", words, "words"});
  }
}

bool IsFirstOfMany(const trace::EventStore& events, const SectionGroup& group) {
  constexpr std::uint64_t kMany = 8;  // calls for one that is long
  if (group.loading || group.stretches.size() > 1 || group.work.empty()) return false;
  const SectionWork& leading = group.work.front();
  if (2 * leading.ms < group.total_ms) return false;
  // One function may have several names, each with an address.
  std::vector<bool> named(events.strings.size());
  for (StringId id = 0; id < named.size(); ++id)
    named[id] = WithoutAddress(events.strings[id]) == leading.name;
  std::uint64_t calls = 0;
  std::int64_t others = 0;
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    if (!tree::IsHost(events[e].kind) || !named[events[e].name]) continue;
    ++calls;
    const std::int64_t at = events[e].ts_ns;
    const Interval<std::int64_t>& own = group.stretches.front();
    if (at > own.end || events[e].end_ns() < own.start) others += events[e].dur_ns;
  }
  // The usual call is much shorter.
  return calls >= kMany * leading.count &&
         4 * MillisOf(others) < leading.ms * static_cast<double>(calls - leading.count);
}

}  // namespace jarvis::findings
