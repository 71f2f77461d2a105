// Families that ops of their own show, and what looks like them and is not: recurrent networks,
// graph networks, U-Nets of diffusion, recommendation models without bags.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/workload_script.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;

constexpr const char* kFloat = "float";

std::string FamilyOf(Script& script) {
  return Of(Analyze(script.text(), "H100"), WorkloadPart::kFamily);
}

// The arguments of a fused op of cuDNN: a network of three layers of LSTM (2) or GRU (3) cells.
std::string RnnSettings(int mode, bool batch_first, bool both_ways) {
  return fmt::format(
      R"(,"Concrete Inputs":["","","4","","","","{}","640","0","3","{}","0.1","True","{}","[]",""])",
      mode, batch_first ? "True" : "False", both_ways ? "True" : "False");
}

// Two steps: convolutions before a network whose state is [6, 16, 640], a product on all time
// steps, and the loss of alignments.
Script Speech(double recurrent_us) {
  Script script;
  for (int step = 0; step < 2; ++step) {
    const int length = 300 - 18 * step;
    script.Op("aten::cudnn_convolution", "implicit_convolve_sgemm", 60,
              fmt::format("[[16,1,{},80],[32,1,3,3]]", 4 * length), kFloat);
    script.Op(
        "aten::_cudnn_rnn", "LSTM_elementWise_fp", recurrent_us,
        fmt::format("[[16,{},640],[[2560,640],[2560,640]],[],[100],[6,16,640],[6,16,640]]", length),
        kFloat, 1, RnnSettings(2, true, true));
    script.Op("aten::mm", "gemm_classes", 8, fmt::format("[[{},1280],[1280,29]]", 16 * length),
              kFloat);
    script.Op("aten::_ctc_loss", "ctc_loss_log_alpha_gpu_kernel", 6,
              fmt::format("[[{},16,29],[16,48]]", length), kFloat);
    script.Op("aten::_cudnn_rnn_backward", "LSTM_elementWise_bp1", 2 * recurrent_us, "");
  }
  script.text().Annotation("ProfilerStep#1", 5, 54.5).Annotation("ProfilerStep#2", 59.5, 51);
  return script;
}

TEST_CASE("recurrent layers that hold much of the time are a recurrent network with its sizes") {
  Script script = Speech(200);
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily).starts_with("recurrent network (LSTM), bidirectional"));
  CHECK(Of(one, WorkloadPart::kFamily).find("CTC") != std::string::npos);
  CHECK(Of(one, WorkloadPart::kLayers) == "3");
  CHECK(Of(one, WorkloadPart::kHidden) == "640");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 16 x 282 to 300 time steps");
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kHeads].known());
  // A small one behind convolutions is not what the trace is of.
  Script small = Speech(5);
  CHECK(FamilyOf(small) == "convolutional network");
  CHECK(Of(Analyze(small.text(), "H100"), WorkloadPart::kBatch) ==
        "batch 16 x 282 to 300 time steps");
}

TEST_CASE("packed sequences have the batch of their state, and other cells their own name") {
  Script script;
  script.Op("aten::_cudnn_rnn", "GRU_elementWise_fp", 200,
            "[[4711,640],[[1920,640],[1920,640]],[],[100],[3,24,640],[]]", kFloat, 1,
            RnnSettings(3, false, false));
  script.Op("aten::mm", "gemm_classes", 20, "[[4711,640],[640,50]]", kFloat);
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "recurrent network (GRU)");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 24");
  CHECK(Of(one, WorkloadPart::kHidden) == "640");
  CHECK(Of(one, WorkloadPart::kLayers) == "3");
  // What nobody recorded is absent.
  Script bare;
  bare.Op("aten::_cudnn_rnn", "RNN_persist_fp", 200, "");
  const Analyzed unknown = Analyze(bare.text(), "H100");
  CHECK(Of(unknown, WorkloadPart::kFamily) == "recurrent network");
  CHECK_FALSE(unknown.analysis.workload[WorkloadPart::kBatch].known());
  CHECK_FALSE(unknown.analysis.workload[WorkloadPart::kHidden].known());
}

