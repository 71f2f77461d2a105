#include "app/cache_options.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/console.h"
#include "app/flags.h"
#include "io/cache_folder.h"

namespace jarvis::app {
namespace {

constexpr char kFolder[] = "JARVIS_CACHE";
constexpr char kLimit[] = "JARVIS_CACHE_LIMIT";

}  // namespace

std::string CacheFolderOf(std::string_view value) {
  if (value == "off") return {};
  std::error_code ignored;
  return std::filesystem::absolute(value, ignored).string();
}

session::TraceCacheOptions CacheOptions() {
  session::TraceCacheOptions options;
  const char* const folder = std::getenv(kFolder);
  options.folder =
      folder == nullptr || *folder == '\0' ? io::CacheFolder::DefaultPath() : CacheFolderOf(folder);
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
