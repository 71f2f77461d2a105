// A training step of a decoder-only transformer, played on a simulator: forward, backward with
// gradient buckets, optimizer, and some bookkeeping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator.h"
#include "tensor.h"

namespace make_trace {

class Workload {
 public:
  explicit Workload(Simulator& sim);

  // Up to the end of the backward pass; sim.collectives() then waits to be completed.
  void BeginStep(int number);
  void FinishStep();

 private:
  struct Linear {
    std::int64_t number;
    Tensor weight;
    Planted planted = Planted::kNo;
  };

  // forward.cpp
  void NextBatch();
  void CopyToDevice(const Tensor& tensor);
  void Forward();
  void Embed();
  void Layer(std::int64_t layer);
  void Attention(std::int64_t layer);
  void FeedForward(std::int64_t layer);
  void RunLinear(const Linear& linear, const Tensor& x);
  void RunGemm(const Tensor& a, const Tensor& b, bool planted);
  void RmsNorm(std::int64_t number);
  void UnfusedNorm();
  void FinalNorm();
  void Rotate(const Tensor& x);
  void ScaledDotProduct(const Tensor& q, const Tensor& kv);
  void ResidualAdd();
  void Loss();
  void View(std::string_view op, std::string_view node, const Tensor& from, const Tensor& to);
  void Elementwise(std::string_view op, Kernel kernel, const Tensor& a, const Tensor& b,
                   std::string_view node);
  void GetAttribute();

  // backward.cpp
  void Backward();
  void RunNode(const TapeNode& node);
  bool RunShapeNode(const TapeNode& node);
  bool RunNormNode(const TapeNode& node);
  bool RunBlockNode(const TapeNode& node);
  bool RunLossNode(const TapeNode& node);
  void MmBackward(const TapeNode& node);
  void AttentionBackward(const TapeNode& node);
  void Accumulate(const Tensor& parameter);
  void Scale(const Tensor& x);
  void Multiply(const Tensor& a, const Tensor& b);
  void SumTo(const Tensor& x, const Tensor& result, std::string_view dims);
  void FlushBucket(bool last);
  void AllReduce(std::int64_t elements);

  // optimizer.cpp
  void ClipGradients();
  void OptimizerStep();
  void CountTokens();
  void ReadLoss();

  Tensor Hidden() const { return Shape({batch_, seq_, hidden_}); }
  Tensor Rows() const { return Shape({batch_ * seq_, hidden_}); }
  Work Elements(const Tensor& out, double passes) const {
    return {out.bytes() * passes, 0, out.elements()};
  }

  Simulator& sim_;
  const Options& options_;
  std::int64_t batch_;
  std::int64_t seq_;
  std::int64_t hidden_;
  std::vector<Tensor> parameters_;
  std::int64_t parameter_elements_ = 0;
  std::int64_t reduced_elements_ = 0;
  std::int64_t bucket_elements_ = 0;
  std::int64_t embedding_elements_ = 0;
  std::size_t step_annotation_ = 0;
  std::vector<std::size_t> step_frames_;
  std::vector<std::size_t> backward_frames_;
};

}  // namespace make_trace
