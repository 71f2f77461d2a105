// Weights that autocast casts in each step, casts that are none of weights, and how a model in 32
// bits comes to run in 16.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

constexpr const char* kInput = "[64,512]";
constexpr const char* kWeight = "[1024,512]";

std::string TypedSizes(std::string_view dims, std::string_view types) {
  return fmt::format(R"("Input Dims":{},"Input type":[{}])", dims, types);
}

// What one call of a layer has under autocast.
struct WrappedLayer {
  std::string name = "aten::linear";
  std::string input = kInput, weight = kWeight;
  std::string before = R"("float","float")";  // types of input and weight outside
  std::string half = "c10::BFloat16";
  std::vector<std::string> casts = {kWeight, kInput};  // sizes of what is cast inside
  bool nested = true;                                  // false: the casts stand before the op
};

// A cast is an op of 20 us with a kernel of 2 us, a product one of 40 us with a kernel of 4 us.
class AutocastScript {
 public:
  AutocastScript& Layer(const WrappedLayer& layer) {
    const double from = at_;
    const std::string dims = fmt::format("[{},{}]", layer.input, layer.weight);
    at_ += layer.nested ? 2 : 0;
    for (const std::string& sizes : layer.casts)
      Cast(sizes, "float", layer.half);
    Launch(layer.name, 40, "gemm", 4, TypedSizes(dims, fmt::format(R"("{0}","{0}")", layer.half)));
    if (layer.nested) text_.Op(layer.name, from, at_ + 1 - from, TypedSizes(dims, layer.before));
    at_ += 5;
    return *this;
  }
  // What the backward pass casts for each cast so far, the last first.
  AutocastScript& Backward(bool accumulates = true) {
    for (auto cast = casts_.rbegin(); cast != casts_.rend(); ++cast) {
      const auto& [number, sizes] = *cast;
      const double from = at_;
      at_ += 2;
      Cast(sizes, "c10::BFloat16", "float", false);
      text_.Op("autograd::engine::evaluate_function: ToCopyBackward0", from, at_ - from,
               fmt::format(R"("Sequence number":{},"Fwd thread id":1)", number));
      const bool weight = sizes == kWeight;
      if (weight && accumulates) {
        text_.Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at_, 5);
      }
      at_ += 6;
    }
    return *this;
  }
  AutocastScript& EndStep(bool optimizer = true) {
    if (optimizer) {
      text_.Annotation("Optimizer.step#AdamW.step", at_, 20);
      Launch("aten::_foreach_add_", 15, "multi_tensor_apply_kernel", 2, "");
      at_ += 10;
    }
    text_.Annotation(fmt::format("ProfilerStep#{}", step_++), begin_, at_ - begin_);
    at_ += 10;
    begin_ = at_;
    casts_.clear();
    return *this;
  }
  Analyzed Run(std::string_view platform = "H100") const { return Analyze(text_, platform); }

 private:
  void Cast(const std::string& sizes, std::string_view from, std::string_view to,
            bool recorded = true) {
    const double begin = at_;
    ++number_;
    Launch("aten::copy_", 12, "unrolled_elementwise_kernel", 2,
           TypedSizes(fmt::format("[{0},{0}]", sizes), fmt::format(R"("{}","{}")", to, from)));
    std::string args =
        TypedSizes(fmt::format("[{},[]]", sizes), fmt::format(R"("{}","Scalar")", from));
    if (recorded) {
      args += fmt::format(R"(,"Sequence number":{})", number_);
      casts_.emplace_back(number_, sizes);
    }
    text_.Op("aten::to", begin - 1, at_ - begin + 3, args);
    at_ += 4;
  }
  void Launch(std::string_view op, double us, std::string_view kernel, double kernel_us,
              const std::string& args) {
    text_.OpWithKernel(op, at_, us, kernel, at_ + us - 2, kernel_us, ++id_, args);
    at_ += us + 1;
  }

  TraceText text_;
  double begin_ = 10, at_ = 20;
  int step_ = 0;
  std::int64_t id_ = 0, number_ = 0;
  std::vector<std::pair<std::int64_t, std::string>> casts_;
};

using AutocastStep = std::function<void(AutocastScript&, int step)>;

Analyzed AutocastSteps(const AutocastStep& one, bool training = true,
                       std::string_view platform = "H100") {
  AutocastScript script;
  for (int step = 0; step < 4; ++step) {
    one(script, step);
    script.EndStep(training);
  }
  return script.Run(platform);
}

const Finding* AutocastFinding(const Analyzed& one) {
  return one.FindRule(Pattern::kAutocastWeights);
}

std::string WordsOf(const Finding& finding, std::string_view key) {
  for (const PatternHit& hit : finding.patterns) {
    for (const Fact& fact : hit.facts) {
      const auto* words = std::get_if<std::string>(&fact.value);
      if (fact.key == key && words != nullptr) return *words;
    }
  }
  return "";
}

std::int64_t CountOf(const Finding& finding, std::string_view key) {
  for (const Fact& fact : finding.patterns.front().facts) {
    const auto* count = std::get_if<std::int64_t>(&fact.value);
    if (fact.key == key && count != nullptr) return *count;
  }
  return 0;
}

