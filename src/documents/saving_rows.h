// Rows of a finding's table about what could be saved of its own time.
#pragma once

#include "documents/markdown_text.h"
#include "findings/one/analysis.h"

namespace jarvis::documents {

// What of its time could be spared, and what each change of it spares: GPU time unless the finding
// is about the host's. Of the whole recording, and of one of its steps.
void AddSavingRows(const findings::Analysis& analysis, const findings::Finding& finding,
                   MarkdownTable* table);

}  // namespace jarvis::documents
