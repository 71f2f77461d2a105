#include "rocprof/metrics/kernel_filter.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::rocprof {

Result<KernelFilter> KernelFilter::Make(std::string_view expression) {
  KernelFilter filter;
  if (expression.empty()) return filter;
  Result<Regex> made = Regex::Make(expression);
  if (!made) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("\"{}\" is no regular expression: {}",
                            OneLine(ValidUtf8(Utf8Prefix(expression, 80))), made.error().message));
  }
  filter.expression_ = std::make_shared<const Regex>(std::move(*made));
  return filter;
}

Result<bool> KernelFilter::Takes(std::string_view kernel) const {
  if (expression_ == nullptr) return true;
  if (const std::optional<bool> found = expression_->Search(kernel)) return *found;
  return Fail(ErrorCode::kBadValue,
              fmt::format("the expression can match in too many ways in \"{}\"",
                          OneLine(ValidUtf8(Utf8Prefix(kernel, 80)))),
              "repeat no repetition: (a+)+ is a+");
}

}  // namespace jarvis::rocprof
