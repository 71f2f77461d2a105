// The machine twin of a findings file: category_findings/<cat>_findings.json. One object a
// finding: figures from the analysis, texts, and which of them an agent wrote.
#pragma once

#include <string>
#include <vector>

#include "documents/prose.h"
#include "json/json.h"

namespace jarvis::formats {

// The findings of one category, by rank.
Json TwinOf(const findings::Analysis& analysis, const std::string& category,
            const documents::TextEdits& edits);

// Reads the edits of a twin into `edits`. An entry counts if this analysis has the same finding:
// trace, category, rank and subject. Others are described in `dropped`, if there were edits.
void ReadTwin(const Json& twin, const findings::Analysis& analysis, documents::TextEdits* edits,
              std::vector<std::string>* dropped);

}  // namespace jarvis::formats
