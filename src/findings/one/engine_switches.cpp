#include "findings/one/engine_switches.h"

#include <algorithm>

#include "base/text.h"

namespace jarvis::findings {

std::span<const EngineSwitches> AllEngineSwitches() {
  static constexpr EngineSwitches kEngines[] = {
      {"vllm", "vLLM", "`--enable-dbo`", "`--enable-eplb`"},
      {"sglang", "SGLang", "`--enable-two-batch-overlap`",
       "`--enable-eplb --ep-num-redundant-experts N`"},
      {"lightllm", "LightLLM", "`--enable_decode_microbatch_overlap`",
       "`--ep_redundancy_expert_config_path FILE` and `--auto_update_redundancy_expert`"}};
  return kEngines;
}

const EngineSwitches* SwitchesOf(std::string_view frameworks) {
  const auto all = AllEngineSwitches();
  const auto found = std::ranges::find_if(
      all, [&](const EngineSwitches& one) { return ContainsNoCase(frameworks, one.key); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace jarvis::findings
