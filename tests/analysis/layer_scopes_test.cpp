#include "analysis/frames/layer_scopes.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/frames/time_frames.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

BaseOfTime BaseIn(const TraceText& text) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const FrameFacts facts = CollectFrameFacts({loaded.events(), loaded.tree, attribution});
  return MakeTimeFrames(facts).base;
}

// A program of layers, one behind the other, of 100 us each, in a scope with that name.
class Program {
 public:
  Program& Run(const std::string& scope, int kernels = 3) {
    text_.Annotation(scope, now_, 90);
    for (int k = 0; k < kernels; ++k) {
      text_.OpWithKernel("aten::mm", now_ + 25 * k, 20, fmt::format("kernel{}", k),
                         now_ + 25 * k + 10, 20, ++correlation_);
    }
    now_ += 100;
    return *this;
  }
  Program& Run(const char* pattern, int first, int end) {
    for (int i = first; i < end; ++i)
      Run(fmt::format(fmt::runtime(pattern), i));
    return *this;
  }
  // Launches whose work was not recorded any more.
  Program& CutOff() {
    for (int i = 0; i < 30; ++i)
      text_.Runtime("cudaLaunchKernel", now_ + 3 * i, 2, ++correlation_);
    return *this;
  }
  BaseOfTime Base() const { return BaseIn(text_); }

 private:
  TraceText text_;
  double now_ = 0;
  int correlation_ = 0;
};

constexpr const char* kBlock = "FSDP::pre_forward (blocks.{}.inner)";

TEST_CASE("a pass goes from a layer to its next run, and layers are none") {
  const BaseOfTime base =
      Program().Run(kBlock, 0, 6).Run(kBlock, 0, 6).Run(kBlock, 0, 6).Run(kBlock, 0, 6).Base();
  CHECK(base.unit == TimeUnit::kPass);
  CHECK(base.units.size() == 4);
  // The last one ends with its last work.
  CHECK(base.unit_ns() == 595'000);
}

TEST_CASE("a recording that begins amid a pass has passes from its first layer") {
  const BaseOfTime base =
      Program().Run(kBlock, 3, 6).Run(kBlock, 0, 6).Run(kBlock, 0, 6).Run(kBlock, 0, 5).Base();
  CHECK(base.unit == TimeUnit::kPass);
  CHECK(base.unit_ns() == 600'000);
}

TEST_CASE("layers of one pass are no units: figures are of the recording") {
  const BaseOfTime base = Program().Run(kBlock, 2, 14).CutOff().Base();
  CHECK(base.unit == TimeUnit::kRecording);
  CHECK(base.part_of_pass);
  CHECK(base.reason.find("blocks.2.inner") != std::string::npos);
  // All layers of a model may be there: then nothing says that it is a part.
  CHECK_FALSE(Program().Run(kBlock, 0, 12).Base().part_of_pass);
}

TEST_CASE("what is counted is iterations, and one scope again and again is one, too") {
  for (const char* pattern : {"request {} of 12", "train.step.{}", "batch {}"}) {
    CAPTURE(pattern);
    const BaseOfTime base = Program().Run(pattern, 0, 12).Base();
    CHECK(base.unit == TimeUnit::kIteration);
    CHECK(base.units.size() == 12);
    CHECK_FALSE(base.part_of_pass);
  }
  Program one;
  for (int i = 0; i < 12; ++i)
    one.Run("model.layers.7");
  CHECK(one.Base().unit == TimeUnit::kIteration);
}

TEST_CASE("layers are named by paths of modules or by words") {
  CHECK(LayerNumberOf("encoder.block.14.layer.0") == 14);
  CHECK(LayerNumberOf("FSDP::post_forward (blocks.2._checkpoint_wrapped_module)") == 2);
  CHECK(LayerNumberOf("layer_12") == 12);
  CHECK(LayerNumberOf("Layer 3") == 3);
  CHECK(LayerNumberOf("stages.1.blocks.5") == 5);
  for (const char* other : {"request 17 of 32", "train.step.5", "epoch.3", "torch 2.11", "v1.2",
                            "rank 3", "nccl:all_reduce", "conv2d", ""}) {
    CAPTURE(other);
    CHECK_FALSE(LayerNumberOf(other));
  }
}

}  // namespace
}  // namespace jarvis::analysis
