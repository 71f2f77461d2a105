#include "app/console.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "app/exit_code.h"

namespace jarvis::app {
namespace {

// Those that a terminal acts on: of ASCII all but line ends and tabs, and C1 as UTF-8.
std::string WithoutControls(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      shown += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

bool WriteBytes(std::string_view text, std::FILE* file) {
  const bool ended = text.ends_with('\n');
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
         (ended || std::fputc('\n', file) != EOF) && std::fflush(file) == 0;
}

bool Write(std::string_view text, std::FILE* file) {
  return ::isatty(::fileno(file)) != 0 ? WriteBytes(WithoutControls(text), file)
                                       : WriteBytes(text, file);
}

bool Printed(bool written) {
  const int why = errno;
  // Whoever closed the pipe has read enough.
  if (!written && why != EPIPE)
    PrintError(fmt::format("cannot write to stdout: {}", std::strerror(why)));
  return written;
}

}  // namespace

bool Print(std::string_view text) {
  return Printed(Write(text, stdout));
}

bool PrintStyled(std::string_view text) {
  return Printed(WriteBytes(text, stdout));
}

void PrintError(std::string_view text) {
  std::fputs("jarvis: ", stderr);
  Write(text, stderr);
}

int UsageError(std::string_view text, std::string_view help_command) {
  PrintError(std::string(text) + "\nSee " + std::string(help_command));
  return kExitUsage;
}

}  // namespace jarvis::app
