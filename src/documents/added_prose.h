// What reports say of findings that somebody added, and of figures that somebody worked out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "documents/prose.h"

namespace jarvis::documents {

// Their words, and ours where they gave none; what they save is not among them. REQUIRES: by_hand.
FindingText AddedText(const findings::Finding& finding);
// "Saves 3.10 to 4.20 ms of the step with the change `op3 (aten::mm) x 0.5`."; empty: nobody knows.
std::string AddedSaves(const findings::Analysis& analysis, const findings::Finding& finding,
                       const std::optional<findings::WallSaving>& wall);
// The place of another finding in the order, as a finding refers to it: "2".
std::string PlaceOf(const findings::Analysis& analysis, std::string_view id);
// Figure | Value | Question: each figure with the question that it answers; empty without figures.
std::string DerivedTable(const findings::Analysis& analysis);

}  // namespace jarvis::documents
