// How findings about a trace as a whole are made of GPU events; internal to the layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

// A finding of a rule over GPU events of any op: Path A takes `part` of their time away.
Finding StructureFinding(const Calls& calls, Pattern rule, const char* name, std::string subject,
                         std::vector<trace::EventIndex> gpu, const Range& part, Target target,
                         std::vector<Fact> facts);

// By event: is it one of these?
std::vector<bool> Marked(const std::vector<trace::EventIndex>& some, std::size_t events);

// Operations of which `own` (by event) holds most of the time are claimed (Operation::claimed).
void ClaimOperations(const trace::EventStore& events, const std::vector<bool>& own,
                     std::vector<CategoryAnalysis>* categories);

// The GPU work that the timeline counts, by stream: each by start, equal ones as they stand in it.
std::vector<std::vector<trace::EventIndex>> WorkByStream(const Calls& calls);

inline Fact StructureText(std::string key, std::string value) {
  return {std::move(key), std::move(value), {}};
}
inline Fact StructureWords(std::string key, std::string value) {
  return {std::move(key), std::move(value), "words"};
}
inline Fact StructureCount(std::string key, std::size_t value) {
  return {std::move(key), static_cast<std::int64_t>(value), {}};
}

}  // namespace jarvis::findings
