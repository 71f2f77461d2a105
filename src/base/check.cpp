#include "base/check.h"

#include <string>
#include <string_view>

namespace jarvis {

void FailCheck(const char* file, int line, const char* condition) {
  // The path inside src/: where the source lay on the machine that built this is nobody's business.
  constexpr std::string_view kSources = "/src/";
  std::string_view path = file;
  const std::size_t sources = path.rfind(kSources);
  path.remove_prefix(sources == std::string_view::npos ? path.rfind('/') + 1
                                                       : sources + kSources.size());
  throw CheckFailure("check failed at " + std::string(path) + ":" + std::to_string(line) + ": " +
                     condition);
}

}  // namespace jarvis
