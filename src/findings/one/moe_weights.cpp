#include "findings/one/moe_weights.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/thresholds.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

// One grouped product.
struct GroupedProduct {
  double weight_bytes = 0;  // of an element, scales included
  std::int64_t rows = 0;    // of a tile
  std::int64_t columns = 0;
  bool gated = false;
  std::int64_t blocks = 0;
};

// The last of `most` parts is all that is left.
std::vector<std::string_view> PartsBetween(std::string_view text, char separator,
                                           std::size_t most) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end =
        parts.size() + 1 == most ? std::string_view::npos : text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> BytesOfElement(std::string_view type) {
  constexpr double kBlockScale = 1.0 / 32;  // a byte for each 32 elements
  if (type == "mxfp4") return 0.5 + kBlockScale;
  if (type.starts_with("fp8") || type.starts_with("e4m3") || type.starts_with("e5m2")) return 1;
  if (type == "bf16" || type == "fp16") return 2;
  return std::nullopt;
}

// Triton's kernels: "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu".
std::optional<GroupedProduct> TritonProductOf(const trace::EventStore& events, EventIndex kernel) {
  constexpr std::string_view kBegin = "_matmul_ogs_";
  const std::string_view name = events.name(kernel);
  if (!name.starts_with(kBegin)) return std::nullopt;
  const auto parts = PartsBetween(name.substr(kBegin.size()), '_', 4);
  if (parts.size() < 3) return std::nullopt;
  const auto types = PartsBetween(parts[1], 'x', 3);  // "mxfp4" has an x of its own
  const auto tile = PartsBetween(parts[2], 'x', 4);
  if (types.size() != 3 || tile.size() != 4 || tile[3] != "1") return std::nullopt;
  GroupedProduct product;
  const auto bytes = BytesOfElement(types[2]);
  const auto rows = ParseInt(tile[0]);
  const auto columns = ParseInt(tile[1]);
  const auto blocks = GridBlocksOf(events, kernel);
  if (!bytes || !blocks || !rows || !columns || *rows <= 0 || *columns <= 0) return std::nullopt;
  product.weight_bytes = *bytes;
  product.rows = *rows;
  product.columns = *columns;
  product.blocks = *blocks;
  product.gated = name.ends_with("glu");
  return product;
}

// The type that a list of types written together begins with: "MxE2m1MxE4m3".
std::optional<double> BytesOfFirst(std::string_view types) {
  constexpr double kMxScale = 1.0 / 32;
  constexpr double kNvScale = 1.0 / 16;
  constexpr std::pair<std::string_view, double> kKnown[] = {{"MxE2m1", 0.5 + kMxScale},
                                                            {"MxE4m3", 1 + kMxScale},
                                                            {"E2m1", 0.5 + kNvScale},
                                                            {"E4m3", 1},
                                                            {"Bfloat16", 2},
                                                            {"Fp16", 2}};
  for (const auto& [name, bytes] : kKnown) {
    if (types.starts_with(name)) return bytes;
  }
  return std::nullopt;
}

// TensorRT-LLM's kernels:
// "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_..._transOut_..._dynBatch_". Their results are
// transposed where rows are few: the first operand is the weights then.
std::optional<GroupedProduct> TensorRtProductOf(const trace::EventStore& events,
                                                EventIndex kernel) {
  const std::string_view name = events.name(kernel);
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (!name.starts_with("bmm_") || !has("_transOut_") || !has("_dynBatch_")) return std::nullopt;
  const auto parts = PartsBetween(name, '_', 6);
  if (parts.size() < 6 || !parts[4].starts_with("t")) return std::nullopt;
  const auto tile = PartsBetween(parts[4].substr(1), 'x', 3);
  if (tile.size() != 3) return std::nullopt;
  const auto bytes = BytesOfFirst(parts[2]);
  const auto columns = ParseInt(tile[0]);
  const auto rows = ParseInt(tile[1]);
  const auto blocks = GridBlocksOf(events, kernel);
  if (!bytes || !blocks || !rows || !columns || *rows <= 0 || *columns <= 0) return std::nullopt;
  return GroupedProduct{*bytes, *rows, *columns, ContainsNoCase(name, "glu_"), *blocks};
}

