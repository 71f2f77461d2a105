// Where each rank's time goes, as rows of an answer.
#pragma once

#include <string>

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

// Rows of ranks, equal ones folded: role; of its ledger the base, GPU busy, computation, exposed
// communication (wait, transfer, unmatched), idle; of the recording times last, lost. Milliseconds.
void AddRankRows(const JobView& job, Answer* answer);

// The rest of each rank's ledger as a table of a report: idle time by cause, the host, what is left
// out, what bounds it. Empty where no rank has one, or there are too many to be read.
std::string LedgersText(const JobView& job);

}  // namespace jarvis::tools
