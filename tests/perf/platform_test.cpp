#include "perf/platform.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

namespace jarvis::perf {
namespace {

std::string Matched(std::string_view device) {
  const Platform* platform = MatchDevice(device);
  return platform == nullptr ? "" : platform->name;
}

std::string Found(std::string_view name) {
  const Platform* platform = FindPlatform(name);
  return platform == nullptr ? "" : platform->name;
}

TEST_CASE("devices are matched by their whole name") {
  CHECK(Matched("AMD Instinct MI300X") == "MI300X");
  CHECK(Matched("AMD Instinct MI300X VF") == "MI300X");
  CHECK(Matched("AMD Instinct MI325X") == "MI325X");
  CHECK(Matched("AMD Instinct MI210") == "MI210");
  CHECK(Matched("NVIDIA A100-SXM4-80GB") == "A100-SXM4-80GB");
  CHECK(Matched("NVIDIA A100-SXM4-40GB") == "A100-SXM4-40GB");
  CHECK(Matched("NVIDIA A100 80GB PCIe") == "A100-PCIE-80GB");
  CHECK(Matched("NVIDIA A100-PCIE-40GB") == "A100-PCIE-40GB");
  CHECK(Matched("Tesla V100-SXM2-16GB") == "V100-SXM2-16GB");
  CHECK(Matched("NVIDIA H100 80GB HBM3") == "H100-SXM");
  CHECK(Matched("NVIDIA H100 PCIe") == "H100-PCIE");
  CHECK(Matched("NVIDIA H100 NVL") == "H100-NVL");
  CHECK(Matched("NVIDIA H200") == "H200-SXM");
  CHECK(Matched("NVIDIA H200 NVL") == "H200-NVL");
  CHECK(Matched("NVIDIA GH200 480GB") == "GH200-96GB");
  CHECK(Matched("NVIDIA GH200 144G HBM3e") == "GH200-144GB");
  CHECK(Matched("NVIDIA B200") == "B200");
  CHECK(Matched("NVIDIA GB200") == "GB200");
  CHECK(Matched("NVIDIA GB300") == "GB300");
  CHECK(Matched("NVIDIA A10") == "A10");
  CHECK(Matched("NVIDIA L4") == "L4");
  CHECK(Matched("NVIDIA L40S") == "L40S");
  CHECK(Matched("NVIDIA GeForce RTX 4090") == "RTX-4090");
  CHECK(Matched("NVIDIA RTX 6000 Ada Generation") == "RTX-6000-Ada");
  CHECK(Matched("Tesla V100-DGXS-32GB") == "V100-DGXS-32GB");
  CHECK(Matched("NVIDIA GeForce RTX 2080 Ti") == "RTX-2080-Ti");
  CHECK(Matched("Quadro RTX 6000") == "Quadro-RTX-6000");
  CHECK(Matched("NVIDIA A10G") == "A10G");
  CHECK(Matched("NVIDIA RTX A6000") == "RTX-A6000");
  CHECK(Matched("NVIDIA GeForce RTX 3090 Ti") == "RTX-3090-Ti");
  CHECK(Matched("NVIDIA GeForce RTX 4090 D") == "RTX-4090-D");
  CHECK(Matched("NVIDIA H20") == "H20");
  CHECK(Matched("AMD Radeon RX 7900 XTX") == "RX-7900-XTX");
}

TEST_CASE("one profiler device of a card with two dies is one die") {
  CHECK(Matched("AMD Instinct MI250X") == "MI250X-GCD");
  CHECK(Matched("AMD Instinct MI250") == "MI250-GCD");
  CHECK(Found("MI250X") == "MI250X");
  CHECK(MatchDevice("AMD Instinct MI250X")->peak_tflops.at("matrix_bf16").tflops == 191.5);
}

TEST_CASE("no variant inherits the figures of another") {
  for (const char* refused : {"NVIDIA GeForce RTX 4090 Laptop GPU", "AMD Instinct MI250X / MI250",
                              "NVIDIA A100-PG509-200", "NVIDIA A100", "NVIDIA H100"}) {
    CAPTURE(refused);
    CHECK(MatchDevice(refused) == nullptr);
    CHECK_FALSE(RefusalOf(refused).empty());
  }
  for (const char* unknown :
       {"", "NVIDIA", "AMD Radeon Graphics", "NVIDIA A10G-24Q", "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        "NVIDIA A10-24Q", "NVIDIA H20-3e", "NVIDIA A100-SXM-64GB",
        "NVIDIA GeForce RTX 3080 Laptop GPU"}) {
    CAPTURE(unknown);
    CHECK(MatchDevice(unknown) == nullptr);
    CHECK(RefusalOf(unknown).empty());
  }
}

TEST_CASE("people's names") {
  CHECK(Found("mi300x") == "MI300X");
  CHECK(Found("MI 300-X") == "MI300X");
  CHECK(Found("H100") == "H100-SXM");
  CHECK(Found("h100_pcie") == "H100-PCIE");
  CHECK(Found("a100") == "A100-SXM4-80GB");
  CHECK(Found("rtx4090") == "RTX-4090");
  CHECK(Found("H2OO").empty());
  CHECK(Found("").empty());
  CHECK(Found("--").empty());
}

TEST_CASE("names and device names mean one platform each") {
  CHECK(Platforms().size() >= 35);
  std::set<std::string> names;
  for (const Platform& platform : Platforms()) {
    CAPTURE(platform.name);
    CHECK(names.insert(platform.name).second);
    CHECK(FindPlatform(platform.name) == &platform);
    for (const std::string& alias : platform.aliases)
      CHECK(FindPlatform(alias) == &platform);
    for (const std::string& device : platform.device_names) {
      CHECK(MatchDevice(device) == &platform);
      CHECK(RefusalOf(device).empty());
    }
    CHECK(platform.memory_gb.has_value());
    CHECK(platform.mem_bw_gbps.has_value());
    // Whatever kernel: an elementwise op in bf16 has a roof everywhere.
    for (const char* spec : {"vector_fp32", "vector_fp16", "vector_bf16", "matrix_fp16"})
      CHECK(CeilingFor(platform, spec).has_value());
    for (const auto& [spec, rate] : platform.peak_tflops)
      CHECK(IsPeak(rate.source));
    for (const auto& [spec, rate] : platform.maf_tflops)
      CHECK_FALSE(IsPeak(rate.source));
  }
}

TEST_CASE("every rate says what it is") {
  const Platform& mi300x = *FindPlatform("MI300X");
  CHECK(CeilingFor(mi300x, "matrix_bf16")->tflops == 708);
  CHECK(CeilingFor(mi300x, "matrix_bf16")->source == Source::kAchievable);
  CHECK(PeakFor(mi300x, "matrix_bf16")->tflops == 1307.4);
  CHECK(CeilingFor(mi300x, "matrix_int8")->source == Source::kNotMeasured);
  CHECK(CeilingFor(mi300x, "matrix_tf32")->source == Source::kPeak);
  CHECK(PeakFor(mi300x, "vector_bf16")->source == Source::kDerived);
  CHECK_FALSE(CeilingFor(mi300x, "matrix_fp4").has_value());
  CHECK_FALSE(CeilingFor(mi300x, "").has_value());
  const Platform& h100 = *FindPlatform("H100");
  CHECK(CeilingFor(h100, "matrix_bf16")->tflops == 990);
  CHECK(CeilingFor(h100, "matrix_bf16")->source == Source::kNotMeasured);
  CHECK(PeakFor(h100, "matrix_fp32")->source == Source::kDerived);
  CHECK(SourceText(Source::kNotMeasured) == "achievable, not measured");
}

TEST_CASE("compatible mode has the reference's rates") {
  const auto rates = [](const char* name) {
    std::map<std::string, double> plain;
    for (const auto& [spec, rate] : TraceLensCeilings(*FindPlatform(name)))
      plain[spec] = rate.tflops;
    return plain;
  };
  CHECK(rates("MI300X") == std::map<std::string, double>{{"matrix_fp16", 654},
                                                         {"matrix_bf16", 708},
                                                         {"matrix_fp32", 163},
                                                         {"matrix_fp64", 81},
                                                         {"matrix_fp8", 1273},
                                                         {"matrix_int8", 2600},
                                                         {"vector_fp16", 163},
                                                         {"vector_bf16", 163},
                                                         {"vector_fp32", 81},
                                                         {"vector_fp64", 40}});
  CHECK(rates("MI325X") == std::map<std::string, double>{{"matrix_fp16", 794},
                                                         {"matrix_bf16", 843},
                                                         {"matrix_fp32", 194},
                                                         {"matrix_fp64", 97},
                                                         {"matrix_fp8", 1519},
                                                         {"matrix_int8", 3094},
                                                         {"vector_fp16", 194},
                                                         {"vector_bf16", 194},
                                                         {"vector_fp32", 97},
                                                         {"vector_fp64", 48}});
  CHECK(CeilingFor(*FindPlatform("MI325X"), "matrix_bf16")->tflops == 708);
  CHECK(rates("B200").empty());
}

TEST_CASE("a platform file of the user") {
  const auto read = ReadPlatform(
      R"({"name": "MI999", "mem_bw_gbps": 1e4, "memory_gb": null, "freq_mhz": 2100,
          "max_achievable_tflops": {"matrix_bf16": 900, "my_unit": 1.5}})",
      "mine.json");
  REQUIRE(read.has_value());
  CHECK(read->name == "MI999");
  CHECK(read->mem_bw_gbps == 10000.0);
  CHECK_FALSE(read->memory_gb.has_value());
  CHECK(CeilingFor(*read, "matrix_bf16")->source == Source::kAchievable);
  CHECK(CeilingFor(*read, "my_unit")->tflops == 1.5);
  CHECK_FALSE(CeilingFor(*read, "matrix_fp16").has_value());
  CHECK(&TraceLensCeilings(*read) == &read->maf_tflops);
  CHECK(ReadPlatform("{}", "some/where/box.json")->name == "box.json");
}

