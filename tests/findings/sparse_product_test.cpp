// Sums of gathered rows that are sparse products, and sums that are none.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

constexpr int kNodes = 1000, kEdges = 20000, kWidth = 64;

std::string Matrix(int rows, int columns) {
  return "[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
}

// Ops every 30 us on the host, whose kernels run one behind the other for 1 ms.
class EdgeScript {
 public:
  EdgeScript& Op(std::string_view name, const std::string& dims, const std::string& types,
                 const std::string& values = {}, const char* kernel = "kernel") {
    std::string args = "\"Input Dims\":[" + dims + "],\"Input type\":[" + types + "]";
    if (!values.empty()) args += ",\"Concrete Inputs\":[" + values + "]";
    gpu_ += 1010;
    text_.OpWithKernel(name, at_, 20, kernel, gpu_, 1000, ++id_, args);
    at_ += 30;
    return *this;
  }
  EdgeScript& Gather(int from = kNodes, int edges = kEdges, int width = kWidth) {
    return Op("aten::index_select", Matrix(from, width) + ",[],[" + std::to_string(edges) + "]",
              R"("float","Scalar","long int")", R"("","0","")");
  }
  EdgeScript& Scale(const std::string& by, int edges = kEdges, int width = kWidth) {
    return Op("aten::mul", by + "," + Matrix(edges, width), R"("float","float")");
  }
  EdgeScript& Scale() { return Scale(Matrix(kEdges, 1)); }
  EdgeScript& Pointwise(std::string_view name, const std::string& shape) {
    return Op(name, shape, R"("float")");
  }
  EdgeScript& Product(int m, int k, int n) {
    return Op("aten::mm", Matrix(m, k) + "," + Matrix(k, n), R"("float","float")", {}, "gemm");
  }
  EdgeScript& Sum(int to = kNodes, int edges = kEdges, int width = kWidth) {
    const std::string rows = Matrix(edges, width);
    return Op("aten::scatter_add_", Matrix(to, width) + ",[]," + rows + "," + rows,
              R"("float","Scalar","long int","float")", R"("","0","","")");
  }
  EdgeScript& Layer() {
    return Product(kNodes, kWidth, kWidth)
        .Gather()
        .Scale()
        .Op("aten::fill_", Matrix(kNodes, kWidth) + ",[]", R"("float","Scalar")")
        .Sum();
  }
  // An op over what follows in that time.
  EdgeScript& Around(std::string_view name, double us) {
    text_.Op(name, at_ - 2, us - 3);
    return *this;
  }
  // What follows is below nodes of autograd, on their thread.
  EdgeScript& Backward() {
    text_.Thread(100, 200).Op("autograd::engine::evaluate_function: MulBackward0", at_, 10000);
    return *this;
  }
  Analyzed Run() const {
    TraceText text = text_;
    return Analyze(text.Thread(100, 100).Annotation("ProfilerStep#1", 0, gpu_ + 2000), "H100");
  }

 private:
  TraceText text_;
  double at_ = 10, gpu_ = 20;
  std::int64_t id_ = 0;
};

const Finding* SparseOf(const Analyzed& one) {
  return one.FindRule(Pattern::kSparseProduct);
}

std::int64_t CountIn(const Finding& finding, std::string_view key) {
  for (const Fact& fact : finding.patterns.front().facts) {
    if (fact.key == key) return std::get<std::int64_t>(fact.value);
  }
  return 0;
}

