// Warnings about parts of what was read, as answers and files show them.
#pragma once

#include <string>
#include <vector>

#include "base/part_warning.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

// [{config, rank, file, code, message}], the first few; files have them all.
Json WarningsJson(const std::vector<PartWarning>& warnings);
Table WarningsTable(std::string name, const std::vector<PartWarning>& warnings);
// A note if there are more than WarningsJson has.
void AddMoreWarnings(const std::vector<PartWarning>& warnings, const char* file, Answer* answer);

}  // namespace jarvis::tools
