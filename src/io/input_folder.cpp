#include "io/input_folder.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace jarvis::io {

namespace fs = std::filesystem;

bool IsInputFolder(const FilePolicy& policy, const std::string& given) {
  const Result<std::string> path = policy.ResolveInput(given);
  std::error_code ignored;
  return path && fs::is_directory(*path, ignored);
}

Result<std::vector<std::string>> FilesInFolder(const FilePolicy& policy, const std::string& given,
                                               std::string_view ending, std::size_t entries_max) {
  JV_ASSIGN(const std::string folder, policy.ResolveInput(given));
  std::vector<std::string> paths;
  std::size_t entries = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++entries > entries_max) {
      return Fail(ErrorCode::kTooLarge,
                  fmt::format("\"{}\" has more than {} entries", given, entries_max));
    }
    const std::string name = it->path().filename().string();
    if (name.ends_with(ending) && !name.starts_with('.')) paths.push_back(folder + "/" + name);
  }
  if (error) {
    return Fail(ErrorCode::kIo, fmt::format("cannot list \"{}\": {}", given, error.message()));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace jarvis::io
