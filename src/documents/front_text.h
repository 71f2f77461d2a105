// The front of an analysis as a terminal shows it: paragraphs as wide as the window, parts of the
// step as bars, fixes one by one. A pipe gets the same without colours.
#pragma once

#include <cstddef>
#include <string>

namespace jarvis::documents {

struct Front;

struct TerminalLook {
  std::size_t columns = 80;
  bool colours = false;
};

// Control characters are left out.
std::string FrontText(const Front& front, const TerminalLook& look);

}  // namespace jarvis::documents
