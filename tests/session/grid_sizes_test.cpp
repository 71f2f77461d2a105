// Sizes by tiles and grids, held against the shapes of the ops that launched the kernels.
#include "session/grid_sizes.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ledger/kinds/kinds_of_work.h"
#include "session/layer_sizes.h"
#include "session/loaded_trace.h"
#include "session/trace_frames.h"
#include "session/trained_products.h"
#include "support/trace_builder.h"
#include "trace/json_text.h"

namespace jarvis::session {
namespace {

using trace::EventIndex;

// Of one product of matrices.
struct TrueSizes {
  double rows = 0, columns = 0, depth = 0;
};

std::vector<std::vector<double>> OperandsOf(const trace::EventStore& events, EventIndex op) {
  std::vector<std::vector<double>> operands;
  for (const auto operand : trace::ElementsOf(events.text(events.args_of(op).dims))) {
    auto& sizes = operands.emplace_back();
    for (const auto size : trace::ElementsOf(operand))
      sizes.push_back(static_cast<double>(trace::IntegerOf(size).value_or(0)));
  }
  return operands;
}

// By the op's name and dimensions alone: of its rows by its columns.
std::optional<TrueSizes> TruthOf(const trace::EventStore& events, EventIndex op) {
  const std::string_view name = events.name(op);
  const bool adds = name == "aten::addmm" || name == "aten::_addmm_activation";
  if (!adds && name != "aten::mm") return std::nullopt;
  const auto operands = OperandsOf(events, op);
  const std::size_t first = adds ? 1 : 0;
  if (operands.size() < first + 2) return std::nullopt;
  const auto& a = operands[first];
  const auto& b = operands[first + 1];
  if (a.size() != 2 || b.size() != 2) return std::nullopt;
  return TrueSizes{a[0], b[1], a[1]};
}

struct Held {
  int sides = 0, sides_held = 0;
  int depths = 0, depths_held = 0;
  int heads = 0, heads_held = 0;      // sizes of attention
  int trained = 0, trained_held = 0;  // sizes of products in training
};

class Holder {
 public:
  Holder(const LoadedTrace& trace, Held* held) : trace_(trace), held_(*held) {}

  // Of ops that launch one product: a library may part a large one.
  void Run() {
    Job job;
    const auto frames = FramesOf(trace_, job);
    REQUIRE(frames.has_value());
    const ledger::KindsOfWork& kinds = *(*frames)->kinds;
    const trace::EventStore& events = trace_.events();
    const LayerSizes layers(events, kinds);
    const TrainedProducts trained(events, trace_.tree(), kinds);
    std::map<EventIndex, std::vector<EventIndex>> products;
    for (EventIndex e = 0; e < events.size(); ++e) {
      if (events[e].kind != trace::EventKind::kKernel) continue;
      const EventIndex launch = trace_.tree().parent(e);
      const EventIndex op = launch == trace::kNoEvent ? launch : trace_.tree().parent(launch);
      if (op == trace::kNoEvent) continue;
      if (kinds.Of(e).kind == ledger::WorkKind::kProduct) products[op].push_back(e);
      if (const auto sizes = AttentionOf(events, kinds, e)) HoldAttention(op, *sizes);
    }
    for (const auto& [op, kernels] : products) {
      const auto truth = TruthOf(events, op);
      if (!truth || kernels.size() != 1) continue;
      HoldProduct(kernels[0], *truth, ResultOf(events, kinds, kernels[0]),
                  layers.Product(kernels[0]));
      if (const auto sizes = trained.Product(kernels[0])) {
        Count(sizes->result.rows, truth->rows, &held_.trained, &held_.trained_held);
        Count(sizes->result.columns, truth->columns, &held_.trained, &held_.trained_held);
        Count(sizes->depth, truth->depth, &held_.trained, &held_.trained_held);
      }
    }
  }

 private:
  void HoldProduct(EventIndex kernel, const TrueSizes& truth,
                   const std::optional<ResultSizes>& result,
                   const std::optional<ProductSizes>& sizes) {
    CAPTURE(std::string(trace_.events().name(kernel)));
    if (result) {
      Count(result->rows, truth.rows, &held_.sides, &held_.sides_held);
      Count(result->columns, truth.columns, &held_.sides, &held_.sides_held);
    }
    if (sizes) Count(sizes->depth, truth.depth, &held_.depths, &held_.depths_held);
  }

  // Queries of (batch, tokens, heads, elements).
  void HoldAttention(EventIndex op, const AttentionSizes& sizes) {
    const auto operands = OperandsOf(trace_.events(), op);
    if (operands.empty() || operands[0].size() != 4) return;
    if (trace_.events().name(op).find("_flash_attention_forward") == std::string_view::npos) return;
    const auto& queries = operands[0];
    Count({sizes.batch, sizes.batch}, queries[0], &held_.heads, &held_.heads_held);
    Count(sizes.queries, queries[1], &held_.heads, &held_.heads_held);
    Count({sizes.heads, sizes.heads}, queries[2], &held_.heads, &held_.heads_held);
    Count(sizes.head, queries[3], &held_.heads, &held_.heads_held);
  }

