// What is said about a finding. Every finding has a draft, so that a report is whole without an
// agent; an agent may replace the words, never the figures.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "findings/one/analysis.h"

namespace jarvis::documents {

struct FindingText {
  std::string title;           // names the category and the op
  std::string insight;         // what is wrong: one sentence
  std::string action;          // where to start: the text of the chosen path, or what else to do
  std::string identification;  // how it was found
  std::string reasoning;       // what speaks for it, as far as a trace shows
  std::string resolution;      // why the ways out help
  std::string path_a;          // fusion, algorithm, API
  std::string path_b;          // kernels
  std::string saves_a;         // "Saves 3.1 to 4.2 ms of the step at ... (source)."; or empty
  std::string saves_b;
  bool way_a = false;  // path_a says what can be done, not why there is nothing
  bool way_b = false;
  char chosen = '\0';  // the path to begin with: 'A', 'B', or none
};

// The fields that an agent may write, by name, in the order of a report.
struct TextField {
  std::string_view name;
  std::string FindingText::*member;
};
inline constexpr std::array<TextField, 8> kTextFields = {{
    {"title", &FindingText::title},
    {"insight", &FindingText::insight},
    {"action", &FindingText::action},
    {"identification", &FindingText::identification},
    {"reasoning", &FindingText::reasoning},
    {"resolution", &FindingText::resolution},
    {"path_a", &FindingText::path_a},
    {"path_b", &FindingText::path_b},
}};

FindingText DraftText(const findings::Analysis& analysis, const findings::Finding& finding);

// What agents wrote, by finding id and field.
using TextEdits = std::map<std::string, std::map<std::string, std::string>>;
// The draft with the edits over it.
FindingText TextOf(const findings::Analysis& analysis, const findings::Finding& finding,
                   const TextEdits& edits);

// "aten::mm" of the costliest member, or what the finding is about in words; in backticks if it is
// a name of the trace.
std::string SubjectText(const findings::Finding& finding);
// Whether the reader is told it as a way out. A reproducer for those who write the kernel is in the
// report's files; to the reader it is none.
bool IsToldAsWay(findings::Advice advice);
// What decides whether a rule's fix pays and no trace shows; empty: the catalogue says nothing.
// REQUIRES: the finding is a rule's.
std::string LeftOpen(const findings::Analysis& analysis, const findings::Finding& finding);
// What a remedy tells to do, as a sentence without its full stop.
std::string AdviceSentence(const findings::Analysis& analysis, const findings::Remedy& remedy);

}  // namespace jarvis::documents
