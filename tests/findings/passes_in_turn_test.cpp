// A model that runs several times in a step on inputs of equal sizes, and what only looks like it.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
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

// Steps of one model: ops of 30 us every 40, each with a kernel of 3 us.
class PassScript {
 public:
  PassScript& Op(const std::string& name, const std::string& dims) {
    Host(name, dims);
    text_.Kernel("k", at_ - 20, 3, id_, 7, grid_);
    return *this;
  }
  // An upload of so many bytes, or a read back.
  PassScript& Copy(const std::string& direction, int bytes) {
    Host("aten::copy_", "[[1],[1]]");
    text_.Memcpy(direction, at_ - 20, 3, id_, 7, fmt::format("\"bytes\":{}", bytes));
    return *this;
  }
  PassScript& Upload(int bytes) { return Copy("Memcpy HtoD (Pageable -> Device)", bytes); }
  PassScript& Read(int bytes) { return Copy("Memcpy DtoH (Device -> Pageable)", bytes); }
  // Kernels from here on have so many blocks.
  PassScript& Blocks(int blocks) {
    grid_ = fmt::format("\"grid\":[{},1,1],\"block\":[128,1,1]", blocks);
    return *this;
  }
  // The last ops are of a module.
  PassScript& Module(const std::string& name, double from) {
    text_.Module(name, from, at_ - from);
    return *this;
  }
  double now() const { return at_; }
  // A call of a module on a picture of so many pixels a side.
  PassScript& Picture(int side, int layers = 20) {
    const double from = at_;
    Op("aten::conv2d", fmt::format("[[1,3,{0},{0}],[64,3,7,7]]", side)).Layers(layers);
    return Module("Detector_0", from);
  }
  // From a latent of 4 channels and back to it.
  PassScript& Pass(int layers, int batch = 1, int channels = 4) {
    Op("aten::conv2d", fmt::format("[[{0},{1},32,32],[64,{1},3,3]]", batch, channels));
    Layers(layers);
    return Op("aten::conv2d", fmt::format("[[{0},64,32,32],[4,64,3,3]]", batch));
  }
  PassScript& Layers(int layers) {
    for (int layer = 0; layer < layers; ++layer) {
      Op("aten::group_norm", "[[1,64,32,32],[64]]");
      Op("aten::conv2d", "[[1,64,32,32],[64,64,3,3]]");
      Op("aten::add", "[[1,64,32,32],[1,64,32,32]]");
    }
    return *this;
  }
  PassScript& EndStep() {
    text_.Annotation(fmt::format("ProfilerStep#{}", step_++), begin_, at_ - begin_);
    at_ += 10;
    begin_ = at_;
    return *this;
  }
  Analyzed Run() const {
    TraceText text = text_;
    return Analyze(text, "H100", R"("deviceProperties":[{"id":0,"numSms":132}])");
  }

 private:
  void Host(const std::string& name, const std::string& dims) {
    ++id_;
    text_.Op(name, at_, 30, Shapes(dims, "float"));
    text_.Runtime("cudaLaunchKernel", at_ + 15, 3, id_);
    at_ += 40;
  }

  TraceText text_;
  double begin_ = 0, at_ = 10;
  int step_ = 0;
  std::int64_t id_ = 0;
  std::string grid_;
};

const Finding* PassesOf(const Analyzed& one) {
  return one.FindRule(Pattern::kPassesInTurn);
}

constexpr const char* kLatent = "[[1,4,32,32],[1,4,32,32]]";  // two of them

// The figures of steps of two guided passes, each with what comes before its first convolution.
const Finding& GuidedWith(const PassScript& script, std::optional<Analyzed>* kept) {
  *kept = script.Run();
  const Finding* finding = PassesOf(**kept);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  return *finding;
}

TEST_CASE("two passes of a step whose results meet are one batch") {
  PassScript script;
  for (int step = 0; step < 4; ++step) {
    for (int pass = 0; pass < 2; ++pass)
      script.Op("aten::cos", "[[1,96]]").Op("aten::linear", "[[1,96],[64,96],[64]]").Pass(20);
    script.Op("aten::sub", kLatent).Op("aten::mul", "[[1,4,32,32],[]]").EndStep();
  }
  std::optional<Analyzed> kept;
  const Finding& finding = GuidedWith(script, &kept);
  // The second of two passes: 64 ops of 40 us in each of 4 steps.
  const double passes_ms = 4 * 64 * 0.040;
  CHECK(finding.wall_a->ms.high <= 1.01 * passes_ms);
  CHECK(finding.wall_a->ms.mid >= 0.75 * passes_ms);
}

