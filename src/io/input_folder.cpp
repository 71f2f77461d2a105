#include "io/input_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "io/below.h"

namespace jarvis::io {

bool IsInputFolder(const FilePolicy& policy, const std::string& given) {
  return policy.OpenInputFolder(given).has_value();
}

Result<std::vector<FolderEntry>> EntriesOfFolder(const FilePolicy& policy, const std::string& given,
                                                 std::size_t entries_max) {
  JV_ASSIGN(const FilePolicy::InputFolder folder, policy.OpenInputFolder(given));
  std::vector<FolderEntry> entries;
  if (!ReadFolder(folder.fd.get(), entries_max + 1, &entries)) {
    return Fail(ErrorCode::kIo, fmt::format("cannot list \"{}\": {}", given, std::strerror(errno)));
  }
  if (entries.size() > entries_max) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("\"{}\" has more than {} entries", given, entries_max));
  }
  return entries;
}

Result<std::vector<std::string>> FilesInFolder(const FilePolicy& policy, const std::string& given,
                                               std::string_view ending, std::size_t entries_max) {
  JV_ASSIGN(const std::string folder, policy.ResolveInput(given));
  JV_ASSIGN(const std::vector<FolderEntry> entries, EntriesOfFolder(policy, folder, entries_max));
  std::vector<std::string> paths;
  for (const FolderEntry& entry : entries) {
    const std::string& name = entry.name;
    if (name.ends_with(ending) && !name.starts_with('.')) paths.push_back(folder + "/" + name);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace jarvis::io
