// One line on a terminal that says how far a call is, and nothing at all elsewhere.
//
// Threads: Show() on one thread; the destructor when that is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "documents/front_text.h"

namespace jarvis::app {

class ProgressLine {
 public:
  explicit ProgressLine(int fd);  // draws only if this is a terminal
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();  // clears the line

  void Show(std::uint64_t done, std::uint64_t total, std::string_view what);

 private:
  const int fd_;
  const bool draws_;
  bool drawn_ = false;
};

// How wide the terminal of a descriptor is; 80 where that cannot be told.
std::size_t TerminalColumns(int fd);

// How to write to a descriptor: NO_COLOR takes the colours, and so does a terminal that can do
// nothing (TERM=dumb) and what is no terminal, which is taken to be 80 columns wide.
documents::TerminalLook TerminalLookOf(int fd);

// "reading  41 %  1.2 G of 2.9 G"; total 0: not known.
std::string ProgressText(std::uint64_t done, std::uint64_t total, std::string_view what);

}  // namespace jarvis::app
