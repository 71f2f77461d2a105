#include "rocprof/metrics/kernel_filter.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"

namespace jarvis::rocprof {

class KernelFilter::Expression {
 public:
  explicit Expression(std::string_view text) : regex({text.data(), text.size()}, RE2::Quiet) {}
  RE2 regex;
};

Result<KernelFilter> KernelFilter::Make(std::string_view expression) {
  KernelFilter filter;
  if (expression.empty()) return filter;
  auto made = std::make_shared<const Expression>(expression);
  if (!made->regex.ok()) {
    return Fail(ErrorCode::kBadValue, fmt::format("\"{}\" is no regular expression: {}",
                                                  OneLine(ValidUtf8(Utf8Prefix(expression, 80))),
                                                  OneLine(ValidUtf8(made->regex.error()))));
  }
  filter.expression_ = std::move(made);
  return filter;
}

bool KernelFilter::Takes(std::string_view kernel) const {
  return expression_ == nullptr ||
         RE2::PartialMatch({kernel.data(), kernel.size()}, expression_->regex);
}

}  // namespace jarvis::rocprof
