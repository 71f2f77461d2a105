// What a host that sets the pace could be spared, and what stands in the way: graphs and what
// breaks them, products of one input, and the way that a copy goes.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "documents/prose.h"
#include "findings/one/multi_kernel.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

const Finding* FindingOfRule(const Analyzed& one, Pattern rule) {
  for (const Finding& finding : one.analysis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

// What a graph of the step would meet, as the way out says it; empty: no such finding.
std::string CaptureText(const TraceText& text) {
  const Analyzed one = Analyze(text);
  const Finding* finding = one.Find("cpu_idle", "launch_bound");
  if (finding == nullptr || finding->path_b.empty()) return {};
  return documents::DraftText(one.analysis, *finding).path_b;
}

enum class Inside { kNothing, kReadBack, kUpload, kReadBackBehind };

// A step of 80 kernels of 5 us, launched every 50 us.
TraceText LateLaunches(Inside inside, bool marked = true) {
  TraceText text;
  if (marked) text.Annotation("ProfilerStep#3", 0, 4300);
  if (!marked) text.Annotation("busy", 4200, 10);  // no pass by what is launched
  for (int i = 0; i < 80; ++i) {
    const double at = 10 + 50.0 * i;
    text.OpWithKernel(marked ? "aten::relu" : fmt::format("aten::op{}", i % 7 * i), at, 25,
                      marked ? "k" : fmt::format("k{}", i % 7 * i), at + 30, 5, i + 1);
  }
  const double at = inside == Inside::kReadBackBehind ? 4050 : 1036;
  if (inside == Inside::kReadBack || inside == Inside::kReadBackBehind) {
    text.Python("model/mask.py(42): is_full", at, 14).Op("aten::item", at + 1, 12);
    text.Runtime("cudaMemcpyAsync", at + 2, 3, 500);
    text.Memcpy("Memcpy DtoH (Device -> Pageable)", at + 5, 1, 500);
    text.Runtime("cudaStreamSynchronize", at + 6, 4, 501);
  } else if (inside == Inside::kUpload) {
    text.Op("aten::copy_", at + 1, 12).Runtime("cudaMemcpyAsync", at + 2, 3, 500);
    text.Memcpy("Memcpy HtoD (Pinned -> Device)", at + 11, 1, 500);
  }
  return text;
}

TEST_CASE("what a graph of the step would meet is told beside it") {
  const std::string read = CaptureText(LateLaunches(Inside::kReadBack));
  CHECK(
      read.find("`aten::item` in `model/mask.py(42): is_full` waits for the GPU, which breaks the "
                "graph") != std::string::npos);
  CHECK(read.find(": pass a ready-made 4-D mask") != std::string::npos);
  CHECK(read.find("captured as it is") == std::string::npos);
  const Analyzed one = Analyze(LateLaunches(Inside::kReadBack));
  const auto& facts = one.Find("cpu_idle", "launch_bound")->path_b.front().facts;
  const auto before = std::find_if(facts.begin(), facts.end(),
                                   [](const Fact& fact) { return fact.key == "before"; });
  REQUIRE(before != facts.end());
  CHECK(std::get<std::string>(before->value) == "take `aten::item` out of the step, then ");
  const std::string upload = CaptureText(LateLaunches(Inside::kUpload));
  CHECK(upload.find("`aten::copy_` copies from the host inside it") != std::string::npos);
  CHECK(CaptureText(LateLaunches(Inside::kNothing)).find("captured as it is") != std::string::npos);
  // Without steps an obstacle is told all the same, but nothing says that there is none.
  const std::string part = CaptureText(LateLaunches(Inside::kUpload, false));
  CHECK(part.find("`aten::copy_` copies from the host inside it") != std::string::npos);
  const std::string clean = CaptureText(LateLaunches(Inside::kNothing, false));
  CHECK_FALSE(clean.empty());
  CHECK(clean.find("captured as it is") == std::string::npos);
  // Results are read once the graph is done.
  CHECK(CaptureText(LateLaunches(Inside::kReadBackBehind)).find("captured as it is") !=
        std::string::npos);
}

// The same, and beside each launch a function for `us`, with an op in it or without.
Analyzed WithPython(double us, bool op) {
  TraceText text;
  text.Annotation("ProfilerStep#3", 0, 4300);
  for (int i = 0; i < 80; ++i) {
    const double at = 10 + 50.0 * i;
    text.Python("layers.py(9): apply", at - 1, 48);
    text.OpWithKernel("aten::relu", at, 25, "k", at + 30, 5, i + 1);
    text.Python("inspect.py(3300): signature", at + 26, us);
    text.Python("inspect.py(2300): _parameters", at + 26.5, us / 2);
    if (op) text.Op("aten::size", at + 27, 0.5);
  }
  return Analyze(text);
}

TEST_CASE("Python that launches nothing is told where launches come late") {
  const Analyzed one = WithPython(12, false);
  const Finding* finding = one.Find("cpu_idle", "launch_bound");
  REQUIRE(finding != nullptr);
  REQUIRE(finding->host->python.size() == 1);
  const HostPlace& place = finding->host->python.front();
  CHECK(place.name == "inspect.py(3300): signature");
  CHECK(place.code == "layers.py(9): apply");
  CHECK(place.count == 80);
  CHECK(place.ms == doctest::Approx(0.96));
  // What holds an op is no such work, nor is what takes next to nothing.
  for (const Analyzed& other : {WithPython(12, true), WithPython(1, false)}) {
    const Finding* late = other.Find("cpu_idle", "launch_bound");
    REQUIRE(late != nullptr);
    CHECK(late->host->python.empty());
  }
}

// Three products of (256,512) and (512,`columns`) in each of four layers, 60 us of host and 5 us of
// the GPU each, then attention for as long.
TraceText Layers(const char* holder, int products, int columns) {
  TraceText text;
  text.Annotation("ProfilerStep#3", 0, 2000);
  int number = 0;
  for (int layer = 0; layer < 4; ++layer) {
    const double begin = 10 + 400.0 * layer;
    text.Module(fmt::format("{}_{}", holder, layer), begin, 380);
    for (int i = 0; i <= products; ++i) {
      const double at = begin + 5 + 70.0 * i;
      const bool last = i == products;
      if (!last) text.Module(fmt::format("Linear_{}", 3 * layer + i), at, 60);
      const std::string shapes =
          last ? Shapes("[[256,64],[64,64]]", "c10::BFloat16")
               : Shapes(fmt::format("[[256,512],[512,{}]]", columns), "c10::BFloat16");
      ++number;
      text.OpWithKernel("aten::mm", at + 5, 50, "gemm", at + 58, 5, number, shapes);
    }
  }
  return text;
}

TEST_CASE("products of one input that the host launches one by one") {
  const Analyzed one = Analyze(Layers("SelfAttention", 3, 512));
  const Finding* finding = FindingOfRule(one, Pattern::kSharedInput);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "linear layers of SelfAttention");
  CHECK(finding->count == 12);
  REQUIRE(finding->change_a.has_value());
  CHECK(finding->change_a->exact.size() == 3);
  REQUIRE(finding->wall_a.has_value());
  // Two of three modules of 60 us in four layers are 0.48 ms.
  CHECK(finding->wall_a->ms.mid > 0.3);
  CHECK(finding->wall_a->ms.mid < 0.5);
  const auto text = documents::DraftText(one.analysis, *finding);
  CHECK(text.path_a.find("`nn.Linear(512, 1536)`") != std::string::npos);
}

TEST_CASE("layers one after the other share no input") {
  CHECK(FindingOfRule(Analyze(Layers("Sequential", 3, 512)), Pattern::kSharedInput) == nullptr);
  // Two square ones: the second may read what the first writes.
  CHECK(FindingOfRule(Analyze(Layers("Mlp", 2, 512)), Pattern::kSharedInput) == nullptr);
  CHECK(FindingOfRule(Analyze(Layers("Mlp", 2, 768)), Pattern::kSharedInput) != nullptr);
}

TEST_CASE("what the call says of a copy's direction goes before its name") {
  const auto direction = [](const char* name, const char* args) {
    TraceText text;
    text.Op("aten::_local_scalar_dense", 0, 30).Runtime("hipMemcpyWithStream", 2, 25, 1, args);
    text.Memcpy(name, 10, 2, 1);
    const Analyzed one = Analyze(text);
    for (trace::EventIndex e = 0; e < one.trace->events().size(); ++e) {
      if (one.trace->events()[e].kind == trace::EventKind::kMemcpy)
        return DirectionOf(*one.trace, e);
    }
    return CopyDirection::kOther;
  };
  const char* on_device = "Memcpy DtoD (Device -> Device)";
  CHECK(direction(on_device, R"("kind":"2")") == CopyDirection::kToHost);
  CHECK(direction(on_device, R"("kind":1)") == CopyDirection::kToDevice);
  CHECK(direction(on_device, R"("kind":"3")") == CopyDirection::kOnDevice);
  CHECK(direction(on_device, "") == CopyDirection::kOnDevice);
  CHECK(direction("Memcpy HtoD (Host -> Device)", R"("kind":"2")") == CopyDirection::kToDevice);
}

}  // namespace
}  // namespace jarvis::findings
