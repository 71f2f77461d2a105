#include "analysis/attribution/pseudo_ops.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "support/attribution_rows.h"

namespace jarvis::analysis {
namespace {

using testing::Launch;
using testing::Load;
using testing::Loaded;
using testing::TraceText;

// "name @at from donor [kernels] key=value": one a line.
std::string Described(const TraceText& text, const PseudoOpRules& rules = {}) {
  const Loaded loaded = Load(text);
  const EventStore& events = loaded.events();
  PseudoTree tree{events, {}, {}, [&](EventIndex e) { return loaded.tree.parent(e); }};
  tree.hosts.assign(loaded.tree.preorder().begin(), loaded.tree.preorder().end());
  for (const EventIndex call : tree.hosts) {
    for (const EventIndex gpu : loaded.tree.GpuOf(call))
      tree.links.emplace_back(call, gpu);
  }
  const PseudoOps found = FindPseudoOps(tree, rules);
  std::string out;
  std::uint32_t uid = static_cast<std::uint32_t>(events.elements);
  for (const PseudoOp& op : found.ops()) {
    CHECK(op.uid == uid++);
    CHECK(op.HasTimes() == (op.place != PseudoOp::Place::kBelowOp));
    CHECK((found.AtFrame(op.at) != nullptr) == op.HasTimes());
    constexpr const char* kPlaces[] = {"below", "around", "above"};
    out += fmt::format("{} {} {} from {} [{}]", op.name, kPlaces[static_cast<int>(op.place)],
                       loaded.NameOf(op.at), loaded.NameOf(op.donor), loaded.Names(op.kernels));
    for (const auto& [key, value] : op.more)
      out += fmt::format(" {}={}", key, value);
    out += "\n";
  }
  return out;
}

TraceText AiterMoe() {
  TraceText text;
  text.Op("vllm::moe_forward", 0, 100).Op("vllm::rocm_aiter_fused_moe", 1, 90);
  Launch(text, 10, "aiter::MoeSorting", 200, 5, 1);
  return Launch(text, 20, "aiter::fmoe_bf16", 300, 5, 2);
}

TEST_CASE("the kernel of AITER's fused experts") {
  CHECK(Described(AiterMoe()) ==
        "pseudo_op::moe_aiter_fused_1stage below vllm::rocm_aiter_fused_moe from "
        "vllm::rocm_aiter_fused_moe [aiter::fmoe_bf16]\n");
  // Two of them, or an op with work inside: nothing to tell apart.
  TraceText two = AiterMoe();
  CHECK(Described(Launch(two, 30, "aiter::fmoe_other", 400, 5, 3)).empty());
  TraceText inner = AiterMoe().Op("aten::mm", 40, 20);
  CHECK(Described(inner).find("1stage") != std::string::npos);
  CHECK(Described(Launch(inner, 45, "gemm", 400, 5, 3)).empty());
  using trace::EventKind;
  CHECK(IsFusedMoeKernel(EventKind::kKernel, "aiter::fmoe_kernel"));
  CHECK_FALSE(IsFusedMoeKernel(EventKind::kKernel, "aiter::MoeSorting"));
  CHECK_FALSE(IsFusedMoeKernel(EventKind::kKernel, "aiter::fmoe_Quant"));
  CHECK_FALSE(IsFusedMoeKernel(EventKind::kCpuOp, "aiter::fmoe_kernel"));
}

TEST_CASE("the products of Triton's experts") {
  TraceText text;
  text.Op("vllm::moe_forward", 0, 100).Op("TopK", 1, 5, R"("Concrete Inputs":["","2",""])");
  Launch(text, 10, "_matmul_ogs_b", 300, 5, 1);
  Launch(text, 20, "_matmul_ogs_a_swiglu", 200, 5, 2);
  Launch(text, 30, "_finalize_matmul_scatter", 400, 5, 3);
  const std::string moe = " below vllm::moe_forward from vllm::moe_forward ";
  CHECK(Described(text) ==
        "pseudo_op::moe_triton_unfused_up" + moe +
            "[_matmul_ogs_a_swiglu] MoE GEMM type=\"up\" MoE GEMM index=0 MoE GEMM gated=true "
            "MoE topk=2\n"
            "pseudo_op::moe_triton_unfused_down" +
            moe +
            "[_matmul_ogs_b] MoE GEMM type=\"down\" MoE GEMM index=1 MoE GEMM gated=false "
            "MoE topk=2\n"
            "pseudo_op::moe_triton_unfused_finalize_matmul_scatter" +
            moe + "[_finalize_matmul_scatter]\n");
  TraceText no_topk;
  no_topk.Op("vllm::moe_forward", 0, 100);
  CHECK(Described(Launch(no_topk, 10, "_matmul_ogs", 200, 5, 1)).find("MoE topk=4") !=
        std::string::npos);
  CHECK(IsGatedKernel("matmul_ogs_swiglu_kernel"));
  CHECK(IsGatedKernel("matmul_ogs_glu_kernel"));
  CHECK_FALSE(IsGatedKernel("matmul_ogs_plain"));
}

TEST_CASE("the products of quantised experts") {
  TraceText text;
  text.Op("vllm::outplace_fused_experts", 0, 100,
          R"("Input Dims":[[128,4096],[8,2,3],[8,4],[],[128,6],[128,6]])");
  Launch(text, 10, "fused_moe_kernel_gptq_awq", 200, 5, 1);
  Launch(text, 20, "fused_moe_kernel_gptq_awq", 300, 5, 2);
  const std::string found = Described(text);
  CHECK(found.starts_with("pseudo_op::moe_gptq_awq_up below vllm::outplace_fused_experts"));
  CHECK(found.find("gated=true MoE topk=6") != std::string::npos);
  CHECK(found.find("\npseudo_op::moe_gptq_awq_down below") != std::string::npos);
}

TraceText Flydsl() {
  TraceText text;
  text.Op("aiter::fused_moe_", 0, 100).Python("aiter/moe.py(1): flydsl_moe_stage1", 1, 30);
  Launch(text, 10, "stage1", 200, 5, 1);
  text.Python("aiter/moe.py(9): flydsl_moe_stage2", 40, 30);
  return Launch(text, 50, "stage2", 300, 7, 2);
}

TEST_CASE("frames that stand for an op") {
  CHECK(Described(Flydsl()) ==
        "pseudo_op::moe_flydsl_stage1 above aiter/moe.py(1): flydsl_moe_stage1 from "
        "aiter::fused_moe_ [stage1]\n"
        "pseudo_op::moe_flydsl_stage2 above aiter/moe.py(9): flydsl_moe_stage2 from "
        "aiter::fused_moe_ [stage2]\n");

  TraceText decode;
  decode.Python("/x/aiter/mla.py(160): mla_decode_fwd", 0, 100);
  decode.Op("aiter::mla_decode_stage1_asm_fwd", 10, 20);
  Launch(decode, 12, "mla_stage1", 200, 5, 1);
  Launch(decode, 40, "mla_reduce", 300, 5, 2);
  CHECK(Described(decode) ==
        "pseudo_mla_decode_fwd around /x/aiter/mla.py(160): mla_decode_fwd from "
        "aiter::mla_decode_stage1_asm_fwd [mla_stage1 mla_reduce]\n");

  TraceText prefill;
  prefill.Python("a.py(1): mla_fp8_prefill_attn", 0, 100);
  prefill.Op("aiter::mla_prefill_ps_asm_fwd", 10, 20);
  CHECK(Described(prefill).empty());  // no GPU work
  CHECK(
      Described(Launch(prefill, 12, "k", 200, 5, 1)).starts_with("pseudo_mla_prefill_fwd around"));
}

TEST_CASE("DeepSeek-V4's paged decode") {
  TraceText text;
  double at = 0;
  for (const char* kernel :
       {"hca_compress_forward_kernel", "fused_compress_attn_kernel", "qk_norm_rope_H8_D128_RD64"}) {
    text.Op("aiter::v4_attention_with_output", at, 100);
    text.Python("v4/paged_decode.py(7): sparse_attn_v4_paged_decode", at + 1, 80);
    Launch(text, at + 10, kernel, at + 1000, 5, static_cast<int>(at) + 1);
    at += 200;
  }
  const std::string where =
      " around v4/paged_decode.py(7): sparse_attn_v4_paged_decode from "
      "aiter::v4_attention_with_output ";
  CHECK(Described(text) ==
        "pseudo_v4_paged_decode_hca" + where +
            "[hca_compress_forward_kernel] v4_mode=\"hca\" v4_call_index=0\n"
            "pseudo_v4_paged_decode_csa" +
            where +
            "[fused_compress_attn_kernel] v4_mode=\"csa\" v4_call_index=1\n"
            "pseudo_v4_paged_decode_swa" +
            where +
            "[qk_norm_rope_H8_D128_RD64] v4_mode=\"swa\" v4_call_index=2 v4_H_Q=8 v4_d_h=128\n");
}

TEST_CASE("names, and what launches") {
  TraceText text = Flydsl();
  text.Op("sglang_profiler::step_42", 200, 20);
  Launch(text, 205, "k", 400, 5, 3);
  text.Op("aten::mm_7", 300, 20);
  Launch(text, 305, "l", 500, 5, 4);
  const Loaded loaded = Load(text);
  const Attribution plain = Attribute(loaded.events(), loaded.tree);
  CHECK(plain.launchers.size() == 3);
  const Attribution made =
      Attribute(loaded.events(), loaded.tree, FindPseudoOps(loaded.events(), loaded.tree));
  std::string names;
  for (const Launcher& launcher : made.launchers)
    names += fmt::format("{} {} {}, ", made.pseudo.NameOf(loaded.events(), launcher.op),
                         launcher.count, launcher.direct_us);
  CHECK(names ==
        "pseudo_op::moe_flydsl_stage1 1 5, pseudo_op::moe_flydsl_stage2 1 7, "
        "sglang_profiler::step 1 5, aten::mm_7 1 5, ");
  // Work that moves below an op's part still belongs to the op.
  const Loaded moe = Load(AiterMoe());
  CHECK(testing::Launchers(moe.events(), Attribute(moe.events(), moe.tree,
                                                   FindPseudoOps(moe.events(), moe.tree))) ==
        "vllm::rocm_aiter_fused_moe 2 10/10");
}

TEST_CASE("a trace that gets none") {
  TraceText text = AiterMoe().Op("aiter::paged_attention_v1", 200, 5);
  CHECK_FALSE(Described(text).empty());
  CHECK(Described(text, {.none_with_paged_attention = true}).empty());
}

}  // namespace
}  // namespace jarvis::analysis