void Layers(AutocastScript& script, const WrappedLayer& layer, int count = 6) {
  for (int i = 0; i < count; ++i)
    script.Layer(layer);
}

TEST_CASE("weights that autocast casts in each step, and their gradients, can be kept in 16 bits") {
  const Analyzed one = AutocastSteps([](AutocastScript& script, int) {
    Layers(script, {});
    script.Backward();
  });
  const Finding* finding = AutocastFinding(one);
  REQUIRE(finding != nullptr);
  CHECK(CountOf(*finding, "casts") == 6);
  CHECK(CountOf(*finding, "activations") == 6);
  CHECK(CountOf(*finding, "gradients") == 12);
  CHECK(WordsOf(*finding, "call") == "model.to(torch.bfloat16)");
  CHECK_FALSE(WordsOf(*finding, "optimizer").empty());
  REQUIRE(finding->wall_a.has_value());
  // 12 casts forward and 12 backward, of 20 us each, in each of 4 steps.
  const double casts_ms = 4 * 24 * 0.020;
  CHECK(finding->wall_a->ms.high <= casts_ms);
  CHECK(finding->wall_a->ms.high >= 0.5 * casts_ms);
}

TEST_CASE("inference keeps weights in the type that it computes in, and needs no optimizer") {
  WrappedLayer layer;
  layer.half = "c10::Half";
  const Analyzed one =
      AutocastSteps([&](AutocastScript& script, int) { Layers(script, layer); }, false);
  const Finding* finding = AutocastFinding(one);
  REQUIRE(finding != nullptr);
  CHECK(WordsOf(*finding, "call") == "model.half()");
  CHECK(WordsOf(*finding, "optimizer").empty());
  // In training fp16 needs scaled gradients of fp32 weights: bf16, where the device has it.
  const AutocastStep train = [&](AutocastScript& script, int) { Layers(script, layer); };
  const Analyzed trained = AutocastSteps(train);
  REQUIRE(AutocastFinding(trained) != nullptr);
  CHECK(WordsOf(*AutocastFinding(trained), "keep") == "bf16");
  CHECK(AutocastFinding(AutocastSteps(train, true, "V100-SXM2-16GB")) == nullptr);
}

TEST_CASE("a parameter of another op is told by its gradient, which is accumulated as it is") {
  WrappedLayer layer;
  layer.name = "aten::matmul";
  const auto steps = [&](bool accumulates) {
    return AutocastSteps([&](AutocastScript& script, int) {
      Layers(script, layer);
      script.Backward(accumulates);
    });
  };
  CHECK(AutocastFinding(steps(true)) != nullptr);
  CHECK(AutocastFinding(steps(false)) == nullptr);
}

TEST_CASE(
    "casts of activations, and of weights outside of steps or of autocast, are none of these") {
  WrappedLayer activations;
  activations.before = R"("float","c10::BFloat16")";
  activations.casts = {kInput};
  WrappedLayer kept;  // by autocast's cache, of a loop of passes
  kept.casts = {kInput};
  WrappedLayer square = kept;  // the cast is the input's, which has the sizes of the weight
  square.input = square.weight;
  square.casts = {square.weight};
  WrappedLayer explicit_casts;
  explicit_casts.nested = false;
  WrappedLayer cast_to_fp32;  // an op that autocast keeps in fp32
  cast_to_fp32.half = "float";
  const std::pair<std::string, AutocastStep> others[] = {
      {"activations", [&](AutocastScript& script, int) { Layers(script, activations); }},
      {"a cache that covers all steps",
       [&](AutocastScript& script, int step) {
         Layers(script, step == 0 ? WrappedLayer() : kept);
       }},
      {"an input of the sizes of a kept weight",
       [&](AutocastScript& script, int) { Layers(script, square); }},
      {"casts that the program makes itself",
       [&](AutocastScript& script, int) { Layers(script, explicit_casts); }},
      {"ops in fp32", [&](AutocastScript& script, int) { Layers(script, cast_to_fp32); }},
      {"one layer", [&](AutocastScript& script, int) { Layers(script, {}, 1); }},
  };
  for (const auto& [name, step] : others) {
    CAPTURE(name);
    CHECK(AutocastFinding(AutocastSteps(step)) == nullptr);
    CHECK(AutocastFinding(AutocastSteps(step, false)) == nullptr);
  }
}

TEST_CASE("a model in fp32 trains under autocast, and for inference has its weights in 16 bits") {
  const auto narrow = [](bool training) {
    TraceText text;
    text.OpWithKernel("aten::mm", 0, 10, "ampere_sgemm_128x64_tn", 20, 7200, 1,
                      testing::Shapes("[[4096,4096],[4096,4096]]", "float"));
    if (training) text.Annotation("Optimizer.step#SGD.step", 12, 5);
    const Analyzed one = Analyze(text, "A100-SXM4-80GB");
    for (const Finding& finding : one.analysis.findings) {
      if (finding.rule == Pattern::kTf32Off) return WordsOf(finding, "narrow");
    }
    return std::string();
  };
  CHECK(narrow(true).find("torch.autocast") != std::string::npos);
  CHECK(narrow(false).find("model.to(torch.bfloat16)") != std::string::npos);
}

}  // namespace
}  // namespace jarvis::findings
