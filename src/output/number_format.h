// How numbers look in answers: the one place where a tool's number is rounded.
#pragma once

#include <string>

#include "table/table.h"

namespace jarvis::output {

// Rounded for reading: three decimals from 1 on, four significant digits below.
double Rounded(double value);

// A cell for a text table: "–" for absent, integers plain, doubles rounded, no exponent unless
// tiny.
std::string CellText(const Cell& cell);

}  // namespace jarvis::output