TEST_CASE("rows that are gathered, scaled and added are a sparse product, in both passes") {
  EdgeScript script;
  script.Layer().Layer().Backward();
  for (int layer = 0; layer < 2; ++layer) {
    const std::string rows = Matrix(kEdges, kWidth);
    script.Op("aten::gather", Matrix(kNodes, kWidth) + ",[]," + rows,
              R"("float","Scalar","long int")", R"("","0","")");
    script.Scale().Op(
        "aten::index_add_",
        Matrix(kNodes, kWidth) + ",[],[" + std::to_string(kEdges) + "]," + rows + ",[]",
        R"("float","Scalar","long int","float","Scalar")", R"("","0","","","1")");
  }
  const Analyzed one = script.Run();
  const Finding* finding = SparseOf(one);
  REQUIRE(finding != nullptr);
  CHECK(CountIn(*finding, "products") == 4);
  CHECK(CountIn(*finding, "backward") == 2);
  CHECK(CountIn(*finding, "edges") == kEdges);
  CHECK(CountIn(*finding, "rows") == kNodes);
  CHECK(finding->time_ms == doctest::Approx(12));
  // In numbers of rows: 6 x 20000 x 64, indices twice and values now; once as a product, of which
  // the reading is 20000 or 1000 rows.
  const double now = 6.0 * kEdges * kWidth * 4 + 2.0 * kEdges * 8 + kEdges * 4;
  const double rest = kNodes * kWidth * 4 + kEdges * 8 + kEdges * 4;
  const double most = kEdges * kWidth * 4 + rest, least = kNodes * kWidth * 4 + rest;
  CHECK(finding->savings_ms->low == doctest::Approx(12 * (1 - most / now)));
  CHECK(finding->savings_ms->high == doctest::Approx(12 * (1 - least / now)));
  // Nothing else is said of these ops.
  for (const Finding& other : one.analysis.findings) {
    if (&other == finding || other.tier != Tier::kCompute) continue;
    CHECK(other.subject != "aten::mul");
    CHECK(other.subject != "aten::index_select");
    CHECK(other.subject != "aten::scatter_add_");
  }
  for (const FusionCandidate& chain : one.analysis.fusion.candidates) {
    for (const FusionKernel& kernel : chain.kernels)
      CHECK(kernel.op != "aten::mul");
  }
}

TEST_CASE("other spellings of the gather and the sum") {
  const std::string edges = std::to_string(kEdges), rows = Matrix(kEdges, kWidth);
  // Nothing to scale by; a gather whose index is not recorded; a sum that accumulates.
  EdgeScript script;
  script.Gather().Sum();
  script.Op("aten::index", Matrix(kNodes, kWidth) + ",[]", R"("float","")").Scale();
  script.Op("aten::_index_put_impl_", Matrix(kNodes, kWidth) + ",[]," + rows + ",[],[]",
            R"("float","","float","Scalar","Scalar")", R"("","","","True","True")");
  // Counted beside it, and an index that is written out.
  script.Gather();
  script.Op("aten::scatter_add_", "[1000],[],[" + edges + "],[" + edges + "]",
            R"("float","Scalar","long int","float")", R"("","0","","")");
  script.Op("aten::copy_", rows + "," + rows, R"("long int","long int")");
  script.Op("aten::scatter_reduce_", Matrix(kNodes, kWidth) + ",[]," + rows + "," + rows + ",[],[]",
            R"("float","Scalar","long int","float","","Scalar")", {},
            "_scatter_gather_elementwise_kernel<ReduceMean>");
  const Analyzed one = script.Run();
  const Finding* finding = SparseOf(one);
  REQUIRE(finding != nullptr);
  CHECK(CountIn(*finding, "products") == 3);
  CHECK(CountIn(*finding, "backward") == 0);
}

TEST_CASE("sums that need each edge's row are no sparse products") {
  // A message that is computed of rows of edges.
  CHECK(SparseOf(EdgeScript().Gather().Product(kEdges, kWidth, kWidth).Sum().Run()) == nullptr);
  CHECK(
      SparseOf(EdgeScript().Gather().Pointwise("aten::relu", Matrix(kEdges, kWidth)).Sum().Run()) ==
      nullptr);
  CHECK(SparseOf(EdgeScript().Gather().Gather().Scale(Matrix(kEdges, kWidth)).Sum().Run()) ==
        nullptr);
  // Attention: of several heads, and of one that is computed just before.
  EdgeScript heads;
  const std::string rows = "[20000,4,16]", number = "[20000,4,1]";
  heads.Op("aten::index_select", "[1000,4,16],[],[20000]", R"("float","Scalar","long int")");
  heads.Op("aten::mul", number + "," + rows, R"("float","float")");
  heads.Op("aten::scatter_add_", "[1000,4,16],[]," + rows + "," + rows,
           R"("float","Scalar","long int","float")");
  CHECK(SparseOf(heads.Run()) == nullptr);
  EdgeScript head;
  head.Pointwise("aten::exp", Matrix(kEdges, 1)).Gather().Scale().Sum();
  CHECK(SparseOf(head.Run()) == nullptr);
  // The numbers of edges are learned: their gradient is of both ends' rows.
  EdgeScript learned;
  learned.Layer().Backward().Gather().Scale(Matrix(kEdges, kWidth));
  CHECK(SparseOf(learned.Run()) == nullptr);
}

