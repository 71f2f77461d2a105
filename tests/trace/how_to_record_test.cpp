// What to record next in each profiler's words, and which framework a program is written in.
#include "trace/how_to_record.h"

#include <string>

#include <doctest/doctest.h>

#include "trace/framework_signs.h"
#include "trace/reader.h"

namespace jarvis::trace {
namespace {

EventStore Named(const std::vector<std::string>& names) {
  EventStore events;
  for (const std::string& name : names) {
    Event event;
    event.name = events.strings.Intern(name);
    events.events.push_back(event);
  }
  return events;
}

TEST_CASE("names of kernels, ops and ranges show the framework") {
  CHECK(FrameworkOf(Named({"gemm", "void at::native::reduce_kernel<512, 1>"})) == "PyTorch");
  CHECK(FrameworkOf(Named({"aten::mm"})) == "PyTorch");
  CHECK(FrameworkOf(Named({"triton_poi_fused_add_0"})) == "PyTorch");
  CHECK(FrameworkOf(Named({"Thunk:#hlo_op=fusion.3,hlo_module=jit_step#"})) == "JAX");
  CHECK(FrameworkOf(Named({"XlaModule:#prefix=main#"})) == "XLA");
  CHECK(FrameworkOf(Named({"void tensorflow::functor::FillPhiloxRandomKernelLaunch"})) ==
        "TensorFlow");
  CHECK(FrameworkOf(Named({"void mul_mat_q<(ggml_type)8, 64>"})) == "ggml");
  // vLLM calls kernels of TensorRT-LLM, and is PyTorch.
  CHECK(FrameworkOf(Named({"void tensorrt_llm::moe()", "void vllm::rms_norm_kernel()"})) ==
        "PyTorch");
  // A library's kernels are anybody's, and so is a name that only looks like a sign.
  CHECK(FrameworkOf(Named({"ampere_sgemm_128x64_tn", "cudnn::bn_fw_tr_1C11", "ncclDevKernel"})) ==
        "");
  CHECK(FrameworkOf(Named({"triton_softmax_kernel", "creation", "blowtorch_kernel"})) == "");
  CHECK(FrameworkOf(Named({})) == "");
}

TEST_CASE("every profiler says how to record each thing, and names no other's settings") {
  Recording recording;
  for (const std::string_view profiler : {kByNsys, kByRocprof, kByPerfetto, kByXplane}) {
    for (const char* framework : {"", "PyTorch", "JAX", "TensorFlow", "ggml"}) {
      CAPTURE(profiler);
      CAPTURE(framework);
      recording.profiler = profiler;
      recording.framework = framework;
      const HowToRecord& how = HowToRecordNext(&recording);
      CHECK(how.profiler == profiler);
      for (const std::string_view text :
           {how.gpu_work, how.ops, how.shapes, how.stacks, how.modules, how.marked_steps,
            how.warm_steps, how.steps_in_a_row, how.no_stacks}) {
        CHECK_FALSE(text.empty());
        CHECK(text.find("schedule(") == text.npos);
        CHECK(text.find("ProfilerActivity") == text.npos);
        CHECK(text.find("profiler.step()") == text.npos);
        const bool torch = text.find("torch.") != text.npos;
        if (recording.framework != "PyTorch" && profiler != kByPerfetto) CHECK_FALSE(torch);
      }
    }
  }
  CHECK(HowToRecordNext(nullptr).shapes == "`record_shapes=True`");
  recording.profiler = "of a later version";
  CHECK(HowToRecordNext(&recording).shapes == "`record_shapes=True`");
  CHECK(PlainWords("`a` and `b`") == "a and b");
}

}  // namespace
}  // namespace jarvis::trace