  static void Count(const SizeRange& range, double size, int* all, int* held) {
    CAPTURE(range.low);
    CAPTURE(range.high);
    CAPTURE(size);
    CHECK(range.Has(size));
    ++*all;
    *held += range.Has(size) ? 1 : 0;
  }

  const LoadedTrace& trace_;
  Held& held_;
};

std::vector<std::filesystem::path> GridRecordings() {
  std::vector<std::filesystem::path> files;
  const char* data = std::getenv("JARVIS_TEST_DATA");
  if (data == nullptr) return files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(data) / "traces", error)) {
    if (entry.is_regular_file(error) && entry.path().string().ends_with(".json.gz"))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("sizes by tile and grid hold in recordings with shapes") {
  const auto files = GridRecordings();
  if (files.empty()) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no traces");
    return;
  }
  Held held;
  for (const auto& file : files) {
    CAPTURE(file.string());
    Job job;
    const auto trace = LoadTrace(file.string(), 1, job);
    if (trace) Holder(**trace, &held).Run();
  }
  MESSAGE(fmt::format(
      "rows and columns {} of {}, inner dimensions {} of {}, attention {} of {}, training {} of {}",
      held.sides_held, held.sides, held.depths_held, held.depths, held.heads_held, held.heads,
      held.trained_held, held.trained));
  CHECK(held.sides > 20000);
  CHECK(held.depths > 800);
}

// Sizes by a name and a grid.
std::string SizesOf(std::string_view name, std::string_view grid) {
  testing::TraceText text;
  text.Kernel(name, 0, 10, 1, 7, grid);
  const testing::Loaded loaded = testing::Load(text);
  const ledger::KindsOfWork kinds(loaded.events(), loaded.tree);
  const EventIndex kernel = loaded.Find(name, 0);
  if (const auto result = ResultOf(loaded.events(), kinds, kernel)) {
    return fmt::format("{} to {} x {} to {}", result->rows.low, result->rows.high,
                       result->columns.low, result->columns.high);
  }
  if (const auto attention = AttentionOf(loaded.events(), kinds, kernel)) {
    return fmt::format("{} x {}, {} to {} x {} to {}{}", attention->batch, attention->heads,
                       attention->queries.low, attention->queries.high, attention->head.low,
                       attention->head.high, attention->causal ? ", causal" : "");
  }
  return "";
}

TEST_CASE("a tile and a grid give the sides of a product's result") {
  constexpr std::string_view kGrid = R"("grid":[6,788,1])";
  CHECK(SizesOf("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", kGrid) ==
        "201473 to 201728 x 641 to 768");
  CHECK(SizesOf("volta_sgemm_32x128_nt", kGrid) == "100737 to 100864 x 161 to 192");
  CHECK(SizesOf("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x128x8_stage3_warpsize1x4x1_ffma_"
                "aligna4_alignc4_execute_kernel__5x_cublas",
                kGrid) == "321 to 384 x 100737 to 100864");
  // A batch, or parts of the inner dimension.
  CHECK(SizesOf("volta_sgemm_32x128_nt", R"("grid":[6,788,2])").empty());
  CHECK(SizesOf("volta_sgemm_32x128_nt", R"("block":[6,788,2])").empty());
  CHECK(SizesOf("volta_sgemm_32x128_nt", R"("grid":[6,788])").empty());
}

TEST_CASE("kernels whose grid counts something else give no sides") {
  constexpr std::string_view kGrid = R"("grid":[2,66,1])";
  for (const std::string_view name :
       {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "volta_gcgemm_32x32_nt",
        "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_splitK_stages_64x4_tn",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
        "alignc4_execute_split_k_kernel__5x_cublas",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x3_tn_align8>"
        "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x3_tn_align8::Params)",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN_LDSB1",
        "my_sgemm_128x64_tn"}) {
    CAPTURE(name);
    CHECK(SizesOf(name, kGrid).empty());
  }
}

TEST_CASE("FlashAttention's arguments and grid give the sizes of attention") {
  const auto flash = [](std::string_view flags) {
    return fmt::format(
        "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)64, (int)64, (int)4, "
        "(bool)0, (bool)0, cutlass::bfloat16_t, Flash_kernel_traits<(int)128, (int)64, (int)64, "
        "(int)4, cutlass::bfloat16_t>>, {}>(flash::Flash_fwd_params)",
        flags);
  };
  constexpr std::string_view kGrid = R"("grid":[4,2,6])";
  const auto sizes = [&](std::string_view flags) { return SizesOf(flash(flags), kGrid); };
  CHECK(sizes("(bool)0, (bool)0, (bool)0, (bool)0, (bool)0, (bool)1, (bool)0, (bool)0") ==
        "2 x 6, 193 to 256 x 128 to 128");
  CHECK(sizes("(bool)0, (bool)1, (bool)0, (bool)0, (bool)1, (bool)0, (bool)0, (bool)0") ==
        "2 x 6, 256 to 256 x 104 to 128, causal");
  CHECK(sizes("false, false, false, false, true, false") == "2 x 6, 193 to 256 x 128 to 128");
  // A window of keys; and flags of a version that is not known.
  CHECK(sizes("false, false, true, false, true, false").empty());
  CHECK(sizes("false, false, false, false").empty());
  CHECK(SizesOf("void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4> >",
                kGrid)
            .empty());
}

}  // namespace
}  // namespace jarvis::session