std::optional<GroupedProduct> GroupedProductOf(const trace::EventStore& events, EventIndex kernel) {
  const auto product = TritonProductOf(events, kernel);
  return product ? product : TensorRtProductOf(events, kernel);
}

// With more rows an expert, the products may be bound by their FLOPs.
double FewRowsOfExpert(const perf::Platform& platform, double weight_bytes) {
  constexpr double kFarFromRidge = 0.5;
  const auto most = perf::CeilingFor(platform, "matrix_bf16");
  if (!most || !platform.mem_bw_gbps) return 0;
  const double flops_a_byte = most->tflops * 1000 / *platform.mem_bw_gbps;
  return kFarFromRidge * flops_a_byte * weight_bytes / 2;
}

// The sizes of the op's operands: rows and width of what comes in, and the number of experts as the
// router's scores have it.
struct ExpertSizes {
  std::int64_t width = 0;
  std::int64_t experts = 0;
};
std::optional<ExpertSizes> ExpertSizesOf(const trace::EventStore& events, EventIndex op) {
  const auto operands = trace::ElementsOf(events.text(events.args_of(op).dims));
  if (operands.size() < 2) return std::nullopt;
  const auto input = trace::ElementsOf(operands[0]);
  const auto scores = trace::ElementsOf(operands[1]);
  if (input.size() != 2 || scores.size() != 2) return std::nullopt;
  const auto rows = trace::IntegerOf(input[0]);
  const auto width = trace::IntegerOf(input[1]);
  const auto scored = trace::IntegerOf(scores[0]);
  const auto experts = trace::IntegerOf(scores[1]);
  if (!rows || !width || !experts || rows != scored || *width <= 0 || *experts <= 1)
    return std::nullopt;
  return ExpertSizes{*width, *experts};
}

// What the two products of one call read at least.
struct ExpertReads {
  double experts = 0;
  double pairs = 0;  // of a token and an expert that it goes to
  double hit = 0;    // experts that these hit, if they are routed evenly
  double up_bytes = 0, down_bytes = 0;
};

// The weights that one call reads. The second product has as many columns as the input, so
// that its grid tells how many tiles of rows there are, and these tell the columns of the first.
std::optional<ExpertReads> ReadsOf(const GroupedProduct& up, const GroupedProduct& down,
                                   const ExpertSizes& sizes, const perf::Platform& platform) {
  const auto width = static_cast<double>(sizes.width);
  const auto experts = static_cast<double>(sizes.experts);
  const std::int64_t across = (sizes.width + down.columns - 1) / down.columns;
  if (!up.gated || down.gated || up.rows != down.rows || down.blocks % across != 0)
    return std::nullopt;
  const std::int64_t row_tiles = down.blocks / across;
  if (row_tiles < 1 || up.blocks % row_tiles != 0) return std::nullopt;
  // As the kernels plan them: up to as many as experts a tile for each row, then one more for every
  // full tile of further ones.
  const double rows =
      row_tiles < sizes.experts
          ? static_cast<double>(row_tiles)
          : static_cast<double>((row_tiles - sizes.experts) * up.rows + sizes.experts);
  if (rows > FewRowsOfExpert(platform, up.weight_bytes) * experts) return std::nullopt;
  const double hit = experts * (1 - std::pow(1 - 1 / experts, rows));
  const auto columns = static_cast<double>(up.blocks / row_tiles * up.columns);
  const double weights = hit * width * columns;
  return ExpertReads{experts, rows, hit, weights * up.weight_bytes,
                     weights * down.weight_bytes / 2};
}

std::optional<ExpertReads> ExpertReadsOf(const Calls& calls, const analysis::WorkCall& call) {
  if (calls.platform == nullptr) return std::nullopt;
  const trace::EventStore& events = calls.events();
  std::vector<GroupedProduct> products;
  for (const EventIndex kernel : call.kernels) {
    if (const auto product = GroupedProductOf(events, kernel)) products.push_back(*product);
  }
  const auto sizes = ExpertSizesOf(events, call.op);
  if (products.size() != 2 || !sizes) return std::nullopt;
  const std::size_t up = products[0].gated ? 0 : 1;
  return ReadsOf(products[up], products[1 - up], *sizes, *calls.platform);
}

