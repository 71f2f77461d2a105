// What the order of a replayed graph's kernels tells: the two products of an MLP beside each other,
// casts that every layer repeats, attention over the cache, chains of kernels that are shorter than
// their launches.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Whether the operation's kernels come from replays and take about what launching them takes: then
// nothing is to be said about its distance from a roof.
bool IsLaunchFloor(const Calls& calls, const Operation& operation);

// Takes the rate from replayed decode attention whose layers differ in time: the model counts each
// as if it saw all keys. To be done before anything is judged by rates.
void ForgetWindowRates(const Calls& calls, std::vector<CategoryAnalysis>* categories);

// Gives operations of replays their causes, before the rules for single operations (FindCauses) see
// the others. Linear in the kernels of replays.
void FindReplayCauses(const Calls& calls, const WorkContext& work,
                      std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
