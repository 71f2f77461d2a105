#include "trace/how_to_record.h"

#include <algorithm>
#include <iterator>

namespace jarvis::trace {
namespace {

// The first row of a profiler and of the framework, or of any, counts.
constexpr HowToRecord kRows[] = {
    {.profiler = "",
     .framework = "",
     .gpu_work = "`activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`",
     .ops = "`activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]`",
     .shapes = "`record_shapes=True`",
     .stacks = "`with_stack=True`",
     .modules = "`with_stack=True, with_modules=True`",
     .marked_steps = "`profiler.step()` after each step",
     .warm_steps = "`schedule(wait=1, warmup=2, active=3)`",
     .steps_in_a_row = "`schedule(..., repeat=1)`",
     .no_stacks = "`with_stack=False`"},
    {.profiler = kByNsys,
     .framework = "PyTorch",
     .gpu_work = "`nsys profile --trace=cuda,nvtx`",
     .ops = "`nsys profile --trace=cuda,nvtx`, and the steps below `with "
            "torch.autograd.profiler.emit_nvtx(record_shapes=True):`",
     .shapes = "`torch.autograd.profiler.emit_nvtx(record_shapes=True)`",
     .stacks = "torch.profiler and `with_stack=True`",
     .modules = "torch.profiler and `with_stack=True, with_modules=True`",
     .marked_steps = "`torch.cuda.nvtx.range(\"step\")` around each step",
     .warm_steps = "`nsys profile --trace=cuda,nvtx --capture-range=cudaProfilerApi` and "
                   "`torch.cuda.profiler.start()` after the warm-up",
     .steps_in_a_row = "one range of `cudaProfilerStart` and `cudaProfilerStop`",
     .no_stacks = "`nsys profile --sample=none --python-backtrace=none`"},
    {.profiler = kByNsys,
     .framework = "",
     .gpu_work = "`nsys profile --trace=cuda,nvtx`",
     .ops = "`nsys profile --trace=cuda,nvtx`, and NVTX ranges (`nvtxRangePushA`) around the parts "
            "of the program",
     .shapes = "Nsight Compute (`ncu --set roofline`) for the costliest kernels",
     .stacks = "NVTX ranges (`nvtxRangePushA`) around the host code between launches",
     .modules = "NVTX ranges (`nvtxRangePushA`) around the parts of the program",
     .marked_steps = "an NVTX range (`nvtxRangePushA(\"step\")`) around each step",
     .warm_steps = "`nsys profile --trace=cuda,nvtx --capture-range=cudaProfilerApi` and "
                   "`cudaProfilerStart()` after the warm-up",
     .steps_in_a_row = "one range of `cudaProfilerStart` and `cudaProfilerStop`",
     .no_stacks = "`nsys profile --sample=none`"},
    {.profiler = kByRocprof,
     .framework = "PyTorch",
     .gpu_work = "`rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace`",
     .ops = "`rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace "
            "--output-format rocpd`, and the steps below `with "
            "torch.autograd.profiler.emit_nvtx(record_shapes=True):`",
     .shapes = "`torch.autograd.profiler.emit_nvtx(record_shapes=True)`",
     .stacks = "torch.profiler and `with_stack=True`",
     .modules = "torch.profiler and `with_stack=True, with_modules=True`",
     .marked_steps = "`torch.cuda.nvtx.range(\"step\")` around each step, and `--marker-trace`",
     .warm_steps = "`rocprofv3 --selected-regions` and `roctxProfilerResume` after the warm-up",
     .steps_in_a_row = "one range of `roctxProfilerResume` and `roctxProfilerPause`",
     .no_stacks = "`rocprofv3 --kernel-trace`"},
    {.profiler = kByRocprof,
     .framework = "",
     .gpu_work = "`rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace`",
     .ops = "`rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace "
            "--output-format rocpd`, and roctx ranges (`roctxRangePush`) around the parts of the "
            "program",
     .shapes = "`rocprofv3 --pmc` counters for the costliest kernels",
     .stacks = "roctx ranges (`roctxRangePush`) around the host code between launches",
     .modules = "roctx ranges (`roctxRangePush`) around the parts of the program",
     .marked_steps =
         "a roctx range (`roctxRangePush(\"step\")`) around each step, and `--marker-trace`",
     .warm_steps = "`rocprofv3 --selected-regions` and `roctxProfilerResume` after the warm-up",
     .steps_in_a_row = "one range of `roctxProfilerResume` and `roctxProfilerPause`",
     .no_stacks = "`rocprofv3 --kernel-trace`"},
    {.profiler = kByPerfetto,
     .framework = "",
     .gpu_work = "`rocprofv3 --sys-trace --output-format pftrace`, or the framework's own profiler",
     .ops = "the framework's own profiler (torch.profiler, jax.profiler)",
     .shapes = "the framework's own profiler, with the shapes of ops",
     .stacks = "the framework's own profiler, with Python stacks",
     .modules = "the framework's own profiler, with modules",
     .marked_steps = "a slice around each step",
     .warm_steps = "a profiler that is started after the warm-up",
     .steps_in_a_row = "steps that follow each other",
     .no_stacks = "a profiler without stacks"},
    {.profiler = kByXplane,
     .framework = "TensorFlow",
     .gpu_work = "`tf.profiler.experimental.start(DIR)` on the machine with the device",
     .ops = "`tf.profiler.experimental.ProfilerOptions(host_tracer_level=2)`",
     .shapes = "programs that run while they are profiled, compiled with "
               "`tf.function(jit_compile=True)`: these hold shapes",
     .stacks = "`tf.profiler.experimental.ProfilerOptions(python_tracer_level=1)`",
     .modules = "`tf.name_scope` around the parts of the model",
     .marked_steps = "`tf.profiler.experimental.Trace(\"train\", step_num=n)` around each step",
     .warm_steps = "`tf.profiler.experimental.start(DIR)` after two warm-up steps",
     .steps_in_a_row = "steps that follow each other",
     .no_stacks = "`tf.profiler.experimental.ProfilerOptions(python_tracer_level=0)`"},
    {.profiler = kByXplane,
     .framework = "",
     .gpu_work = "`jax.profiler.start_trace(DIR)` on the machine with the device",
     .ops = "`jax.profiler.ProfileOptions`: host_tracer_level 2",
     .shapes = "`enable_hlo_proto` (the default of `jax.profiler.ProfileOptions`), while the "
               "programs run that are meant",
     .stacks = "`jax.profiler.ProfileOptions`: python_tracer_level 1",
     .modules = "`jax.named_scope` around the parts of the model",
     .marked_steps = "`jax.profiler.StepTraceAnnotation(\"train\", step_num=n)` around each step",
     .warm_steps = "`jax.profiler.start_trace(DIR)` after two warm-up steps, and "
                   "`jax.block_until_ready` before `stop_trace`",
     .steps_in_a_row = "steps that follow each other",
     .no_stacks = "`jax.profiler.ProfileOptions`: python_tracer_level 0"},
};

}  // namespace

const HowToRecord& HowToRecordNext(const Recording* recording) {
  static const Recording kUnknown;
  const Recording& known = recording == nullptr ? kUnknown : *recording;
  const auto* row = std::ranges::find_if(kRows, [&](const HowToRecord& one) {
    return one.profiler == known.profiler &&
           (one.framework.empty() || one.framework == known.framework);
  });
  return row == std::end(kRows) ? kRows[0] : *row;
}

std::string RecordGpuWork(const Metadata& metadata) {
  return "record with " + PlainWords(HowToRecordNext(metadata).gpu_work);
}

std::string PlainWords(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '`');
  return plain;
}

}  // namespace jarvis::trace
