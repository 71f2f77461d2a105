// The inner dimension of products by the order of kernels: what tells it, and what only looks like
// it.
#include "session/layer_sizes.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "session/grid_floors.h"
#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

using trace::EventIndex;

constexpr std::string_view kGemm = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
constexpr std::string_view kWide = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn";
constexpr std::string_view kNorm = "triton_per_fused_add_native_layer_norm_5_0d1d2d3d4d5d6de";
constexpr std::string_view kGelu = "triton_poi_fused_gelu_3_0d1d2de";
constexpr std::string_view kFlash =
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
    "false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, "
    "cutlass::bfloat16_t> >, false, false, false, false, false, true, "
    "false>(pytorch_flash::Flash_fwd_params)";

// LayerKernels one behind another on one stream.
class LayerKernels {
 public:
  LayerKernels& Add(std::string_view name, int x = 1, int y = 1, int z = 1, double us = 400) {
    text_.Kernel(name, ts_, us, 1, 7,
                 fmt::format(R"("grid":[{},{},{}],"block":[128,1,1])", x, y, z));
    ts_ += us + 1;
    return *this;
  }
  const testing::TraceText& text() const { return text_; }

 private:
  testing::TraceText text_;
  double ts_ = 0;
};

struct ReadLayers {
  explicit ReadLayers(const LayerKernels& kernels)
      : loaded(testing::Load(kernels.text())),
        kinds(loaded.events(), loaded.tree),
        layers(loaded.events(), kinds) {}

  // Of the nth kernel of a name.
  std::optional<SizeRange> Depth(std::string_view name, int nth) const {
    const auto sizes = layers.Product(loaded.Find(name, nth));
    return sizes ? std::optional(sizes->depth) : std::nullopt;
  }

  testing::Loaded loaded;
  ledger::KindsOfWork kinds;
  LayerSizes layers;
};

// Rows of 1024 images of 197 tokens, 12 heads of 64, an MLP of 3072. Of the 128x128 kernels the
// queries, keys and values are 0, 3, 6 ..., heads to the stream 1, 4 ..., the MLP's first 2, 5 ...
LayerKernels Transformer(int layers, std::string_view activation = kGelu,
                         std::string_view norm = kNorm) {
  LayerKernels kernels;
  for (int i = 0; i < layers; ++i) {
    kernels.Add(norm).Add(kGemm, 18, 1576).Add(kFlash, 2, 1024, 12).Add(kGemm, 6, 1576);
    kernels.Add(norm).Add(kGemm, 24, 1576).Add(activation).Add(kWide, 6, 788);
  }
  return kernels;
}

TEST_CASE("the order of kernels in a layer tells how long the sums of its products are") {
  const ReadLayers read(Transformer(4));
  CHECK_FALSE(read.Depth(kGemm, 0));  // nothing is before it
  CHECK_FALSE(read.Depth(kGemm, 1));
  CHECK(read.Depth(kGemm, 2) == SizeRange{641, 768});    // behind a norm
  CHECK(read.Depth(kWide, 0) == SizeRange{2945, 3072});  // behind an activation
  CHECK(read.Depth(kGemm, 3) == SizeRange{641, 768});
  CHECK(read.Depth(kGemm, 4) == SizeRange{768, 768});  // 12 heads of 64
  const auto attention = read.layers.Attention(read.loaded.Find(kFlash, 1));
  REQUIRE(attention.has_value());
  CHECK(attention->tokens == SizeRange{201601, 201728});
  CHECK(attention->sizes.head == SizeRange{64, 64});
  CHECK_FALSE(read.layers.Attention(read.loaded.Find(kFlash, 0)));
  const auto norm = read.layers.Normalised(read.loaded.Find(kNorm, 1));
  REQUIRE(norm.has_value());
  CHECK(norm->elements == 201601.0 * 641);
}

TEST_CASE("a gate may halve what the MLP's second product sums") {
  const ReadLayers read(Transformer(4, "triton_poi_fused_mul_silu_3_0d1d2de"));
  CHECK(read.Depth(kWide, 0) == SizeRange{1472.5, 3072});
  CHECK_FALSE(ReadLayers(Transformer(4, "triton_poi_fused_add_3_0d1d2de")).Depth(kWide, 0));
}

