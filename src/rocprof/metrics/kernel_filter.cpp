#include "rocprof/metrics/kernel_filter.h"

#include <cstdint>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"

namespace jarvis::rocprof {
namespace {

// The time for a name grows with the program's size, of which a short expression can make much
// ("(a{100}){10}").
constexpr int kProgramMax = 2000;
constexpr std::int64_t kMemoryMax = std::int64_t{1} << 20;

}  // namespace

class KernelFilter::Expression {
 public:
  explicit Expression(std::string_view text) : regex({text.data(), text.size()}, Options()) {}
  RE2 regex;

 private:
  static RE2::Options Options() {
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(kMemoryMax);
    return options;
  }
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
  if (made->regex.ProgramSize() > kProgramMax) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("\"{}\" is too long an expression",
                            OneLine(ValidUtf8(Utf8Prefix(expression, 80)))),
                "count less often: a{1000} is a thousand times a");
  }
  filter.expression_ = std::move(made);
  return filter;
}

bool KernelFilter::Takes(std::string_view kernel) const {
  return expression_ == nullptr ||
         RE2::PartialMatch({kernel.data(), kernel.size()}, expression_->regex);
}

}  // namespace jarvis::rocprof
