#include "analysis/align/names.h"

#include "analysis/attribution/module_paths.h"
#include "ledger/kinds/kernel_name.h"

namespace jarvis::analysis {
namespace {

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsBlank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

template <typename Is>
std::size_t RunEnd(std::string_view text, std::size_t from, Is is) {
  while (from < text.size() && is(text[from]))
    ++from;
  return from;
}

std::string WithoutNumbersOfARun(std::string_view name) {
  constexpr std::string_view kPython = ".py(";
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    if (name.substr(i, 2) == "0x") {
      const std::size_t end = RunEnd(name, i + 2, &IsHexDigit);
      if (end > i + 2) {
        out += "0xXXXX";
        i = end;
        continue;
      }
    }
    if (name.substr(i, kPython.size()) == kPython) {
      const std::size_t first = i + kPython.size();
      const std::size_t end = RunEnd(name, first, &IsDigit);
      if (end > first && name.substr(end, 2) == "):") {
        out += ".py:";
        i = end + 2;
        continue;
      }
    }
    out += name[i++];
  }
  return out;
}

std::string_view WithoutLastWord(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return text;
  const std::size_t word = RunEnd(text, colon + 1, &IsBlank);
  const std::size_t end = RunEnd(text, word, [](char c) { return !IsBlank(c); });
  const bool one_word = word > colon + 1 && end > word && end == text.size();
  return one_word ? text.substr(0, colon) : text;
}

std::string OneLaunchCall(std::string name) {
  const bool launch = name == "hipModuleLaunchKernel" || name == "cuLaunchKernel";
  return launch ? "launch of a module's kernel" : name;
}

}  // namespace

std::string DiffName(std::string_view name) {
  return OneLaunchCall(WithoutNumbersOfARun(name));
}

std::string StrippedDiffName(std::string_view name) {
  const std::string numbers = WithoutNumbersOfARun(name);
  std::string_view text = WithoutLastWord(numbers);
  if (text.ends_with(".py")) text.remove_prefix(text.rfind('/') + 1);
  return OneLaunchCall(std::string(text));
}

std::string FoldedDiffName(std::string_view name) {
  // A function with its arguments, which recorders spell each in its own way.
  if (name.find('<') != std::string_view::npos && name.ends_with(')'))
    return DiffName(FoldedName(ledger::NormalisedKernelName(name)));
  return DiffName(FoldedName(name));
}

}  // namespace jarvis::analysis
