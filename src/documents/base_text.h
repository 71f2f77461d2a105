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

// Share of what savings are of: the base without the profiler's pauses.
std::string SavingShare(const findings::Analysis& analysis, double ms);
// "of the step without the profiler's pauses"; empty where that is what times are shares of.
std::string OfSavingBase(const findings::Analysis& analysis);

// What a way out saves once those ranked before it are done (findings::AfterOthers), as text ("32.1
// to 62.6 ms") and as its share of what savings are of ("36.7% to 71.6%").
std::string AfterRange(const findings::Analysis& analysis, const findings::WallSaving& saving);
std::string AfterShare(const findings::Analysis& analysis, const findings::WallSaving& saving);

// Of a sum of savings, with the low end that its parts have, and its share.
std::string SumRange(const findings::Analysis& analysis, const findings::Range& ms);
std::string SumShare(const findings::Analysis& analysis, const findings::Range& ms);
// Of all recommendations: the sum of what each saves after those above it, never more than there
// is, of all units; as text, and its share. REQUIRES: wall.together_ms.
findings::Range TogetherMs(const findings::Analysis& analysis);
std::string TogetherRange(const findings::Analysis& analysis);
std::string TogetherShare(const findings::Analysis& analysis);
// "All recommendations together save 31.4 to 36.0 ms per step (31.4% to 36.0%)." REQUIRES:
// wall.together_ms.
std::string TogetherSentence(const findings::Analysis& analysis);

// Of an operation and a category: GPU time of the base, without work launched before the recording.
double OwnMs(const findings::Operation& operation);
double OwnMs(const findings::CategoryAnalysis& category);

// "Step (mean of 4): 214.9 ms (210 to 220 ms, longest: ProfilerStep#552)".
std::string UnitLength(const findings::Analysis& analysis);
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

}  // namespace jarvis::documents
