// Text that the program carries.
#pragma once

#include <span>
#include <string_view>

namespace jarvis::perf {

struct EmbeddedFile {
  std::string_view name;  // the file's stem
  std::string_view text;
};

std::span<const EmbeddedFile> ModelFiles();         // models/*.json
std::span<const EmbeddedFile> PreludeFiles();       // prelude.lua
std::span<const EmbeddedFile> OperatorNameFiles();  // operator_names.txt

}  // namespace jarvis::perf