// A layer of ten time steps, made of products and cells.
Script Cells(const std::string& dims, const std::string& settings) {
  Script script;
  script.Around(
      "aten::lstm", 20,
      "\"Input Dims\":" + dims + R"(,"Input type":["float"],"Concrete Inputs":)" + settings);
  for (int step = 0; step < 10; ++step) {
    script.Op("aten::addmm", "gemm_gates", 20, "[[1024],[32,256],[256,1024]]", kFloat, 3);
    script.Op("aten::_thnn_fused_lstm_cell", "lstm_cell_forward", 5, "[[32,1024],[32,1024]]",
              kFloat);
  }
  script.Op("aten::mm", "gemm_classes", 20, "[[320,256],[256,50]]", kFloat);
  return script;
}

TEST_CASE("layers of cells made of products are a recurrent network; laid out weights are none") {
  const std::string padded = R"(["","","","True","2","0.","True","False","False"])";
  for (const char* dims : {"[[10,32,128],[[2,32,256],[2,32,256]],[[1024,128],[1024,256]],[],[]]",
                           "[[10,32,128],[],[],[],[],[],[],[],[]]"}) {
    Script script = Cells(dims, padded);
    const Analyzed one = Analyze(script.text(), "H100");
    CHECK(Of(one, WorkloadPart::kFamily) == "recurrent network (LSTM)");
    CHECK(Of(one, WorkloadPart::kLayers) == "2");
    CHECK(Of(one, WorkloadPart::kHidden) == "256");
    CHECK(Of(one, WorkloadPart::kBatch) == "batch 32 x 10 time steps");
  }
  // Packed: [all time steps, width], sizes, states of which the first is projected to 64.
  Script packed = Cells("[[290,128],[10],[[4,32,64],[4,32,256]],[[1024,128],[1024,64]],[],[]]",
                        R"(["","","","","True","2","0.","True","True"])");
  const Analyzed one = Analyze(packed.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "recurrent network (LSTM), bidirectional");
  CHECK(Of(one, WorkloadPart::kHidden) == "256");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 32");

  Script weights;
  weights.Op("aten::_cudnn_rnn_flatten_weight", "Memcpy", 200, "");
  weights.Op("aten::mm", "gemm_dense", 100, "[[320,256],[256,512]]", kFloat);
  CHECK(FamilyOf(weights) == "dense layers");
}

TEST_CASE("an encoder with attention stays a transformer whatever small recurrence it ends with") {
  Script script;
  for (int layer = 0; layer < 4; ++layer) {
    script.Op("aten::mm", "gemm_qkv", 60, "[[1024,512],[512,1536]]");
    script.Op("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", 50,
              "[[2,8,512,64],[2,8,512,64],[2,8,512,64]]", kBf16, 3);
    script.Op("aten::mm", "gemm_down", 60, "[[1024,2048],[2048,512]]");
  }
  script.Op("aten::_cudnn_rnn", "LSTM_elementWise_fp", 300, "", kBf16, 1);
  CHECK(FamilyOf(script).starts_with("transformer"));
}

TEST_CASE("attention and products alone are no transformer; its other parts, or many layers, are") {
  const auto family = [](int layers, std::string_view more, std::string_view kernel = "k") {
    Script script;
    for (int layer = 0; layer < layers; ++layer) {
      script.Op("aten::_scaled_dot_product_flash_attention", "attn_fwd", 50,
                "[[2,8,512,64],[2,8,512,64],[2,8,512,64],[],[]]", kBf16, 5,
                R"(,"Concrete Inputs":["","","","0.","True","False",""])");
      script.Op("aten::mm", "gemm", 120, "[[1024,512],[512,2048]]");
    }
    if (!more.empty()) script.Op(more, kernel, 10, "[[1024,2048]]", kBf16, 1);
    script.text().Annotation("ProfilerStep#1", 0, 1000);
    return Analyze(script.text()).analysis.workload[WorkloadPart::kFamily];
  };
  CHECK(family(2, "").value == "causal attention and GEMMs");
  CHECK(family(2, "").evidence.front() == "attention ops, and no norm, MLP or embedding");
  CHECK(family(2, "aten::add").value == "causal attention and GEMMs");
  CHECK(family(2, "aten::gelu").value == "decoder-only transformer");
  CHECK(family(2, "aten::layer_norm").value == "decoder-only transformer");
  CHECK(family(6, "").value == "decoder-only transformer");
  // What is compiled may hold them under no name.
  const WorkloadField compiled = family(2, "my::compiled", "triton_red_fused_3");
  CHECK(compiled.value == "causal attention and GEMMs");
  CHECK(compiled.evidence.front().find("compiled kernels") != std::string::npos);
}

