// Which kernels a caller asks for: a regular expression that is searched in their names, in time
// linear in the name whatever the expression (RE2).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jarvis::rocprof {

class KernelFilter {
 public:
  // Empty: every kernel. Errors: kBadValue for what is no expression of RE2.
  static Result<KernelFilter> Make(std::string_view expression);
  bool Takes(std::string_view kernel) const;

 private:
  class Expression;
  std::shared_ptr<const Expression> expression_;  // null: every kernel
};

}  // namespace jarvis::rocprof
