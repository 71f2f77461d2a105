// The three products of a linear layer in training, told apart by their sizes.
#include "session/trained_products.h"

#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

constexpr std::string_view kForward = "volta_sgemm_128x64_tn";
constexpr std::string_view kOfInput = "volta_sgemm_128x32_nn";
constexpr std::string_view kOfWeight = "volta_sgemm_128x32_sliced1x4_nt";

struct GridOfTest {
  int x = 1, y = 1, z = 1;
};

// A layer's forward call and its backward node, of the same number. The grids are those of the
// kernels above.
struct TrainedLayer {
  TrainedLayer(GridOfTest forward, GridOfTest of_input, GridOfTest of_weight, int number = 5,
               std::string_view of_weight_name = kOfWeight) {
    Op("aten::addmm", 5);
    Launch(kForward, forward);
    Op("autograd::engine::evaluate_function: AddmmBackward0", number);
    Launch(kOfInput, of_input);
    Launch(of_weight_name, of_weight);
    loaded.emplace(testing::Load(text));
  }

  void Op(std::string_view name, int number) {
    ts += 100;
    text.Op(name, ts, 90, fmt::format(R"("Sequence number":{})", number));
    at = ts;
  }
  void Launch(std::string_view name, const GridOfTest& grid) {
    ++id;
    text.Runtime("cudaLaunchKernel", at += 10, 5, id);
    text.Kernel(name, at + 1000, 5, id, 7,
                fmt::format(R"("grid":[{},{},{}],"block":[256,1,1])", grid.x, grid.y, grid.z));
  }

  // "rows x columns x sums", the largest that fit.
  std::string Sizes(std::string_view name) const {
    const ledger::KindsOfWork kinds(loaded->events(), loaded->tree);
    const TrainedProducts trained(loaded->events(), loaded->tree, kinds);
    const auto sizes = trained.Product(loaded->Find(name, 0));
    return sizes ? fmt::format("{} x {} x {}", sizes->result.rows.high, sizes->result.columns.high,
                               sizes->depth.high)
                 : "";
  }

  testing::TraceText text;
  std::optional<testing::Loaded> loaded;
  double ts = 0, at = 0;
  int id = 0;
};

TEST_CASE("the gradients' sides tell what the forward product sums") {
  // 4096 rows, 1024 columns, sums of 2048; the weight's gradient in four parts of its sums.
  const TrainedLayer layer({8, 64}, {16, 128}, {16, 32, 4});
  CHECK(layer.Sizes(kForward) == "4096 x 1024 x 2048");
  CHECK(layer.Sizes(kOfInput) == "4096 x 2048 x 1024");
  CHECK(layer.Sizes(kOfWeight) == "1024 x 2048 x 4096");
  // The weight's gradient transposed.
  CHECK(TrainedLayer({8, 64}, {16, 128}, {8, 64}).Sizes(kForward) == "4096 x 1024 x 2048");
}

TEST_CASE("one gradient tells as much where it is plain which it is") {
  constexpr std::string_view kUntold = "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4>";
  const TrainedLayer layer({8, 64}, {16, 128}, {4, 4}, 5, kUntold);
  CHECK(layer.Sizes(kForward) == "4096 x 1024 x 2048");
  CHECK(layer.Sizes(kUntold).empty());
  // As many sums as columns: it could be the other gradient.
  CHECK(TrainedLayer({8, 64}, {8, 128}, {4, 4}, 5, kUntold).Sizes(kForward).empty());
}

TEST_CASE("gradients that do not fit, or fit in two ways, tell nothing") {
  CHECK(TrainedLayer({8, 64}, {16, 100}, {16, 32}).Sizes(kForward).empty());
  CHECK(TrainedLayer({8, 64}, {16, 128}, {12, 32}).Sizes(kForward).empty());
  CHECK(TrainedLayer({8, 16}, {8, 32}, {8, 32}).Sizes(kForward).empty());  // all of 1024
  CHECK(TrainedLayer({8, 64}, {16, 128}, {16, 32}, 6).Sizes(kForward).empty());
}

}  // namespace
}  // namespace jarvis::session