void RateByWeights(const Calls& calls, Operation* o) {
  const double tb_per_s = *calls.platform->mem_bw_gbps / 1000;
  const std::uint32_t first = calls.call_of[o->gpu.front()];
  if (first == kNone) return;
  const auto reads = ExpertReadsOf(calls, calls.calls[first]);
  if (!reads) return;
  const double bytes = reads->up_bytes + reads->down_bytes;
  Efficiency e;
  e.bytes = bytes;
  e.roof_us = bytes / tb_per_s / 1e6 * static_cast<double>(o->count);
  e.percent = *e.roof_us / o->gpu_us * 100;
  // Faster than all of these weights can be read: fewer experts were hit, and how many is not
  // known.
  if (*e.percent > limits::kAtRoof) return;
  e.tb_per_s = bytes * static_cast<double>(o->count) / o->gpu_us / 1e6;
  e.peak_tb_per_s = tb_per_s;
  e.bound = Bound::kMemory;
  e.source = BoundSource::kRidge;
  e.band = BandOf(e.percent);
  e.assumption = "uniform_routing";
  o->efficiency = e;
}

Fact WordsFact(std::string key, std::string words) {
  return {std::move(key), std::move(words), "words"};
}

}  // namespace

void AddExpertReads(const Calls& calls, EventIndex down, double up_us, double down_us,
                    Cause* cause) {
  const auto reads = ExpertReadsOf(calls, calls.calls[calls.call_of[down]]);
  if (!reads || !calls.platform->mem_bw_gbps) return;
  constexpr double kReached = 0.8;  // of the bandwidth
  const double bytes_a_us = kReached * *calls.platform->mem_bw_gbps * 1000;
  const double floor_us = (reads->up_bytes + reads->down_bytes) / bytes_a_us;
  cause->facts.push_back(NumberFact("up_tb_s", reads->up_bytes / up_us / 1e6, "TB/s"));
  cause->facts.push_back(NumberFact("down_tb_s", reads->down_bytes / down_us / 1e6, "TB/s"));
  cause->facts.push_back(WordsFact(
      "hit",
      fmt::format("if {:.0f} pairs of token and expert, routed evenly, hit {:.0f} of the {:.0f}",
                  reads->pairs, reads->hit, reads->experts)));
  const double saved = (up_us + down_us - floor_us) / down_us;
  if (saved > 0) cause->option = Target{{saved, saved, saved}, "", ""};
}

std::string KnobOfDown(const Calls& calls, EventIndex down) {
  constexpr std::int64_t kEnough = 2;
  const auto blocks = GridBlocksOf(calls.events(), down);
  const auto units = ComputeUnitsOf(calls.trace);
  const bool enough = blocks && units && *blocks >= kEnough * *units;
  const std::string many =
      enough ? fmt::format(
                   ". Its {} blocks for {} compute units are enough: K split over more only "
                   "adds a reduction",
                   *blocks, *units)
             : "";
  if (calls.events().name(down).find("matmul_ogs") != std::string_view::npos) {
    return fmt::format(
        "Set {} for the down projection: triton_kernels' `update_opt_flags_constraints`. It holds "
        "for every `matmul_ogs`, so set it before this call and reset it after{}",
        enough ? "other block sizes" : "block sizes and split-K", many);
  }
  return "Give the down projection a kernel for its own sizes: other block sizes" +
         (enough ? many : ", K split over more blocks");
}

void RateMoeByWeights(const Calls& calls, std::vector<CategoryAnalysis>* categories) {
  if (calls.platform == nullptr || !calls.platform->mem_bw_gbps) return;
  for (CategoryAnalysis& category : *categories) {
    if (category.kind != Kind::kMoe) continue;
    for (Operation& operation : category.operations) {
      const bool known = operation.efficiency.roof_us || operation.efficiency.tb_per_s;
      if (!known && !operation.gpu.empty() && operation.gpu_us > 0)
        RateByWeights(calls, &operation);
    }
    RateCategory(&category);
  }
}

}  // namespace jarvis::findings
