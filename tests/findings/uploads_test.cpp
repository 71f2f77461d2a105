// What each pass uploads again: kept on the GPU, or half as many bytes.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/wall_classes.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// Three steps of ten modules, each of which uploads from pinned memory for so long and multiplies
// for 100 us.
TraceText Uploads(double upload, bool fp32, bool loader = false, int stream = 7) {
  const char* type = fp32 ? "float" : "c10::BFloat16";
  const char* kernel = fp32 ? "ampere_sgemm_128x128_tn" : "ampere_bf16_s16816gemm_bf16_128x128_tn";
  TraceText text;
  double at = 0;
  double gpu = 50;
  int id = 0;
  for (int step = 0; step < 3; ++step) {
    const double begin = at;
    if (loader)
      text.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 5);
    at += 10;
    for (int i = 0; i < 10; ++i) {
      text.Op("aten::copy_", at, 20).Runtime("cudaMemcpyAsync", at + 5, 10, ++id);
      gpu = std::max(gpu, at + 20);
      text.Memcpy("Memcpy HtoD (Pinned -> Device)", gpu, upload, id, stream, R"("bytes":67108864)");
      gpu += upload;
      text.OpWithKernel("aten::mm", at + 30, 20, kernel, gpu + 5, 100, ++id,
                        Shapes("[[512,4096],[4096,4096]]", type));
      gpu += 105;
      at += 60;
    }
    text.Runtime("cudaDeviceSynchronize", at, gpu + 10 - at, ++id);
    at = gpu + 20;
    text.Annotation(fmt::format("ProfilerStep#{}", step + 1), begin, at - begin);
  }
  return text;
}

bool Keeps(const Finding& finding) {
  return Advises(finding.path_b, Advice::kKeepOnDevice);
}

TEST_CASE("uploads that take most of each step are kept on the GPU, or halved") {
  const Analyzed one = Analyze(Uploads(1000, true));
  const Finding* finding = one.Find("multi_kernel", "H2D copies");
  REQUIRE(finding != nullptr);
  CHECK(Keeps(*finding));
  CHECK(Advises(finding->path_a, Advice::kHalveUploads));
  REQUIRE((finding->wall_a && finding->wall_b));
  CHECK(finding->wall_b->ms.mid == doctest::Approx(3 * 10 * 1.0).epsilon(0.05));
  CHECK(finding->wall_a->ms.mid == doctest::Approx(3 * 10 * 0.5).epsilon(0.05));
  CHECK(BestWall(*finding) == &*finding->wall_b);
  // Whether it fits on the GPU no trace tells; half of it always goes.
  CHECK(finding->wall_b->ms.low == 0);
  CHECK(finding->wall_a->ms.low > 0);
  REQUIRE(one.analysis.wall.together_ms.has_value());
  CHECK(NumberOf(finding->patterns.front().facts, "moved") == doctest::Approx(10 * 67108864 / 1e9));
  // Computing takes about a tenth: more of it per upload is told where it is less.
  const auto computes = [](const Finding& f) {
    return std::ranges::any_of(f.path_b.front().facts,
                               [](const Fact& fact) { return fact.key == "computes"; });
  };
  CHECK(computes(*Analyze(Uploads(2000, true)).Find("multi_kernel", "H2D copies")));
  CHECK_FALSE(computes(*Analyze(Uploads(300, true)).Find("multi_kernel", "H2D copies")));
}

TEST_CASE("ops that mostly copy from the host are not fused; those that mostly compute are") {
  const auto told = [](double upload) {
    TraceText text;
    double at = 0;
    int id = 0;
    for (int i = 0; i < 20; ++i, at += 2000) {
      text.Op("aten::copy_", at, 20).Runtime("cudaMemcpyAsync", at + 5, 10, ++id);
      text.Memcpy("Memcpy HtoD (Pinned -> Device)", at + 20, upload, id);
      text.OpWithKernel("aten::copy_", at + 30, 20, "direct_copy_kernel_cuda", at + 1400, 500,
                        ++id);
    }
    const Analyzed one = Analyze(text, "");
    return std::ranges::any_of(one.analysis.findings, [](const Finding& f) {
      return f.tier == Tier::kCompute && f.subject == "aten::copy_";
    });
  };
  CHECK_FALSE(told(1200));
  CHECK(told(100));
}

