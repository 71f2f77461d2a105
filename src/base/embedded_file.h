// A text file that the build put into the program; see jarvis_embed in src/CMakeLists.txt.
#pragma once

#include <string_view>

namespace jarvis {

struct EmbeddedFile {
  std::string_view name;  // the file's stem
  std::string_view text;
};

}  // namespace jarvis
