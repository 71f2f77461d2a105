#include "app/console.h"

#include <cstdio>
#include <string>

#include "app/exit_code.h"

namespace jarvis::app {
namespace {

bool Write(std::string_view text, std::FILE* file) {
  const bool ended = text.ends_with('\n');
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
         (ended || std::fputc('\n', file) != EOF) && std::fflush(file) == 0;
}

}  // namespace

bool Print(std::string_view text) {
  return Write(text, stdout);
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
