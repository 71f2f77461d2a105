// Times and shares as reports tell them: of one step or iteration, what the user waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// "382.5 ms" of one step, where `ms` is of all of them.
// "Calls", or "Calls a step" where several are recorded; of one unit, without the calls of others.
std::string CallsTitle(const findings::Analysis& analysis);
std::string EachCalls(const findings::Analysis& analysis, std::uint64_t calls, double foreign = 0);

std::string EachMs(const findings::Analysis& analysis, double ms);
std::string EachRange(const findings::Analysis& analysis, const findings::Range& ms);
// "of the step", "per step", "of the recording": what follows a time of EachMs.
std::string UnitPhrase(const findings::Analysis& analysis);
// Titles of columns: what a change saves on its own ("Saving per step on its own"), and what it
// adds to those ranked before it.
std::string SavingTitle(const findings::Analysis& analysis);
inline constexpr std::string_view kExtraSavingTitle = "On top of the rows above";
// "step", "step (mean of 6)", "iteration (mean of 10)", "recording".
std::string UnitTitle(const findings::Analysis& analysis);
// Share of the base; a dash where the base is not known.
std::string BaseShare(const findings::Analysis& analysis, double ms);

// Of an operation and a category: GPU time of the base, without work launched before the recording.
double OwnMs(const findings::Operation& operation);
double OwnMs(const findings::CategoryAnalysis& category);

// "Step: 42.1 ms; the GPU is busy for 30.0 ms of it (71.3%)."
std::string LengthSentence(const findings::Analysis& analysis);
// "Step (mean of 4): 214.9 ms (210 to 220 ms, longest: ProfilerStep#552)".
std::string UnitLength(const findings::Analysis& analysis);
// Units left out of the figures, a kind a row: how many, and how long each is on average, in ms.
std::vector<std::pair<std::string, double>> LeftOutUnits(const findings::Analysis& analysis);
// "At most 165 ms per step (76.5%), measured in the trace."
std::string MeasuredBound(const findings::Analysis& analysis, double ms);
// "Left out: 425 ms in one odd step (...)."; empty: nothing is.
std::string LeftOut(const findings::Analysis& analysis);
// Metric | Value: what that sentence and the one about all savings cite.
std::string ToldTable(const findings::Analysis& analysis);
// Whether ops were recorded: without them nobody knows what the host does between calls.
bool HasOps(const findings::Analysis& analysis);
// One sentence: how long a step is and what the GPU does of it.
std::string BaseSentence(const findings::Analysis& analysis);
// Its two halves: how long the unit is, what bounds it and what savings are of; what was left out
// and what else is in it. The second may be empty.
std::string BaseEssence(const findings::Analysis& analysis);
std::string BaseRest(const findings::Analysis& analysis);

}  // namespace jarvis::documents