TEST_CASE("kernels of few blocks take no more for all passes than for one") {
  for (const int blocks : {8, 132}) {
    PassScript script;
    script.Blocks(blocks);
    for (int step = 0; step < 4; ++step)
      script.Pass(20).Pass(20).Op("aten::sub", kLatent).EndStep();
    std::optional<Analyzed> kept;
    const Finding& finding = GuidedWith(script, &kept);
    REQUIRE(finding.change_a->exact.size() == 2);
    const auto& scaled = std::get<analysis::ScaleGpu>(finding.change_a->exact[1]);
    CHECK(scaled.events.size() == 4 * 62);
    CHECK((scaled.factors.front() == 0.0) == (blocks == 8));
  }
}

TEST_CASE("passes on inputs that are uploaded one by one are one batch") {
  PassScript script;
  for (int step = 0; step < 3; ++step) {
    for (int image = 0; image < 6; ++image)
      script.Upload(4 * 4 * 32 * 32).Pass(20).Read(40);
    script.EndStep();
  }
  const Analyzed one = script.Run();
  REQUIRE(PassesOf(one) != nullptr);
  // A sampler whose scheduler is on the host: what is uploaded is made of what was read.
  PassScript host;
  for (int step = 0; step < 3; ++step) {
    for (int pass = 0; pass < 4; ++pass)
      host.Upload(4 * 4 * 32 * 32).Pass(20).Read(4 * 4 * 32 * 32);
    host.EndStep();
  }
  CHECK(PassesOf(host.Run()) == nullptr);
}

TEST_CASE("a pass that may need the one before is left alone") {
  // Nothing shows that the first pass' result is kept.
  PassScript handed;
  for (int step = 0; step < 4; ++step)
    handed.Pass(20).Pass(20).Op("aten::mul", "[[1,4,32,32],[]]").EndStep();
  CHECK(PassesOf(handed.Run()) == nullptr);
  // A sampler of the second order: half a step between its passes.
  PassScript second;
  for (int step = 0; step < 4; ++step)
    second.Pass(20).Op("aten::add", kLatent).Pass(20).Op("aten::sub", kLatent).EndStep();
  CHECK(PassesOf(second.Run()) == nullptr);
  // Few steps of a sampler in a request: each ends with the scheduler.
  PassScript steps;
  for (int request = 0; request < 3; ++request) {
    for (int step = 0; step < 4; ++step)
      steps.Pass(20).Op("aten::add", kLatent);
    steps.EndStep();
  }
  CHECK(PassesOf(steps.Run()) == nullptr);
  // Tokens that the pass before has chosen.
  const auto text = [](const char* between) {
    PassScript script;
    for (int step = 0; step < 4; ++step) {
      for (int pass = 0; pass < 2; ++pass)
        script.Op("aten::embedding", "[[9000,64],[1,77],[],[],[]]")
            .Layers(20)
            .Op(between, "[[1,9000],[],[]]");
      script.Op("aten::cat", "[[[1,77,64],[1,77,64]],[]]").EndStep();
    }
    return script;
  };
  CHECK(PassesOf(text("aten::argmax").Run()) == nullptr);
  CHECK(PassesOf(text("aten::softmax").Run()) != nullptr);
}

// Steps of four pictures, each handled as told.
Analyzed Pictures(const std::function<void(PassScript&, int picture)>& one) {
  PassScript script;
  for (int step = 0; step < 4; ++step) {
    for (int picture = 0; picture < 4; ++picture)
      one(script, picture);
    script.EndStep();
  }
  return script.Run();
}

