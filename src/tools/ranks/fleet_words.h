// What is said about the ranks of a job beside each other: which are slow, and how sure that is.
#pragma once

#include <string>

#include "analysis/ranks/fleet.h"
#include "json/json.h"
#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

struct FleetView {
  const JobView& job;
  const analysis::FleetFindings& fleet;
};

// Whether a rank, a host, a link or a step is out of the ordinary.
bool FindsAny(const analysis::FleetFindings& fleet);

// "Slow: host node-0005 (8 ranks, own work 8.1 % longer: computing; sure); ...", or that none is,
// or why that cannot be told.
std::string FleetSentence(const FleetView& view);
// Of ranks none of which is slow: how much of their communication is waiting all the same.
std::string SharedWaitText(const FleetView& view);

// The same as members of the structured answer; the first few of each kind.
Json FleetJson(const FleetView& view);

// A section of the report, with the method.
std::string FleetSection(const FleetView& view);

}  // namespace jarvis::tools
