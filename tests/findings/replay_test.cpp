// Replays of GPU graphs: with a capture beside the trace, and without one.
#include <filesystem>
#include <fstream>
#include <optional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "session/workspace.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

struct ReplayedKernel {
  std::string name;
  double us;
  std::string op = {}, args = {};  // of the capture
};
using KernelLayer = std::vector<ReplayedKernel>;

constexpr int kLayers = 6;

TraceText ReplayOf(const KernelLayer& layer) {
  TraceText text;
  text.Op("aten::arange", 0, 5).Runtime("hipGraphLaunch", 10, 50, 7);
  double at = 40;
  for (int i = 0; i < kLayers; ++i) {
    for (const ReplayedKernel& kernel : layer) {
      text.Kernel(kernel.name, at, kernel.us, 7);
      at += kernel.us;
    }
  }
  return text;
}

TraceText CaptureOf(const KernelLayer& layer) {
  TraceText text;
  text.Runtime("hipStreamBeginCapture", 0, 2, 1);
  double at = 10;
  std::int64_t correlation = 100;
  for (int i = 0; i < kLayers; ++i) {
    for (const ReplayedKernel& kernel : layer) {
      text.Op(kernel.op, at, 8, kernel.args)
          .Runtime("hipLaunchKernel", at + 2, 3, correlation++,
                   fmt::format("\"kernel\":\"{}\"", kernel.name));
      at += 10;
    }
  }
  return text.Runtime("hipStreamEndCapture", at, 2, 2);
}

