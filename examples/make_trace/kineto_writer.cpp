#include "kineto_writer.h"

#include <algorithm>

namespace make_trace {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 18;

}  // namespace

KinetoWriter::KinetoWriter(const Options& options, int rank, int pid, const std::string& path)
    : options_(options),
      device_(Device(options.platform)),
      rank_(rank),
      pid_(pid),
      gpu_(rank % 8),
      sink_(path, options.compact) {}

void KinetoWriter::FlushIfLong() {
  if (out_.size() < kFlushBytes) return;
  sink_.Append(out_);
  out_.clear();
}

void KinetoWriter::Begin(std::string_view phase, std::string_view category, std::string_view name) {
  ++by_phase_[phase];
  ++by_category_[category];
  out_ += "  {\n    \"ph\": \"";
  out_ += phase;
  out_ += "\", \"cat\": \"";
  out_ += category;
  out_ += "\", \"name\": \"";
  out_ += name;
  out_ += "\", ";
}

void KinetoWriter::Where(std::int64_t pid, std::int64_t tid) {
  Field("\"pid\": ", pid);
  Field(", \"tid\": ", tid);
}

void KinetoWriter::When(Ns ts, Ns dur) {
  out_ += ",\n    \"ts\": ";
  AppendMicros(out_, ts);
  out_ += ", \"dur\": ";
  AppendMicros(out_, dur);
}

void KinetoWriter::End() {
  out_ += "\n    }\n  },\n";
  FlushIfLong();
}

void KinetoWriter::Field(std::string_view key, std::int64_t value) {
  out_ += key;
  AppendInt(out_, value);
}

void KinetoWriter::WriteOp(const Step& step, const OpEvent& op) {
  Begin("X", op.annotation ? "user_annotation" : "cpu_op", op.name);
  Where(pid_, op.tid);
  When(op.ts, op.dur);
  Field(",\n    \"args\": {\n      \"External id\": ", op.external_id);
  const auto sequence = [&] {
    Field("\"Sequence number\": ", op.sequence);
    Field(", \"Fwd thread id\": ", op.forward_thread == kNone ? 0 : op.forward_thread);
    out_ += ", ";
  };
  out_ += ",";
  if (op.sequence != kNone && op.inputs.size > 0) sequence();
  out_ += "\"Record function id\": 0, ";
  if (op.sequence != kNone && op.inputs.size == 0) sequence();
  if (op.inputs.size > 0) {
    out_ += step.Text(op.inputs);
    out_ += ", ";
  }
  Field("\"Ev Idx\": ", event_index_++);
  End();
  if (op.flow != 0)
    WriteFlow(op.flow > 0 ? "s" : "f", "fwdbwd", op.flow > 0 ? op.flow : -op.flow, pid_, op.tid,
              op.ts);
}

void KinetoWriter::WriteFrame(const FrameEvent& frame) {
  Begin("X", "python_function", frame.name);
  Where(pid_, frame.tid);
  When(frame.ts, frame.dur);
  out_ += ",\n    \"args\": {\n      \"Python parent id\": ";
  if (frame.parent == kNone) {
    out_ += "null";
  } else {
    AppendInt(out_, frame.parent);
  }
  Field(", \"Python id\": ", frame.id);
  if (frame.module != kNone) Field(", \"Python module id\": ", frame.module);
  Field(", \"Ev Idx\": ", event_index_++);
  End();
}

void KinetoWriter::WriteFlow(std::string_view phase, std::string_view category, std::int64_t id,
                             std::int64_t pid, std::int64_t tid, Ns ts) {
  ++by_phase_[phase];
  ++by_category_[category];
  out_ += "  {\n    \"ph\": \"";
  out_ += phase;
  Field("\", \"id\": ", id);
  out_ += ", ";
  Where(pid, tid);
  out_ += ", \"ts\": ";
  AppendMicros(out_, ts);
  out_ += ",\n    \"cat\": \"";
  out_ += category;
  out_ += "\", \"name\": \"";
  out_ += category;
  out_ += phase == "f" ? "\", \"bp\": \"e\"\n  },\n" : "\"\n  },\n";
  FlushIfLong();
}