// Twenty uploads from pageable memory, each behind an op of that name on the host.
Analyzed UploadsBehind(const char* before) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 20; ++i, at += 500) {
    text.Op(before, at, 5);
    text.Op("aten::to", at + 7, 150).Runtime("cudaMemcpyAsync", at + 10, 140, 2 * i + 1);
    text.Memcpy("Memcpy HtoD (Pageable -> Device)", at + 20, 125, 2 * i + 1);
    text.OpWithKernel("aten::mm", at + 160, 20, "gemm", at + 185, 200, 2 * i + 2);
  }
  text.Annotation("ProfilerStep#1", 0, at);
  return Analyze(text);
}

TEST_CASE("what an op makes on the host right before it is uploaded is better made on the device") {
  const Analyzed made_there = UploadsBehind("aten::zeros");
  const Finding* made = made_there.Find("multi_kernel", "H2D copies");
  REQUIRE(made != nullptr);
  CHECK(Advises(made->path_a, Advice::kBuildOnDevice));
  CHECK(Advises(made->path_b, Advice::kPinnedCopies));
  // What comes from elsewhere is the program's input.
  const Analyzed given_there = UploadsBehind("aten::select");
  const Finding* given = given_there.Find("multi_kernel", "H2D copies");
  REQUIRE(given != nullptr);
  CHECK_FALSE(Advises(given->path_a, Advice::kBuildOnDevice));
}

// Copies back from the device: `large` of 30 MB and more that take 20 ms each, and twenty small
// ones.
Analyzed CopyingBack(int large, bool alike) {
  TraceText text;
  double at = 0;
  int id = 0;
  for (int i = 0; i < 20 + large; ++i) {
    const bool is_large = i < large;
    const double us = is_large ? 20'000 : 20;
    const int bytes = is_large ? 30'000'000 + (alike ? 0 : 1'000'000 * i) : 2'000;
    text.OpWithKernel("aten::mm", at, 20, "gemm", at + 25, 3000, ++id);
    text.Op("aten::to", at + 40, us + 3030).Runtime("cudaMemcpyAsync", at + 45, us + 3000, ++id);
    text.Memcpy("Memcpy DtoH (Device -> Pageable)", at + 3030, us, id, 7,
                fmt::format(R"("bytes":{})", bytes));
    at += us + 3100;
  }
  text.Annotation("ProfilerStep#1", 0, at);
  return Analyze(text);
}

TEST_CASE("few large copies are named, and one that happens once has no sure saving") {
  const Analyzed twice = CopyingBack(2, false);
  const Finding* once = twice.Find("multi_kernel", "D2H copies");
  REQUIRE(once != nullptr);
  REQUIRE(Advises(once->path_b, Advice::kPinnedCopies));
  const auto& facts = once->patterns.front().facts;
  const auto large = std::ranges::find(facts, "large_copy", &Fact::key);
  REQUIRE(large != facts.end());
  CHECK(std::get<double>(large->value) == 30);
  CHECK(std::get<double>((large + 1)->value) == doctest::Approx(1.5));
  CHECK(std::ranges::count(facts, "large_copy", &Fact::key) == 2);
  REQUIRE(once->wall_b.has_value());
  CHECK(once->wall_b->ms.low == 0);
  CHECK(once->wall_b->ms.high > 30);
  // One buffer serves copies of one size; and of many none is the one.
  const Analyzed again = CopyingBack(2, true);
  CHECK(again.Find("multi_kernel", "D2H copies")->wall_b->ms.low > 20);
  const Analyzed many = CopyingBack(6, true);
  const Finding* all = many.Find("multi_kernel", "D2H copies");
  REQUIRE(all != nullptr);
  CHECK(std::ranges::find(all->patterns.front().facts, "large_copy", &Fact::key) ==
        all->patterns.front().facts.end());
  CHECK(all->wall_b->ms.low > 50);
}

TEST_CASE("what is in half the bits already is not halved again") {
  const Analyzed one = Analyze(Uploads(1000, false));
  const Finding* finding = one.Find("multi_kernel", "H2D copies");
  REQUIRE(finding != nullptr);
  CHECK(Keeps(*finding));
  CHECK_FALSE(Advises(finding->path_a, Advice::kHalveUploads));
}

