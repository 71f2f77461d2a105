#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/json_parts.h"
#include "perf/gemm_decode.h"
#include "perf/platform.h"
#include "tools/shared/arguments.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kDetailBytesMax = 3000;  // of kernels with all their parameters

// Compute units (of NVIDIA: multiprocessors) by the name of the platform table; data sheets, from
// memory. 0: not known here.
std::int64_t ComputeUnits(std::string_view platform) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {{"MI100", 120},
                                                                  {"MI210", 104},
                                                                  {"MI250", 208},
                                                                  {"MI250-GCD", 104},
                                                                  {"MI250X", 220},
                                                                  {"MI250X-GCD", 110},
                                                                  {"MI300A", 228},
                                                                  {"MI300X", 304},
                                                                  {"MI325X", 304},
                                                                  {"MI350X", 256},
                                                                  {"MI355X", 256},
                                                                  {"A10", 72},
                                                                  {"A40", 84},
                                                                  {"A100-SXM4-40GB", 108},
                                                                  {"A100-SXM4-80GB", 108},
                                                                  {"A100-PCIE-40GB", 108},
                                                                  {"A100-PCIE-80GB", 108},
                                                                  {"H100-SXM", 132},
                                                                  {"H100-PCIE", 114},
                                                                  {"H100-NVL", 132},
                                                                  {"H200-SXM", 132},
                                                                  {"H200-NVL", 132}};
  for (const auto& [name, units] : kUnits) {
    if (name == platform) return units;
  }
  return 0;
}

Json Maybe(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json Maybe(const std::optional<bool>& value) {
  return value ? Json(*value ? "T" : "N") : Json(nullptr);
}

// What stands in a Tensile name besides its tile.
Json TensileJson(const perf::TensileName& name) {
  Json json = {{"types", name.types},
               {"flags", name.flags},
               {"custom", name.custom},
               {"split_k", Maybe(name.split())},
               {"stream_k", Maybe(name.Number("SK"))},
               {"wave_size", name.wave_size()}};
  Json instruction = nullptr;
  if (name.mi_m) {
    instruction = {Maybe(name.mi_m), Maybe(name.mi_n), Maybe(name.mi_k), Maybe(name.mi_blocks)};
  }
  json["matrix_instruction"] = std::move(instruction);
  // The parameters that people ask about, by their meaning.
  const std::pair<const char*, const char*> named[] = {{"isa", "ISA"},
                                                       {"work_group", "WG"},
                                                       {"wave_tile", "MIWT"},
                                                       {"prefetch_global", "PGR"},
                                                       {"prefetch_local", "PLR"},
                                                       {"split_k_reduction", "GSUA"}};
  for (const auto& [meaning, key] : named) {
    const perf::TensileParameter* parameter = name.Find(key);
    json[meaning] = parameter == nullptr ? Json(nullptr) : Json(parameter->values);
  }
  Json parameters = Json::object();
  for (const perf::TensileParameter& one : name.parameters) {
    std::string text;
    for (const std::string& value : one.values)
      text += (text.empty() ? "" : "_") + value;
    if (!parameters.contains(one.key)) parameters[one.key] = text;
  }
  json["parameters"] = std::move(parameters);
  return json;
}

Json KernelJson(const perf::GemmKernel& kernel, const std::string& name) {
  // Beyond what the table can hold, names are cut.
  Json json = {{"name", std::string(Utf8Prefix(name, 600))},
               {"transpose", {Maybe(kernel.transpose_a), Maybe(kernel.transpose_b)}},
               {"types",
                {{"a", formats::TextOrNull(kernel.in_a)},
                 {"b", formats::TextOrNull(kernel.in_b)},
                 {"out", formats::TextOrNull(kernel.out)},
                 {"compute", formats::TextOrNull(kernel.compute)}}},
               {"stages", Maybe(kernel.stages)}};
  if (kernel.cluster_m) json["cluster"] = {Maybe(kernel.cluster_m), Maybe(kernel.cluster_n)};
  if (kernel.tensile) json["tensile"] = TensileJson(*kernel.tensile);
  return json;
}

Result<std::optional<perf::GemmSizes>> SizesOf(const Json& arguments) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const int given =
      int{arguments.contains("m")} + int{arguments.contains("n")} + int{arguments.contains("k")};
  if (given == 0) return std::optional<perf::GemmSizes>();
  perf::GemmSizes sizes;
  for (const auto& [name, size] : {std::pair("m", &sizes.m), std::pair("n", &sizes.n),
                                   std::pair("k", &sizes.k), std::pair("batch", &sizes.batch)}) {
    if (arguments.contains(name)) *size = arguments.at(name).get<std::int64_t>();
    if (*size < 1 || *size > kMost) {
      return Fail(
          ErrorCode::kBadValue,
          fmt::format("{}: expected an integer from 1 to {}; m, n and k go together", name, kMost));
    }
  }
  return std::optional(sizes);
}

