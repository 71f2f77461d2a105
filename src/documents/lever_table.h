// The table of recommendations: what to do, why, and what it saves.
#pragma once

#include <string>
#include <vector>

#include "documents/same_action.h"

namespace jarvis::documents {

// Whether there is room for one way out alone and Path B is the one to tell of: the one that saves
// more, else the one that can be taken.
bool TakesPathB(const findings::Finding& finding);

// What `alone` of a row is whose change makes the unit longer by itself.
inline constexpr std::string_view kSlower = "slower";

// A way to make one change, with what it saves on its own where the row has two.
struct FixWay {
  char path = '\0';  // 'A', 'B'; none: of a row that recommends nothing
  std::string action;
  std::string saves;  // empty: what the row says
};

// One action, or what is said beside actions; texts are Markdown on one line.
struct FixRow {
  ActionGroup findings;      // whose action it is; empty: of none
  std::string number;        // "1", "1, 2" (findings' global ranks), "with 1", or a dash
  std::vector<FixWay> ways;  // the one to begin with first
  std::string because;
  std::string alone;   // what it saves before anything else is done
  std::string after;   // ... once the rows above (and `until`) are done
  std::string paths;   // "A, B"
  bool costs = false;  // `alone` is what it costs once: nothing saves it
  bool alike = false;  // what it saves alone is about what it saves once the rows above are done
  std::string until = {};  // the number before which it saves next to nothing; empty: none
  std::string brief = {};  // what it saves there, in a few words: "1.30 to 1.53 ms"; empty: unknown
};

// What to do, why, and what the way out that saves more is worth; of the GPU's time without a known
// wall time. One row an action. The column of what each saves after those above adds up to the last
// row, with what findings beyond the first `cards` save. Empty: there is none.
std::vector<FixRow> FixRows(const findings::Analysis& analysis, const TextEdits& edits,
                            const std::vector<ActionGroup>& groups, std::size_t cards);
// These rows as a table.
std::string FixTable(const findings::Analysis& analysis, const std::vector<FixRow>& rows);

}  // namespace jarvis::documents
