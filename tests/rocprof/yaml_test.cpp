// Configurations for rocprofv3: expressions that match what they should, counters in passes.
#include "rocprof/job/yaml.h"

#include <string>

#include <doctest/doctest.h>

#include "rocprof/job/counter_names.h"
#include "rocprof/metrics/kernel_filter.h"

namespace jarvis::rocprof {
namespace {

YamlFile Make(const YamlOptions& options) {
  auto file = MakeYaml(options);
  REQUIRE(file);
  return std::move(*file);
}

bool Matches(const YamlFile& file, std::string_view kernel) {
  const auto filter = KernelFilter::Make(file.regex);
  REQUIRE(filter);
  return *filter->Takes(kernel);
}

TEST_CASE("whole names, beginnings and parts") {
  YamlOptions options;
  options.kernels = {"Cijk_A.kd", "void f<int, 2>(int*, float)", "Cijk_A", " "};
  YamlFile file = Make(options);
  CHECK(file.patterns == 2);
  CHECK(file.regex == R"(^(?:Cijk_A|void f<int, 2>(?:\(int\*, float\))?)$)");
  CHECK(Matches(file, "Cijk_A"));
  CHECK_FALSE(Matches(file, "Cijk_AB"));
  CHECK(Matches(file, "void f<int, 2>(int*, float)"));
  CHECK(Matches(file, "void f<int, 2>"));
  CHECK_FALSE(Matches(file, "void f<int, 3>(int*, float)"));
  options.match = Match::kPrefix;
  CHECK(Matches(Make(options), "Cijk_AB"));
  CHECK_FALSE(Matches(Make(options), "xCijk_A"));
  options.match = Match::kSubstring;
  CHECK(Matches(Make(options), "xCijk_AB"));
}

TEST_CASE("the reference's short names") {
  CHECK(ShortPattern(" void at::native::elementwise_kernel<4, f<x::y>>(int) ") ==
        "elementwise_kernel");
  CHECK(ShortPattern("Cijk_A") == "Cijk_A");
  CHECK(ShortPattern("a::b") == "b");
  YamlOptions options;
  options.match = Match::kShort;
  options.kernels = {"void a::k<1>(int)", "void a::k<2>(int)", "m.n"};
  const YamlFile file = Make(options);
  CHECK(file.regex == R"((k|m\.n))");
  CHECK(file.passes.size() == 1);
  CHECK(file.passes[0].front() == "SQ_BUSY_CU_CYCLES");  // nothing is added
  CHECK(file.warnings.size() == 1);
  CHECK(file.kernel_list.find("1. k\n   Original: void a::k<1>(int)\n") != std::string::npos);
}

TEST_CASE("a quote in a name stays inside the quotes") {
  YamlOptions options;
  options.kernels = {"lambda'x': - #{}"};
  const YamlFile file = Make(options);
  CHECK(file.yaml.find(R"('^(?:lambda''x'': - #\{\})$')") != std::string::npos);
}

TEST_CASE("counters go into passes that the hardware can collect") {
  YamlOptions options;
  options.preset = Preset::kCuOnly;
  CHECK(Make(options).passes ==
        std::vector<std::vector<std::string>>{{"GRBM_GUI_ACTIVE", "SQ_BUSY_CU_CYCLES", "SQ_WAVES",
                                               "SQ_WAVE_CYCLES", "SQ_INSTS_MFMA"}});
  options.counters = {
      "SQ_WAVES",          "SQ_INSTS_VALU",         "SQ_INSTS_MFMA",  "SQ_ACTIVE_INST_ANY",
      "SQ_BUSY_CYCLES",    "SQ_BUSY_CU_CYCLES",     "SQ_WAVE_CYCLES", "SQ_WAVES_RESTORED",
      "SQ_INSTS_LDS",      "SQ_INSTS_SMEM",         "SQ_INSTS_VMEM",  "SQ_WAIT_INST_LDS",
      "SQ_INSTS_VSKIPPED", "SQ_THREAD_CYCLES_VALU", "TCC_HIT_sum",    "TCC_MISS_sum"};
  YamlFile file = Make(options);
  REQUIRE(file.passes.size() == 2);
  CHECK(file.passes[0].size() == 1 + 8 + 2);
  CHECK(file.passes[1].size() == 6);
  CHECK(file.yaml.find("# 2 jobs") != std::string::npos);

  // A derived counter takes what it is made of: two of the TCC, beside the four that fit.
  const auto names = CounterNames::For("gfx942:sramecc+:xnack-");
  REQUIRE(names);
  CHECK(names->BasicsOf("L2CacheHit").size() == 2);
  CHECK(SplitIntoPasses(*names, {"TCC_REQ", "TCC_READ", "TCC_WRITE", "L2CacheHit"}).size() == 2);
  CHECK(SplitIntoPasses(*names, {"TCC_REQ", "TCC_HIT", "TCC_MISS", "L2CacheHit"}).size() == 1);
  CHECK(SplitIntoPasses(*names, {"TD_TD_BUSY", "TD_TC_STALL", "TD_SPI_STALL"}).size() == 2);
}

TEST_CASE("a counter that is not listed is a warning with the closest name") {
  YamlOptions options;
  options.preset = Preset::kCuOnly;
  options.counters = {"SQ_BUSY_CU_CYCLE", "SOMETHING_ELSE_ENTIRELY"};
  const YamlFile file = Make(options);
  REQUIRE(file.warnings.size() == 2);
  CHECK(file.warnings[0].find("did you mean SQ_BUSY_CU_CYCLES?") != std::string::npos);
  CHECK(file.passes[0].size() == 3);
}

TEST_CASE("what is refused, and what is only said") {
  YamlOptions options;
  CHECK_FALSE(MakeYaml(options));  // no kernel
  options.kernels = {"k"};
  options.arch = "gfx1";
  REQUIRE_FALSE(MakeYaml(options));
  CHECK(MakeYaml(options).error().message.find("gfx942") != std::string::npos);
  options.arch = "gfx942";
  options.counters = {"A: b"};
  CHECK_FALSE(MakeYaml(options));
  options.counters.clear();
  options.iteration_range = "x";
  CHECK_FALSE(MakeYaml(options));
  options.iteration_range = "5-10";
  CHECK(Make(options).yaml.find("kernel_iteration_range: '[5-10]'") != std::string::npos);
  options.formats = {"perfetto"};
  CHECK_FALSE(MakeYaml(options));
  options.formats = {"csv"};
  for (int i = 0; i < 100; ++i)
    options.kernels.push_back(std::to_string(i) + std::string(400, 'k'));
  const YamlFile large = Make(options);
  REQUIRE(large.warnings.size() == 1);
  CHECK(large.warnings[0].find("32000") != std::string::npos);
}

TEST_CASE("a filter is an expression that is searched") {
  CHECK(*KernelFilter::Make("")->Takes("anything"));
  CHECK(*KernelFilter::Make("MT.*64")->Takes("x_MT1x64"));
  CHECK_FALSE(*KernelFilter::Make("^MT")->Takes("x_MT"));
  CHECK_FALSE(KernelFilter::Make("(a"));
  CHECK(*KernelFilter::Make("gemm$")->Takes("the gemm"));
  CHECK_FALSE(*KernelFilter::Make("gemm$")->Takes("the gemm\n"));
  CHECK(*KernelFilter::Make("^Cijk_.+x$")->Takes("Cijk_\xc3\xa4\xffx"));  // no UTF-8
  CHECK(KernelFilter::Make("(gemm|conv[0-9]{1,3}_.*kernel)+x{20}"));
}

TEST_CASE("an expression that can match in too many ways is an error, soon") {
  for (const char* expression :
       {"(a+)+$", "((a{30}.*){30}[yz]){3}", "(.*.*.*.*)*[cd]", "(a|aa)+$"}) {
    CAPTURE(std::string(expression));
    const auto filter = KernelFilter::Make(expression);
    REQUIRE(filter);
    const auto takes = filter->Takes(std::string(5000, 'a') + "b");
    REQUIRE_FALSE(takes);
    CHECK(takes.error().code == jarvis::ErrorCode::kBadValue);
    CHECK(takes.error().message.find("too many ways") != std::string::npos);
  }
}

}  // namespace
}  // namespace jarvis::rocprof
