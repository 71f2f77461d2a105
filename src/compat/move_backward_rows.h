// What the reference does to the tables of families after they are made.
#pragma once

#include <vector>

#include "table/table.h"

namespace jarvis::compat {

// Rows of four backward ops stand in the forward table of their family; the reference moves them to
// the backward table, and takes those of five forward ops out of it.
void MoveBackwardRows(std::vector<Table>* tables, bool inference);

}  // namespace jarvis::compat