void KinetoWriter::WriteCall(const Step& step, const CallEvent& call) {
  const CallInfo& info = Info(call.call);
  const bool nvidia = options_.platform == Platform::kH100;
  Begin("X", nvidia && info.driver ? "cuda_driver" : "cuda_runtime",
        nvidia ? info.h100 : info.mi300x);
  Where(pid_, call.tid);
  When(call.ts, call.dur);
  out_ += ",\n    \"args\": {\n      ";
  if (call.external_id != 0) {
    Field("\"External id\": ", call.external_id);
    out_ += nvidia ? ",\n      " : ",          ";
  }
  if (nvidia) {
    Field("\"cbid\": ", info.cbid);
    Field(", \"correlation\": ", call.correlation);
  } else {
    const GpuEvent* gpu = call.starts_gpu_work ? &step.gpu[call.gpu] : nullptr;
    const bool kernel = gpu != nullptr && gpu->kind == GpuKind::kKernel;
    if (kernel) {
      out_ += "\"kernel\": ";
      AppendQuoted(out_, gpu->name);
      out_ += ", ";
    }
    Field("\"cid\": ", info.cid);
    Field(", \"correlation\": ", call.correlation);
    if (kernel) {
      out_ += ",\n      ";
      WriteGrid(*gpu);
      Field(", \"shared memory\": ", gpu->info->shared_bytes);
    } else if (gpu != nullptr && gpu->kind == GpuKind::kMemcpy) {
      Field(", \"src\": \"0x7f0e4a7e8000\", \"dst\": \"0x7f0e79800400\", \"bytes\": \"",
            gpu->bytes);
      out_ += "\", \"kind\": \"1\"";
    }
  }
  End();
  if (call.starts_gpu_work || (nvidia && (call.call == Call::kStreamSynchronize ||
                                          call.call == Call::kDeviceSynchronize))) {
    WriteFlow("s", "ac2g", call.correlation, pid_, call.tid, call.ts);
  } else if (!nvidia) {
    // roctracer: calls that start nothing have an arrow's end, at the host.
    WriteFlow("f", "ac2g", call.correlation, pid_, call.tid, call.ts);
  }
}

std::int64_t KinetoWriter::Blocks(const GpuEvent& gpu) const {
  if (gpu.info->per_thread == 0) return 24;
  const std::int64_t per_block = std::int64_t{gpu.info->block} * gpu.info->per_thread;
  return std::max<std::int64_t>(1, (gpu.elements + per_block - 1) / per_block);
}

void KinetoWriter::WriteGrid(const GpuEvent& gpu) {
  Field("\"grid\": [", Blocks(gpu));
  const bool nvidia = options_.platform == Platform::kH100;
  Field(nvidia ? ", 1, 1],\n      \"block\": [" : ", 1, 1], \"block\": [", gpu.info->block);
  out_ += ", 1, 1]";
}

void KinetoWriter::WriteKernelArgs(const Step& step, const GpuEvent& gpu) {
  if (options_.platform == Platform::kMi300x) {
    out_ += ", \"kind\": \"Dispatch Kernel\",\n      ";
    WriteGrid(gpu);
  } else {
    const std::int64_t micro_blocks = Blocks(gpu) * 1'000'000 / device_.multiprocessors;
    const std::int64_t micro_warps = micro_blocks * gpu.info->block / device_.warp;
    Field(",\n      \"registers per thread\": ", gpu.info->registers);
    Field(",\n      \"shared memory\": ", gpu.info->shared_bytes);
    out_ += ",\n      \"blocks per SM\": ";
    AppendFixed(out_, micro_blocks, 6);
    out_ += ",\n      \"warps per SM\": ";
    AppendFixed(out_, micro_warps, 6);
    out_ += ",\n      ";
    WriteGrid(gpu);
    Field(",\n      \"est. achieved occupancy %\": ",
          std::min<std::int64_t>(100, micro_warps * 100 / 64'000'000));
  }
  if (gpu.collective.size > 0) {
    out_ += ",\n      ";
    out_ += step.Text(gpu.collective);
  }
}