// A layer of messages over 9000 edges of 1000 nodes; backward, too.
void AddMessages(Script* script, int edges = 9000, int nodes = 1000, bool backward = true) {
  const std::string wide = fmt::format("[{},64]", edges), narrow = fmt::format("[{},64]", nodes);
  script->Op("aten::mm", "gemm_nodes", 20, "[" + narrow + ",[64,64]]", kFloat);
  script->Op("aten::index_select", "index_select_kernel", 30,
             fmt::format("[{},[],[{}]]", narrow, edges), kFloat);
  script->Op("aten::mul", "elementwise_kernel", 20, fmt::format("[[{},1],{}]", edges, wide),
             kFloat);
  script->Op("aten::scatter_add_", "scatter_gather_kernel", 30,
             fmt::format("[{},[],{},{}]", narrow, wide, wide), kFloat);
  if (!backward) return;
  script->Around("autograd::engine::evaluate_function: IndexSelectBackward0", 1);
  script->Op("aten::index_add_", "index_func_kernel", 40,
             fmt::format("[{},[],[{}],{}]", narrow, edges, wide), kFloat);
}

TEST_CASE("rows gathered by edge and added up by node are a graph network without a batch") {
  Script script;
  for (int layer = 0; layer < 3; ++layer)
    AddMessages(&script);
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "graph neural network");
  CHECK(Of(one, WorkloadPart::kInput) == "1000 nodes, 9000 edges");
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kBatch].known());
  // Sampled parts of a graph have other sizes each time.
  Script sampled;
  AddMessages(&sampled, 9000, 1000);
  AddMessages(&sampled, 8800, 950);
  CHECK(Of(Analyze(sampled.text(), "H100"), WorkloadPart::kInput) ==
        "950 to 1000 nodes, 8800 to 9000 edges");
}

TEST_CASE(
    "rows taken by an index that is not recorded, and layers of a graph library, tell a graph") {
  Script edges;
  edges.Op("aten::index", "index_elementwise_kernel", 30, "[[1000,64],[]]", kFloat, 1);
  edges.Op("aten::mm", "gemm_edges", 60, "[[9000,64],[64,64]]", kFloat);
  edges.Op("aten::scatter_reduce_", "scatter_gather_kernel", 30,
           "[[1000,64],[],[9000,64],[9000,64]]", kFloat);
  const Analyzed one = Analyze(edges.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "graph neural network");
  CHECK(Of(one, WorkloadPart::kInput) == "1000 nodes, 9000 edges");
  for (const char* file : {"torch_geometric/nn/conv/gcn_conv.py", "program/layers.py"}) {
    Script layer;
    layer.Module("Net_0", 2);
    layer.text().Python(fmt::format("{}(40): forward", file), 9.6, 19);
    layer.Op("aten::mm", "gemm_nodes", 60, "[[1000,64],[64,64]]", kFloat);
    layer.Op("custom::propagate", "propagate_kernel", 60, "");
    CHECK((FamilyOf(layer) == "graph neural network") ==
          (std::string(file).starts_with("torch_geometric")));
  }
}

TEST_CASE("nodes are no batch where dense layers on them hold nearly all the time") {
  Script script;
  AddMessages(&script, 9000, 1000, false);
  script.Op("aten::mm", "gemm_nodes", 2000, "[[1000,64],[64,4096]]", kFloat);
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "dense layers");
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kBatch].known());
}

