#include "analysis/align/roles.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/align/names.h"
#include "analysis/align/role_rules.h"
#include "support/diff_support.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

TEST_CASE("the role of a kernel, by its name, its ops and its modules") {
  struct Case {
    RoleNames names;
    const char* role;
  };
  const Case cases[] = {
      {{"ncclDevKernel_AllReduce", {"aten::mm"}, {"nn.Module: Attention"}}, "communication"},
      {{"attn_fwd", {"aten::_flash_attention_forward"}, {}}, "attention"},
      {{"paged_attention_ll4mi_QKV_mfma16_kernel", {}, {}}, "attention"},
      {{"_topk_forward", {}, {}}, "router"},
      {{"_matmul_ogs_NNT_bf16_swiglu", {}, {}}, "experts"},
      {{"reshape_and_cache_flash_kernel", {}, {}}, "kv cache"},
      {{"rotary_embedding_kernel", {}, {}}, "rotary embedding"},
      {{"elementwise_kernel", {"aten::mul"}, {"nn.Module: Qwen2RMSNorm"}}, "norm"},
      {{"elementwise_kernel", {"aten::cos"}, {"nn.Module: Qwen2RotaryEmbedding"}},
       "rotary embedding"},
      {{"reduce_kernel<ArgMaxOps>", {"aten::argmax"}, {}}, "sampling"},
      {{"indexSelectLargeIndex", {"aten::index_select", "aten::embedding"}, {}}, "embedding"},
      {{"Cijk_Alik", {"aten::addmm"}, {"nn.Module: Linear", "nn.Module: BertSdpaSelfAttention"}},
       "attention projections"},
      {{"Cijk_Alik", {"aten::mm"}, {"nn.Module: Linear", "nn.Module: Qwen2MLP"}}, "mlp"},
      {{"Cijk_Alik", {"aten::mm"}, {"nn.Module: LogitsProcessor"}}, "logits"},
      {{"vectorized_elementwise_kernel", {"aten::silu"}, {}}, "mlp activation"},
      {{"vectorized_elementwise_kernel", {"aten::mul"}, {"nn.Module: Qwen2MLP"}},
       "elementwise in mlp"},
      {{"sm90_xmma_fprop_implicit_gemm", {"aten::cudnn_convolution"}, {}}, "convolution"},
      {{"sm90_xmma_gemm_bf16", {"aten::mm"}, {}}, "other matrix products"},
      {{"Memcpy HtoD", {"aten::copy_"}, {}}, "copies and fills"},
      {{"Cijk_Alik", {"aten::bmm"}, {"nn.Module: Owlv2Attention"}}, "attention"},
      {{"Cijk_Alik", {"aten::bmm"}, {}}, "other matrix products"},
      {{"elementwise", {"aten::add_", "Optimizer.step#SGD.step"}, {}}, "optimizer"},
      {{"strange", {"mine"}, {}}, "other"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.names.kernel);
    CHECK(RoleOf(c.names) == c.role);
  }
}

TEST_CASE("every pattern is in lower case, and every neighbour's role exists") {
  for (const RoleRule& rule : RoleRules()) {
    for (const char c : rule.pattern)
      CHECK_FALSE((c >= 'A' && c <= 'Z'));
  }
  for (const RoleNeighbour& rule : RoleNeighbours()) {
    for (const std::string_view role : {rule.role, rule.neighbour}) {
      CHECK(std::any_of(RoleRules().begin(), RoleRules().end(),
                        [&](const RoleRule& r) { return r.role == role; }));
    }
  }
}

std::string Roles(const TraceText& text, const ProductShape& shape = {}) {
  const Loaded loaded = Load(text);
  DiffNames names(&FoldedDiffName);
  DiffSide side;
  side.events = &loaded.events();
  side.tree = MakeDiffTree(loaded.events(), loaded.tree, names);
  side.op_of = [&](EventIndex e) {
    return loaded.tree.Enclosing(loaded.events(), e, trace::EventKind::kCpuOp);
  };
  side.caller = [&](EventIndex e) { return loaded.tree.parent(e); };
  side.unlinked.assign(loaded.tree.unlinked().begin(), loaded.tree.unlinked().end());
  std::string out;
  for (const RoleTime& time : RolesOf(side, Clock::kNanoseconds, shape)) {
    if (time.count == 0) continue;
    out += fmt::format("{}{} {}x {}", out.empty() ? "" : ", ", time.role, time.count, time.us);
  }
  return out;
}

TEST_CASE("products of a replayed graph are placed by what runs before and after them") {
  TraceText text;
  text.Runtime("hipGraphLaunch", 0, 10, 1);
  int at = 100;
  for (const char* kernel :
       {"rmsnorm_kernel", "Cijk_1", "rotary_embedding_kernel", "store_kvcache", "paged_attention",
        "Cijk_2", "rmsnorm_kernel", "Cijk_3", "act_and_mul_kernel", "Cijk_4", "rmsnorm_kernel",
        "Cijk_5", "Memcpy DtoD", "argmax"}) {
    text.Kernel(kernel, at, 5, 1);
    at += 10;
  }
  CHECK(Roles(text) ==
        "attention 1x 5, kv cache 1x 5, rotary embedding 1x 5, norm 3x 15, sampling 1x 5, "
        "logits 1x 5, mlp activation 1x 5, attention projections 2x 10, mlp up 1x 5, "
        "mlp down 1x 5, copies and fills 1x 5");
}

TEST_CASE("norms between a projection and its use are looked past") {
  TraceText text;
  text.Runtime("hipGraphLaunch", 0, 10, 1);
  int at = 100;
  for (const char* kernel : {"rmsnorm_kernel", "Cijk_1", "rmsnorm_q", "rmsnorm_k", "rotary"}) {
    text.Kernel(kernel, at, 5, 1);
    at += 10;
  }
  CHECK(Roles(text) == "rotary embedding 1x 5, norm 3x 15, attention projections 1x 5");
}

TEST_CASE("the shape of a product tells the directions of an MLP apart") {
  TraceText text;
  text.Module("MLP_0", 0, 1000);
  text.OpWithKernel("aten::mm", 10, 10, "gemm", 2000, 5, 1);
  text.OpWithKernel("aten::addmm", 30, 10, "gemm", 2100, 7, 2);
  CHECK(Roles(text) == "mlp 2x 12");
  bool up = false;
  const ProductShape shape = [&](EventIndex) {
    up = !up;
    return std::optional(up ? std::pair(4096.0, 1024.0) : std::pair(1024.0, 4096.0));
  };
  CHECK(Roles(text, shape) == "mlp up 1x 5, mlp down 1x 7");
}

TEST_CASE("work without a launch has a role too") {
  TraceText text;
  text.OpWithKernel("aten::mm", 10, 10, "gemm", 2000, 5, 1).Kernel("attn_fwd", 3000, 4, 99);
  CHECK(Roles(text) == "attention 1x 4, attention projections 1x 5");
}

}  // namespace
}  // namespace jarvis::analysis
