// Findings that a person or an agent adds to those of an analysis: their words, our figures. What
// one saves is what the simulation says of the change that it comes with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/simulation/change.h"
#include "analysis/simulation/simulation.h"

namespace jarvis::findings {

struct Analysis;

struct Addition {
  std::string id;                            // "a1"; never that of another, whatever is taken back
  std::string subject;                       // what it was called when it was added
  std::map<std::string, std::string> texts;  // by the names of documents::kTextFields
  std::string asked;  // its changes as `what_if` takes them, a JSON array; empty: none
  // Read from `asked` for the trace at hand.
  std::string change;                     // in words; empty: none
  std::vector<analysis::Change> changes;  // empty: nobody knows what it would save
};

// What a finding that was added has beside the others.
struct ByHand {
  std::string change;
  std::map<std::string, std::string> texts;
};

// "a1".
bool IsAddedId(std::string_view id);

// Puts them among the findings, each where it saves more than what comes next; those without a
// saving come last. `simulation` null: none has one.
void AddFindings(const std::vector<Addition>& additions, const analysis::Simulation* simulation,
                 Analysis* analysis);

}  // namespace jarvis::findings
