#include <algorithm>
#include <span>
#include <string>

#include "workload.h"

namespace make_trace {
namespace {

constexpr int kTokenClasses = 80;  // counted one by one in the launch-bound stretch
constexpr std::int64_t kElementsPerMultiTensorKernel = 48 << 20;

}  // namespace

void Workload::FinishStep() {
  if (options_.world > 1) sim_.WaitForComm();
  sim_.Spend(9000);
  sim_.Switch(HostThread::kMain);
  sim_.Spend(21'000);
  for (auto frame = backward_frames_.rbegin(); frame != backward_frames_.rend(); ++frame)
    sim_.EndFrame(*frame);
  ClipGradients();
  OptimizerStep();
  ReadLoss();
  if (options_.planted) CountTokens();
  if (options_.planted) ReadLoss();
  for (const std::size_t frame : step_frames_)
    sim_.EndFrame(frame);
  sim_.EndOp(step_annotation_);
  Step& step = sim_.step();
  step.dur = step.ops[step_annotation_].dur;
}

void Workload::ClipGradients() {
  Frame frame(sim_, "torch/nn/utils/clip_grad.py(38): _no_grad_wrapper");
  Frame clip(sim_, "torch/nn/utils/clip_grad.py(173): clip_grad_norm_");
  const std::span<const Tensor> all(parameters_);
  const std::int64_t kernels = parameter_elements_ / kElementsPerMultiTensorKernel + 1;
  const std::int64_t share = parameter_elements_ / kernels;
  {
    Op norm(sim_, "aten::_foreach_norm", {all, Scalar{"2"}, None{}});
    for (std::int64_t i = 0; i < kernels; ++i)
      sim_.Launch(Kernel::kForeachNorm, {2.0 * static_cast<double>(share), 0, share});
  }
  const Tensor norms = Shape({static_cast<std::int64_t>(parameters_.size())});
  {
    Op norm(sim_, "aten::linalg_vector_norm",
            {norms, Scalar{"2"}, None{}, Scalar{"False"}, None{}});
    sim_.Launch(Kernel::kSum, Elements(norms, 1));
  }
  Op mul(sim_, "aten::_foreach_mul_", {all, Shape({})});
  for (std::int64_t i = 0; i < kernels; ++i)
    sim_.Launch(Kernel::kForeachMul, {4.0 * static_cast<double>(share), 0, share});
}

void Workload::OptimizerStep() {
  const std::span<const Tensor> all(parameters_);
  {
    Frame wrapper(sim_, "torch/optim/optimizer.py(493): wrapper");
    Annotation annotation(sim_, "Optimizer.step#AdamW.step");
    Frame grad(sim_, "torch/optim/optimizer.py(79): _use_grad");
    Frame step(sim_, "torch/optim/adam.py(236): step");
    {
      Frame init(sim_, "torch/optim/adam.py(166): _init_group");
      sim_.Spend(static_cast<Ns>(parameters_.size()) * 1900);
    }
    Frame fused(sim_, "torch/optim/adam.py(791): _fused_adam");
    Op op(sim_, "aten::_fused_adamw_",
          {all, all, all, all, None{}, None{}, Scalar{"0.0003"}, Scalar{"0.9"}, Scalar{"0.95"},
           Scalar{"0.1"}, Scalar{"1e-08"}, Scalar{"False"}, Scalar{"False"}, None{}, None{}});
    const std::int64_t kernels = parameter_elements_ / kElementsPerMultiTensorKernel + 1;
    const std::int64_t share = parameter_elements_ / kernels;
    // Parameter, two moments: read and written; gradient: read. Two bytes each.
    for (std::int64_t i = 0; i < kernels; ++i)
      sim_.Launch(Kernel::kFusedAdam, {14.0 * static_cast<double>(share), 0, share});
  }
  Frame compile(sim_, "torch/_compile.py(40): inner");
  Frame zero(sim_, "torch/optim/optimizer.py(969): zero_grad");
  Annotation annotation(sim_, "Optimizer.zero_grad#AdamW.zero_grad");
  sim_.Spend(static_cast<Ns>(parameters_.size()) * 800);
}

void Workload::ReadLoss() {
  Frame frame(sim_, "train.py(97): read_loss");
  Frame builtin(sim_, "<built-in method item of Tensor object at 0x7f3b1c0b1170>");
  const Tensor loss = Shape({});
  Op item(sim_, "aten::item", {loss});
  Op dense(sim_, "aten::_local_scalar_dense", {loss});
  sim_.Memcpy("Memcpy DtoH (Device -> Pinned)", 2);
  sim_.Synchronize(Call::kStreamSynchronize);
}

// The GPU has nothing to do but wait: each count is three kernels of two microseconds, and Python
// needs longer than that to ask for one.
void Workload::CountTokens() {
  const PlantedScope planted(sim_, Planted::kLaunchBound);
  Step& step = sim_.step();
  step.launch_bound_begin = sim_.compute_free();
  Frame stats(sim_, "train.py(104): log_token_stats");
  Frame frame(sim_, "metrics.py(57): count_tokens");
  const Tensor labels = Shape({batch_, seq_}, kLong);
  for (int token = 0; token < kTokenClasses; ++token) {
    const std::string text = Number(token);
    {
      Frame builtin(sim_, "<built-in method eq of Tensor object at 0x7f3b1c0b2f90>");
      Op op(sim_, "aten::eq", {labels, Scalar{text}});
      sim_.Launch(Kernel::kEqual, {labels.bytes() * 1.125, 0, labels.elements()});
    }
    {
      Frame builtin(sim_, "<built-in method sum of Tensor object at 0x7f3b1c0b30a0>");
      Op op(sim_, "aten::sum", {labels.As(kBool), None{}});
      sim_.Launch(Kernel::kSumLong, {labels.bytes() * 0.125, 0, labels.elements()});
    }
    {
      Frame builtin(sim_, "<built-in method select of Tensor object at 0x7f3b1c0b31b0>");
      Op op(sim_, "aten::select", {Shape({kTokenClasses}, kLong), Scalar{"0"}, Scalar{text}});
    }
    Op op(sim_, "aten::add_", {Shape({}, kLong), Shape({}, kLong), Scalar{"1"}});
    sim_.Launch(Kernel::kAddScalar, {16, 0, 1});
  }
  step.launch_bound_end = sim_.compute_free();
}

}  // namespace make_trace
