#include "findings/one/operation.h"

#include <algorithm>

#include "findings/one/enum_text.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {

std::string_view BoundText(Bound bound) {
  return EnumText({"compute", "memory", "unknown", "unmodeled", "few_blocks"}, bound);
}

std::string_view BandText(Band band) {
  return EnumText({"excellent", "good", "acceptable", "needs investigation", "unknown", "anomaly"},
                  band);
}

Band BandOf(std::optional<double> efficiency) {
  if (!efficiency) return Band::kUnknown;
  if (*efficiency > limits::kAtRoof) return Band::kAnomaly;
  if (*efficiency > limits::kExcellent) return Band::kExcellent;
  if (*efficiency >= limits::kGood) return Band::kGood;
  if (*efficiency >= limits::kAcceptable) return Band::kAcceptable;
  return Band::kInvestigate;
}

std::string_view BoundSourceText(BoundSource source) {
  return EnumText({"ridge", "intensity_bands", "none"}, source);
}

bool HasPattern(const Operation& operation, Pattern pattern) {
  return std::any_of(operation.patterns.begin(), operation.patterns.end(),
                     [&](const PatternHit& hit) { return hit.pattern == pattern; });
}

}  // namespace jarvis::findings
