// What limits the statements that can be made about a trace, with what to record next time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::findings {

enum class Severity : std::uint8_t { kHard, kWarning, kNote };
std::string_view SeverityText(Severity severity);  // "hard", "warning", "note"

struct QualityCode {
  std::string code;  // "MISSING_CPU_OP_SHAPES"
  Severity severity = Severity::kNote;
  std::optional<double> value;
  std::optional<double> threshold;
  std::string unit;      // of both: "%", "ms", ""
  std::string message;   // one sentence
  std::string evidence;  // where the value is from; may be empty
  std::string record;    // what to record next time; empty: nothing helps
  std::string cannot;    // what cannot be said because of it; may be empty
};

}  // namespace jarvis::findings
