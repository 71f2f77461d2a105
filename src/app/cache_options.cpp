#include "app/cache_options.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "app/console.h"
#include "app/flags.h"
#include "base/text.h"
#include "io/cache_folder.h"

namespace jarvis::app {
namespace {

constexpr char kFolder[] = "JARVIS_CACHE";
constexpr char kLimit[] = "JARVIS_CACHE_LIMIT";

// What a value of JARVIS_CACHE or --cache means; empty: no folder.
std::string FolderOf(std::string_view value) {
  if (value == "off") return {};
  std::error_code ignored;
  std::string folder = std::filesystem::absolute(value, ignored).string();
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.pop_back();
  return folder;
}

}  // namespace

session::TraceCacheOptions CacheOptions(std::string_view given) {
  session::TraceCacheOptions options;
  const char* const folder = std::getenv(kFolder);
  if (given.empty() && folder != nullptr) given = folder;
  options.folder = given.empty() ? io::CacheFolder::DefaultPath() : FolderOf(given);
  if (const std::string why = io::CacheFolder(options.folder).Refusal(); !why.empty()) {
    PrintError(fmt::format("no traces are kept in \"{}\": {} ({} or serve --cache; off: nowhere)",
                           OneLine(Utf8Prefix(options.folder, 200)), why, kFolder));
    options.folder.clear();
  }
  const char* const limit = std::getenv(kLimit);
  if (limit == nullptr || *limit == '\0') return options;
  if (const auto bytes = ParseBytes(limit)) {
    options.bytes_max = *bytes;
  } else {
    PrintError(fmt::format("{}: expected bytes, such as 20G, received {}; {}G it is", kLimit, limit,
                           options.bytes_max >> 30));
  }
  return options;
}

void TurnCacheOff() {
  ::setenv(kFolder, "off", 1);
}

}  // namespace jarvis::app
