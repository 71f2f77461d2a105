#include "tools/catalog/loading.h"

#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace jarvis::tools {

Answer LoadingAnswer(const Error& error) {
  JV_CHECK(error.code == ErrorCode::kLoading);
  Answer answer;
  answer.summary = error.percent
                       ? fmt::format("{}, {:.0f} % done. Ask again.", error.message, *error.percent)
                       : error.message + ". Ask again.";
  answer.facts = Json::object();
  answer.facts["status"] = "loading";
  answer.facts["percent"] = error.percent ? Json(std::floor(*error.percent)) : Json(nullptr);
  if (auto call = CallOf(error.hint)) {
    call->why = "waits for the rest; then ask what you wanted to know";
    answer.next = {std::move(*call)};
  }
  return answer;
}

std::optional<NextCall> CallOf(const std::string& hint) {
  const std::size_t blank = hint.find(' ');
  if (blank == std::string::npos || hint[blank + 1] != '{') return std::nullopt;
  auto arguments = ParseJson(std::string_view(hint).substr(blank + 1));
  if (!arguments || !arguments->is_object()) return std::nullopt;
  return NextCall{hint.substr(0, blank), std::move(*arguments), ""};
}

}  // namespace jarvis::tools
