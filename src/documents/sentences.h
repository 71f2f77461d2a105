// Prose of a markdown text as sentences and as quantities. What stands in `code`, in HTML comments
// and in a link's target is left out: it is data, not said by anybody.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jarvis::documents {

// The prose alone: code spans become a blank, links their words.
std::string ProseOf(std::string_view markdown);

// In order, trimmed. A sentence ends with ". ", "! " or "? ", or with its line.
std::vector<std::string> Sentences(std::string_view markdown);

enum class QuantityKind { kTime, kPercent, kBandwidth, kRate, kBytes, kRatio, kCount, kPlain };

// A number with its unit, as written: "1.25 ms".
struct Quantity {
  QuantityKind kind = QuantityKind::kPlain;
  double value = 0;      // in ms, percent, TB/s, TFLOPS, MB, times, pieces
  double half_unit = 0;  // of the last digit written, in the same unit
  std::string text;      // "1.25 ms"
};

// All numbers with a unit, in order. The ends of a range ("1.2 to 3.4 ms") share the unit.
std::vector<Quantity> Quantities(std::string_view markdown);

// The numbers of a table's cell, whose column may name the unit: "Time (ms)", "% Compute". Numbers
// without either are plain. Empty for cells that do not begin as a number does.
std::vector<Quantity> CellQuantities(std::string_view column, std::string_view cell);

// Ranges whose first end is the larger one, as written: "5 to 3 ms". "from 5 to 3 ms" is a change.
std::vector<std::string> ReversedRanges(std::string_view markdown);

// Is `a` the figure `b`, rounded as `a` is written? A plain `b` fits any unit.
bool Agree(const Quantity& a, const Quantity& b);

// A calculation that prose shows: "3 x 12.5 ms = 37.5 ms", "40 ms / 800 ms = 5 %".
struct Calculation {
  std::vector<Quantity> operands;  // numbers without a unit are plain
  Quantity result;
  std::string text;    // as written
  bool holds = false;  // the result is what the operands give, as exactly as they are written
};
// With x, +, - and / (a multiplication's star is markup to a reader of markdown). In order.
std::vector<Calculation> Calculations(std::string_view markdown);

}  // namespace jarvis::documents
