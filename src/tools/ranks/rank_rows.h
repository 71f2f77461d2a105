// Where each rank's time goes, as rows of an answer.
#pragma once

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

// Rows of ranks, equal ones folded: rank, role, window, busy, computation, communication, wait,
// transfer, unmatched, idle, times last, lost. Milliseconds.
void AddRankRows(const JobView& job, Answer* answer);

}  // namespace jarvis::tools
