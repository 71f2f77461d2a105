// Transforms that the loader of the main process computes on the CPU, and loading that is none.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

constexpr const char* kOwnLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr const char* kWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// Steps of loading, ops of 400 us on the CPU, and then of GPU work that each op launches.
class LoaderScript {
 public:
  LoaderScript& Cpu(const std::string& name, const std::string& dims, const std::string& type) {
    text_.Op(name, at_, 400, dims.empty() ? "" : Shapes(fmt::format("[{0},{0}]", dims), type));
    at_ += 410;
    return *this;
  }
  LoaderScript& Gpu(const std::string& name = "aten::mm") {
    text_.OpWithKernel(name, at_, 40, "gemm", at_ + 30, 60, ++id_,
                       Shapes("[[256,256],[256,256]]", "float"));
    at_ += 100;
    return *this;
  }
  void Load(const std::string& loader, const std::function<void(LoaderScript&)>& ops) {
    const double from = at_;
    at_ += 5;
    ops(*this);
    text_.Annotation(loader, from, at_ + 5 - from);
    at_ += 20;
  }
  void EndStep() {
    text_.Annotation("Optimizer.step#SGD.step", at_, 50);
    Gpu("aten::_foreach_add_");
    text_.Annotation(fmt::format("ProfilerStep#{}", step_++), begin_, at_ - begin_);
    at_ += 10;
    begin_ = at_;
  }
  Analyzed Run() const { return Analyze(text_, "H100"); }

 private:
  TraceText text_;
  double begin_ = 5, at_ = 10;
  int step_ = 0;
  std::int64_t id_ = 0;
};

using LoaderOps = std::function<void(LoaderScript&)>;

Analyzed LoadingSteps(const LoaderOps& ops, const std::string& loader = kOwnLoader,
                      const LoaderOps& outside = {}) {
  LoaderScript script;
  for (int step = 0; step < 4; ++step) {
    script.Load(loader, ops);
    if (outside) outside(script);
    for (int i = 0; i < 20; ++i)
      script.Gpu();
    script.EndStep();
  }
  return script.Run();
}

const Finding* TransformsOf(const Analyzed& one) {
  return one.FindRule(Pattern::kLoaderTransforms);
}

void Spectrogram(LoaderScript& script) {
  for (const char* op : {"aten::stft", "aten::abs", "aten::log"})
    script.Cpu(op, "[160000]", "float");
  script.Cpu("aten::stack", "[160000]", "float");
}

TEST_CASE("transforms of a loader without workers can run on the GPU") {
  const Analyzed one = LoadingSteps(Spectrogram);
  const Finding* finding = TransformsOf(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  // 3 of the 4 ops, in each of 4 steps: 15 % stay.
  const double ops_ms = 4 * 3 * 0.400;
  CHECK(finding->time_ms == doctest::Approx(ops_ms).epsilon(0.01));
  CHECK(finding->wall_a->ms.high <= 0.88 * ops_ms);
  CHECK(finding->wall_a->ms.high >= 0.6 * ops_ms);
}

TEST_CASE("loading that computes nothing, or not here, has no transforms") {
  const auto ops = [](const char* op, const char* dims, const char* type) -> LoaderOps {
    return [=](LoaderScript& script) {
      for (int i = 0; i < 4; ++i)
        script.Cpu(op, dims, type);
    };
  };
  const std::pair<std::string, LoaderOps> others[] = {
      {"collating", ops("aten::stack", "[160000]", "float")},
      {"samples picked from a table", ops("aten::index_select", "[160000]", "float")},
      {"small tensors", ops("aten::div", "[64]", "float")},
      {"tokens", ops("aten::add", "[160000]", "long int")},
      {"no sizes", ops("aten::stft", "", "float")},
      {"ops that launch",
       [](LoaderScript& script) {
         for (int i = 0; i < 12; ++i)
           script.Gpu("aten::stft");
       }},
  };
  for (const auto& [name, one] : others) {
    CAPTURE(name);
    CHECK(TransformsOf(LoadingSteps(one)) == nullptr);
  }
  // Workers make the batch elsewhere; and what the step computes itself is none of the loader's.
  CHECK(TransformsOf(LoadingSteps(Spectrogram, kWorkers)) == nullptr);
  CHECK(TransformsOf(LoadingSteps(ops("aten::stack", "[160000]", "float"), kOwnLoader,
                                  Spectrogram)) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
