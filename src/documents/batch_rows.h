// Rows that advise a larger batch, which shortens no pass: the host's time, or a GPU that small
// grids do not fill, is then for more inputs.
#pragma once

#include <optional>

#include "documents/lever_table.h"

namespace jarvis::documents {

// A row about no finding. `path`: 'A', 'B', or '\0' where nothing is recommended.
FixRow Beside(char path, std::string action, std::string because, std::string alone,
              std::string after);

// Absent: training or a server, whose batch is another question, or the GPU is full.
std::optional<FixRow> BatchRow(const findings::Analysis& analysis);

}  // namespace jarvis::documents
