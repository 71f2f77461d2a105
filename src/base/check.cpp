#include "base/check.h"

#include <string>
#include <string_view>

namespace jarvis {

void FailCheck(const char* file, int line, const char* condition) {
  // The path inside src/: where the source lay on the machine that built this is nobody's business.
  constexpr std::string_view kSources = "src/";
  std::string_view path = file;
  if (const std::size_t at = path.rfind(kSources); at != std::string_view::npos) {
    path.remove_prefix(at + kSources.size());
  }
  throw CheckFailure("check failed at " + std::string(path) + ":" + std::to_string(line) + ": " +
                     condition);
}

}  // namespace jarvis
