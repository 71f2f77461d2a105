// An A/B of one changed layer: what surrounds it is found, and the difference is accounted for.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/two/comparability.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Shapes;
using testing::TraceText;

// Calls one after another, each with a kernel; the GPU is never idle unless `idle` says so.
class Kernels {
 public:
  Kernels& Add(std::string_view op, double us, int size = 64) {
    const std::string dims = fmt::format("[[{0},{0}],[{0},{0}]]", size);
    text_.OpWithKernel(op, host_, 2, fmt::format("kernel_of_{}", op), gpu_, us, ++correlation_,
                       Shapes(dims, "float"));
    host_ += 3;
    gpu_ += us;
    return *this;
  }
  Kernels& Idle(double us) {
    gpu_ += us;
    return *this;
  }
  const TraceText& text() const { return text_; }

 private:
  TraceText text_;
  double host_ = 0;
  double gpu_ = 1000;
  int correlation_ = 0;
};

// Ten layers of norm, attention, projection, add; `changed` puts another attention in.
TraceText Layers(bool changed) {
  Kernels calls;
  for (int layer = 0; layer < 10; ++layer) {
    calls.Add("aten::layer_norm", 10);
    if (changed) {
      calls.Add("mylib::flash", 30, 32);
    } else {
      calls.Add("aten::bmm", 40, 32).Add("aten::softmax", 20, 16).Add("aten::bmm", 40, 32).Idle(5);
    }
    calls.Add("aten::linear", 50).Add("aten::add", changed ? 6 : 5);
  }
  return calls.text();
}

TEST_CASE("a changed layer between equal neighbours") {
  const auto target = Analyze(Layers(true));
  const auto reference = Analyze(Layers(false));
  const Comparability c = AssessComparability(*target.trace, *reference.trace);
  CHECK(c.verdict == "the same but for a changed part");
  CHECK(c.order.common_calls == 30);
}

TEST_CASE("different workloads that share a few calls are not one with a changed part") {
  Kernels other;
  for (int i = 0; i < 30; ++i)
    other.Add("aten::convolution", 20, 8 + i).Add("aten::batch_norm", 5, 8 + i);
  other.Add("aten::linear", 50).Add("aten::add", 5);
  const auto target = Analyze(other.text());
  const auto reference = Analyze(Layers(false));
  const Comparability c = AssessComparability(*target.trace, *reference.trace);
  CHECK(c.verdict == "not comparable");
  CHECK_FALSE(c.order.surrounds());
}

TEST_CASE("the same calls in another order are not common") {
  Kernels forward;
  Kernels backward;
  for (int i = 0; i < 20; ++i) {
    forward.Add("aten::mm", 10, 8 + i);
    backward.Add("aten::mm", 10, 28 - 1 - i);
  }
  const auto a = Analyze(forward.text());
  const auto b = Analyze(backward.text());
  const CommonOrder order = FindCommonOrder(*a.trace, *b.trace);
  CHECK(order.candidates == 20);
  CHECK(order.common_calls == 1);
  CHECK_FALSE(order.surrounds());
}

TEST_CASE("exchanging the traces exchanges the sides") {
  const auto a = Analyze(Layers(true));
  const auto b = Analyze(Layers(false));
  const CommonOrder one = FindCommonOrder(*a.trace, *b.trace);
  const CommonOrder other = FindCommonOrder(*b.trace, *a.trace);
  CHECK(one.common_calls == other.common_calls);
}

}  // namespace
}  // namespace jarvis::findings
