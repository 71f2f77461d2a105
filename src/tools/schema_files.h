// The files of tools_schema/, as the build put them into the program.
#pragma once

#include <span>
#include <string_view>

namespace jarvis::tools {

struct EmbeddedFile {
  std::string_view name;  // the file's stem
  std::string_view text;
};

std::span<const EmbeddedFile> SchemaFiles();

}  // namespace jarvis::tools