TEST_CASE("without norms, or of too few layers, nothing is said") {
  CHECK_FALSE(ReadLayers(Transformer(1)).Depth(kGemm, 2));
  const ReadLayers plain(Transformer(6, kGelu, "triton_poi_fused_add_5_0d1d2de"));
  CHECK_FALSE(plain.Depth(kGemm, 5));
  CHECK_FALSE(plain.Depth(kWide, 1));
  // Tensors put together before the norm.
  const ReadLayers put(Transformer(6, kGelu, "triton_per_fused_add_cat_native_layer_norm_2_0d1de"));
  CHECK_FALSE(put.Depth(kGemm, 5));
}

TEST_CASE("a product whose name tells no tile parts what is before it from what is behind it") {
  LayerKernels kernels;
  for (int i = 0; i < 6; ++i) {
    kernels.Add(kNorm).Add(kGemm, 24, 1576).Add(kGelu);
    kernels.Add("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", 2, 66);
  }
  CHECK_FALSE(ReadLayers(kernels).Depth(kGemm, 3));
}

TEST_CASE("a norm of another width than the stream has tells nothing") {
  LayerKernels kernels;
  for (int i = 0; i < 6; ++i) {
    // A low-rank projection: what is normalised is a part of the first product's columns.
    kernels.Add(kNorm).Add(kGemm, 17, 64).Add(kNorm).Add(kWide, 24, 32).Add(kFlash, 2, 32, 12);
    kernels.Add(kGemm, 40, 64).Add(kNorm).Add(kGemm, 144, 64).Add(kGelu).Add(kGemm, 40, 64);
  }
  const ReadLayers read(kernels);
  CHECK(read.Depth(kGemm, 4) == SizeRange{4993, 5120});
  CHECK_FALSE(read.Depth(kWide, 2));
}

TEST_CASE("rows of another number are of another stream") {
  LayerKernels kernels;
  for (int i = 0; i < 6; ++i)
    kernels.Add(kGemm, 6, 100).Add(kNorm).Add(kGemm, 24, 90).Add(kNorm).Add(kGemm, 6, 100);
  CHECK_FALSE(ReadLayers(kernels).Depth(kGemm, 4));
}

TEST_CASE("products of a backward pass are none of a layer's forward pass") {
  LayerKernels kernels;
  constexpr std::string_view kBackward =
      "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn";
  for (int i = 0; i < 6; ++i)
    kernels.Add(kNorm).Add(kBackward, 6, 100).Add(kNorm).Add(kBackward, 6, 100);
  CHECK_FALSE(ReadLayers(kernels).Depth(kBackward, 3));
}

perf::Platform SmallDevice(double tflops) {
  perf::Platform platform;
  platform.mem_bw_gbps = 20000;
  platform.peak_tflops["matrix_bf16"] = {tflops, perf::Source::kPeak};
  return platform;
}

TEST_CASE("sizes that a device cannot work off in a kernel's time are not the sizes") {
  const ReadLayers read(Transformer(4));
  const auto floors_of = [&](double tflops) {
    return GridFloorsOf(read.loaded.events(), read.loaded.tree, read.kinds, SmallDevice(tflops));
  };
  // 201601 x 641 x 2945 multiplications and additions at least, in 400 us.
  const EventIndex second = read.loaded.Find(kWide, 1);
  const auto fast = floors_of(2500);
  REQUIRE(fast.contains(second));
  CHECK(fast.at(second).ns == doctest::Approx(2 * 201601.0 * 641 * 2945 / 2500e3));
  CHECK(fast.at(second).most_ns == doctest::Approx(2 * 201728.0 * 768 * 3072 / 2500e3));
  CHECK(fast.at(second).assumption.empty());
  CHECK_FALSE(floors_of(1500).contains(second));
  CHECK(floors_of(1500).contains(read.loaded.Find(kGemm, 4)));
}

TEST_CASE("attention alone is taken to be of a sequence to itself, where that can be") {
  const auto floor_of = [](int x, int y, double us) {
    LayerKernels kernels;
    kernels.Add(kFlash, x, y, 12, us);
    const ReadLayers read(kernels);
    const auto floors =
        GridFloorsOf(read.loaded.events(), read.loaded.tree, read.kinds, SmallDevice(300));
    return floors.empty() ? std::nullopt : std::optional(floors.begin()->second);
  };
  const auto floor = floor_of(64, 1, 2000);
  REQUIRE(floor.has_value());
  CHECK(floor->assumption == "own_keys");
  CHECK(floor->ns == doctest::Approx(4 * 12 * 8065.0 * 8065 * 64 / 300e3));
  CHECK_FALSE(floor_of(64, 1, 100));    // keys of something shorter
  CHECK_FALSE(floor_of(64, 8, 20000));  // eight sequences of whatever lengths
}

}  // namespace
}  // namespace jarvis::session