TEST_CASE("gathers and sums of tokens, of tables and of boxes are no graph") {
  // The router of a mixture of experts chooses two experts for each of 1000 tokens.
  Script experts;
  experts.Op("aten::topk", "gatherTopK", 2, "[[1000,16],[],[],[],[]]", kFloat, 1);
  AddMessages(&experts, 2000, 1000, false);
  CHECK(FamilyOf(experts) == "dense layers");
  // Each expert has fewer rows than there are tokens.
  Script loop;
  for (const int rows : {400, 350, 250})
    AddMessages(&loop, rows, 1000, false);
  CHECK(FamilyOf(loop) == "dense layers");
  // The gradients of a small table, in which many rows are looked up.
  Script table;
  table.Op("aten::index_select", "index_select_kernel", 30, "[[1000,64],[],[9000]]", kFloat);
  table.Op("aten::mm", "gemm", 50, "[[9000,64],[64,64]]", kFloat);
  table.Around("autograd::engine::evaluate_function: IndexSelectBackward0", 1);
  table.Op("aten::index_add_", "index_func_kernel", 80, "[[1000,64],[],[9000],[9000,64]]", kFloat);
  CHECK(FamilyOf(table) == "dense layers");
  // Boxes of a detector, beside much other work.
  Script boxes;
  boxes.Op("aten::cudnn_convolution", "implicit_convolve_sgemm", 900, "[[1,3,800,800],[64,3,7,7]]",
           kFloat);
  AddMessages(&boxes, 9000, 1000, false);
  CHECK(FamilyOf(boxes) == "convolutional network");
}

TEST_CASE("products with a sparse adjacency are a graph network; sparse weights are none") {
  Script script;
  script.Op("aten::mm", "gemm_nodes", 60, "[[20000,128],[128,64]]", kFloat);
  script.Op("aten::_sparse_mm", "cusparse::csrmm_v3_kernel", 80, "[[20000,20000],[20000,64]]",
            kFloat);
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "graph neural network");
  CHECK(Of(one, WorkloadPart::kInput) == "20000 nodes");
  Script pruned;
  pruned.Op("aten::mm", "gemm_dense", 60, "[[64,4096],[4096,4096]]", kFloat);
  pruned.Op("aten::_sparse_mm", "cusparse::csrmm_v3_kernel", 80, "[[4096,4096],[4096,64]]", kFloat);
  CHECK(FamilyOf(pruned) == "dense layers");
}

struct UnetParts {
  bool group_norms = true;
  bool attention = true;  // at all levels but the first
  bool time_step = true;
  int in = 4, out = 4;
  const char* module = nullptr;
};

// Three levels of 64, 32 and 16 places a side, for a batch of two.
Script Unet(const UnetParts& parts) {
  Script script;
  if (parts.module != nullptr) script.Module(parts.module, 40);
  script.Op("aten::cudnn_convolution", "conv", 20,
            fmt::format("[[2,{0},64,64],[128,{0},3,3]]", parts.in), kFloat);
  for (int level = 0; level < 3; ++level) {
    const int side = 64 >> level, width = 128 << level;
    const std::string map = fmt::format("[2,{},{},{}]", width, side, side);
    if (parts.time_step)
      script.Op("aten::addmm", "gemm_time", 5, fmt::format("[[{0}],[2,512],[512,{0}]]", width),
                kFloat, 3);
    script.Op(parts.group_norms ? "aten::native_group_norm" : "aten::native_batch_norm", "norm", 10,
              fmt::format("[{},[{}]]", map, width), kFloat);
    script.Op("aten::cudnn_convolution", "conv", 30, fmt::format("[{0},[{1},{1},3,3]]", map, width),
              kFloat);
    if (!parts.attention || level == 0) continue;
    const int places = side * side;
    const std::string q = fmt::format("[2,8,{},{}]", places, width / 8);
    script.Op("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", 60,
              fmt::format("[{0},{0},{0}]", q), kFloat, 3,
              R"(,"Concrete Inputs":["","","","0.0","False","False",""])");
    script.Op("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", 20,
              fmt::format("[{0},[2,8,77,{1}],[2,8,77,{1}]]", q, width / 8), kFloat, 3);
  }
  script.Op("aten::cudnn_convolution", "conv", 20,
            fmt::format("[[2,128,64,64],[{},128,3,3]]", parts.out), kFloat);
  return script;
}

