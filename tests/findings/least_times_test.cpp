// What the sizes in kernel names tell of a recording whose ops have no shapes.
#include "findings/one/least_times.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/workload_script.h"
#include "session/trace_frames.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;

// A replayed graph of 60 GEMMs of 40 us each that read 7168 x 16384 bytes: 24.5 us of an H200.
Analyzed Decode(std::string_view kernel) {
  Script script;
  script.Op("aten::embedding", "embedding_kernel", 5, "").Graph();
  for (int layer = 0; layer < 60; ++layer) {
    script.Replayed(kernel, 40);
    script.Replayed("grouped_topk_kernel", 1);
  }
  return Analyze(script.text(), "H200");
}

std::string Gemm(std::string_view n, int groups = 1) {
  return fmt::format(
      "void deep_gemm::fp8_gemm_kernel<{}, 16384u, 128u, 56u, 128u, {}u, 8u, 128u, "
      "128u, 1u, true, (deep_gemm::GemmType){}>(float*)",
      n, groups, groups > 1 ? 2 : 0);
}

// A replayed graph of twelve transformer layers, 201728 rows 768 wide, without any op or shape.
Analyzed ReplayedLayers(std::string_view norm) {
  constexpr std::string_view kProduct =
      "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
  constexpr std::string_view kFlash =
      "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, "
      "4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, "
      "cutlass::bfloat16_t> >, false, false, false, false, false, true, "
      "false>(pytorch_flash::Flash_fwd_params)";
  const auto grid = [](int x, int y, int z = 1) {
    return fmt::format(R"("grid":[{},{},{}],"block":[128,1,1])", x, y, z);
  };
  Script script;
  script.Op("aten::embedding", "embedding_kernel", 5, "").Graph();
  for (int layer = 0; layer < 12; ++layer) {
    script.Replayed(norm, 800).Replayed(kProduct, 3000, grid(18, 1576));
    script.Replayed(kFlash, 1500, grid(2, 1024, 12)).Replayed(kProduct, 1000, grid(6, 1576));
    script.Replayed(norm, 800).Replayed(kProduct, 4000, grid(24, 1576));
    script.Replayed("triton_poi_fused_gelu_3_0d1d2de", 1800, grid(605184, 1));
    script.Replayed(kProduct, 4000, grid(6, 1576));
  }
  return Analyze(script.text(), "A100-SXM4-80GB");
}

// The operation with most of the time.
const Operation& Longest(const Analyzed& one) {
  const Operation* longest = nullptr;
  for (const CategoryAnalysis& category : one.analysis.categories) {
    for (const Operation& operation : category.operations) {
      if (longest == nullptr || operation.gpu_us > longest->gpu_us) longest = &operation;
    }
  }
  REQUIRE(longest != nullptr);
  return *longest;
}

TEST_CASE("sizes in kernel names bound what no model rates") {
  const Analyzed one = Decode(Gemm("7168u"));
  const ledger::Bound& bound = one.analysis.line_bounds.work[0];
  REQUIRE(bound.ns.has_value());
  REQUIRE(bound.least_ns.has_value());
  CHECK(static_cast<double>(*bound.least_ns) == doctest::Approx(60 * 24'466).epsilon(0.01));
  CHECK(static_cast<double>(*bound.ns) == doctest::Approx(60 * 15'534).epsilon(0.01));
  CHECK(bound.basis ==
        "down to the memory bandwidth of H200-SXM for the sizes in kernel names, "
        "known for 100 % of its time");
  CHECK(one.analysis.UnassessedKinds().empty());
  const Operation& gemm = Longest(one);
  CHECK_FALSE(gemm.efficiency.percent.has_value());
  REQUIRE(gemm.least_percent.has_value());
  const double part = 2400 / gemm.gpu_us;  // what else is replayed may be of the same operation
  CHECK(*gemm.least_percent == doctest::Approx(61.2 * part).epsilon(0.01));
  for (const Finding& finding : one.analysis.findings) {
    if (finding.members == std::vector<std::string>{gemm.id})
      CHECK(finding.least_percent == gemm.least_percent);
  }
  for (const UncoveredLine& line : one.analysis.uncovered)
    CHECK(line.least_ms.has_value() == (line.work == ledger::WorkKind::kProduct));
}

TEST_CASE("tiles, grids and the order of a layer's kernels bound what no model rates") {
  const Analyzed one = ReplayedLayers("triton_per_fused_add_native_layer_norm_5_0d1d2d3d4d5d6de");
  for (const ledger::WorkKind kind : {ledger::WorkKind::kProduct, ledger::WorkKind::kAttention,
                                      ledger::WorkKind::kNormalisation}) {
    const ledger::Bound& bound = one.analysis.line_bounds.work[static_cast<std::size_t>(kind)];
    REQUIRE(bound.ns.has_value());
    CHECK(bound.by_grids);
    CHECK(bound.least_ns.has_value());
    CHECK(bound.basis.starts_with(
        "down to what A100-SXM4-80GB can reach for the sizes that kernel names and grids give, "));
  }
  CHECK(one.analysis.UnassessedKinds().empty());
  const auto& lines = one.analysis.uncovered;
  const auto products = std::find_if(lines.begin(), lines.end(), [](const UncoveredLine& line) {
    return line.work == ledger::WorkKind::kProduct;
  });
  REQUIRE(products != lines.end());
  // All sizes are as large as their ranges allow: 2.86e12 operations a layer, the first layer's
  // two products before a norm apart.
  REQUIRE(products->most_ms.has_value());
  CHECK(*products->least_ms < *products->most_ms);
  const double all_ms = 2 * 201728.0 * 768 * (2304 + 768 + 3072 + 3072) / 312e12 / 0.9 * 1e3;
  CHECK(*products->most_ms == doctest::Approx(12 * all_ms).epsilon(0.05));
  CHECK(*products->least_ms > 0.7 * *products->most_ms);
}

TEST_CASE("without norms between them, tiles and grids leave products as they are") {
  const Analyzed one = ReplayedLayers("triton_poi_fused_add_5_0d1d2d3d4d5d6de");
  CHECK_FALSE(one.analysis.line_bounds.work[0].ns.has_value());
  CHECK_FALSE(one.analysis.UnassessedKinds().empty());
}

TEST_CASE("experts are taken to have tokens, and that is said") {
  const Analyzed one = Decode(Gemm("1792u", 4));
  REQUIRE(one.analysis.line_bounds.work[0].least_ns.has_value());
  CHECK(one.analysis.line_bounds.work[0].basis.find("if all experts have tokens") !=
        std::string::npos);
  CHECK(Longest(one).efficiency.assumption == "uniform_routing");
  CHECK(Longest(Decode(Gemm("7168u"))).efficiency.assumption.empty());
}

TEST_CASE("a name without sizes, or with sizes that say too little, leaves nothing assessed") {
  for (const std::string& kernel : {Gemm("0u"), Gemm("512u"), std::string("nvjet_64x8_64x16")}) {
    const Analyzed one = Decode(kernel);
    CAPTURE(kernel);
    CHECK_FALSE(one.analysis.line_bounds.work[0].ns.has_value());
    CHECK_FALSE(Longest(one).least_percent.has_value());
    CHECK(one.analysis.UnassessedKinds().size() == 1);
  }
}

}  // namespace
}  // namespace jarvis::findings
