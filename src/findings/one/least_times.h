// What operations that no model rates must take, by the sizes in the names of their kernels
// (session/name_floors.h). Internal to the layer.
#pragma once

#include <vector>

#include "findings/one/category_analysis.h"
#include "session/name_floors.h"

namespace jarvis::findings {

// Fills Operation::least_percent, and what that assumes.
void FindLeastTimes(const session::NameFloors& floors, std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
