// What a file is, by its content: for the message when it is not what was asked for.
#pragma once

#include <optional>
#include <string_view>

namespace jarvis::io {

struct FileKind {
  std::string_view what;  // "an Nsight Systems report (.nsys-rep)"
  std::string_view next;  // what to do instead, as a sentence without its full stop
};

// `head`: how the file begins, unpacked. A few kilobytes tell most kinds; SQLite
// databases are told apart by the names of their tables, which are in the first pages. Absent: none
// of the known ones. Pure; any thread.
std::optional<FileKind> TellFileKind(std::string_view head);

}  // namespace jarvis::io
