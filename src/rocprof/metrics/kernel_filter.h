// Which kernels a caller asks for: a regular expression that is searched in their names.
#pragma once

#include <memory>
#include <string_view>

#include "base/regex.h"
#include "base/result.h"

namespace jarvis::rocprof {

class KernelFilter {
 public:
  // Empty: every kernel. Errors: kBadValue for what is no expression.
  static Result<KernelFilter> Make(std::string_view expression);
  // Errors: kBadValue if the expression can match in so many ways that the answer would take long.
  Result<bool> Takes(std::string_view kernel) const;

 private:
  std::shared_ptr<const Regex> expression_;  // null: every kernel
};

}  // namespace jarvis::rocprof
