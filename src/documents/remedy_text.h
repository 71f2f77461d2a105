// Words for the keys of an analysis.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "findings/one/pattern.h"

namespace jarvis::documents {

// A path that nothing is known of, and that nothing needs to be said of.
inline constexpr std::string_view kNoPath = "None known.";
// What is said of a path without a way out: the reason, or that none is known.
std::string NoWayText(const std::vector<findings::Remedy>& path);
// Why the ways out of both paths help, in sentences without numbers and without a claim that the
// trace does not carry.
std::string WhyTheyHelp(const levers::Fixes& texts, const std::vector<findings::Remedy>& path_a,
                        const std::vector<findings::Remedy>& path_b);
// A code of Finding::warnings or CategoryAnalysis::notes as a sentence; an unknown one as words.
std::string WarningText(std::string_view code);
// "host_bound" as "host bound".
std::string Words(std::string_view key);

}  // namespace jarvis::documents
