#include "app/console.h"

#include <cstdio>
#include <string>

#include "app/exit_code.h"

namespace jarvis::app {
namespace {

bool Write(std::string_view text, std::FILE* file) {
  std::string line(text);
  if (line.empty() || line.back() != '\n') line += '\n';
  return std::fwrite(line.data(), 1, line.size(), file) == line.size() && std::fflush(file) == 0;
}

}  // namespace

bool Print(std::string_view text) {
  return Write(text, stdout);
}

void PrintError(std::string_view text) {
  Write("jarvis: " + std::string(text), stderr);
}

int UsageError(std::string_view text, std::string_view help_command) {
  PrintError(std::string(text) + "\nSee " + std::string(help_command));
  return kExitUsage;
}

}  // namespace jarvis::app
