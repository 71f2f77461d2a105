// What getting faster would save, operation by operation, and the findings that come of it.
#pragma once

#include <cstdint>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Fills savings and impact of a category's operations:
//   gap = time - time at the roof      savings_x = x min(gap, exclusive time)
// with x of limits::kImpactLow and those after it. No estimate: work without a model or above its
// roof, communication, copies between host and device, and models without a platform to hold them
// against.
void EstimateOperations(const Calls& calls, CategoryAnalysis* category);

// Groups them: by (bound, library, efficiency bucket) where the roof is known, else by op name.
// Operations in a good band without a notable pattern are no finding. Sorted by middle impact.
// Operations with a cause are those of MakeCauseFindings. Those without an estimate come second,
// once it is known what other fixes have claimed (Operation::claimed).
enum class Estimated : std::uint8_t { kYes, kNo };
void MakeFindings(const Calls& calls, const WorkContext& context, Estimated estimated,
                  CategoryAnalysis* category);

// One finding for each cause and group, in the category of its costliest operation; before
// MakeFindings, whose findings come behind.
void MakeCauseFindings(const Calls& calls, const WorkContext& context,
                       std::vector<CategoryAnalysis>* categories);

// The part of an operation's time that a target takes away: never what its kernels take however
// little they do, unless these go.
Range SavedPartOf(const Target& target, const Operation& operation);
// What a target saves of an operation, in ms: at most what ran alone.
Range TargetSavings(const Target& target, const Operation& operation);

// The part of the time that goes away if a rate becomes `target`.
double SavedPart(double now, double target);

// A share of the window, and low, middle and high of a saving.
Range Scaled(const Range& range, double by);
Range SavingsOf(double upper_ms);  // limits::kImpactLow... of it

}  // namespace jarvis::findings
