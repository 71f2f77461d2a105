#include "perf/gemm_decode.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::perf {
namespace {

using Pieces = std::vector<std::string_view>;

Pieces Split(std::string_view text) {
  Pieces pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("_<>(), "), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

// "128x64" as two or more numbers; empty: something else.
std::vector<std::int64_t> Sizes(std::string_view text) {
  std::vector<std::int64_t> sizes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('x'), text.size());
    const auto size = ParseInt(text.substr(0, end));
    if (!size || *size <= 0 || *size > 1'000'000 || end + 1 == text.size()) return {};
    sizes.push_back(*size);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return sizes;
}

// "tn", "TNT": the operands' letters.
void ReadLayout(std::string_view piece, GemmKernel* out) {
  const std::string lower = LowerAscii(piece);
  if (lower.size() < 2 || lower.size() > 3 || lower.find_first_not_of("nt") != std::string::npos) {
    return;
  }
  out->transpose_a = lower[0] == 't';
  out->transpose_b = lower[1] == 't';
}

// MxN followed by KxSTAGES, as cuBLAS and CUTLASS write them.
void ReadTileAndStages(const Pieces& pieces, GemmKernel* out) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::vector<std::int64_t> sizes = Sizes(pieces[i]);
    if (sizes.size() != 2) continue;
    if (!out->tile_m) {
      out->tile_m = sizes[0];
      out->tile_n = sizes[1];
    } else if (!out->tile_k &&
               (pieces[i - 1] == "stages" ||
                pieces[i - 1] == fmt::format("{}x{}", *out->tile_m, *out->tile_n))) {
      out->tile_k = sizes[0];
      out->stages = sizes[1];
    }
  }
}

std::string TypeName(std::string_view letters) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"bf16", "bf16"}, {"fp16", "fp16"}, {"f16", "fp16"}, {"f32", "fp32"}, {"fp32", "fp32"},
      {"tf32", "tf32"}, {"f64", "fp64"},  {"e4m3", "fp8"}, {"e5m2", "bf8"}, {"s8", "int8"},
      {"i8", "int8"},   {"s32", "int32"}, {"i32", "int32"}};
  for (const auto& [spelling, name] : kNames) {
    if (letters == spelling) return std::string(name);
  }
  return {};
}

// nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN: types, tile, depth and stages, cluster, layout.
void ReadNvjet(const Pieces& pieces, GemmKernel* out) {
  const auto type = [](char letter) -> std::string {
    switch (letter) {
      case 't': return "bf16";
      case 'h': return "fp16";
      case 's': return "fp32";
      case 'q': return "fp8";
      default: return {};
    }
  };
  if (pieces.size() > 1 && pieces[1].size() == 3) {
    out->in_a = out->in_b = type(pieces[1][0]);
    out->compute = type(pieces[1][1]);
    out->out = type(pieces[1][2]);
  }
  std::vector<std::vector<std::int64_t>> pairs;
  for (const std::string_view piece : pieces) {
    std::vector<std::int64_t> sizes = Sizes(piece);
    if (sizes.size() == 2) pairs.push_back(std::move(sizes));
  }
  if (!pairs.empty()) {
    out->tile_m = pairs[0][0];
    out->tile_n = pairs[0][1];
  }
  if (pairs.size() > 1) {
    out->tile_k = pairs[1][0];
    out->stages = pairs[1][1];
  }
  if (pairs.size() > 2) {
    out->cluster_m = pairs[2][0];
    out->cluster_n = pairs[2][1];
  }
  ReadLayout(pieces.back(), out);
}

// sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_...
void ReadXmma(const Pieces& pieces, GemmKernel* out) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    static constexpr std::string_view kTile = "tilesize";
    static constexpr std::string_view kStage = "stage";
    if (pieces[i].starts_with(kTile)) {
      const std::vector<std::int64_t> sizes = Sizes(pieces[i].substr(kTile.size()));
      if (sizes.size() < 3) continue;
      out->tile_m = sizes[0];
      out->tile_n = sizes[1];
      out->tile_k = sizes[2];
    } else if (pieces[i].starts_with(kStage)) {
      if (const auto stages = ParseInt(pieces[i].substr(kStage.size()))) out->stages = stages;
    } else if (pieces[i] == "gemm" && i + 4 < pieces.size()) {
      const std::string_view in = pieces[i + 1];
      out->in_a = TypeName(in.substr(0, in.size() / 2));
      out->in_b = TypeName(in.substr(in.size() / 2));
      for (std::size_t cut = 2; cut < pieces[i + 2].size(); ++cut) {
        if (TypeName(pieces[i + 2].substr(0, cut)).empty() ||
            TypeName(pieces[i + 2].substr(cut)).empty()) {
          continue;
        }
        out->out = TypeName(pieces[i + 2].substr(0, cut));
        out->compute = TypeName(pieces[i + 2].substr(cut));
      }
      ReadLayout(pieces[i + 4], out);
    }
  }
}

// ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn, volta_sgemm_128x32_nt,
// cutlass_80_tensorop_f16_s16816gemm_relu_f16_128x128_32x5_tn_align8
void ReadCublas(const Pieces& pieces, GemmKernel* out) {
  ReadTileAndStages(pieces, out);
  const auto gemm = std::find_if(pieces.begin(), pieces.end(), [](std::string_view piece) {
    return piece.find("gemm") != std::string_view::npos;
  });
  if (gemm == pieces.end()) return;
  if (gemm != pieces.begin()) out->in_a = out->in_b = TypeName(*(gemm - 1));
  for (auto at = gemm + 1; at != pieces.end(); ++at) {
    if (out->out.empty()) out->out = TypeName(*at);
    const bool layout = at->size() == 2 && at->find_first_not_of("nt") == std::string_view::npos;
    if (layout && !out->transpose_a) ReadLayout(*at, out);
  }
  if (out->in_a.empty() && *gemm == "sgemm")
    out->in_a = out->in_b = out->out = out->compute = "fp32";
  if (out->in_a.empty() && *gemm == "dgemm")
    out->in_a = out->in_b = out->out = out->compute = "fp64";
  if (out->compute.empty() && gemm->starts_with('s') && !out->in_a.empty()) out->compute = "fp32";
  if (out->compute.empty() && gemm->starts_with('h') && !out->in_a.empty()) out->compute = "fp16";
}

std::string LabelOf(const GemmKernel& kernel) {
  if (kernel.tensile) return kernel.tensile->label();
  std::string text(kernel.family);
  const auto letter = [](bool transposed) { return transposed ? 'T' : 'N'; };
  if (kernel.transpose_a && kernel.transpose_b)
    text += fmt::format(" {}{}", letter(*kernel.transpose_a), letter(*kernel.transpose_b));
  if (!kernel.in_a.empty()) text += " " + kernel.in_a;
  if (kernel.tile_m) text += fmt::format(" {}x{}", *kernel.tile_m, *kernel.tile_n);
  if (kernel.tile_k) text += fmt::format("x{}", *kernel.tile_k);
  if (kernel.stages) text += fmt::format(" s{}", *kernel.stages);
  return text;
}

GemmKernel OfTensile(TensileName name) {
  GemmKernel out;
  out.family = name.hipblaslt ? "hipblaslt" : "tensile";
  out.transpose_a = name.transpose_a;
  out.transpose_b = name.transpose_b;
  out.in_a = name.in_a;
  out.in_b = name.in_b;
  out.out = name.out;
  out.compute = name.compute;
  out.tile_m = name.tile[0];
  out.tile_n = name.tile[1];
  out.tile_k = name.tile[2];
  out.tensile = std::move(name);
  return out;
}

// Products inside other work are no products of their own.
bool IsOther(std::string_view lower) {
  return lower.find("fbgemm") != std::string_view::npos ||
         lower.find("convolve") != std::string_view::npos ||
         lower.find("grouped_conv") != std::string_view::npos;
}

