// Text as the cells of a workbook can hold it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jarvis::output {

// UTF-16 units of valid UTF-8: what Excel counts.
std::size_t Units(std::string_view text);

// The longest beginning of at most so many units.
std::string FirstUnits(std::string_view text, std::size_t units_max);

struct SafeText {
  std::string text;
  bool mended = false;  // it had characters that XML cannot hold, now U+FFFD
  bool cut = false;     // it ends in " [cut]"
};

// What a cell can hold of a text, before XML's own marks are escaped.
SafeText MakeSafe(std::string_view raw);

// Appends a text to XML if a cell can hold it as it stands, which is true of nearly all: printable
// ASCII that is no longer than a cell and that Excel does not read otherwise. False: nothing was
// appended, and MakeSafe tells what can be.
bool AppendPlain(std::string_view raw, std::string* xml);

// The same for text that is safe.
void AppendEscaped(std::string_view text, std::string* xml);

}  // namespace jarvis::output
