#include <algorithm>
#include <string>

#include "workload.h"

namespace make_trace {
namespace {

constexpr std::int64_t kBucketElements = 24 << 20;  // 48 MiB of gradients, at most an eighth of all
constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

std::string RankList(int world) {
  std::string out = "[";
  for (int rank = 0; rank < world; ++rank) {
    if (rank > 0) out += ", ";
    AppendInt(out, rank);
  }
  return out + "]";
}

}  // namespace

void Workload::Backward() {
  backward_frames_ = {
      sim_.BeginFrame("torch/_tensor.py(648): backward", kNone),
      sim_.BeginFrame("torch/autograd/__init__.py(347): backward", kNone),
      sim_.BeginFrame("torch/autograd/graph.py(823): _engine_run_backward", kNone),
      sim_.BeginFrame("<built-in method run_backward of torch._C._EngineBase object at "
                      "0x7f3c1c05c7d0>",
                      kNone)};
  sim_.Spend(11'000);
  bucket_elements_ = 0;
  reduced_elements_ = 0;
  sim_.Switch(HostThread::kAutograd);
  sim_.backward = true;
  const std::vector<TapeNode>& tape = sim_.tape();
  for (auto node = tape.rbegin(); node != tape.rend(); ++node) {
    sim_.module = node->module;
    sim_.planted = node->planted == Planted::kUnfusedNorm ? node->planted : Planted::kNo;
    RunNode(*node);
  }
  sim_.planted = Planted::kNo;
  if (bucket_elements_ > 0) FlushBucket(true);
  sim_.module = {};
  sim_.backward = false;
}

void Workload::RunNode(const TapeNode& node) {
  const std::string_view evaluate =
      sim_.Keep("autograd::engine::evaluate_function: " + std::string(node.name));
  const std::size_t outer = sim_.BeginBare(evaluate, {}, false);
  Step& step = sim_.step();
  step.ops[outer].sequence = node.sequence;
  step.ops[outer].forward_thread = 1;
  const std::size_t inner = sim_.BeginOp(node.name, {node.a}, false);
  step.ops[inner].sequence = node.sequence;
  step.ops[inner].forward_thread = 1;
  step.ops[inner].flow = -node.flow;
  static_cast<void>(RunShapeNode(node) || RunNormNode(node) || RunBlockNode(node) ||
                    RunLossNode(node));
  sim_.EndOp(inner);
  sim_.EndOp(outer);
  if (node.name == "TBackward0" || node.name == "EmbeddingBackward0") Accumulate(node.a);
  if (node.name == "NativeLayerNormBackward0") Accumulate(node.b);
  if (node.name == "NativeLayerNormBackward0" || node.name == "FusedRmsNormBackward0" ||
      (node.name == "MulBackward0" && node.b.rank == 1))
    Accumulate(node.b);
}

bool Workload::RunShapeNode(const TapeNode& node) {
  if (node.name == "TBackward0") {
    Op t(sim_, "aten::t", {node.a.Transposed()});
    Op transpose(sim_, "aten::transpose", {node.a.Transposed(), Scalar{"0"}, Scalar{"1"}});
    Op strided(sim_, "aten::as_strided",
               {node.a.Transposed(), List{DimsText(node.a)}, List{"[1]"}, None{}});
  } else if (node.name == "ViewBackward0" || node.name == "UnsafeViewBackward0") {
    Op reshape(sim_, "aten::reshape", {node.b, List{DimsText(node.a)}});
    Op view(sim_, "aten::view", {node.b, List{DimsText(node.a)}});
  } else if (node.name == "TransposeBackward0") {
    Op transpose(sim_, "aten::transpose", {node.a, Scalar{"1"}, Scalar{"2"}});
    Op strided(sim_, "aten::as_strided", {node.a, List{DimsText(node.a)}, List{"[1]"}, None{}});
  } else if (node.name == "AddBackward0") {
    // The gradient of a sum is handed on; where two branches meet it is added up.
    if (node.a.dim[2] == 1) return true;
    Op add(sim_, "aten::add", {node.a, node.a, Scalar{"1"}});
    sim_.Launch(Kernel::kAdd, Elements(node.a, 3));
  } else {
    return false;
  }
  return true;
}

void Workload::Scale(const Tensor& x) {
  Op op(sim_, "aten::mul", {x, Scalar{"2"}});
  sim_.Launch(Kernel::kMulScalar, Elements(x, 2));
}

void Workload::Multiply(const Tensor& a, const Tensor& b) {
  Op op(sim_, "aten::mul", {a, b});
  sim_.Launch(Kernel::kMul, {2 * a.bytes() + b.bytes(), 0, a.elements()});
}

void Workload::SumTo(const Tensor& x, const Tensor& result, std::string_view dims) {
  Op op(sim_, "aten::sum", {x, List{std::string(dims)}, Scalar{"True"}, None{}});
  sim_.Launch(Kernel::kSum, {x.bytes() + result.bytes(), 0, x.elements()});
}

bool Workload::RunNormNode(const TapeNode& node) {
  if (node.name == "PowBackward0") {
    // x is used twice in the norm; its gradient is 2 g x plus what came the other way.
    if (sim_.planted == Planted::kUnfusedNorm)
      sim_.step().planted_ideal[static_cast<std::size_t>(Planted::kUnfusedNorm)] +=
          RooflineTime(sim_.device(), Info(Kernel::kRmsNormBackward), Elements(node.a, 3));
    {
      Op pow(sim_, "aten::pow", {node.a, Scalar{"1"}});
      sim_.Launch(Kernel::kPow, Elements(node.a, 2));
    }
    Scale(node.a);
    Multiply(node.a, node.a);
    Op add(sim_, "aten::add", {node.a, node.a, Scalar{"1"}});
    sim_.Launch(Kernel::kAdd, Elements(node.a, 3));
  } else if (node.name == "MeanBackward1") {
    {
      Op expand(sim_, "aten::expand", {node.b, List{DimsText(node.a)}, Scalar{"False"}});
      Op strided(sim_, "aten::as_strided", {node.b, List{DimsText(node.a)}, List{"[1]"}, None{}});
    }
    Op div(sim_, "aten::div", {node.a, Scalar{Number(hidden_)}});
    sim_.Launch(Kernel::kDiv, Elements(node.a, 1));
  } else if (node.name == "RsqrtBackward0") {
    {
      Op pow(sim_, "aten::pow", {node.a, Scalar{"3"}});
      sim_.Launch(Kernel::kPow, Elements(node.a, 2));
    }
    Scale(node.a);
    Multiply(node.a, node.a);
  } else if (node.name == "MulBackward0") {
    Multiply(node.a, node.b);
    Multiply(node.a, node.a);
    if (node.b.elements() < node.a.elements())
      SumTo(node.a, node.b, node.b.rank == 1 ? "[0, 1]" : "[2]");
  } else if (node.name == "FusedRmsNormBackward0") {
    Op op(sim_, "aten::_fused_rms_norm_backward", {node.a, node.a, node.b});
    sim_.Launch(Kernel::kRmsNormBackward, Elements(node.a, 3));
    sim_.Launch(Kernel::kRmsNormBackwardWeight, Elements(node.a, 2));
  } else if (node.name == "NativeLayerNormBackward0") {
    Op op(sim_, "aten::native_layer_norm_backward", {node.a, node.a, node.b});
    sim_.Launch(Kernel::kLayerNormBackward, Elements(node.a, 3));
    sim_.Launch(Kernel::kLayerNormBackwardWeight, Elements(node.a, 2));
  } else {
    return false;
  }
  return true;
}

void Workload::MmBackward(const TapeNode& node) {
  const Tensor grad = Shape({node.a.dim[0], node.b.dim[0]});
  {
    Op t(sim_, "aten::t", {grad});
    Op transpose(sim_, "aten::transpose", {grad, Scalar{"0"}, Scalar{"1"}});
  }
  {
    Op mm(sim_, "aten::mm", {grad.Transposed(), node.a});
    sim_.Allocate(static_cast<std::int64_t>(node.b.bytes()));
    RunGemm(grad.Transposed(), node.a, false);
  }
  Op mm(sim_, "aten::mm", {grad, node.b});
  RunGemm(grad, node.b, false);
}

void Workload::AttentionBackward(const TapeNode& node) {
  Op op(sim_, "aten::_scaled_dot_product_flash_attention_backward",
        {node.a, node.a, node.b, node.b, node.a, None{}, None{}, None{}, Scalar{"0."},
         Scalar{"True"}});
  Op flash(sim_, "aten::_flash_attention_backward",
           {node.a, node.a, node.b, node.b, node.a, None{}, None{}, None{}, Scalar{"0."},
            Scalar{"True"}});
  sim_.Launch(Kernel::kFlashBackwardDot, Elements(node.a, 2));
  Work work = Elements(node.a, 4);
  // Five products where the forward pass has two.
  work.flops = 5.0 * static_cast<double>(node.a.elements()) * static_cast<double>(seq_);
  sim_.Launch(Kernel::kFlashBackward, work);
  sim_.Launch(Kernel::kFlashBackwardConvert, Elements(node.a, 3));
}

bool Workload::RunBlockNode(const TapeNode& node) {
  if (node.name == "MmBackward0") {
    MmBackward(node);
  } else if (node.name == "ScaledDotProductFlashAttentionBackward0") {
    AttentionBackward(node);
  } else if (node.name == "ApplyRotaryBackward") {
    Frame frame(sim_, "torch/autograd/function.py(307): apply");
    Frame backward(sim_, "rotary.py(47): backward");
    sim_.Launch(Kernel::kRopeBackward, Elements(node.a, 2));
  } else if (node.name == "SiluBackward0") {
    Op op(sim_, "aten::silu_backward", {node.a, node.a});
    sim_.Launch(Kernel::kSiluBackward, Elements(node.a, 3));
  } else {
    return false;
  }
  return true;
}

bool Workload::RunLossNode(const TapeNode& node) {
  if (node.name == "LogSoftmaxBackward0") {
    Op op(sim_, "aten::_log_softmax_backward_data", {node.a, node.a, Scalar{"1"}, Scalar{"15"}});
    sim_.Allocate(static_cast<std::int64_t>(node.a.bytes()));
    sim_.Launch(Kernel::kLogSoftmaxBackward, Elements(node.a, 3));
  } else if (node.name == "NllLossBackward0") {
    Op op(sim_, "aten::nll_loss_backward", {node.a, node.a, node.b});
    sim_.Memset(static_cast<std::int64_t>(node.a.bytes()));
    sim_.Launch(Kernel::kNllBackward, Elements(node.b, 1));
  } else if (node.name == "EmbeddingBackward0") {
    Op op(sim_, "aten::embedding_backward", {Hidden(), node.b, Scalar{Number(options_.vocab)}});
    Op dense(sim_, "aten::embedding_dense_backward",
             {Hidden(), node.b, Scalar{Number(options_.vocab)}});
    {
      Op zeros(sim_, "aten::zeros", {List{DimsText(node.a)}, Scalar{"15"}});
      Op zero(sim_, "aten::zero_", {node.a});
      Op fill(sim_, "aten::fill_", {node.a, Scalar{"0"}});
      sim_.Launch(Kernel::kFill, Elements(node.a, 1));
    }
    sim_.Launch(Kernel::kEmbeddingBackward, Elements(Rows(), 2));
  } else {
    return false;
  }
  return true;
}

void Workload::Accumulate(const Tensor& parameter) {
  const PlantedScope not_planted(sim_, Planted::kNo);
  const std::size_t outer = sim_.BeginBare(
      "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", {}, false);
  {
    Op accumulate(sim_, kAccumulate, {parameter});
    Op detach(sim_, "aten::detach", {parameter});
    Op inner(sim_, "detach", {parameter});
  }
  if (options_.world > 1) {
    {
      Op scale(sim_, "torch::distributed::reducer::mul_out", {parameter});
      Op mul(sim_, "aten::mul", {parameter, Scalar{"0.125"}, parameter});
      sim_.Launch(Kernel::kMulScalar, Elements(parameter, 2));
    }
    bucket_elements_ += parameter.elements();
    // The planted job has one fat last bucket: when 40 % of the gradients are sent, the others wait
    // for the end.
    const bool hold = options_.planted && reduced_elements_ * 5 > parameter_elements_ * 2;
    const std::int64_t full = std::min(kBucketElements, parameter_elements_ / 8);
    if (bucket_elements_ >= full && !hold) FlushBucket(false);
  }
  sim_.EndOp(outer);
}

void Workload::FlushBucket(bool last) {
  const bool planted = last && options_.planted;
  const PlantedScope scope(sim_, planted ? Planted::kAllReduce : Planted::kNo);
  AllReduce(bucket_elements_);
  if (planted)
    sim_.step().planted_ideal[static_cast<std::size_t>(Planted::kAllReduce)] += AllReduceTime(
        sim_.device(), 2.0 * static_cast<double>(std::min(bucket_elements_, embedding_elements_)),
        options_.world);
  reduced_elements_ += bucket_elements_;
  bucket_elements_ = 0;
}

void Workload::AllReduce(std::int64_t elements) {
  const std::string ranks = RankList(options_.world);
  const std::string count = Number(elements);
  const Tensor bucket = Shape({elements});
  const Tensor buckets[] = {bucket};
  const std::span<const Tensor> list(buckets);
  Op allreduce(sim_, "c10d::allreduce_", {list, None{}, None{}, None{}, Scalar{"-1"}});
  const std::string common = "\"Collective name\": \"allreduce\", \"In msg nelems\": " + count +
                             ", \"Out msg nelems\": " + count +
                             ", \"Group size\": " + Number(options_.world) +
                             ", \"dtype\": \"BFloat16\", \"In split size\": \"[]\", "
                             "\"Out split size\": \"[]\", \"Process Group Name\": \"0\", "
                             "\"Process Group Description\": \"default_pg\", "
                             "\"Process Group Ranks\": \"" +
                             ranks + "\"";
  std::string inputs = common + ", \"Rank\": " + Number(sim_.rank()) +
                       ", \"Global rank start\": 0, \"Global rank stride\": 1, ";
  const Arg args[] = {
      list,       None{},     None{},      Scalar{"0"}, None{},
      List{"[]"}, List{"[]"}, Scalar{"0"}, Scalar{"1"}, Scalar{Number(options_.world)}};
  AppendInputs(inputs, args);
  const std::size_t comms = sim_.BeginBare("record_param_comms", inputs, false);
  sim_.CallOnly(Call::kIsCapturing);
  sim_.CallOnly(Call::kEventRecord);
  sim_.CallOnly(Call::kStreamWaitEvent);
  {
    Annotation nccl(sim_, "nccl:all_reduce");
    sim_.CallOnly(Call::kIsCapturing);
    std::string& text = sim_.step().text;
    const TextRef ref = {text.size(), common.size()};
    text += common;
    sim_.LaunchCollective(bucket.bytes(), ref);
  }
  sim_.CallOnly(Call::kEventRecord);
  sim_.EndOp(comms);
}

}  // namespace make_trace
