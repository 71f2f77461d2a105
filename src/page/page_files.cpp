#include "page/page_files.h"

namespace jarvis::page {

std::string BrowserText(std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    for (const EmbeddedFile& file : BrowserFiles()) {
      if (file.name == name) text += file.text;
    }
  }
  return text;
}

}  // namespace jarvis::page
