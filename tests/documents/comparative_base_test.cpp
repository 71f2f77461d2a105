// What a comparison says its figures are of.
#include "documents/comparative_base.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/compared.h"

namespace jarvis::documents {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

TraceText Products(int steps, bool marked) {
  TraceText t;
  for (int i = 0; i < steps; ++i) {
    const double at = 1000.0 * i;
    if (marked) t.Annotation(fmt::format("ProfilerStep#{}", i), at, 1000);
    t.OpWithKernel("aten::mm", at + 10, 50, "ampere_sgemm_128x64_tn", at + 100, 500 + 90 * (i % 2),
                   i + 1, testing::Shapes("[[4096,4096],[4096,4096]]", "float"));
  }
  return t;
}

struct BasesOf : testing::Compared {
  std::string text;
  BasesOf(const TraceText& a, const TraceText& b) : Compared(a, b) {
    for (const std::string& line : PairBases(facts()))
      text += line + "\n";
  }
  bool Says(std::string_view part) const { return text.find(part) != std::string::npos; }
};

TEST_CASE("the bases of both sides are told, and that like ones are held against each other") {
  const BasesOf bases(Products(6, true), Products(4, true));
  CAPTURE(bases.text);
  CHECK(bases.Says("Base of the candidate: a step of 1.00 ms, mean of 6"));
  CHECK(bases.Says("Base of the baseline: a step of 1.00 ms, mean of 4"));
  CHECK(bases.Says("Bound: candidate "));
  CHECK_FALSE(bases.Says("not alike"));
}

TEST_CASE("units of different kinds are not alike") {
  const BasesOf bases(Products(6, true), Products(1, false));
  CAPTURE(bases.text);
  CHECK(bases.Says("Base of the baseline: the recording of "));
  CHECK(bases.Says("The two bases are not alike: a step is held against the recording"));
}

}  // namespace
}  // namespace jarvis::documents