TEST_CASE("inputs of a loader, and uploads that are a small part, are copied ahead") {
  const Analyzed loads = Analyze(Uploads(1000, true, true));
  const Finding* batches = loads.Find("multi_kernel", "H2D copies");
  REQUIRE(batches != nullptr);
  CHECK_FALSE(Keeps(*batches));
  CHECK(Advises(batches->path_b, Advice::kPrefetchToDevice));
  // On a stream of their own they are already.
  const Analyzed aside = Analyze(Uploads(1000, true, true, 16));
  const Finding* there = aside.Find("multi_kernel", "H2D copies");
  REQUIRE(there != nullptr);
  CHECK(there->path_b.empty());
  const Analyzed small = Analyze(Uploads(30, true));
  const Finding* part = small.Find("multi_kernel", "H2D copies");
  CHECK((part == nullptr || !Keeps(*part)));
}

// Four steps of ten tensors that are sent one by one, each with a wait of its own, and of kernels
// that the host launches as fast as they run; `amid`: the tensors are sent between these.
struct Sent {
  const char* before = "aten::lift_fresh";
  const char* dims = "[[16384],[16384]]";
  int bytes = 131072;
  bool amid = false;
  double copy_us = 10;
};
Analyzed Sends(const Sent& sent) {
  TraceText text;
  double at = 0;
  int id = 0;
  const auto send = [&] {
    text.Op(sent.before, at, 5);
    text.Op("aten::to", at + 8, 110).Op("aten::copy_", at + 10, 105, Shapes(sent.dims, "long int"));
    text.Runtime("cudaMemcpyAsync", at + 15, 40, ++id);
    text.Memcpy("Memcpy HtoD (Pageable -> Device)", at + 60 - sent.copy_us, sent.copy_us, id, 7,
                fmt::format(R"("bytes":{})", sent.bytes));
    text.Runtime("cudaStreamSynchronize", at + 60, 50, ++id);
    at += 125;
  };
  const auto launch = [&] {
    text.OpWithKernel("aten::mm", at, 20, "gemm", at + 25, 15, ++id);
    at += 45;
  };
  for (int step = 0; step < 4; ++step) {
    const double begin = at;
    for (int i = 0; i < 10; ++i) {
      if (sent.amid) launch();
      send();
    }
    for (int i = 0; i < 20; ++i)
      launch();
    text.Runtime("cudaDeviceSynchronize", at, 30, ++id);
    at += 40;
    text.Annotation(fmt::format("ProfilerStep#{}", step + 1), begin, at - begin);
  }
  return Analyze(text);
}

bool BuildsOnDevice(const Analyzed& one) {
  return std::any_of(one.analysis.findings.begin(), one.analysis.findings.end(),
                     [](const Finding& f) { return Advises(f.path_a, Advice::kBuildOnDevice); });
}
bool PinsBatch(const Analyzed& one) {
  return std::any_of(
      one.analysis.findings.begin(), one.analysis.findings.end(), [](const Finding& f) {
        return Advises(f.path_b, Advice::kPinBatch) || Advises(f.path_b, Advice::kPinnedCopies);
      });
}

TEST_CASE("data of a batch cannot be made once: it is sent from pinned memory") {
  const Analyzed one = Sends({});
  CHECK_FALSE(BuildsOnDevice(one));
  CHECK(PinsBatch(one));
  // Copies that take next to nothing are no finding of their own.
  Sent fast;
  fast.copy_us = 1;
  const Analyzed waits = Sends(fast);
  CHECK_FALSE(BuildsOnDevice(waits));
  const Finding* batch = waits.Find("cpu_idle", "batch_uploads");
  REQUIRE(batch != nullptr);
  REQUIRE(BestWall(*batch) != nullptr);
  // The copies and their ops stay.
  CHECK(BestWall(*batch)->ms.high <= 4 * 10 * (0.050 + 0.040) * 1.1);
  CHECK(BestWall(*batch)->ms.mid > 4 * 10 * 0.040);
}

TEST_CASE("near: what an op has just made, a few values, and constants amid the step") {
  Sent made;
  made.before = "aten::arange";
  CHECK(BuildsOnDevice(Sends(made)));
  Sent few;
  few.dims = "[[4],[4]]";
  few.bytes = 32;
  CHECK(BuildsOnDevice(Sends(few)));
  Sent amid;
  amid.amid = true;
  CHECK(BuildsOnDevice(Sends(amid)));
  CHECK(Sends(amid).Find("cpu_idle", "batch_uploads") == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