TEST_CASE(
    "convolutions, group norms, attention at several resolutions and a time step: diffusion") {
  Script script = Unet({});
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "diffusion U-Net");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 2");
  CHECK(Of(one, WorkloadPart::kInput) == "latents of 4 x 64 x 64");
  for (const WorkloadPart part :
       {WorkloadPart::kHidden, WorkloadPart::kHeads, WorkloadPart::kLayers})
    CHECK_FALSE(one.analysis.workload[part].known());
  CHECK(Of(one, WorkloadPart::kPhase).find("denoising") != std::string::npos);
  // The encoder and the decoder of its latents run once, the U-Net once a step.
  Script pipeline = Unet({});
  pipeline.Op("aten::cudnn_convolution", "conv", 20, "[[2,4,64,64],[128,4,3,3]]", kFloat);
  pipeline.Op("aten::cudnn_convolution", "conv", 90, "[[2,3,512,512],[128,3,3,3]]", kFloat);
  pipeline.Op("aten::cudnn_convolution", "conv", 90, "[[2,128,512,512],[3,128,3,3]]", kFloat);
  CHECK(FamilyOf(pipeline) == "diffusion U-Net");
  CHECK(Of(Analyze(pipeline.text(), "H100"), WorkloadPart::kInput) == "latents of 4 x 64 x 64");
  Script inpainting = Unet({.in = 9});
  CHECK(FamilyOf(inpainting) == "diffusion U-Net");
}

TEST_CASE("networks of convolutions that remove no noise are no diffusion") {
  Script no_norms = Unet({.group_norms = false});
  CHECK(FamilyOf(no_norms) != "diffusion U-Net");
  Script no_attention = Unet({.attention = false});
  CHECK(FamilyOf(no_attention) == "convolutional network");
  Script no_time = Unet({.time_step = false});
  CHECK(FamilyOf(no_time) != "diffusion U-Net");
  Script classes = Unet({.in = 3, .out = 21});
  CHECK(FamilyOf(classes) != "diffusion U-Net");
  // A class of that name that segments images.
  Script segments = Unet({.group_norms = false,
                          .attention = false,
                          .time_step = false,
                          .in = 3,
                          .out = 2,
                          .module = "UNet_0"});
  CHECK(FamilyOf(segments) == "convolutional network (U-Net)");
  CHECK(Of(Analyze(segments.text(), "H100"), WorkloadPart::kBatch) == "batch 2");
  Script plain = Unet({.attention = false, .in = 3, .out = 3, .module = "UNet_0"});
  CHECK(FamilyOf(plain) == "diffusion U-Net");  // an early one: norms and a time step
  Script hybrid = Unet({.group_norms = false, .time_step = false, .module = "UNetTransformer_0"});
  CHECK(FamilyOf(hybrid).starts_with("transformer"));
  Script named = Unet({.module = "UNet2DConditionModel_0"});
  CHECK(FamilyOf(named) == "diffusion U-Net");
}

TEST_CASE("a decoder of images with one attention in its middle is convolutional") {
  Script script;
  script.Op("aten::cudnn_convolution", "conv", 20, "[[1,4,64,64],[512,4,3,3]]", kFloat);
  script.Op("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", 20,
            "[[1,1,4096,512],[1,1,4096,512],[1,1,4096,512]]", kFloat, 3);
  for (const int side : {64, 128, 256}) {
    const std::string map = fmt::format("[1,256,{0},{0}]", side);
    script.Op("aten::native_group_norm", "norm", 60, "[" + map + ",[256]]", kFloat);
    script.Op("aten::silu", "elementwise_kernel", 60, "[" + map + "]", kFloat, 1);
    script.Op("aten::cudnn_convolution", "conv", 50, "[" + map + ",[256,256,3,3]]", kFloat);
  }
  script.Op("aten::cudnn_convolution", "conv", 20, "[[1,256,256,256],[3,256,3,3]]", kFloat);
  CHECK(FamilyOf(script) == "convolutional network");
}

// Lookups for 2048 samples in so many tables, and two dense layers.
Script Lookups(int tables, int rows, int columns, int passes = 1) {
  Script script;
  for (int pass = 0; pass < passes; ++pass) {
    for (int table = 0; table < tables; ++table) {
      script.Op("aten::embedding", "index_select_kernel", 10,
                fmt::format("[[{},{}],[2048]]", rows, columns), kFloat);
    }
    script.Op("aten::addmm", "gemm_dense", 30, "[[512],[2048,416],[416,512]]", kFloat, 3);
    script.Op("aten::addmm", "gemm_out", 20, "[[1],[2048,512],[512,1]]", kFloat, 3);
  }
  return script;
}