TEST_CASE("calls on pictures of unlike sizes are one padded batch") {
  const int kSides[] = {400, 480, 512, 640};
  const Analyzed one = Pictures([&](PassScript& script, int picture) {
    script.Upload(3 * 640 * 640 * 4).Picture(kSides[picture]).Read(400);
  });
  const Finding* finding = PassesOf(one);
  REQUIRE(finding != nullptr);
  REQUIRE(finding->wall_a.has_value());
  // Of 4 x 3 later calls of 61 ops of 40 us half is expected to go, and three quarters at most.
  const double later_ms = 4 * 3 * 61 * 0.040;
  CHECK(finding->wall_a->ms.mid <= 0.5 * later_ms);
  CHECK(finding->wall_a->ms.mid >= 0.3 * later_ms);
  CHECK(finding->wall_a->ms.high <= 0.76 * later_ms);
  CHECK(finding->wall_a->ms.low >= 0.1 * later_ms);
}

TEST_CASE("calls on unlike sizes that are not uploaded, or of two modules, are left alone") {
  const int kSides[] = {400, 480, 512, 640};
  // Scales of one picture, made on the GPU.
  CHECK(PassesOf(Pictures([&](PassScript& script, int picture) {
          if (picture == 0) script.Upload(3 * 640 * 640 * 4);
          script.Op("aten::upsample", "[[1,3,640,640]]").Picture(kSides[picture]);
        })) == nullptr);
  // What is read back is as large as the next input.
  CHECK(PassesOf(Pictures([&](PassScript& script, int picture) {
          script.Upload(3 * 640 * 640 * 4).Picture(kSides[picture]).Read(3 * 640 * 640 * 4);
        })) == nullptr);
  CHECK(PassesOf(Pictures([&](PassScript& script, int picture) {
          script.Upload(3 * 640 * 640 * 4);
          const double from = script.now();
          script.Op("aten::conv2d", fmt::format("[[1,3,{0},{0}],[64,3,7,7]]", kSides[picture]));
          script.Layers(20).Module(picture % 2 == 0 ? "Detector_0" : "Other_0", from);
        })) == nullptr);
}

TEST_CASE("passes of two modules have weights of their own") {
  for (const bool same : {true, false}) {
    PassScript script;
    for (int step = 0; step < 4; ++step) {
      for (int pass = 0; pass < 2; ++pass) {
        const double from = script.now();
        script.Pass(20).Module(same || pass == 0 ? "Net_0" : "Net_1", from);
      }
      script.Op("aten::sub", kLatent).EndStep();
    }
    CHECK((PassesOf(script.Run()) != nullptr) == same);
  }
}

TEST_CASE("layers, other sizes, and many passes are no passes in turn") {
  // One pass a step: its layers repeat.
  PassScript layers;
  for (int step = 0; step < 4; ++step)
    layers.Pass(40).Op("aten::sub", kLatent).EndStep();
  CHECK(PassesOf(layers.Run()) == nullptr);
  // Two equal halves without an op that takes an input.
  PassScript halves;
  for (int step = 0; step < 4; ++step)
    halves.Layers(40).Op("aten::sub", kLatent).EndStep();
  CHECK(PassesOf(halves.Run()) == nullptr);
  // Passes on two sizes.
  PassScript sizes;
  for (int step = 0; step < 4; ++step)
    sizes.Pass(20, 1).Pass(20, 2).Op("aten::sub", kLatent).EndStep();
  CHECK(PassesOf(sizes.Run()) == nullptr);
  // Two models.
  PassScript models;
  for (int step = 0; step < 4; ++step)
    models.Pass(20).Pass(30).Op("aten::sub", kLatent).EndStep();
  CHECK(PassesOf(models.Run()) == nullptr);
  // As many as a sampler's steps: each needs the one before.
  PassScript sampler;
  for (int step = 0; step < 3; ++step) {
    for (int pass = 0; pass < 8; ++pass)
      sampler.Pass(20);
    sampler.EndStep();
  }
  CHECK(PassesOf(sampler.Run()) == nullptr);
}

TEST_CASE("passes of training are left alone") {
  PassScript script;
  for (int step = 0; step < 4; ++step)
    script.Pass(20)
        .Pass(20)
        .Op("aten::sub", kLatent)
        .Op("aten::convolution_backward", "[[1,4,32,32],[1,64,32,32]]")
        .EndStep();
  CHECK(PassesOf(script.Run()) == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
