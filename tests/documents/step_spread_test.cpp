// How long steps take, in a sentence: the shortest and the longest of those that the mean is of.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "documents/base_text.h"
#include "support/analyzed.h"

namespace jarvis::documents {
namespace {

using testing::Analyze;
using testing::TraceText;

// Steps one right after the other, of these lengths; the work of each ends with it.
std::string LengthOf(const std::vector<double>& steps_us, double last_work_us = 0) {
  TraceText text;
  double at = 0;
  for (std::size_t i = 0; i < steps_us.size(); ++i) {
    const bool last = i + 1 == steps_us.size();
    const double work = steps_us[i] - 60 + (last ? last_work_us : 0);
    text.Annotation("ProfilerStep#" + std::to_string(i), at, steps_us[i]);
    text.OpWithKernel("aten::mm", at + 10, 20, "gemm", at + 50, work,
                      static_cast<std::int64_t>(i) + 1);
    at += steps_us[i];
  }
  return UnitLength(Analyze(text).analysis);
}

TEST_CASE("the longest step is named where one is") {
  CHECK(LengthOf({1000, 1000, 1150, 1000, 1000})
            .find("(1.00 ms to 1.15 ms; the longest is "
                  "ProfilerStep#2)") != std::string::npos);
  CHECK(LengthOf({1000, 1150, 1000, 1148, 1000}).find("(1.00 ms to 1.15 ms)") != std::string::npos);
  CHECK(LengthOf({1000, 1000, 1010, 1000}).find('(') ==
        LengthOf({1000, 1000, 1010, 1000}).find("(mean of 4)"));
}

TEST_CASE("the last step is as long as in the mean, whatever its mark") {
  // The last mark ends early, and the work of its step goes on.
  const std::string text = LengthOf({1000, 1000, 1000, 500}, 450);
  CHECK(text.find("0.500 ms") == std::string::npos);
}

}  // namespace
}  // namespace jarvis::documents