void KinetoWriter::WriteGpu(const Step& step, const GpuEvent& gpu) {
  constexpr std::string_view kCategories[] = {"kernel", "gpu_memcpy", "gpu_memset"};
  const bool nvidia = options_.platform == Platform::kH100;
  Begin("X", kCategories[static_cast<std::size_t>(gpu.kind)], gpu.name);
  Where(gpu_, gpu.stream);
  When(gpu.ts, gpu.dur);
  out_ += ",\n    \"args\": {\n      ";
  if (gpu.external_id != 0) {
    Field("\"External id\": ", gpu.external_id);
    out_ += nvidia ? ",\n      " : ",      ";
  }
  if (nvidia && gpu.kind == GpuKind::kKernel) out_ += "\"queued\": 0, ";
  Field("\"device\": ", gpu_);
  if (nvidia) out_ += ", \"context\": 1";
  Field(nvidia ? ",\n      \"stream\": " : ", \"stream\": ", gpu.stream);
  Field(", \"correlation\": ", gpu.correlation);
  if (gpu.kind == GpuKind::kKernel) {
    WriteKernelArgs(step, gpu);
  } else {
    if (!nvidia) {
      const bool to_host = gpu.name.find("DtoH") != std::string_view::npos;
      out_ += ", \"kind\": \"";
      out_ += gpu.kind == GpuKind::kMemset ? "Device" : to_host ? "DtoH" : "HtoD";
      out_ += '"';
    }
    Field(",\n      \"bytes\": ", gpu.bytes);
    out_ += ", \"memory bandwidth (GB/s)\": ";
    AppendFixed(out_, gpu.bytes * 1'000'000 / std::max<Ns>(gpu.dur, 1), 6);
  }
  End();
  WriteFlow("f", "ac2g", gpu.correlation, gpu_, gpu.stream, gpu.ts);
}

void KinetoWriter::WriteMemory(const MemoryEvent& memory) {
  ++by_phase_["i"];
  ++by_category_["cpu_instant_event"];
  out_ +=
      "  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", "
      "\"name\": \"[memory]\", ";
  Where(pid_, memory.tid);
  out_ += ",\n    \"ts\": ";
  AppendMicros(out_, memory.ts);
  Field(",\n    \"args\": {\n      \"Total Reserved\": ", memory.allocated + (1 << 30));
  Field(", \"Total Allocated\": ", memory.allocated);
  Field(", \"Bytes\": ", memory.bytes);
  Field(", \"Addr\": ", memory.address);
  Field(", \"Device Id\": ", gpu_);
  Field(", \"Device Type\": 1, \"Ev Idx\": ", event_index_++);
  End();
}

void KinetoWriter::WriteGpuAnnotation(const GpuAnnotationEvent& annotation) {
  Begin("X", "gpu_user_annotation", annotation.name);
  Where(gpu_, annotation.stream);
  When(annotation.ts, annotation.dur);
  Field(",\n    \"args\": {\n      \"External id\": ", annotation.external_id);
  End();
}

void KinetoWriter::WriteOverhead(Ns ts, Ns dur) {
  Begin("X", "overhead", "Activity Buffer Request");
  Where(-1, 0);
  When(ts, dur);
  out_ += "\n  },\n";
}

void KinetoWriter::WriteStep(const Step& step) {
  for (const OpEvent& op : step.ops)
    WriteOp(step, op);
  for (const MemoryEvent& memory : step.memory)
    WriteMemory(memory);
  for (const FrameEvent& frame : step.frames)
    WriteFrame(frame);
  for (const CallEvent& call : step.calls)
    WriteCall(step, call);
  for (const GpuEvent& gpu : step.gpu)
    WriteGpu(step, gpu);
  for (const GpuAnnotationEvent& annotation : step.gpu_annotations)
    WriteGpuAnnotation(annotation);
  if (options_.platform == Platform::kH100 && !step.ops.empty())
    WriteOverhead(step.ts + 41'000, 380'250);
}

}  // namespace make_trace
