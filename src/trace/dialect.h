// The dialects of profiler traces, as one table: how each era and producer spells categories and
// arrows. What was seen in a trace decides its dialect's name; nothing is guessed from a version.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/event.h"

namespace jarvis::trace {

enum class FlowKind : std::uint8_t { kNone, kLaunch, kForwardBackward };

// Which rule recognised a category; the load summary lists the rules that a trace used.
enum class Rule : std::uint8_t {
  kKineto,       // PyTorch 1.12 and later
  kKineto18,     // PyTorch 1.8 to 1.11: Operator, Runtime, Kernel, Memcpy, Memset
  kCaseVariant,  // a known category in other letters
  kMtia,
  kXpu,         // Intel XPU and HPU
  kPrivateUse,  // out-of-tree devices (privateuse1)
  kNpu,         // Ascend exporter: device events without a category
  kUnknown,
  kCount,
};
std::string_view RuleName(Rule rule);

struct CategoryRule {
  std::string_view category;
  EventKind kind;
  FlowKind flow;
  Rule rule;
};

// The rule for a category text; one of kUnknown if no rule has it.
CategoryRule FindCategory(std::string_view category);

// All rules, for the documentation and the tests.
std::span<const CategoryRule> CategoryRules();

// The facts by which a dialect is described.
struct Dialect {
  bool rules[static_cast<std::size_t>(Rule::kCount)] = {};
  bool arrows_async = false;             // cat async, name launch (1.8)
  bool arrows_async_cpu_to_gpu = false;  // 1.12
  bool arrows_ac2g = false;              // 1.13 and later
  bool text_timestamps = false;
  bool begin_end_pairs = false;
  bool bare_array = false;
  // Of a recorder with a format of its own: "nsight systems 3.25.0", and zeros; else zeros.
  std::array<char, 48> recorder{};

  // Cut to what fits.
  void SetRecorder(std::string_view name);
  void Merge(const Dialect& other);
  // The recorder's, else "kineto 1.13+", "kineto 1.12", "kineto 1.8", "chrome trace", and "; text
  // timestamps" etc.
  std::string Name() const;
};

}  // namespace jarvis::trace
