// A pass of the model that trains, run again in each step for figures alone, and what only looks
// like it.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <variant>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// Steps of training: ops of 30 us every 40, each with a kernel of 30 us.
class TrainingScript {
 public:
  // An op whose result is recorded for a backward pass.
  TrainingScript& Recorded(const std::string& name, const std::string& dims) {
    return Launch(name, dims, fmt::format(",\"Sequence number\":{}", sequence_++));
  }
  TrainingScript& Op(const std::string& name, const std::string& dims) {
    return Launch(name, dims, "");
  }
  TrainingScript& Forward(int batch = 64) {
    for (int layer = 0; layer < 4; ++layer)
      Recorded("aten::linear", Dims(batch, layer));
    return Recorded("aten::mse_loss", "[[64,8],[64,8]]");
  }
  TrainingScript& Backward() {
    for (int layer = 0; layer < 4; ++layer) {
      const std::string node =
          fmt::format("autograd::engine::evaluate_function: AddmmBackward{}", layer);
      text_.Op(node, at_, 38);
      Op("aten::mm", "[[256,64],[64,256]]");
    }
    return *this;
  }
  TrainingScript& Optimizer() {
    text_.Annotation("Optimizer.step#Adam.step", at_, 38);
    return Op("aten::_foreach_add_", "[[256,256]]");
  }
  // Without autograd.
  TrainingScript& Pass(int batch = 64) {
    for (int layer = 0; layer < 4; ++layer)
      Op("aten::linear", Dims(batch, layer));
    return *this;
  }
  TrainingScript& Read() {
    Host("aten::to", "[[64,8]]", "");
    text_.Memcpy("Memcpy DtoH (Device -> Pageable)", at_ - 20, 3, id_, 7, "\"bytes\":2048");
    return *this;
  }
  TrainingScript& Wait() {
    ++id_;
    text_.Op("aten::item", at_, 30).Runtime("cudaStreamSynchronize", at_ + 5, 20, id_);
    at_ += 40;
    return *this;
  }
  TrainingScript& EndStep() {
    text_.Annotation(fmt::format("ProfilerStep#{}", step_++), begin_, at_ - begin_);
    at_ += 10;
    begin_ = at_;
    return *this;
  }
  TrainingScript& Frame(const std::string& name, double from) {
    text_.Python(name, from, at_ - from);
    return *this;
  }
  TrainingScript& Range(const std::string& name, double from) {
    text_.Annotation(name, from, at_ - from);
    return *this;
  }
  double now() const { return at_; }
  Analyzed Run() const { return Analyze(text_, "H100"); }

 private:
  static std::string Dims(int batch, int layer) {
    return fmt::format("[[{},256],[{},256],[256]]", batch, 256 + layer);
  }
  void Host(const std::string& name, const std::string& dims, const std::string& more) {
    ++id_;
    text_.Op(name, at_, 30, Shapes(dims, "float") + more);
    text_.Runtime("cudaLaunchKernel", at_ + 5, 3, id_);
    at_ += 40;
  }
  TrainingScript& Launch(const std::string& name, const std::string& dims,
                         const std::string& more) {
    Host(name, dims, more);
    text_.Kernel("k", at_ - 30, 30, id_);
    return *this;
  }

  TraceText text_;
  double begin_ = 10, at_ = 10;
  int step_ = 0;
  std::int64_t id_ = 0, sequence_ = 1;
};

Analyzed TrainedSteps(const std::function<void(TrainingScript&, int step)>& one, int steps = 4) {
  TrainingScript script;
  for (int step = 0; step < steps; ++step) {
    one(script, step);
    script.EndStep();
  }
  return script.Run();
}

const Finding* EvaluationOf(const Analyzed& one) {
  return one.FindRule(Pattern::kEvaluationPasses);
}

