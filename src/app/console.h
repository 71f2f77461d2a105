// Printing for people: the one place of the commands that writes on stdout and stderr.
#pragma once

#include <string_view>

namespace jarvis::app {

// The text and a line end. On a terminal control characters, which names in a trace may have, are
// written as their codes; a pipe or a file gets the text as it is. False: it could not be written
// (a full disk, say), and stderr says why.
bool Print(std::string_view text);
// The same for text with colours of ours, which has no control characters of others.
bool PrintStyled(std::string_view text);
void PrintError(std::string_view text);  // "jarvis: text"

// Says what was not understood and where help is; the exit code for that.
int UsageError(std::string_view text, std::string_view help_command = "jarvis --help");

}  // namespace jarvis::app
