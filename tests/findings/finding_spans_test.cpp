#include "findings/one/finding_spans.h"

#include <memory>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::findings {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

TEST_CASE("spans of a finding: the work of its members, near pieces together") {
  TraceText text;
  text.Kernel("a", 100, 50, 1)
      .Kernel("b", 155, 10, 2)
      .Kernel("c", 900, 20, 3)
      .Kernel("d", 400, 9, 4);
  const Loaded loaded = Load(text);
  Analysis analysis;
  CategoryAnalysis category;
  Operation operation;
  operation.id = "gemm.1";
  operation.gpu = {loaded.Find("a"), loaded.Find("b"), loaded.Find("c")};
  category.key = "gemm";
  category.operations.push_back(operation);
  analysis.categories.push_back(category);
  Finding finding;
  finding.members = {"gemm.1"};
  const auto spans = FindingSpans(loaded.events(), analysis, finding);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0] == Interval<std::int64_t>{100'000, 165'000});
  CHECK(spans[1] == Interval<std::int64_t>{900'000, 920'000});
}

TEST_CASE("spans of a finding about the host: what it would do otherwise; else none") {
  TraceText text;
  text.Kernel("a", 100, 50, 1);
  const Loaded loaded = Load(text);
  Finding finding;
  CHECK(FindingSpans(loaded.events(), {}, finding).empty());
  auto host = std::make_shared<HostCause>();
  analysis::ScaleHost change;
  change.stretches = {{0, 5'000, 9'000}, {0, 400'000, 500'000}};
  host->changes = {change};
  finding.host = host;
  const auto spans = FindingSpans(loaded.events(), {}, finding);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0] == Interval<std::int64_t>{5'000, 9'000});
}

}  // namespace
}  // namespace jarvis::findings