TEST_CASE("a bad platform file is refused with its place") {
  const auto refused = [](std::string_view text) {
    const auto read = ReadPlatform(text, "mine.json");
    CHECK_FALSE(read.has_value());
    return read ? std::string() : read.error().message;
  };
  CHECK(refused("[1]") == "mine.json: expected one JSON object that describes a platform");
  CHECK(refused("").starts_with("mine.json: is not JSON: "));
  CHECK(refused("{\"name\":").starts_with("mine.json: is not JSON: "));
  CHECK(refused(R"({"name": 7})") == "mine.json: name: expected a text");
  CHECK(refused(R"({"mem_bw_gbps": "fast"})") ==
        "mine.json: mem_bw_gbps: expected a number above 0");
  CHECK(refused(R"({"mem_bw_gbps": 0})") == "mine.json: mem_bw_gbps: expected a number above 0");
  CHECK(refused(R"({"memory_gb": -1})") == "mine.json: memory_gb: expected a number above 0");
  CHECK(refused(R"({"max_achievable_tflops": {"matrix_bf16": "x"}})") ==
        "mine.json: max_achievable_tflops.matrix_bf16: expected TFLOP/s, a number above 0");
  CHECK(refused(R"({"max_achievable_tflops": [708]})")
            .starts_with("mine.json: max_achievable_tflops: expected an object"));
}

TEST_CASE("rates of two devices are of the same kind") {
  const Platform* mi300x = FindPlatform("MI300X");
  const Platform* h100 = FindPlatform("H100");
  REQUIRE(mi300x != nullptr);
  REQUIRE(h100 != nullptr);
  // 708 was measured, the H100's 990 is its peak: peaks for both.
  const auto [a, b] = LikeWithLike(*mi300x, *h100);
  CHECK(CeilingFor(a, "matrix_bf16") == PeakFor(*mi300x, "matrix_bf16"));
  CHECK(CeilingFor(b, "matrix_bf16") == PeakFor(*h100, "matrix_bf16"));
  // Measured on both: as they are.
  const auto [same, other] = LikeWithLike(*mi300x, *mi300x);
  CHECK(CeilingFor(same, "matrix_bf16") == CeilingFor(*mi300x, "matrix_bf16"));
  CHECK(other.maf_tflops == same.maf_tflops);
}

}  // namespace
}  // namespace jarvis::perf