TEST_CASE("a pass behind the optimizer for figures is evaluation in each step") {
  const Analyzed one = TrainedSteps([](TrainingScript& script, int) {
    script.Forward().Backward().Optimizer();
    const double from = script.now();
    script.Pass().Op("aten::argmax", "[[64,8],[]]").Read().Frame("train.py(7): test", from);
  });
  const Finding* finding = EvaluationOf(one);
  REQUIRE(finding != nullptr);
  CHECK(std::get<std::string>(finding->patterns.front().facts.at(1).value) == "train.py(7): test");
  REQUIRE(finding->wall_a.has_value());
  // Nine tenths of 6 ops of 40 us in each of 4 steps.
  const double pass_ms = 4 * 6 * 0.040;
  CHECK(finding->wall_a->ms.high <= 0.91 * pass_ms);
  CHECK(finding->wall_a->ms.mid >= 0.7 * pass_ms);
}

TEST_CASE("waits of an evaluation go with it, but those of one in ten") {
  const Analyzed one = TrainedSteps([](TrainingScript& script, int) {
    script.Forward().Backward().Optimizer();
    const double from = script.now();
    script.Pass().Read().Wait().Wait().Wait().Frame("train.py(7): test", from).Wait();
  });
  const Finding* finding = EvaluationOf(one);
  REQUIRE(finding != nullptr);
  const auto& exact = finding->change_a->exact;
  const auto waits = std::ranges::find_if(exact, [](const analysis::Change& change) {
    return std::holds_alternative<analysis::RemoveWaits>(change);
  });
  REQUIRE(waits != exact.end());
  // Of 4 x 3 inside of it; the fourth of a step is behind it.
  CHECK(std::get<analysis::RemoveWaits>(*waits).calls.size() == 10);
}

TEST_CASE("a range named rollout beside an optimizer is reinforcement learning") {
  const auto family = [](const std::string& range, bool trains) {
    const Analyzed one = TrainedSteps([&](TrainingScript& script, int) {
      const double from = script.now();
      script.Pass(1).Range(range, from).Forward();
      if (trains) script.Backward().Optimizer();
    });
    return one.analysis.workload[WorkloadPart::kFamily].value;
  };
  CHECK(family("rollout", true) == "dense layers trained by reinforcement learning");
  CHECK(family("forward", true) == "dense layers");
  CHECK(family("rollout", false).find("reinforcement") == std::string::npos);
}

TEST_CASE("another batch, and a pass with autograd on, are evaluation as well") {
  CHECK(EvaluationOf(TrainedSteps([](TrainingScript& script, int) {
          script.Forward().Backward().Optimizer().Pass(128).Read();
        })) != nullptr);
  CHECK(EvaluationOf(TrainedSteps([](TrainingScript& script, int) {
          script.Forward().Backward().Optimizer().Forward().Read();
        })) != nullptr);
}

TEST_CASE("passes that training needs are no evaluation") {
  using Step = std::function<void(TrainingScript&, int)>;
  const std::pair<std::string, Step> needed[] = {
      {"a teacher, or a target network",
       [](TrainingScript& script, int) { script.Pass().Forward().Backward().Optimizer().Read(); }},
      {"gradients of two micro-batches",
       [](TrainingScript& script, int) {
         script.Forward().Backward().Forward().Backward().Optimizer().Read();
       }},
      {"nobody reads the result",
       [](TrainingScript& script, int) { script.Forward().Backward().Optimizer().Pass(); }},
      {"acting in an environment: few rows",
       [](TrainingScript& script, int) { script.Forward().Backward().Optimizer().Pass(1).Read(); }},
      {"acting in an environment: actions are sampled",
       [](TrainingScript& script, int) {
         script.Forward().Backward().Optimizer().Pass().Op("aten::multinomial", "[[64,8]]").Read();
       }},
      {"another model",
       [](TrainingScript& script, int) {
         script.Forward().Backward().Optimizer();
         for (int layer = 0; layer < 4; ++layer)
           script.Op("aten::linear", "[[64,96],[96,96],[96]]");
         script.Read();
       }},
      {"every other step evaluates",
       [](TrainingScript& script, int step) {
         script.Forward().Backward().Optimizer();
         if (step % 2 == 0) script.Pass();
         script.Read();
       }},
  };
  for (const auto& [name, step] : needed) {
    CAPTURE(name);
    CHECK(EvaluationOf(TrainedSteps(step)) == nullptr);
  }
  // The last step of an epoch.
  CHECK(
      EvaluationOf(TrainedSteps([](TrainingScript& script,
                                   int) { script.Forward().Backward().Optimizer().Pass().Read(); },
                                1)) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
