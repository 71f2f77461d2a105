#include "compat/python_set.h"

#include <doctest/doctest.h>

namespace jarvis::compat {
namespace {

using Values = std::vector<std::uint64_t>;

// As CPython 3.11 prints list(set([...])).
TEST_CASE("the order of a Python set") {
  CHECK(InPythonSetOrder({}) == Values{});
  CHECK(InPythonSetOrder({15595, 38839, 35666}) == Values{35666, 15595, 38839});
  CHECK(InPythonSetOrder({8547, 24245, 39578, 31067, 41007}) ==
        Values{8547, 41007, 24245, 39578, 31067});
  CHECK(InPythonSetOrder({38066, 4294, 39688, 862, 59560, 54884, 30751, 16997, 36096}) ==
        Values{36096, 54884, 16997, 4294, 39688, 59560, 38066, 862, 30751});
}

}  // namespace
}  // namespace jarvis::compat
