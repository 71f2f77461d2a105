// A report's front as a terminal shows it: headings that stand out, tables as wide as the window,
// shares as bars. Whoever reads a pipe gets the report as it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace jarvis::app {

struct TerminalLook {
  std::size_t columns = 80;
  bool colours = true;
};

// How to write to a descriptor: NO_COLOR takes the colours. Nothing: it is no terminal, or one that
// can do nothing (TERM=dumb).
std::optional<TerminalLook> TerminalLookOf(int fd);

// Markdown of our reports, line by line. Control characters are left out.
std::string TerminalText(std::string_view markdown, const TerminalLook& look);

}  // namespace jarvis::app
