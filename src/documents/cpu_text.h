// What reports say of a recording without GPU work: of the host's time alone.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "documents/time_parts.h"
#include "findings/one/analysis.h"

namespace jarvis::documents {

// What remains of these without host ops is said in a sentence of CpuSentence. REQUIRES, of all:
// analysis.cpu.
std::string CpuSentence(const findings::Analysis& analysis);
// Where the time of the base goes, small parts together at the end; they add up to it.
std::vector<TimePart> CpuParts(const findings::Analysis& analysis);
std::string CpuTable(const findings::Analysis& analysis);
// Ops by the time that is in none of the ops below.
std::string CpuOperations(const findings::Analysis& analysis, std::size_t count);

// What a finding about the CPU's time rests on, title and value.
std::vector<std::pair<std::string, std::string>> CpuFigures(const findings::Finding& finding);

}  // namespace jarvis::documents