TEST_CASE("sums over rows of experts, tables, positions and maxima are no sparse products") {
  // Rows of an expert: a product between, and what is put together again is gathered in an order.
  CHECK(SparseOf(EdgeScript()
                     .Gather(4096, 8192)
                     .Product(8192, kWidth, 256)
                     .Product(8192, 256, kWidth)
                     .Scale(Matrix(8192, 1), 8192)
                     .Sum(4096, 8192)
                     .Run()) == nullptr);
  CHECK(SparseOf(
            EdgeScript().Gather(8192, 8192).Scale(Matrix(8192, 1), 8192).Sum(4096, 8192).Run()) ==
        nullptr);
  // A bag of embeddings.
  EdgeScript bag;
  bag.Around("aten::embedding", 30).Gather().Sum();
  CHECK(SparseOf(bag.Run()) == nullptr);
  // Fewer rows are put into a larger result than it has.
  CHECK(SparseOf(EdgeScript().Gather(1000, 2000).Sum(4000, 2000).Run()) == nullptr);
  // A lookup's gradient, which comes from no gather.
  CHECK(SparseOf(EdgeScript()
                     .Gather()
                     .Product(kEdges, kWidth, kWidth)
                     .Op("aten::embedding_dense_backward", Matrix(kEdges, kWidth) + ",[20000]",
                         R"("float","long int")")
                     .Sum()
                     .Run()) == nullptr);
  // Maxima, whole numbers, and values that are written and not added.
  const std::string rows = Matrix(kEdges, kWidth), nodes = Matrix(kNodes, kWidth);
  EdgeScript others;
  others.Gather().Op("aten::scatter_reduce_", nodes + ",[]," + rows + "," + rows + ",[],[]",
                     R"("float","Scalar","long int","float","","Scalar")", {},
                     "_scatter_gather_elementwise_kernel<ReduceMaximum>");
  others.Gather().Op("aten::index_put_", nodes + ",[]," + rows + ",[]",
                     R"("float","","float","Scalar")", R"("","","","False")");
  others.Op("aten::index_select", nodes + ",[],[20000]", R"("long int","Scalar","long int")");
  others.Op("aten::scatter_add_", nodes + ",[]," + rows + "," + rows,
            R"("long int","Scalar","long int","long int")");
  CHECK(SparseOf(others.Run()) == nullptr);
}

// An embedding's dense backward pass: a sort of indices, then sums far below the bandwidth.
Analyzed DenseGradient(std::string_view kernel, std::string_view type) {
  TraceText text;
  std::string args = R"("Input Dims":[[32,512,1024],[32,512],[],[],[]])";
  if (!type.empty()) args += fmt::format(R"(,"Input type":["{}","long int","","",""])", type);
  for (int i = 0; i < 4; ++i) {
    const double at = 30'000.0 * i;
    text.OpWithKernel("aten::embedding_dense_backward", at, 100, kernel, at + 110, 25'000, i + 1,
                      args);
  }
  return Analyze(text, "V100");
}

TEST_CASE(
    "an embedding's dense gradient is known as fp32 by its kernels where no type is recorded") {
  constexpr std::string_view kWide = "void compute_grad_weight<float, long>(long const*)";
  constexpr std::string_view kHalf = "void compute_grad_weight<c10::Half, long>(long const*)";
  const auto told = [](const Analyzed& one) { return one.FindRule(Pattern::kEmbeddingBackward); };
  REQUIRE(told(DenseGradient(kWide, "float")) != nullptr);
  REQUIRE(told(DenseGradient(kWide, "")) != nullptr);
  CHECK(told(DenseGradient(kHalf, "")) == nullptr);
  CHECK(told(DenseGradient(kHalf, "c10::Half")) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
