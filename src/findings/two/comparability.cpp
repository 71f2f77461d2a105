#include "findings/two/comparability.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/attribution/arg_text.h"
#include "base/number_text.h"
#include "findings/one/quality.h"
#include "findings/one/workload_finder.h"

namespace jarvis::findings {
namespace {

using Calls = std::map<std::string, double>;

// Calls that launched GPU work.
struct Work {
  Calls ops;
  Calls shapes;
  Calls types;
  double calls = 0;
};

Work WorkOf(const session::LoadedTrace& trace) {
  // Ids first: a trace has many calls of few signatures.
  std::map<std::array<StringId, 3>, double> ids;
  Work work;
  for (const analysis::Launcher& launcher : trace.attribution().launchers) {
    work.calls += 1;
    if (launcher.op == trace::kNoEvent) {
      work.ops["(unlinked)"] += 1;  // kernels' names are the devices'
      continue;
    }
    const trace::Args& args = trace.events().args_of(launcher.op);
    ids[{trace.events()[launcher.op].name, args.dims, args.types}] += 1;
  }
  const auto& strings = trace.events().strings;
  for (const auto& [key, calls] : ids) {
    const std::string name(strings[key[0]]);
    work.ops[name] += calls;
    // Blanks in the file's JSON do not count.
    const auto with = [&](StringId id) { return name + '\n' + analysis::TupleText(strings[id]); };
    if (key[1] != kNoString) work.shapes[with(key[1])] += calls;
    if (key[2] != kNoString) work.types[with(key[2])] += calls;
  }
  return work;
}

double SumOf(const Calls& calls) {
  double sum = 0;
  for (const auto& [key, count] : calls)
    sum += count;
  return sum;
}

// Absent: one of them has nothing.
std::optional<double> Likeness(const Calls& a, const Calls& b) {
  const double all_a = SumOf(a);
  const double all_b = SumOf(b);
  if (!(all_a > 0) || !(all_b > 0)) return std::nullopt;
  double smaller = 0;
  double larger = 0;
  for (const auto& [key, count] : a) {
    const auto found = b.find(key);
    const double other = found == b.end() ? 0 : found->second / all_b;
    smaller += std::min(count / all_a, other);
    larger += std::max(count / all_a, other);
  }
  for (const auto& [key, count] : b) {
    if (!a.contains(key)) larger += count / all_b;
  }
  return smaller / larger;
}

std::string AlikeText(const char* what, std::optional<double> alike) {
  if (!alike) return fmt::format("{}: not recorded in both", what);
  if (*alike >= 1 - 1e-12) return fmt::format("{}: the same", what);
  return fmt::format("{}: {:.0f} % alike", what, std::floor(*alike * 100));
}

std::string Text(std::optional<std::int64_t> value) {
  return value ? fmt::format("{}", *value) : "not recorded";
}

using Versions = std::map<std::string, std::string>;

// 0: it is no whole number.
std::int64_t WholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

// Top-level members that hold a version, by name, as a person writes it: "cuda_runtime_version" of
// 12040 is 12.4, "hip_runtime_version" of 60443483 is 6.4.43483.
Versions VersionsOf(const session::LoadedTrace& trace) {
  constexpr std::size_t kLongest = 40;
  Versions versions;
  for (const trace::TopLevelValue& value : trace.trace().metadata.values) {
    if (value.key.find("version") == std::string::npos || value.json.size() > kLongest) continue;
    const std::int64_t number = WholeNumber(value.json);
    std::string text = value.json;
    if (value.key.starts_with("cuda_") && number >= 1000) {
      text = fmt::format("{}.{}", number / 1000, number % 1000 / 10);
    } else if (value.key.starts_with("hip_") && number >= 10'000'000) {
      text = fmt::format("{}.{}.{}", number / 10'000'000, number / 100'000 % 100, number % 100'000);
    }
    versions.emplace(value.key, std::move(text));
  }
  return versions;
}

// "hip_driver_version 6.4.43483, hip_runtime_version 6.4.43483".
std::string ListOf(const Versions& versions) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> texts;
  for (const auto& [key, text] : versions) {
    if (texts.size() < kShown) texts.push_back(key + " " + text);
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Versions that differ, by name; of two vendors all.
std::string SoftwareText(const session::LoadedTrace& a, const session::LoadedTrace& b) {
  constexpr std::size_t kShown = 3;
  const Versions versions[2] = {VersionsOf(a), VersionsOf(b)};
  std::vector<std::string> differ;
  bool any = false;
  for (const auto& [key, text] : versions[0]) {
    const auto found = versions[1].find(key);
    any = any || found != versions[1].end();
    if (found != versions[1].end() && found->second != text)
      differ.push_back(fmt::format("{} {} and {}", key, text, found->second));
  }
  if (differ.size() > kShown) differ.resize(kShown);
  if (!differ.empty()) return "software: " + fmt::format("{}", fmt::join(differ, ", "));
  if (any) return "software: the same versions";
  if (versions[0].empty() && versions[1].empty()) return "software: versions not recorded";
  const auto shown = [](const Versions& of) {
    return of.empty() ? std::string("versions not recorded") : ListOf(of);
  };
  return fmt::format("software: {} of the candidate; {} of the baseline", shown(versions[0]),
                     shown(versions[1]));
}

std::string BothText(const char* what, const std::string& a, const std::string& b) {
  const auto shown = [](const std::string& text) { return text.empty() ? "not recorded" : text; };
  if (a == b && a.empty()) return fmt::format("{}: not recorded", what);
  if (a == b) return fmt::format("{}: {} in both", what, a);
  return fmt::format("{}: {} and {}", what, shown(a), shown(b));
}

// Files that are not whole.
void AddMissing(const session::LoadedTrace& primary, const session::LoadedTrace& comparison,
                Comparability* result) {
  for (const auto& [side, trace] :
       {std::pair("candidate", &primary), std::pair("baseline", &comparison)}) {
    // Nobody can stop this one, so that it cannot fail.
    for (const Quality& item : *QualityOf(*trace, Job()).value()) {
      if (item.remedy != "partial") continue;
      result->reasons.push_back(fmt::format("{}: [{}] {}", side, item.code, item.text));
      if (result->verdict == "equal work") result->verdict = "comparable";  // of what is there
    }
  }
}

}  // namespace

std::string DeviceNames(const session::LoadedTrace& trace) {
  std::set<std::string> names;
  for (const trace::Device& device : trace.trace().metadata.devices)
    names.insert(device.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Comparability AssessComparability(const session::LoadedTrace& primary,
                                  const session::LoadedTrace& comparison) {
  Comparability result;
  const Work a = WorkOf(primary);
  const Work b = WorkOf(comparison);
  if (!(a.calls > 0) || !(b.calls > 0)) {
    result.verdict = "not comparable";
    if (!(a.calls > 0)) result.reasons.emplace_back("the candidate trace has no GPU work");
    if (!(b.calls > 0)) result.reasons.emplace_back("the baseline trace has no GPU work");
    AddMissing(primary, comparison, &result);
    return result;
  }
  const double steps_a = static_cast<double>(primary.steps().size());
  const double steps_b = static_cast<double>(comparison.steps().size());
  const bool per_step = steps_a > 0 && steps_b > 0;
  const double calls_a = a.calls / (per_step ? steps_a : 1);
  const double calls_b = b.calls / (per_step ? steps_b : 1);
  const double amount = std::min(calls_a, calls_b) / std::max(calls_a, calls_b);
  const double ops = Likeness(a.ops, b.ops).value_or(0);
  const auto shapes = Likeness(a.shapes, b.shapes);
  const auto types = Likeness(a.types, b.types);
  const auto& world_a = primary.trace().metadata.world_size;
  const auto& world_b = comparison.trace().metadata.world_size;
  const bool ranks_differ = world_a.value_or(1) != world_b.value_or(1);
  constexpr double kUnknown = 0.5;
  double score = ops * (0.3 + 0.4 * shapes.value_or(kUnknown) + 0.15 * types.value_or(kUnknown) +
                        0.15 * amount);
  if (ranks_differ) score *= 0.8;
  result.score = static_cast<int>(std::floor(100 * score + 1e-9));
  result.order = FindCommonOrder(primary, comparison);
  const bool changed_part = result.score < 80 && !ranks_differ && result.order.surrounds();
  if (changed_part) {
    const double share = result.order.common_calls / std::max(a.calls, b.calls);
    result.score = std::max({result.score, 40, static_cast<int>(100 * share)});
  }
  if (primary.id() == comparison.id()) {
    result.verdict = "same file";
  } else if (result.score == 100) {
    result.verdict = "equal work";
  } else if (changed_part) {
    result.verdict = "the same but for a changed part";
  } else {
    result.verdict = result.score >= 80   ? "comparable"
                     : result.score >= 40 ? "partly comparable"
                                          : "not comparable";
  }
  result.reasons = {AlikeText("ops by calls", ops), AlikeText("shapes", shapes),
                    AlikeText("dtypes", types),
                    fmt::format("calls{}: {} and {}", per_step ? " a step" : "",
                                ThreeDigits(calls_a), ThreeDigits(calls_b)),
                    fmt::format("steps: {:.0f} and {:.0f}", steps_a, steps_b)};
  if (changed_part) {
    result.reasons.push_back(fmt::format(
        "{:.0f} calls ({:.0f} and {:.0f} % of all) are the same ones in the same order, all along "
        "both traces",
        result.order.common_calls, 100 * result.order.common_calls / result.order.primary_calls,
        100 * result.order.common_calls / result.order.comparison_calls));
  }
  if (world_a || world_b) {
    result.reasons.push_back(fmt::format("ranks: {} and {}", Text(world_a), Text(world_b)));
  }
  result.reasons.insert(result.reasons.begin(),
                        BothText("model", ModelClass(primary), ModelClass(comparison)));
  result.reasons.push_back(BothText("device", DeviceNames(primary), DeviceNames(comparison)));
  result.reasons.push_back(SoftwareText(primary, comparison));
  AddMissing(primary, comparison, &result);
  return result;
}

}  // namespace jarvis::findings
