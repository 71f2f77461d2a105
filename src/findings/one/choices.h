// What a person or an agent decides about the findings of an analysis: which do not apply here,
// which there are beside them, in which order they are to be done, and which figures are worked out
// of its tables. All that is made of the analysis then follows: what is saved after what, sums,
// classes, charts, reports.
#pragma once

#include <string>
#include <vector>

#include "analysis/simulation/simulation.h"
#include "findings/one/additions.h"
#include "findings/one/analysis.h"

namespace jarvis::findings {

struct Dismissal {
  std::string finding;  // id
  std::string subject;  // of the finding, so that another one with its id is not meant
  std::string reason;
};

struct FindingChoices {
  std::vector<Dismissal> dismissed;
  std::vector<std::string> order;  // ids that come first; the others follow as they were
  std::string order_because;       // why; may be empty
  std::vector<Addition> added;
  std::vector<DerivedFigure> derived;
  bool empty() const {
    return dismissed.empty() && order.empty() && added.empty() && derived.empty();
  }
};

// Findings keep their ids. `simulation` null: wall times are not known, and are not told anew.
Analysis WithChoices(const Analysis& analysis, const analysis::Simulation* simulation,
                     const FindingChoices& choices);

}  // namespace jarvis::findings
