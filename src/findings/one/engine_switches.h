// What serving engines call the settings that help ranks exchange tokens with each other.
#pragma once

#include <span>
#include <string_view>

namespace jarvis::findings {

struct EngineSwitches {
  std::string_view key;  // its name in lower case
  std::string_view name;
  std::string_view two_batches;      // one half of a batch exchanges while the other computes
  std::string_view balance_experts;  // busy experts are copied, and placed anew
};

// One row an engine.
std::span<const EngineSwitches> AllEngineSwitches();
// Of the first engine that a list of frameworks names ("LightLLM, DeepEP"), whatever its case;
// null: it names none.
const EngineSwitches* SwitchesOf(std::string_view frameworks);

}  // namespace jarvis::findings
