// Units of programs that generate token by token: passes over one size after a pass over another.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/frames/time_frames.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

using OpsAndKernels = std::vector<std::pair<std::string, std::string>>;

// One op after the other, each with its kernel, every 20 us.
class Generation {
 public:
  Generation& Run(const OpsAndKernels& work) {
    for (const auto& [op, kernel] : work) {
      text_.OpWithKernel(op, at_, 15, kernel, at_ + 10, 8, ++id_);
      at_ += 20;
    }
    return *this;
  }
  BaseOfTime Base() const {
    const Loaded loaded = Load(text_);
    const Attribution attribution = Attribute(loaded.events(), loaded.tree);
    return MakeTimeFrames(CollectFrameFacts({loaded.events(), loaded.tree, attribution})).base;
  }

 private:
  TraceText text_;
  double at_ = 10;
  int id_ = 0;
};

OpsAndKernels PassOver(const std::string& size, int layers) {
  OpsAndKernels work = {{"aten::embedding", "gather_" + size}};
  for (int i = 0; i < layers; ++i) {
    work.insert(work.end(), {{"aten::mm", "gemm_" + size},
                             {"aten::softmax", "softmax_" + size},
                             {"aten::mm", "gemm_" + size},
                             {"aten::add", "add_" + size}});
  }
  work.insert(work.end(), {{"aten::mm", "head_" + size}, {"aten::argmax", "argmax"}});
  return work;
}

TEST_CASE("tokens after a prompt are passes, whose kernels are not those of the prompt") {
  Generation decode;
  decode.Run({{"aten::triu", "triu"}}).Run(PassOver("prompt", 4));
  for (int token = 0; token < 12; ++token)
    decode.Run(PassOver("token", 4));
  const BaseOfTime base = decode.Base();
  CHECK(base.source == StepSource::kKernelPeriod);
  CHECK(base.count == 12);
}

TEST_CASE("layers amid one pass are no units") {
  // An embedding before them and a head behind them, of ops that no layer has or of kernels that
  // none has.
  CHECK(Generation().Run(PassOver("x", 30)).Base().source == StepSource::kNone);
  Generation stack;
  stack.Run({{"aten::mm", "gemm_in"}});
  for (int i = 0; i < 30; ++i)
    stack.Run({{"aten::mm", "gemm"}, {"aten::softmax", "softmax"}, {"aten::add", "add"}});
  stack.Run({{"aten::mm", "gemm_out"}});
  CHECK(stack.Base().source == StepSource::kNone);
}

}  // namespace
}  // namespace jarvis::analysis
