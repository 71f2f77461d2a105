// What somebody sees who looks for ten seconds: what it is, where the time goes, what to do first,
// how far to trust it. A terminal and the page show the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "documents/lever_table.h"

namespace jarvis::documents {

// Which findings are told one by one, the first `cards`, and these by their actions.
struct ShownFindings {
  std::size_t cards = 0;
  std::vector<ActionGroup> groups;
};
ShownFindings FindingsToShow(const findings::Analysis& analysis);

// What all the rest is of, what could not be assessed, what all fixes save; a sentence or two each.
// Without GPU work: that nothing is known.
// `brief`, unless null: how many of them are enough to begin with.
std::vector<std::string> SummarySentences(const findings::Analysis& analysis,
                                          std::size_t* brief = nullptr);

// A part of the base, as documents::TimePart.
struct FrontPart {
  std::string name;
  std::string_view look;
  std::string time, share;
  double percent = 0;
  std::string fixes;  // "fixes 1, 3", "not assessed"; of those that are shown
};

// Texts are Markdown on one line.
struct Front {
  std::string title;                 // "ViTModel on H100-SXM"
  std::string workload;              // empty: nothing is known
  std::string run, model;            // of it what runs and how, and of what
  std::vector<std::string> summary;  // sentences
  std::size_t brief = 0;             // of these the first so many are enough to begin with
  std::string parts_of;              // "step: 7.89 ms"; empty: there are no parts
  std::vector<FrontPart> parts;
  std::vector<FixRow> fixes;
  std::vector<std::string> trust;
};
Front FrontOf(const findings::Analysis& analysis, const TextEdits& edits);

// Of a way that says what it saves; of others empty.
std::string WaySaves(const FixRow& row, const FixWay& way);
// "Saves 2.8 to 6.3 ms (36% to 80%)."; empty: nothing is known, or each way says it.
std::string SavesSentence(const FixRow& row);

}  // namespace jarvis::documents