TEST_CASE("many lookups in large narrow tables beside dense layers are a recommendation model") {
  Script script = Lookups(8, 100000, 64, 2);
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK(Of(one, WorkloadPart::kFamily) == "recommendation model (DLRM-like)");
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 2048");
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kVocabulary].known());
  Script few = Lookups(3, 100000, 64);
  CHECK(FamilyOf(few) == "dense layers");
  Script parts = Lookups(1, 100000, 64, 8);  // one table, in eight parts of a step
  CHECK(FamilyOf(parts) == "dense layers");
  Script codebooks = Lookups(8, 1024, 64);
  CHECK(FamilyOf(codebooks) == "dense layers");
  Script words = Lookups(4, 32000, 1024);
  CHECK(FamilyOf(words) == "dense layers");
}

TEST_CASE("steps that act and steps that learn have a batch each") {
  const auto batch = [](double learning_us) {
    Script script;
    for (int step = 0; step < 4; ++step)
      script.Op("aten::addmm", "gemm_act", 10, "[[64],[32,64],[64,64]]", kFloat, 3);
    script.Op("aten::addmm", "gemm_learn", learning_us, "[[64],[256,64],[64,64]]", kFloat, 3);
    // The gradient of a weight has the rows of a layer.
    script.Op("aten::mm", "gemm_gradient", 30, "[[64,256],[256,64]]", kFloat);
    return Of(Analyze(script.text(), "H100"), WorkloadPart::kBatch);
  };
  CHECK(batch(30) == "batch 32 and 256");
  CHECK(batch(5) == "batch 32");
}

TEST_CASE("the best of many anchors are no vocabulary") {
  Script script;
  script.Op("aten::cudnn_convolution", "conv", 300, "[[1,3,800,1088],[64,3,7,7]]", kFloat);
  script.Op("aten::topk", "gatherTopK", 20, "[[1,40800],[],[],[],[]]", kFloat, 1);
  script.Op("aten::addmm", "gemm_heads", 40, "[[1024],[1000,12544],[12544,1024]]", kFloat, 3);
  const Analyzed one = Analyze(script.text(), "H100");
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kVocabulary].known());
  CHECK_FALSE(one.analysis.workload[WorkloadPart::kHidden].known());
  CHECK(Of(one, WorkloadPart::kBatch) == "batch 1");
}

TEST_CASE("passes that results are compared with are none of the prompts'") {
  const auto decoder = [](int references) {
    constexpr const char* kValues = R"(,"Concrete Inputs":["","","","0.","False","False",""])";
    Script script;
    script.Op("aten::convolution", "conv", 900, "[[1,3,1024,1024],[1280,3,16,16]]", "float", 2);
    script.Op("aten::_scaled_dot_product_flash_attention", "fmha", 900,
              "[[1,16,4096,80],[1,16,4096,80],[1,16,4096,80]]", kBf16, 3, kValues);
    // One pass of two layers, then smaller ones.
    for (int layer = 0; layer < 2; ++layer) {
      script.Op("aten::_scaled_dot_product_flash_attention", "fmha", 300,
                "[[1024,8,7,16],[1024,8,4096,16],[1024,8,4096,16]]", kBf16, 3, kValues);
    }
    const auto enlarge = [&](const char* dims) {
      script.Op("aten::conv_transpose2d", "deconv", 90, dims, "float", 2);
    };
    enlarge("[[1024,256,64,64],[256,64,2,2]]");
    for (int i = 0; i < references; ++i)
      enlarge("[[64,256,64,64],[256,64,2,2]]");
    return Of(Analyze(script.text()), WorkloadPart::kBatch);
  };
  CHECK(decoder(4).find("1024 prompts at once") != std::string::npos);
  CHECK(decoder(0).find("1024 prompts at once") != std::string::npos);
}

}  // namespace
}  // namespace jarvis::findings