// A folder with a trace and, beside it, a capture.
class Beside {
 public:
  Beside(const TraceText& trace, const TraceText& capture) {
    static int number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("replay_test.{}.{}", getpid(), ++number);
    std::filesystem::create_directories(folder_ / "capture");
    std::ofstream(folder_ / "trace.json") << trace.Json();
    std::ofstream(folder_ / "capture" / "bs_32.json") << capture.Json();
    std::ofstream(folder_ / "capture" / "execution_details.json") << "[]";
  }
  ~Beside() { std::filesystem::remove_all(folder_); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  Analyzed Open() { return Open(std::nullopt); }
  // With a capture that is named: below the folder.
  Analyzed Open(const std::optional<std::string>& capture) {
    session::Workspace workspace;
    Job job;
    session::OpenOptions options;
    if (capture) options.capture = (folder_ / *capture).string();
    const std::string path = (folder_ / "trace.json").string();
    REQUIRE(workspace.Open(path, job, options).has_value());
    // What was named counts for those who ask later.
    auto trace = workspace.Open(path, job);
    REQUIRE(trace.has_value());
    auto analysis = findings::Analyze(**trace, perf::FindPlatform("MI300X"), {}, job);
    REQUIRE(analysis.has_value());
    return {*trace, std::move(*analysis)};
  }

  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

 private:
  std::filesystem::path folder_;
};

const Finding* ByRule(const Analyzed& analyzed, Pattern rule) {
  for (const Finding& finding : analyzed.analysis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

const std::string kProduct = testing::Shapes("[[32,4096],[4096,24576]]", "c10::BFloat16");

KernelLayer DenseLayer() {
  return {{"Cijk_Alik_Bljk_up", 80, "aten::mm", kProduct},
          {"act_and_mul_kernel", 12, "aten::silu",
           testing::Shapes("[[32,24576]]", "c10::BFloat16", 1)}};
}

TEST_CASE("kernels of a replay stand below the ops of the capture beside the trace") {
  const Analyzed a = Beside(ReplayOf(DenseLayer()), CaptureOf(DenseLayer())).Open();
  const Operation& product = a.First("gemm");
  CHECK(product.name == "aten::mm");
  CHECK(product.count == kLayers);
  CHECK(product.mean_us == doctest::Approx(80));
  REQUIRE(product.efficiency.tb_per_s.has_value());
  CHECK(*product.efficiency.tb_per_s == doctest::Approx(2.54).epsilon(0.02));
  CHECK(product.host_us == 0);
  CHECK(ByRule(a, Pattern::kWeightBound) != nullptr);
  CHECK(a.trace->capture().aligned == 1);
  CHECK(a.trace->capture().aligned_kernels == 2 * kLayers);
  // The trace itself stays as it was recorded.
  CHECK(a.trace->events().size() < a.trace->WithCapture().events().size());
  CHECK(a.trace->WithCapture().Input().events.size() > 0);
  REQUIRE(a.Quality("gpu_graph_replay") != nullptr);
  CHECK(a.Quality("gpu_graph_replay")->text.find("all 12 kernels") != std::string::npos);
}

TEST_CASE("a capture of another graph is not used") {
  KernelLayer other = DenseLayer();
  other.push_back({"one_more", 5, "aten::add", {}});
  const Analyzed a = Beside(ReplayOf(DenseLayer()), CaptureOf(other)).Open();
  CHECK(a.trace->capture().aligned == 0);
  CHECK(&a.trace->WithCapture() == a.trace.get());
}

std::string WhyNot(const Analyzed& a) {
  CHECK(a.trace->capture().aligned == 0);
  CHECK(&a.trace->WithCapture() == a.trace.get());
  const Quality* quality = a.Quality("capture_not_used");
  REQUIRE(quality != nullptr);
  REQUIRE(quality->ms.has_value());
  CHECK(*quality->ms == doctest::Approx(kLayers * 0.092));
  return quality->text;
}

TEST_CASE("a capture that is named is used instead of that beside the trace") {
  KernelLayer other = DenseLayer();
  other.push_back({"one_more", 5, "aten::add", {}});
  Beside beside(ReplayOf(DenseLayer()), CaptureOf(other));
  beside.Write("mine/c.json", CaptureOf(DenseLayer()).Json());
  for (const char* named : {"mine", "mine/c.json"}) {
    const Analyzed a = beside.Open(named);
    CHECK(a.trace->capture().aligned == 1);
    CHECK(a.First("gemm").name == "aten::mm");
    CHECK(a.Quality("capture_not_used") == nullptr);
  }
}

TEST_CASE("what is no capture of the trace is said, and the analysis goes on without it") {
  Beside beside(ReplayOf(DenseLayer()), CaptureOf(DenseLayer()));
  const auto says = [&](const char* named, const char* what) {
    const std::string text = WhyNot(beside.Open(named));
    INFO(text);
    CHECK(text.find(what) != std::string::npos);
  };
  says("trace.json", "is the trace itself");
  beside.Write("empty/notes.txt", "nothing");
  says("empty", "holds no trace");
  KernelLayer other = DenseLayer();
  other.push_back({"one_more", 5, "aten::add", {}});
  beside.Write("other/c.json", CaptureOf(other).Json());
  says("other", "launches 18 kernels and copies, and the replay runs 12");
  other = DenseLayer();
  other[0].name = "another_kernel";
  beside.Write("names/c.json", CaptureOf(other).Json());
  says("names", "launches other kernels");
  beside.Write("eager/c.json", ReplayOf(DenseLayer()).Json());
  says("eager", "has no captured graph");
  const std::string whole = CaptureOf(DenseLayer()).Json();
  beside.Write("cut/c.json", whole.substr(0, whole.size() / 2));
  says("cut", "is cut off");
  beside.Write("text/c.json", "no trace");
  says("text", "is no trace");
}

std::string OfRank(const TraceText& text, int rank) {
  return fmt::format("{{\"distributedInfo\":{{\"rank\":{},\"world_size\":2}},{}", rank,
                     text.Json().substr(1));
}

TEST_CASE("a capture of another rank is not used, one of the same is") {
  Beside beside(ReplayOf(DenseLayer()), CaptureOf(DenseLayer()));
  beside.Write("trace.json", OfRank(ReplayOf(DenseLayer()), 0));
  beside.Write("ranks/r1.json", OfRank(CaptureOf(DenseLayer()), 1));
  CHECK(WhyNot(beside.Open("ranks")).find("is of rank 1, and the trace of rank 0") !=
        std::string::npos);
  beside.Write("ranks/r0.json", OfRank(CaptureOf(DenseLayer()), 0));
  CHECK(beside.Open("ranks").trace->capture().aligned == 1);
}

TEST_CASE("of captures for several numbers of rows that with room for the step counts") {
  const std::string step =
      "execute_{0}_context_0(sq0sk0sqsq0sqsk0)_generation_{0}(sq{0}sk99sqsq{0}sqsk99)";
  Beside beside(ReplayOf(DenseLayer()), CaptureOf(DenseLayer()));
  TraceText served = ReplayOf(DenseLayer());
  served.Annotation(fmt::format(fmt::runtime(step), 24), 9, 2000);
  beside.Write("trace.json", served.Json());
  for (const int rows : {16, 32, 64})
    beside.Write(fmt::format("sizes/bs_{}.json", rows), CaptureOf(DenseLayer()).Json());
  const Analyzed a = beside.Open("sizes");
  REQUIRE(a.trace->capture().files.size() == 1);
  CHECK(a.trace->capture().files[0].ends_with("bs_32.json"));
  beside.Write("small/bs_16.json", CaptureOf(DenseLayer()).Json());
  CHECK(WhyNot(beside.Open("small")).find("made for 16 rows") != std::string::npos);
}

TEST_CASE("attention whose layers differ has no rate: some see a window alone") {
  const std::string step =
      "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32000sqsq32sqsk32000)";
  const auto rate = [&](double every_second_us) {
    TraceText replay, capture;
    replay.Annotation(step, 0, 3000).Runtime("hipGraphLaunch", 10, 50, 7);
    capture.Runtime("hipStreamBeginCapture", 0, 2, 1);
    double at = 40;
    for (int i = 0; i < 8; ++i) {
      const double us = i % 2 == 0 ? 60 : every_second_us;
      replay.Kernel("unified_attention_kernel", at, us, 7);
      at += us;
      capture
          .Op("vllm::unified_attention_with_output", 10 + 10 * i, 8,
              testing::Shapes("[[32,64,64],[32,8,64],[32,8,64],[32,64,64]]", "c10::BFloat16", 4))
          .Runtime("hipLaunchKernel", 12 + 10 * i, 3, 100 + i,
                   "\"kernel\":\"unified_attention_kernel\"");
    }
    capture.Runtime("hipStreamEndCapture", 200, 2, 2);
    const Analyzed a = Beside(replay, capture).Open();
    return a.First("inferenceattention").efficiency.tb_per_s;
  };
  CHECK(rate(60).has_value());
  CHECK_FALSE(rate(15).has_value());
}

TEST_CASE("the same holds for attention that is launched call by call, step by step") {
  const auto rate = [](double every_second_us, double later_steps) {
    TraceText text;
    double at = 0;
    std::int64_t link = 1;
    for (int step = 0; step < 3; ++step) {
      text.Annotation(
          fmt::format(
              "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk{0}sqsq32sqsk{0})",
              32000 + 32 * step),
          at, 1990);
      for (int layer = 0; layer < 8; ++layer) {
        const double us = (layer % 2 == 0 ? 60 : every_second_us) * (step == 0 ? 1 : later_steps);
        text.Op("vllm::unified_attention_with_output", at + 10 + 200 * layer, 8,
                testing::Shapes("[[32,64,64],[32,8,64],[32,8,64],[32,64,64]]", "c10::BFloat16", 4))
            .Runtime("hipLaunchKernel", at + 12 + 200 * layer, 3, link)
            .Kernel("unified_attention_kernel", at + 20 + 200 * layer, us, link);
        ++link;
      }
      at += 2000;
    }
    return Analyze(text).First("inferenceattention").efficiency.tb_per_s;
  };
  CHECK(rate(60, 1).has_value());
  CHECK_FALSE(rate(15, 1).has_value());
  // That steps differ says nothing of layers.
  CHECK(rate(60, 3).has_value());
}

TEST_CASE("without a capture kernels are operations by their names and parts") {
  const Analyzed a = Analyze(ReplayOf(DenseLayer()));
  const Operation& product = a.First("gemm");
  CHECK(product.name == "Cijk_Alik_Bljk_up [mlp up]");
  CHECK(product.count == kLayers);
  CHECK_FALSE(product.efficiency.percent.has_value());
  CHECK_FALSE(product.savings_ms.has_value());
  CHECK(a.Has(product, Pattern::kGraphLaunch));
  CHECK(a.analysis.FindCategory("other") == nullptr);
}

TEST_CASE("waits before a replay and inside it are told apart") {
  TraceText text;
  text.OpWithKernel("aten::arange", 0, 5, "arange_kernel", 10, 10, 1);
  text.Runtime("hipGraphLaunch", 30, 50, 7);
  text.Kernel("a", 60, 20, 7).Kernel("b", 80, 20, 7).Kernel("c", 130, 20, 7);
  const Analyzed a = Analyze(text);
  REQUIRE(a.analysis.replay.has_value());
  CHECK(a.analysis.replay->idle_before_ms == doctest::Approx(0.04));
  CHECK(a.analysis.replay->idle_ms == doctest::Approx(0.03));
  CHECK(a.analysis.replay->gap_after == 2);
  CHECK(a.analysis.replay->layers == 0);
}

TEST_CASE("the layers of a replay are found and told kernel by kernel") {
  const Analyzed a = Analyze(ReplayOf(DenseLayer()));
  REQUIRE(a.analysis.replay.has_value());
  CHECK(a.analysis.replay->kernels == 2 * kLayers);
  CHECK(a.analysis.replay->layers == kLayers);
  REQUIRE(a.analysis.replay->layer.size() == 2);
  CHECK(a.analysis.replay->layer[0].part == "mlp up");
  CHECK(a.analysis.replay->layer[0].median_us == doctest::Approx(80));
  TraceText eager;
  eager.OpWithKernel("aten::mm", 0, 10, "gemm", 20, 50, 1);
  CHECK_FALSE(Analyze(eager).analysis.replay.has_value());
}

KernelLayer Experts(double up_us, double down_us) {
  return {{"_matmul_ogs_bf16_swiglu", up_us}, {"_matmul_ogs_bf16", down_us}};
}

TEST_CASE("a down projection that takes more than half of gate and up is slow") {
  const Analyzed slow = Analyze(ReplayOf(Experts(130, 150)));
  const Finding* finding = ByRule(slow, Pattern::kSlowDownProjection);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->change_a.has_value());
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(kLayers * 0.085).epsilon(0.01));
  REQUIRE(finding->change_a->parts.size() == 1);
  CHECK(finding->change_a->parts[0].gpu.size() == kLayers);
  CHECK(ByRule(Analyze(ReplayOf(Experts(130, 75))), Pattern::kSlowDownProjection) == nullptr);
}

// 128 pairs for 32 experts of 2048 x 768: `up` tiles across for gate and up, 16 for the second.
// `units`: compute units of the device; 0: not recorded.
Analyzed ServedExperts(int up, int units = 0) {
  TraceText capture, served;
  served.Runtime("hipGraphLaunch", 10, 50, 7);
  capture.Runtime("hipStreamBeginCapture", 0, 2, 1);
  double at = 10;
  std::int64_t correlation = 100;
  for (int i = 0; i < kLayers; ++i) {
    capture.Op("vllm::moe_forward", at, 40,
               testing::Shapes("[[32,2048],[32,32]]", "c10::BFloat16", 2));
    for (const bool gated : {true, false}) {
      const std::string kernel =
          fmt::format("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1{}", gated ? "_swiglu" : "");
      capture.Runtime(
          "hipLaunchKernel", at += 10, 3, correlation++,
          fmt::format("\"kernel\":\"{}\",\"grid\":[{},1,1]", kernel, 38 * (gated ? up : 16)));
      served.Kernel(kernel, 100 * static_cast<double>(correlation), gated ? 60 : 90, 7);
    }
    at += 40;
  }
  capture.Runtime("hipStreamEndCapture", at, 2, 2);
  Beside beside(served, capture);
  if (units > 0) {
    beside.Write(
        "trace.json",
        fmt::format(R"({{"deviceProperties":[{{"id":0,"numSms":{}}}],"traceEvents":[{}]}})", units,
                    served.Elements()));
  }
  return beside.Open();
}

TEST_CASE("how fast experts read their weights is told with what is assumed of the routing") {
  const Analyzed told = ServedExperts(12);
  const Finding* finding = ByRule(told, Pattern::kSlowDownProjection);
  REQUIRE(finding != nullptr);
  const auto fact = [](const Finding& of, std::string_view key) -> const Fact* {
    const auto& facts = of.patterns.front().facts;
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& one) { return one.key == key; });
    return found == facts.end() ? nullptr : &*found;
  };
  REQUIRE(fact(*finding, "hit") != nullptr);
  CHECK(std::get<std::string>(fact(*finding, "hit")->value) ==
        "if 128 pairs of token and expert, routed evenly, hit 31 of the 32");
  const double up_tb_s = std::get<double>(fact(*finding, "up_tb_s")->value);
  CHECK(up_tb_s == doctest::Approx(31.45 * 2048 * 1536 * 17 / 32 / 60e6).epsilon(0.002));
  CHECK(std::get<double>(fact(*finding, "down_tb_s")->value) == doctest::Approx(up_tb_s / 3));
  CHECK(fact(*finding, "option_ms") != nullptr);
  // A grid that does not fit the sizes tells nothing of them.
  const Analyzed untold = ServedExperts(0);
  REQUIRE(ByRule(untold, Pattern::kSlowDownProjection) != nullptr);
  CHECK(fact(*ByRule(untold, Pattern::kSlowDownProjection), "hit") == nullptr);
}

