// Where the time of a step goes, as reports and the page show it: the lines of the ledger's wall
// book (ledger/books), in the field's words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// One line of the wall book, or the sum of those too small to be shown. Together they are the base.
struct TimePart {
  std::string name;             // "GPU: GEMMs", "GPU idle: host executing an op"
  std::string_view look;        // how the page colours it: "compute", "comm", "ops"
  double ms = 0;                // of all units of the base
  std::vector<int> fixes = {};  // global ranks of the findings that are about it
  bool assessed = true;         // false: nobody knows what of it could be saved
  bool hidden = false;          // GPU work of a unit whose pace the host sets
};

// "GPU: GEMMs", "GPU idle: host executing an op": what lines of the wall book are called in texts.
std::string LineWords(ledger::WorkKind kind);
std::string_view LineName(ledger::WorkKind kind);  // "GEMMs"
std::string LineWords(ledger::IdleCause cause);

// The longest first, the sum of the small ones and of those beyond `most` last.
std::vector<TimePart> TimeParts(const findings::Analysis& analysis, std::size_t most = 8);

// What is to be done about a part: "1, 3", "not assessed", "hidden by the host"; else empty.
std::string FixesOf(const TimePart& part);

// Metric | Value | Recommendations | Share of the step: the base and parts of it.
std::string WallTimeTable(const findings::Analysis& analysis);

// "66% of the step could not be assessed: GEMMs (41.0 ms) and attention (4.1 ms). No shapes were
// recorded. Record with `record_shapes=True`." Empty: all large lines have a bound.
std::string UnassessedSentence(const findings::Analysis& analysis);
// Faster GPU work would save next to nothing of a unit whose pace the host sets.
bool HostHidesGpu(const findings::Analysis& analysis);

// What records ops and their shapes; goes on after "Record with".
std::string OpsWithShapes(const trace::HowToRecord& how);
}  // namespace jarvis::documents
