#include "documents/remedy_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"

namespace jarvis::documents {
namespace {

struct Warning {
  std::string_view code;
  std::string_view text;
};
constexpr Warning kWarnings[] = {
    {"too_little", "A few launches beside the start of their program are too little to rank."},
    {"graph_replay", "Launches come from a GPU graph, so ops and gaps are only partly known."},
    {"starved",
     "The GPU often went idle after this work, so faster kernels alone may only lengthen its idle "
     "time."},
    {"routing_assumed", "Expert routing is not recorded; even routing is assumed."},
    {"keys_assumed", "The number of keys is not recorded; as many as queries are assumed."},
    {"no_platform",
     "The GPU is unknown, so there is no roofline to compare with; name it with `platform`."},
    {"no_shapes", "No shapes were recorded, so its efficiency is unknown."},
    {"no_model", "No performance model covers this work, so its efficiency is unknown."},
    {"near_roof", "Its efficiency is good or better, so there is little to gain."},
    {"above_roof",
     "Rows above their roofline are listed as anomalies; no saving is estimated for them."},
    {"see_multi_kernel", "It is analyzed under communication and copies."},
    {"see_fusion", "It is analyzed with the chain of ops that it is part of."},
    {"busy", "The GPU is busy all the time."},
    {"one_rank", "One rank cannot show how much of it is waiting for other ranks."},
    {"below_threshold", "The possible saving is below the threshold for a finding."},
    {"no_gpu_work", "The trace has no GPU work."},
    {"no_ops", "The trace has no ops, so kernels cannot be put into chains."},
    {"no_launches", "Launches are not recorded, so gaps cannot be explained."},
    {"several_devices", "The trace has several devices; gaps are those of all devices together."},
};

}  // namespace

std::string NoWayText(const std::vector<findings::Remedy>& path) {
  for (const findings::Remedy& remedy : path) {
    if (remedy.advice != findings::Advice::kNoneKnown) continue;
    for (const findings::Fact& fact : remedy.facts) {
      const auto* reason = std::get_if<std::string>(&fact.value);
      if (fact.key == "reason" && reason != nullptr) return "None: " + *reason + ".";
    }
  }
  return std::string(kNoPath);
}

std::string WhyTheyHelp(const levers::Fixes& texts, const std::vector<findings::Remedy>& path_a,
                        const std::vector<findings::Remedy>& path_b) {
  std::string text;
  for (const auto& [letter, path] : {std::pair{'A', &path_a}, {'B', &path_b}}) {
    std::string whys;
    for (const findings::Remedy& remedy : *path) {
      const std::string& why = texts.Of(remedy.advice).why;
      if (why.empty() || !IsToldAsWay(remedy.advice) || whys.find(why) != std::string::npos)
        continue;
      whys += (whys.empty() ? "" : "; ") + why;
    }
    if (whys.empty()) continue;
    text += fmt::format("{}Why Path {} helps: {}.", text.empty() ? "" : " ", letter, whys);
  }
  return text;
}

std::string WarningText(std::string_view code) {
  const auto* found = std::find_if(std::begin(kWarnings), std::end(kWarnings),
                                   [&](const Warning& warning) { return warning.code == code; });
  if (found != std::end(kWarnings)) return std::string(found->text);
  return Capitalised(Words(code)) + ".";
}

std::string Words(std::string_view key) {
  std::string words = OneLine(ValidUtf8(key));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace jarvis::documents
