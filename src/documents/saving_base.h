// What savings are shares of, and savings as texts. Where savings are of the unit without what
// recording cost (WallBase::of_unrecorded), shares are of the middle of what it may take then.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// Parts of the base below it are not told.
inline constexpr double kPartToldPercent = 0.5;

// Whether recording may have made the unit longer by much.
bool TellsUnrecorded(const findings::Analysis& analysis);
// Whether one-time work is no part of what savings are of.
bool WithoutFirstCalls(const findings::Analysis& analysis);
// How long the unit is that savings are shares of: "42.1 ms", or "about 25.0 ms (18.6 to 36.1 ms)"
// without what recording cost.
std::string SavingBaseText(const findings::Analysis& analysis);

// Of what is saved: its share of the base of savings, with that base: "53.3% of the step".
std::string SavingShare(const findings::Analysis& analysis, double ms);
// "of the step without profiler overhead"; empty where that is what times are shares of.
std::string OfSavingBase(const findings::Analysis& analysis);

// What a way out saves once those ranked before it are done (findings::AfterOthers), as text ("32.1
// to 62.6 ms").
std::string AfterRange(const findings::Analysis& analysis, const findings::WallSaving& saving);
// With what of it is expected, "about 45.0 ms (32.1 to 62.6 ms)", where that is at neither end.
std::string LikelyAfter(const findings::Analysis& analysis, const findings::WallSaving& saving);
// "about 110 ms", of a range whose ends are far apart; else empty.
std::string Expected(const findings::Analysis& analysis, const findings::Range& ms);
// "about 110 ms (90.0 to 160 ms), 11.0% of the step", or "90.0 to 110 ms (9.0% to 11.0% of the
// step)", `range` being the text of `ms` and `low_end` whether it has one; where the base is not
// the recorded unit, "of 133.9 ms". An end that is longer than an estimated unit says that it is of
// the recorded one. `total`: with the base in full, and in the first form with the shares of the
// ends.
std::string SavingText(const findings::Analysis& analysis, const findings::Range& ms,
                       const std::string& range, bool low_end, bool total);

// What a finding saves so, with its share.
std::string AfterText(const findings::Analysis& analysis, const findings::WallSaving& saving);

// Whether what is saved alone and what is saved once others are done are about the same, so that
// one of them is enough to tell.
bool AreAlike(const findings::Range& alone, const findings::Range& after);

// Of a sum of savings, with the low end that its parts have; with its share.
std::string SumRange(const findings::Analysis& analysis, const findings::Range& ms);
std::string SumCell(const findings::Analysis& analysis, const findings::Range& ms);
// Of all recommendations: the sum of what each saves after those above it, never more than there
// is, of all units; as text, and its share. REQUIRES: wall.together_ms.
findings::Range TogetherMs(const findings::Analysis& analysis);
std::string TogetherText(const findings::Analysis& analysis);
std::string TogetherShare(const findings::Analysis& analysis);
// Of those that keep every bit; empty: see WallBase::exact_ms.
std::string ExactTogetherText(const findings::Analysis& analysis);
// "All recommendations together save 31.4 to 36.0 ms (31.4% to 36.0% of the step)." REQUIRES:
// wall.together_ms.
std::string TogetherSentence(const findings::Analysis& analysis);
// That the rows add up to more than that; empty: they do not.
std::string OverlapSentence(const findings::Analysis& analysis);

}  // namespace jarvis::documents