// The knob of a down projection of 608 blocks, on so many compute units; 0: not recorded.
std::string KnobOn(int units) {
  const Analyzed one = ServedExperts(12, units);
  const Finding* finding = ByRule(one, Pattern::kSlowDownProjection);
  REQUIRE(finding != nullptr);
  CHECK_FALSE(finding->change_b.has_value());  // a call in the engine's code
  const auto& facts = finding->patterns.front().facts;
  const auto knob = std::ranges::find(facts, "knob", &Fact::key);
  REQUIRE(knob != facts.end());
  return std::get<std::string>(knob->value);
}

TEST_CASE("K is split where blocks are few") {
  CHECK(KnobOn(304).find("split-K") == std::string::npos);
  CHECK(KnobOn(304).find("608 blocks for 304 compute units") != std::string::npos);
  CHECK(KnobOn(400).find("split-K") != std::string::npos);
  CHECK(KnobOn(0).find("split-K") != std::string::npos);
}

// A decode step of 32 requests over 32785 cached tokens, its attention captured with so many splits
// of the keys.
Analyzed DecodeWith(int splits) {
  TraceText capture, served;
  constexpr std::string_view kAttention =
      "void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16>()";
  served.Annotation(
      "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)", 0, 2000);
  served.Python("sglang/srt/model_executor/cuda_graph_runner.py(900): replay", 1, 1990);
  served.Runtime("hipGraphLaunch", 10, 50, 7);
  capture.Runtime("hipStreamBeginCapture", 0, 2, 1);
  double at = 10, gpu = 70;
  std::int64_t correlation = 100;
  for (int i = 0; i < kLayers; ++i) {
    capture.Op("sglang_profiler::attention_paged_attention_ragged_100", at, 8,
               testing::Shapes("[[32,32,128],[109],[32,32,128],[835874,1,8,128],[835874,1,8,128],"
                               "[33],[20971520],[4096],[],[1],[1],[]]",
                               "c10::BFloat16", 12));
    capture.Runtime("hipLaunchKernel", at + 2, 3, correlation++,
                    fmt::format(R"("kernel":"{}","grid":[32,{},8])", kAttention, splits));
    served.Kernel(kAttention, gpu, 60, 7);
    gpu += 60;
    at += 10;
  }
  capture.Runtime("hipStreamEndCapture", at, 2, 2);
  return Beside(served, capture).Open();
}

