#include <string>

#include "workload.h"

namespace make_trace {
namespace {

Tensor Expanded(Tensor tensor, std::int64_t heads) {
  tensor.dim[1] = heads;
  tensor.stride[1] = 0;
  return tensor;
}

}  // namespace

Workload::Workload(Simulator& sim)
    : sim_(sim),
      options_(sim.options()),
      batch_(options_.batch),
      seq_(options_.seq),
      hidden_(options_.hidden) {
  const std::int64_t inner = options_.inner();
  parameters_.push_back(Shape({options_.vocab, hidden_}));
  embedding_elements_ = parameters_.back().elements();
  for (int layer = 0; layer < options_.layers; ++layer) {
    const auto matrix = [&](std::int64_t n, std::int64_t k) {
      parameters_.push_back(Shape({n, k}));
    };
    parameters_.push_back(Shape({hidden_}));
    matrix(hidden_, hidden_);
    matrix(128, hidden_);
    matrix(128, hidden_);
    matrix(hidden_, hidden_);
    parameters_.push_back(Shape({hidden_}));
    matrix(inner, hidden_);
    matrix(inner, hidden_);
    matrix(hidden_, inner);
  }
  parameters_.push_back(Shape({hidden_}));
  parameters_.push_back(Shape({hidden_}));
  parameters_.push_back(Shape({options_.vocab, hidden_}));
  for (const Tensor& parameter : parameters_)
    parameter_elements_ += parameter.elements();
  sim_.OpenOuterFrame("train.py(142): <module>");
  sim_.OpenOuterFrame("train.py(118): main");
}

void Workload::BeginStep(int number) {
  sim_.Switch(HostThread::kMain);
  Step& step = sim_.step();
  step.Clear();
  sim_.tape().clear();
  sim_.collectives().clear();
  step.number = number;
  {
    Frame profiler(sim_, "torch/profiler/profiler.py(821): step");
    Frame enter(sim_, "torch/autograd/profiler.py(751): __enter__");
    Frame call(sim_, "torch/_ops.py(1112): __call__");
    sim_.Spend(9000);
  }
  step_annotation_ = sim_.BeginBare(sim_.Keep("ProfilerStep#" + Number(number)), {}, true);
  step.ts = step.ops[step_annotation_].ts;
  step_frames_ = {sim_.BeginFrame("train.py(88): training_step", kNone)};
  NextBatch();
  Forward();
  Loss();
  Backward();
}

void Workload::CopyToDevice(const Tensor& tensor) {
  Frame frame(sim_, "<built-in method to of Tensor object at 0x7f3b1c0a5e40>");
  Op to(sim_, "aten::to",
        {tensor, None{}, Scalar{"cuda:0"}, None{}, Scalar{"True"}, Scalar{"False"}, None{}});
  Op copy(sim_, "aten::_to_copy",
          {tensor, None{}, None{}, Scalar{"cuda:0"}, None{}, Scalar{"True"}, None{}});
  {
    Op empty(sim_, "aten::empty_strided",
             {List{DimsText(tensor)}, List{"[" + Number(tensor.stride[0]) + ", 1]"}, Scalar{"4"},
              Scalar{"0"}, Scalar{"cuda:0"}, None{}});
  }
  Op copy_into(sim_, "aten::copy_", {tensor, tensor, Scalar{"True"}});
  sim_.Memcpy("Memcpy HtoD (Pinned -> Device)", static_cast<std::int64_t>(tensor.bytes()));
}

void Workload::NextBatch() {
  Frame frame(sim_, "train.py(61): next_batch");
  {
    Frame next(sim_, "torch/utils/data/dataloader.py(733): __next__");
    Frame data(sim_, "torch/utils/data/dataloader.py(789): _next_data");
    sim_.Spend(38'000);
  }
  CopyToDevice(Shape({batch_, seq_}, kLong));
  CopyToDevice(Shape({batch_, seq_}, kLong));
}

void Workload::GetAttribute() {
  Frame frame(sim_, "torch/nn/modules/module.py(1915): __getattr__");
}

void Workload::Forward() {
  const auto model = [&] {
    ModuleScope transformer(sim_, "Transformer", 0, "model.py(243): forward");
    Embed();
    for (int layer = 0; layer < options_.layers; ++layer)
      Layer(layer);
    FinalNorm();
    GetAttribute();
    RunLinear({7 * options_.layers, parameters_.back()}, Hidden());
  };
  if (options_.world == 1) return model();
  ModuleScope ddp(sim_, "DistributedDataParallel", 0,
                  "torch/nn/parallel/distributed.py(1637): forward");
  Annotation annotation(sim_, "DistributedDataParallel.forward");
  Frame pre(sim_, "torch/nn/parallel/distributed.py(1529): _run_ddp_forward");
  model();
}

void Workload::Embed() {
  ModuleScope module(sim_, "Embedding", 0, "torch/nn/modules/sparse.py(190): forward");
  Frame functional(sim_, "torch/nn/functional.py(2551): embedding");
  Frame builtin(sim_, "<built-in method embedding of type object at 0x7f3e5c1b2a40>");
  const Tensor ids = Shape({batch_, seq_}, kLong);
  Op op(sim_, "aten::embedding",
        {parameters_.front(), ids, Scalar{"-1"}, Scalar{"False"}, Scalar{"False"}}, true);
  sim_.Record("EmbeddingBackward0", parameters_.front(), ids);
  {
    Op reshape(sim_, "aten::reshape", {ids, List{"[-1]"}});
    Op view(sim_, "aten::view", {ids, List{"[" + Number(ids.elements()) + "]"}});
  }
  Op select(sim_, "aten::index_select",
            {parameters_.front(), Scalar{"0"}, Shape({ids.elements()}, kLong)});
  {
    Op empty(sim_, "aten::empty",
             {List{DimsText(Rows())}, Scalar{"15"}, Scalar{"0"}, Scalar{"cuda:0"}, None{}, None{}});
    sim_.Allocate(static_cast<std::int64_t>(Rows().bytes()));
  }
  sim_.Launch(Kernel::kEmbedding, Elements(Rows(), 2));
}

void Workload::Layer(std::int64_t layer) {
  ModuleScope module(sim_, "DecoderLayer", layer, "model.py(187): forward");
  GetAttribute();
  RmsNorm(2 * layer);
  GetAttribute();
  Attention(layer);
  ResidualAdd();
  GetAttribute();
  RmsNorm(2 * layer + 1);
  GetAttribute();
  FeedForward(layer);
  ResidualAdd();
}

void Workload::ResidualAdd() {
  Op op(sim_, "aten::add", {Hidden(), Hidden(), Scalar{"1"}}, true);
  sim_.Record("AddBackward0", Hidden());
  sim_.Launch(Kernel::kAdd, Elements(Rows(), 3));
}

void Workload::View(std::string_view op_name, std::string_view node, const Tensor& from,
                    const Tensor& to) {
  Op op(sim_, op_name, {from, List{DimsText(to)}}, true);
  sim_.Record(node, from, to);
}

void Workload::RunGemm(const Tensor& a, const Tensor& b, bool planted) {
  const double m = static_cast<double>(a.dim[0]);
  const double k = static_cast<double>(a.dim[1]);
  const double n = static_cast<double>(b.dim[1]);
  const Work work = {2 * (m * k + k * n + m * n), 2 * m * n * k, a.dim[0] * b.dim[1]};
  if (options_.platform == Platform::kH100) sim_.CallOnly(Call::kFuncAttribute);
  const KernelInfo& info = Info(Kernel::kGemm);
  sim_.Launch(planted ? Kernel::kGemmSkinny : Kernel::kGemm, work,
              planted ? kPlantedGemmEfficiency : kUsualEfficiency);
  if (planted)
    sim_.step().planted_ideal[static_cast<std::size_t>(Planted::kSkinnyGemm)] +=
        RooflineTime(sim_.device(), info, work);
}

void Workload::RunLinear(const Linear& linear, const Tensor& x) {
  ModuleScope module(sim_, "Linear", linear.number, "torch/nn/modules/linear.py(125): forward");
  GetAttribute();
  Frame builtin(sim_, "<built-in function linear>");
  const Tensor& weight = linear.weight;
  const Tensor rows = Shape({x.elements() / weight.dim[1], weight.dim[1]});
  const Tensor out_rows = Shape({rows.dim[0], weight.dim[0]});
  Op op(sim_, "aten::linear", {x, weight, None{}}, true);
  {
    Op t(sim_, "aten::t", {weight}, true);
    sim_.Record("TBackward0", weight);
    Op transpose(sim_, "aten::transpose", {weight, Scalar{"0"}, Scalar{"1"}});
    Op strided(sim_, "aten::as_strided",
               {weight, List{DimsText(weight.Transposed())},
                List{"[1, " + Number(weight.dim[1]) + "]"}, None{}});
  }
  Op matmul(sim_, "aten::matmul", {x, weight.Transposed()}, true);
  {
    Op reshape(sim_, "aten::reshape", {x, List{DimsText(rows)}}, true);
    View("aten::view", "ViewBackward0", x, rows);
  }
  {
    const PlantedScope planted(sim_, linear.planted);
    Op mm(sim_, "aten::mm", {rows, weight.Transposed()}, true);
    sim_.Record("MmBackward0", rows, weight);
    RunGemm(rows, weight.Transposed(), linear.planted != Planted::kNo);
  }
  View("aten::_unsafe_view", "UnsafeViewBackward0", out_rows, Shape({batch_, seq_, weight.dim[0]}));
}

void Workload::Attention(std::int64_t layer) {
  ModuleScope module(sim_, "Attention", layer, "model.py(112): forward");
  const Planted skinny = options_.planted ? Planted::kSkinnyGemm : Planted::kNo;
  const Tensor hidden = Hidden();
  const std::int64_t heads = options_.heads();
  GetAttribute();
  RunLinear({7 * layer, Shape({hidden_, hidden_})}, hidden);
  GetAttribute();
  RunLinear({7 * layer + 1, Shape({128, hidden_}), skinny}, hidden);
  GetAttribute();
  RunLinear({7 * layer + 2, Shape({128, hidden_}), skinny}, hidden);
  const Tensor q = Shape({batch_, seq_, heads, 128});
  const Tensor kv = Shape({batch_, seq_, 1, 128});
  View("aten::view", "ViewBackward0", hidden, q);
  View("aten::view", "ViewBackward0", Shape({batch_, seq_, 128}), kv);
  View("aten::view", "ViewBackward0", Shape({batch_, seq_, 128}), kv);
  Rotate(q);
  Rotate(kv);
  ScaledDotProduct(q, kv);
  View("aten::view", "ViewBackward0", q, hidden);
  GetAttribute();
  RunLinear({7 * layer + 3, Shape({hidden_, hidden_})}, hidden);
}

void Workload::Rotate(const Tensor& x) {
  Frame rotary(sim_, "rotary.py(66): apply_rotary");
  Frame apply(sim_, "torch/autograd/function.py(576): apply");
  Op op(sim_, "ApplyRotary", {x, Shape({seq_, 64}), Shape({seq_, 64})}, true);
  sim_.Record("ApplyRotaryBackward", x);
  Frame forward(sim_, "rotary.py(31): forward");
  { Op empty(sim_, "aten::empty_like", {x, None{}, None{}, None{}, None{}, None{}}); }
  sim_.Launch(Kernel::kRope, Elements(x, 2));
}

void Workload::ScaledDotProduct(const Tensor& q, const Tensor& kv) {
  Frame builtin(sim_, "<built-in function scaled_dot_product_attention>");
  const std::int64_t heads = options_.heads();
  const Tensor query = Shape({batch_, heads, seq_, 128});
  const Tensor key = Expanded(Shape({batch_, 1, seq_, 128}), heads);
  for (const Tensor& one : {q, kv, kv}) {
    Op transpose(sim_, "aten::transpose", {one, Scalar{"1"}, Scalar{"2"}}, true);
    sim_.Record("TransposeBackward0", one);
  }
  Op sdpa(sim_, "aten::scaled_dot_product_attention",
          {query, key, key, None{}, Scalar{"0."}, Scalar{"True"}, None{}, Scalar{"True"}}, true);
  Op choose(sim_, "aten::_scaled_dot_product_flash_attention",
            {query, key, key, Scalar{"0."}, Scalar{"True"}, Scalar{"False"}, None{}}, true);
  sim_.Record("ScaledDotProductFlashAttentionBackward0", query, key);
  Op flash(sim_, "aten::_flash_attention_forward",
           {query, key, key, None{}, None{}, Scalar{Number(seq_)}, Scalar{Number(seq_)},
            Scalar{"0."}, Scalar{"True"}, Scalar{"False"}, None{}, None{}, None{}, None{}, None{}});
  {
    Op empty(sim_, "aten::empty_like", {query, None{}, None{}, None{}, None{}, None{}});
    sim_.Allocate(static_cast<std::int64_t>(query.bytes()));
  }
  sim_.CallOnly(Call::kIsCapturing);
  sim_.CallOnly(Call::kFuncAttribute);
  Work work = Elements(query, 2);
  // Two products of seq x seq x head width for each head; the causal half of them.
  work.flops = 2.0 * static_cast<double>(query.elements()) * static_cast<double>(seq_);
  sim_.Launch(Kernel::kFlashForward, work);
}

void Workload::FeedForward(std::int64_t layer) {
  ModuleScope module(sim_, "SwiGLU", layer, "model.py(151): forward");
  const std::int64_t inner = options_.inner();
  const Tensor wide = Shape({batch_, seq_, inner});
  GetAttribute();
  RunLinear({7 * layer + 4, Shape({inner, hidden_})}, Hidden());
  {
    ModuleScope silu(sim_, "SiLU", layer, "torch/nn/modules/activation.py(434): forward");
    Frame functional(sim_, "torch/nn/functional.py(2380): silu");
    Frame builtin(sim_, "<built-in function silu>");
    Op op(sim_, "aten::silu", {wide}, true);
    sim_.Record("SiluBackward0", wide);
    sim_.Launch(Kernel::kSilu, Elements(wide, 2));
  }
  GetAttribute();
  RunLinear({7 * layer + 5, Shape({inner, hidden_})}, Hidden());
  Elementwise("aten::mul", Kernel::kMul, wide, wide, "MulBackward0");
  GetAttribute();
  RunLinear({7 * layer + 6, Shape({hidden_, inner})}, wide);
}

void Workload::Elementwise(std::string_view op_name, Kernel kernel, const Tensor& a,
                           const Tensor& b, std::string_view node) {
  Op op(sim_, op_name, {a, b}, true);
  sim_.Record(node, a, b);
  sim_.Launch(kernel, {2 * a.bytes() + b.bytes(), 0, a.elements()});
}

void Workload::RmsNorm(std::int64_t number) {
  ModuleScope module(sim_, "RMSNorm", number, "model.py(34): forward");
  if (options_.planted) return UnfusedNorm();
  const Tensor weight = Shape({hidden_});
  Frame builtin(sim_, "<built-in method rms_norm of type object at 0x7f3e5c1b2a40>");
  Op op(sim_, "aten::rms_norm", {Hidden(), List{DimsText(weight)}, weight, Scalar{"1e-05"}}, true);
  Op fused(sim_, "aten::_fused_rms_norm",
           {Hidden(), List{DimsText(weight)}, weight, Scalar{"1e-05"}}, true);
  sim_.Record("FusedRmsNormBackward0", Hidden(), weight);
  sim_.Launch(Kernel::kRmsNorm, Elements(Rows(), 2));
}

void Workload::UnfusedNorm() {
  const PlantedScope planted(sim_, Planted::kUnfusedNorm);
  sim_.step().planted_ideal[static_cast<std::size_t>(Planted::kUnfusedNorm)] +=
      RooflineTime(sim_.device(), Info(Kernel::kRmsNorm), Elements(Rows(), 2));
  const Tensor x = Hidden();
  const Tensor row = Shape({batch_, seq_, 1});
  const Tensor weight = Shape({hidden_});
  {
    Frame norm(sim_, "model.py(29): _norm");
    {
      Frame builtin(sim_, "<built-in method pow of Tensor object at 0x7f3b1c0a7d10>");
      Op op(sim_, "aten::pow", {x, Scalar{"2"}}, true);
      sim_.Record("PowBackward0", x);
      sim_.Launch(Kernel::kPow, Elements(x, 2));
    }
    {
      Frame builtin(sim_, "<built-in method mean of Tensor object at 0x7f3b1c0a7e20>");
      Op op(sim_, "aten::mean", {x, List{"[-1]"}, Scalar{"True"}, None{}}, true);
      sim_.Record("MeanBackward1", x, row);
      sim_.Launch(Kernel::kMean, {x.bytes() + row.bytes(), 0, x.elements()});
    }
    {
      Op op(sim_, "aten::add", {row, Scalar{"1.0000000000000001e-05"}, Scalar{"1"}}, true);
      sim_.Record("AddBackward0", row);
      sim_.Launch(Kernel::kAddScalar, Elements(row, 2));
    }
    {
      Frame builtin(sim_, "<built-in method rsqrt of type object at 0x7f3e5c1b2a40>");
      Op op(sim_, "aten::rsqrt", {row}, true);
      sim_.Record("RsqrtBackward0", row);
      sim_.Launch(Kernel::kRsqrt, Elements(row, 2));
    }
    Elementwise("aten::mul", Kernel::kMul, x, row, "MulBackward0");
  }
  Elementwise("aten::mul", Kernel::kMul, x, weight, "MulBackward0");
}

void Workload::FinalNorm() {
  ModuleScope module(sim_, "LayerNorm", 0, "torch/nn/modules/normalization.py(217): forward");
  Frame functional(sim_, "torch/nn/functional.py(2901): layer_norm");
  Frame builtin(sim_, "<built-in method layer_norm of type object at 0x7f3e5c1b2a40>");
  const Tensor weight = Shape({hidden_});
  Op op(sim_, "aten::layer_norm",
        {Hidden(), List{DimsText(weight)}, weight, weight, Scalar{"1.0000000000000001e-05"},
         Scalar{"True"}},
        true);
  Op native(sim_, "aten::native_layer_norm",
            {Hidden(), List{DimsText(weight)}, weight, weight, Scalar{"1.0000000000000001e-05"}},
            true);
  sim_.Record("NativeLayerNormBackward0", Hidden(), weight);
  {
    Op empty(sim_, "aten::empty_like", {Hidden(), None{}, None{}, None{}, None{}, None{}});
    sim_.Allocate(static_cast<std::int64_t>(Hidden().bytes()));
  }
  sim_.Launch(Kernel::kLayerNorm, Elements(Rows(), 2));
}

void Workload::Loss() {
  Frame frame(sim_, "train.py(71): loss");
  Frame functional(sim_, "torch/nn/functional.py(3494): cross_entropy");
  Frame builtin(sim_, "<built-in method cross_entropy_loss of type object at 0x7f3e5c1b2a40>");
  const Tensor logits = Shape({batch_ * seq_, options_.vocab});
  const Tensor labels = Shape({batch_ * seq_}, kLong);
  Op op(sim_, "aten::cross_entropy_loss",
        {logits, labels, None{}, Scalar{"1"}, Scalar{"-100"}, Scalar{"0."}}, true);
  {
    Op softmax(sim_, "aten::log_softmax", {logits, Scalar{"1"}, None{}}, true);
    Op inner(sim_, "aten::_log_softmax", {logits, Scalar{"1"}, Scalar{"False"}}, true);
    sim_.Record("LogSoftmaxBackward0", logits);
    sim_.Allocate(static_cast<std::int64_t>(logits.bytes()));
    sim_.Launch(Kernel::kLogSoftmax, Elements(logits, 2));
  }
  Op nd(sim_, "aten::nll_loss_nd", {logits, labels, None{}, Scalar{"1"}, Scalar{"-100"}}, true);
  Op nll(sim_, "aten::nll_loss", {logits, labels, None{}, Scalar{"1"}, Scalar{"-100"}}, true);
  Op forward(sim_, "aten::nll_loss_forward", {logits, labels, None{}, Scalar{"1"}, Scalar{"-100"}},
             true);
  sim_.Record("NllLossBackward0", logits, labels);
  sim_.Launch(Kernel::kNll, Elements(labels, 1));
}

}  // namespace make_trace
