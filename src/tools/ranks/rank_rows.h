// Where each rank's time goes, as rows of an answer.
#pragma once

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

// Rows of ranks, equal ones folded: role; of its ledger the base, GPU busy, computation, exposed
// communication (wait, transfer, unmatched), idle; of the recording times last, lost. Milliseconds.
void AddRankRows(const JobView& job, Answer* answer);

}  // namespace jarvis::tools