TEST_CASE("splits without keys may cost nothing, a slow attention of full ones is slow") {
  const auto saved = [](int splits) {
    const Analyzed one = DecodeWith(splits);
    const Finding* finding = ByRule(one, Pattern::kSlowDecodeAttention);
    REQUIRE((finding != nullptr && finding->change_b.has_value()));
    return finding->change_b->savings_ms;
  };
  CHECK(saved(160).low == 0);
  CHECK(saved(160).high > 0);
  CHECK(saved(4).low > 0);
  CHECK(saved(4).high == doctest::Approx(saved(160).high));
}

TEST_CASE("short kernels in a row are one chain, between large ones they are not") {
  const KernelLayer chain = {{"Cijk_Alik_Bljk_up", 40},
                             {"rmsnorm_kernel", 5},
                             {"rotary_kernel", 5},
                             {"reshape_and_cache_kernel", 4}};
  const Analyzed a = Analyze(ReplayOf(chain));
  const Finding* finding = ByRule(a, Pattern::kShortKernelChain);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "norm, rotary embedding, kv cache");
  CHECK(finding->change_a->savings_ms.high == doctest::Approx(0.85 * kLayers * 0.009));
  const KernelLayer single = {{"Cijk_Alik_Bljk_up", 40}, {"rmsnorm_kernel", 5}};
  CHECK(ByRule(Analyze(ReplayOf(single)), Pattern::kShortKernelChain) == nullptr);
}

KernelLayer Casts(const char* shape) {
  KernelLayer layer = DenseLayer();
  layer.push_back({"triton_poi_fused__to_copy_1", 12, "triton_poi_fused__to_copy_1",
                   fmt::format("\"Input Dims\":[{0},{0},[]],"
                               "\"Input type\":[\"float\",\"c10::BFloat16\",\"Scalar\"]",
                               shape)});
  return layer;
}

TEST_CASE("a table that every layer casts is cast once, an activation is not") {
  const KernelLayer table = Casts("[131072,64]");
  const Analyzed a = Beside(ReplayOf(table), CaptureOf(table)).Open();
  REQUIRE(ByRule(a, Pattern::kTableCast) != nullptr);
  const KernelLayer rows = Casts("[32,64]");
  const Analyzed b = Beside(ReplayOf(rows), CaptureOf(rows)).Open();
  CHECK(ByRule(b, Pattern::kTableCast) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
