// The sentences about a pair of traces that its report and its console output share.
#pragma once

#include <string>
#include <vector>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// What a line of a pair's balance is called in texts.
std::string LineName(const findings::BalanceLine& line);

// "step", "iteration": with its article.
std::string UnitText(const ComparativeFacts& facts);

// Why the times differ, and what the devices explain of it.
std::vector<std::string> KeyFindings(const ComparativeFacts& facts);

// How far to trust the comparison, and what to record next: of these two traces.
std::vector<std::string> PairLimits(const ComparativeFacts& facts);
std::vector<std::string> PairNextRecordings(const ComparativeFacts& facts);

// "`gemm_kernel` +1.20 ms": kernels, or of communication collectives, that carry the difference of
// a line's GPU time.
std::string PartsText(const findings::Balance& balance, const findings::BalanceLine& line,
                      std::size_t most, double least_ms);
// "AllGather of 64 B", in backticks if it is an op.
std::string PartName(const findings::ExchangePart& part);

}  // namespace jarvis::documents
