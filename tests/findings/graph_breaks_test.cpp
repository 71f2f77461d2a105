// Compiled code that branches on a value: the parts it falls into, and waits that only look so.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/wall_classes.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

enum class ReadsValue {
  kInPart,      // the graph breaks in each layer
  kEager,       // the same ops, nothing is compiled
  kOutside,     // each layer's result is read by who calls the compiled layer
  kAtEnd,       // of the last layer of a pass alone
  kInTheGraph,  // the part goes on launching: its graph holds the read
};

constexpr int kPasses = 3, kLayersEach = 8;

// Passes of eight layers of three kernels and a check of one, as torch.compile's profile shows
// them.
class CompiledPasses {
 public:
  explicit CompiledPasses(ReadsValue reads) : reads_(reads) {}

  TraceText Run() {
    for (int pass = 0; pass < kPasses; ++pass) {
      const double start = at_;
      for (int layer = 0; layer < kLayersEach; ++layer)
        Layer(layer + 1 == kLayersEach);
      text_.Annotation(fmt::format("ProfilerStep#{}", pass), start, at_ + 5 - start);
      at_ += 10;
    }
    return std::move(text_);
  }

 private:
  void Launch(const char* op) {
    const double start = std::max(at_ + 12, free_ + 1);
    text_.OpWithKernel(op, at_, 10, op, start, 4, ++id_);
    free_ = start + 4;
    at_ += 22;
  }

  void Read() {
    const double done = std::max(at_ + 25, free_ + 8);
    text_.Op("aten::is_nonzero", at_, done + 4 - at_).Op("aten::item", at_ + 1, done + 2 - at_);
    text_.Op("aten::_local_scalar_dense", at_ + 2, done - at_);
    text_.Runtime("cudaMemcpyAsync", at_ + 3, 8, ++id_);
    text_.Memcpy("Memcpy DtoH (Device -> Pageable)", std::max(at_ + 13, free_ + 1), 1, id_);
    text_.Runtime("cudaStreamSynchronize", at_ + 13, done - at_ - 13, ++id_);
    at_ = done + 6;
  }

  double BeginPart() {
    if (reads_ == ReadsValue::kEager) return at_;
    text_.Op("TorchDynamo Cache Lookup", at_, 10);
    at_ += 12;
    const double begin = at_;
    at_ += 40;
    return begin;
  }
  void EndPart(const char* name, double begin) {
    at_ += 10;
    if (reads_ != ReadsValue::kEager) text_.Op(name, begin, at_ - begin);
    at_ += 2;
  }

  void Layer(bool last) {
    const double layer = BeginPart();
    for (int i = 0; i < 3; ++i)
      Launch("triton_poi_fused_mul");
    const double check = BeginPart();
    Launch("triton_red_fused_any");
    const bool in_part = reads_ == ReadsValue::kInPart || reads_ == ReadsValue::kInTheGraph ||
                         reads_ == ReadsValue::kEager || (reads_ == ReadsValue::kAtEnd && last);
    if (in_part) Read();
    if (reads_ == ReadsValue::kInTheGraph) Launch("triton_poi_fused_mul");
    EndPart("Torch-Compiled Region: 2/0", check);
    EndPart("Torch-Compiled Region: 1/0", layer);
    if (reads_ == ReadsValue::kOutside) Read();
  }

  const ReadsValue reads_;
  TraceText text_;
  double at_ = 100, free_ = 0;
  int id_ = 0;
};

TEST_CASE("a branch on a value in compiled code breaks its graph, and costs what lies between") {
  const Analyzed one = Analyze(CompiledPasses(ReadsValue::kInPart).Run());
  const Finding* found = one.Find("cpu_idle", "graph_breaks");
  REQUIRE(found != nullptr);
  REQUIRE_FALSE(found->path_a.empty());
  CHECK(found->path_a.front().advice == Advice::kKeepGraphWhole);
  // Behind the last layer of a pass no other part of it begins.
  CHECK(found->host->count == kPasses * (kLayersEach - 1));
  CHECK(found->host->parts == kPasses * kLayersEach * 2);
  // Of the host, some 120 us before the read and after it each.
  const double between_ms = found->host->total_ms;
  CHECK(between_ms > 0.18 * kPasses * (kLayersEach - 1));
  CHECK(between_ms < 0.30 * kPasses * (kLayersEach - 1));
  REQUIRE(BestWall(*found) != nullptr);
  const Range& saved = BestWall(*found)->ms;
  CHECK(saved.high <= between_ms + 0.1);
  CHECK(saved.high > 0.6 * between_ms);
  CHECK(saved.low < 0.8 * saved.high);
}

TEST_CASE("other reads of values break no graph") {
  const auto breaks = [](ReadsValue reads) {
    return Analyze(CompiledPasses(reads).Run()).Find("cpu_idle", "graph_breaks") != nullptr;
  };
  CHECK_FALSE(breaks(ReadsValue::kEager));
  CHECK_FALSE(breaks(ReadsValue::kOutside));
  CHECK_FALSE(breaks(ReadsValue::kAtEnd));
  CHECK_FALSE(breaks(ReadsValue::kInTheGraph));
}

}  // namespace
}  // namespace jarvis::findings
