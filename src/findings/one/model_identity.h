// Which model a trace is of, as far as it says so itself. Everything else is kUnknownModel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/loaded_trace.h"

namespace jarvis::findings {

inline constexpr std::string_view kUnknownModel = "Cannot be inferred from trace";

struct IdentityField {
  std::string value{kUnknownModel};
  std::vector<std::string> evidence;  // what it rests on; empty with kUnknownModel
  double confidence = 0;              // below 0.5 the value is kUnknownModel
};

struct ModelIdentity {
  IdentityField model;                      // "Qwen2"
  IdentityField architecture;               // "Transformer (decoder)", "CNN"
  IdentityField scale;                      // "24 layers, hidden 1024, about 0.5B parameters"
  IdentityField precision;                  // "BF16", "FP32 + BF16"
  std::vector<std::string> module_classes;  // sorted
  std::string workload;                     // "training", "inference", or empty
};

}  // namespace jarvis::findings