std::int64_t CeilDiv(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

std::optional<GemmKernel> DecodeGemmKernel(std::string_view kernel) {
  if (auto name = ParseTensileName(kernel)) {
    GemmKernel out = OfTensile(std::move(*name));
    out.label = LabelOf(out);
    return out;
  }
  const std::string lower = LowerAscii(kernel);
  const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (!IsGemmKernel(kernel) || IsOther(lower)) return std::nullopt;
  // Of CUTLASS the first template argument is the name.
  const std::size_t inner = kernel.find("<cutlass_");
  const Pieces pieces =
      Split(inner == std::string_view::npos
                ? kernel
                : kernel.substr(inner + 1, kernel.find_first_of(">,", inner) - inner - 1));
  GemmKernel out;
  if (pieces.empty()) return std::nullopt;
  if (kernel.starts_with("nvjet")) {
    out.family = "nvjet";
    ReadNvjet(pieces, &out);
  } else if (has("_xmma_gemm")) {
    out.family = "xmma";
    ReadXmma(pieces, &out);
  } else if (has("cutlass")) {
    out.family = "cutlass";
    ReadCublas(pieces, &out);
  } else if (has("triton")) {
    out.family = "triton";
  } else if (has("aiter")) {
    out.family = "aiter";
  } else if (has("ck::") || has("_zn2ck") || has("xdl") || has("ck_tile")) {
    out.family = "ck";
  } else if (has("cublas") || std::any_of(pieces.begin(), pieces.end(), [](std::string_view piece) {
               return piece.ends_with("gemm") && piece.size() > 4 && piece.size() < 16;
             })) {
    out.family = "cublas";
    ReadCublas(pieces, &out);
  } else {
    out.family = "other";
  }
  out.label = LabelOf(out);
  return out;
}

bool IsGemmKernel(std::string_view kernel) {
  return ParseTensileName(kernel).has_value() || ContainsNoCase(kernel, "gemm") ||
         ContainsNoCase(kernel, "nvjet") || ContainsNoCase(kernel, "cublas");
}

GemmLaunch LaunchOf(const GemmKernel& kernel, const std::optional<GemmSizes>& sizes,
                    std::int64_t cus) {
  GemmLaunch launch;
  if (kernel.tensile) {
    launch.threads = kernel.tensile->threads();
    const std::int64_t wave = kernel.tensile->wave_size();
    if (launch.threads && wave > 0) launch.waves = CeilDiv(*launch.threads, wave);
  }
  if (!sizes || !kernel.tile_m || !kernel.tile_n) return launch;
  const std::int64_t across = CeilDiv(sizes->n, *kernel.tile_m);
  const std::int64_t down = CeilDiv(sizes->m, *kernel.tile_n);
  launch.tile_efficiency =
      static_cast<double>(sizes->m) * static_cast<double>(sizes->n) /
      (static_cast<double>(across * *kernel.tile_m) * static_cast<double>(down * *kernel.tile_n));
  if (kernel.tile_k) {
    launch.k_efficiency = static_cast<double>(sizes->k) /
                          static_cast<double>(CeilDiv(sizes->k, *kernel.tile_k) * *kernel.tile_k);
  }
  if (kernel.tensile && kernel.tensile->stream_k()) return launch;
  const auto split = kernel.tensile ? kernel.tensile->split() : std::nullopt;
  launch.split_assumed = !split;
  const double groups = static_cast<double>(across) * static_cast<double>(down) *
                        static_cast<double>(sizes->batch) * static_cast<double>(split.value_or(1));
  if (groups > 9e15) return launch;
  launch.work_groups = across * down * sizes->batch * split.value_or(1);
  if (cus <= 0) return launch;
  launch.rounds = static_cast<double>(*launch.work_groups) / static_cast<double>(cus);
  launch.tail = *launch.work_groups % cus;
  launch.round_efficiency = *launch.rounds / static_cast<double>(CeilDiv(*launch.work_groups, cus));
  return launch;
}

}  // namespace jarvis::perf
