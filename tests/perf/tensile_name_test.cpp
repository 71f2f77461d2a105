// Names as rocBLAS, hipBLASLt, cuBLAS and CUTLASS give them, from real traces, each read by hand.
#include "perf/tensile_name.h"

#include <string>

#include <doctest/doctest.h>

#include "perf/gemm_decode.h"

namespace jarvis::perf {
namespace {

constexpr std::string_view kTail =
    "_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_GRVWA8_GSUAMB_ISA942_LWPMn1_"
    "MIWT8_6_PGR2_PLR1_SK0_SKXCCM0_VSn1_WS64_WG32_8_1";

std::string Lt(std::string_view head) {
  return "Cijk_Alik_Bljk_" + std::string(head) + std::string(kTail);
}

TEST_CASE("a name of hipBLASLt") {
  const auto name = ParseTensileName(Lt("B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1"));
  REQUIRE(name);
  CHECK(name->hipblaslt);
  CHECK(name->transpose_a == true);
  CHECK(name->transpose_b == false);
  CHECK(name->types == "BBS");
  CHECK(name->in_a == "bf16");
  CHECK(name->compute == "fp32");
  CHECK(name->flags == std::vector<std::string>{"BH", "Bias", "HA", "S", "SAV", "UserArgs"});
  CHECK(name->tile == std::array<std::int64_t, 3>{256, 192, 64});
  CHECK(name->mi_k == 16);
  CHECK(name->threads() == 256);
  CHECK(name->Find("MIWT")->values == std::vector<std::string>{"8", "6"});
  CHECK(name->Number("LWPM") == -1);
  CHECK(name->Find("GSUA")->values.front() == "MB");
  CHECK_FALSE(name->split());  // an argument of the launch
  CHECK(name->label() == "TN BBS MT256x192x64 MI16x16 SK0");
  CHECK(FlopPerMfma(*name) == 8192);
}

TEST_CASE("a name of rocBLAS") {
  const auto name = ParseTensileName(
      "Cijk_Ailk_Bjlk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0_AF0EM1_ASGT3128_GSU4_GSUASB_ISA90a_"
      "KLA_LWPMn1_TT2_16_WS64_WG16_8_2_WGMn16.kd");
  REQUIRE(name);
  CHECK_FALSE(name->hipblaslt);
  CHECK(name->transpose_a == false);
  CHECK(name->transpose_b == true);
  CHECK(name->types == "BBS");
  CHECK(name->flags == std::vector<std::string>{"BH"});
  CHECK(name->mi_k == 16);
  CHECK(name->threads() == 256);  // two of eight rows share a K
  CHECK(name->split() == 4);
  CHECK(name->Number("1LDSB") == 0);
  CHECK(name->Number("WGM") == -16);
  CHECK(name->Find("ISA")->values.front() == "90a");
  CHECK(name->Find("KLA")->values.empty());
  CHECK(name->label() == "NT BBS MT32x32x64 MI16x16 GSU4");
}

TEST_CASE("types and the flags that are glued to them") {
  struct Case {
    const char* text;
    const char* types;
    const char* in_a;
    const char* in_b;
    const char* out;
    const char* compute;
    const char* flag;  // the first; "": none
  };
  const Case cases[] = {
      {"BBS_BH", "BBS", "bf16", "bf16", "bf16", "fp32", "BH"},
      {"B_BS_BH", "BBS", "bf16", "bf16", "bf16", "fp32", "BH"},
      {"HHS_BH", "HHS", "fp16", "fp16", "fp16", "fp32", "BH"},
      {"H_HS_BH", "HHS", "fp16", "fp16", "fp16", "fp32", "BH"},
      {"HSS_BH", "HSS", "fp16", "fp16", "fp32", "fp32", "BH"},
      {"SB", "S", "fp32", "fp32", "fp32", "fp32", "B"},
      {"S_B_Bias", "S", "fp32", "fp32", "fp32", "fp32", "B"},
      {"SB_Bias_AS_SAV", "S", "fp32", "fp32", "fp32", "fp32", "B"},
      {"DB", "D", "fp64", "fp64", "fp64", "fp64", "B"},
      {"HBH", "H", "fp16", "fp16", "fp16", "fp16", "BH"},
      {"I8II_BH", "I8II", "int8", "int8", "int32", "int32", "BH"},
      {"4xi8II_BH", "4xi8II", "int8x4", "int8x4", "int32", "int32", "BH"},
      {"F8_BS_BH", "F8BS", "fp8", "fp8", "bf16", "fp32", "BH"},
      {"F8B8_HS_BH", "F8B8HS", "fp8", "bf8", "fp16", "fp32", "BH"},
      {"F8NB8N_BS", "F8NB8NBS", "fp8_fnuz", "bf8_fnuz", "bf16", "fp32", ""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const auto name = ParseTensileName(Lt(std::string(one.text) + "_MT16x16x32_MI16x16x1"));
    REQUIRE(name);
    CHECK(name->types == one.types);
    CHECK(name->in_a == one.in_a);
    CHECK(name->in_b == one.in_b);
    CHECK(name->out == one.out);
    CHECK(name->compute == one.compute);
    CHECK((name->flags.empty() ? "" : name->flags.front()) == one.flag);
  }
}

TEST_CASE("what is no such name") {
  for (const char* text :
       {"", "Cijk", "Cijk_Alik_Bljk", "Cijk_Alik_Bljk_BBS_BH", "Cijk_Alik_Bljk_BBS_MT16x16",
        "Cijk_Alik_Bljk_BBS_MT0x16x16", "Cijk_Alik_Bljk_BBS_MT16x16xA", "void foo<int>(int)",
        "Cijk_Alik_Bljk_BBS_MT99999999999x16x16_"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseTensileName(text));
  }
  // Work-groups that no GPU has.
  CHECK_FALSE(ParseTensileName("Cijk_Alik_Bljk_SB_MT1x1x1_WG99999_9")->threads());
}

TEST_CASE("other libraries") {
  const auto nvjet = DecodeGemmKernel("nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN");
  REQUIRE(nvjet);
  CHECK(nvjet->family == "nvjet");
  CHECK(nvjet->in_a == "bf16");
  CHECK(nvjet->compute == "fp32");
  CHECK(nvjet->tile_m == 144);
  CHECK(nvjet->tile_k == 64);
  CHECK(nvjet->stages == 6);
  CHECK(nvjet->cluster_m == 2);
  CHECK(nvjet->transpose_a == true);
  CHECK(nvjet->transpose_b == false);

  const auto xmma = DecodeGemmKernel(
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x32_warpgroupsize1x1x1_execute_"
      "segment_"
      "k_off_kernel__5x_cublas");
  REQUIRE(xmma);
  CHECK(xmma->label == "xmma TN bf16 128x64x32");
  CHECK(xmma->out == "bf16");
  CHECK(xmma->compute == "fp32");

  const auto cutlass = DecodeGemmKernel(
      "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_128x64_32x5_tn_align8>("
      "cutlass_80_tensorop_f16_s16816gemm_relu_f16_128x64_32x5_tn_align8::Params)");
  REQUIRE(cutlass);
  CHECK(cutlass->label == "cutlass TN fp16 128x64x32 s5");
  CHECK(cutlass->compute == "fp32");

  const auto ampere =
      DecodeGemmKernel("ampere_fp16_s16816gemm_fp16_64x128_sliced1x2_ldg8_f2f_stages_64x3_nn");
  REQUIRE(ampere);
  CHECK(ampere->label == "cublas NN fp16 64x128x64 s3");
  CHECK(DecodeGemmKernel("volta_sgemm_128x32_nt")->label == "cublas NT fp32 128x32");
  CHECK(DecodeGemmKernel("ampere_sgemm_32x32_sliced1x4_tn")->tile_k == std::nullopt);

  for (const char* text :
       {"nvjet", "nvjet_", "_gemm", "gemm_", "xgemm", "cutlass_gemm<", "gemm_x_"})
    CHECK(DecodeGemmKernel(text));
  for (const char* text :
       {"fbgemm::permute", "void implicit_convolve_sgemm<float>(int)", "softmax"})
    CHECK_FALSE(DecodeGemmKernel(text));
}

TEST_CASE("work-groups and efficiencies of a product") {
  const auto kernel = DecodeGemmKernel(Lt("B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1"));
  REQUIRE(kernel);
  // 1500 columns take 6 tiles of 256, 400 rows 3 tiles of 192.
  const GemmLaunch launch = LaunchOf(*kernel, GemmSizes{400, 1500, 96, 2}, 32);
  CHECK(launch.waves == 4);
  CHECK(launch.work_groups == 6 * 3 * 2);
  CHECK(launch.split_assumed);
  CHECK(*launch.tile_efficiency == doctest::Approx(400.0 * 1500 / (1536.0 * 576)));
  CHECK(*launch.k_efficiency == doctest::Approx(96.0 / 128));
  CHECK(*launch.rounds == doctest::Approx(36.0 / 32));
  CHECK(launch.tail == 4);
  CHECK(*launch.round_efficiency == doctest::Approx(36.0 / 64));

  const auto stream = DecodeGemmKernel("Cijk_Alik_Bljk_BBS_BH_MT64x64x64_MI16x16x1_SK3_WG16_16_1");
  CHECK_FALSE(LaunchOf(*stream, GemmSizes{400, 1500, 96, 2}, 32).work_groups);
  CHECK_FALSE(LaunchOf(*kernel, {}, 32).work_groups);
}

}  // namespace
}  // namespace jarvis::perf