Result<std::int64_t> UnitsOf(const Json& arguments) {
  constexpr std::int64_t kMost = 100'000;
  if (arguments.contains("cu_count"))
    return std::min(arguments.at("cu_count").get<std::int64_t>(), kMost);
  const auto wanted = TextArgument(arguments, "platform");
  if (!wanted) return 0;
  const perf::Platform* platform = perf::FindPlatform(*wanted);
  const std::int64_t units = platform == nullptr ? 0 : ComputeUnits(platform->name);
  if (units > 0) return units;
  return Fail(ErrorCode::kBadValue,
              fmt::format("platform: the compute units of \"{}\" are not known",
                          OneLine(Utf8Prefix(*wanted, 40))),
              "give cu_count");
}

void AddRow(const std::string& name, const std::optional<perf::GemmKernel>& kernel,
            const perf::GemmLaunch& launch, Answer* answer) {
  const auto cell = [](const std::optional<std::int64_t>& value) {
    return value ? Cell(*value) : Cell();
  };
  if (!kernel) {
    answer->rows.push_back({OneLine(Utf8Prefix(name, 80))});
    answer->rows.back().resize(answer->columns.size());
    return;
  }
  answer->rows.push_back(
      {kernel->label, std::string(kernel->family), cell(kernel->tile_m), cell(kernel->tile_n),
       cell(kernel->tile_k), cell(launch.threads), cell(launch.waves), cell(launch.work_groups),
       CellOf(launch.tile_efficiency), CellOf(launch.k_efficiency), CellOf(launch.rounds),
       cell(launch.tail), CellOf(launch.round_efficiency)});
}

}  // namespace

Result<Answer> GemmKernelDecode(session::Workspace&, const Json& arguments, Job&) {
  JV_ASSIGN(const std::optional<perf::GemmSizes> sizes, SizesOf(arguments));
  JV_ASSIGN(const std::int64_t cus, UnitsOf(arguments));
  Answer answer;
  answer.columns = {"kernel",  "family", "tile_m",          "tile_n",          "tile_k",
                    "threads", "waves",  "work_groups",     "tile_efficiency", "k_efficiency",
                    "rounds",  "tail",   "round_efficiency"};
  Json kernels = Json::array();
  std::size_t decoded = 0;
  std::size_t bytes = 0;
  bool assumed = false;
  bool streamed = false;
  bool untold = false;
  for (const Json& one : arguments.at("names")) {
    const std::string name = OneLine(ValidUtf8(one.get<std::string>()));
    const auto kernel = perf::DecodeGemmKernel(name);
    const perf::GemmLaunch launch =
        kernel ? perf::LaunchOf(*kernel, sizes, cus) : perf::GemmLaunch();
    AddRow(name, kernel, launch, &answer);
    if (!kernel) continue;
    ++decoded;
    untold = untold || (launch.work_groups && !kernel->tensile);
    assumed = assumed || (launch.work_groups && launch.split_assumed);
    streamed = streamed || (kernel->tensile && kernel->tensile->stream_k());
    Json detail = KernelJson(*kernel, name);
    bytes += detail.dump(-1, ' ', Json::BadUtf8::kReplace).size();
    if (kernels.empty() || bytes <= kDetailBytesMax) kernels.push_back(std::move(detail));
  }
  answer.total = answer.rows.size();
  answer.summary = fmt::format("{} of {} names are of matrix products.", decoded, answer.total);
  const std::size_t kernels_shown = kernels.size();
  answer.facts = {{"kernels", std::move(kernels)}};
  if (kernels_shown < decoded) {
    answer.notes.push_back(fmt::format("{} of {} names in full: ask about fewer for the others",
                                       kernels_shown, decoded));
  }
  answer.notes.emplace_back(
      "m, n, k are the operation's, row-major; tile_m lies along n and tile_n along m, as BLAS "
      "sees "
      "the transposed product");
  if (assumed) {
    answer.notes.emplace_back(
        "work_groups takes the split of K as 1 where the name does not give it (GSU at run time)");
  }
  if (untold) {
    answer.notes.emplace_back(
        "outside Tensile, work_groups are the tiles to be made: kernels that stay resident or "
        "swizzle "
        "their tiles launch another number");
  }
  if (streamed) {
    answer.notes.emplace_back(
        "stream-K kernels launch about one work-group a compute unit, whatever the sizes");
  }
  if (cus > 0) {
    answer.notes.push_back(
        fmt::format("rounds: work_groups over {} compute units, one on each at a time", cus));
  }
  return answer;
}

}  // namespace jarvis::tools
