// What surrounds the events of the steps: devices and versions before them, names of processes and
// threads and the span of the capture after them.
#include <algorithm>

#include "kineto_writer.h"
#include "random.h"

namespace make_trace {
namespace {

int GpusOfNode(const Options& options) {
  return std::min(8, options.world);
}

}  // namespace

void KinetoWriter::WriteDevice(int id) {
  const bool nvidia = options_.platform == Platform::kH100;
  Field("    {\n      \"id\": ", id);
  out_ += ", \"name\": ";
  AppendQuoted(out_, device_.name);
  out_ += nvidia ? ", \"totalGlobalMem\": 85018279936,\n      \"computeMajor\": 9, "
                   "\"computeMinor\": 0,\n"
                 : ", \"totalGlobalMem\": 206141652992,\n      \"computeMajor\": 9, "
                   "\"computeMinor\": 4,\n";
  out_ += "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n";
  out_ += nvidia ? "      \"regsPerBlock\": 65536, \"regsPerMultiprocessor\": 65536, "
                   "\"warpSize\": 32,\n      \"sharedMemPerBlock\": 49152, "
                   "\"sharedMemPerMultiprocessor\": 233472,\n      \"numSms\": 132, "
                   "\"sharedMemPerBlockOptin\": 232448\n"
                 : "      \"regsPerBlock\": 65536, \"warpSize\": 64,\n      "
                   "\"sharedMemPerBlock\": 65536, \"numSms\": 304\n    , "
                   "\"maxSharedMemoryPerMultiProcessor\": 65536\n";
  out_ += id + 1 < GpusOfNode(options_) ? "    },\n" : "    }\n";
}

void KinetoWriter::WriteHeader() {
  out_ += "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n";
  for (int id = 0; id < GpusOfNode(options_); ++id)
    WriteDevice(id);
  out_ += "  ],\n";
  const bool nvidia = options_.platform == Platform::kH100;
  out_ += nvidia ? "  \"cupti_version\": 26,\n  \"cuda_runtime_version\": 12080,\n"
                 : "  \"roctracer_version\": 4.1,\n  \"hip_runtime_version\": 60443483,\n";
  if (options_.world > 1) {
    Field("  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ", rank_);
    Field(", \"world_size\": ", options_.world);
    Field(
        ", \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", "
        "\"backend_config\": \"cuda:nccl\", \"pg_size\": ",
        options_.world);
    out_ += ", \"ranks\": [";
    for (int rank = 0; rank < options_.world; ++rank)
      Field(rank == 0 ? "" : ", ", rank);
    out_ += "]}], \"nccl_version\": \"2.26.2\"},\n";
  }
  out_ += "  \"record_shapes\": 1,\n";
  out_ += nvidia ? "  \"cuda_driver_version\": 12080,\n" : "  \"hip_driver_version\": 60443483,\n";
  out_ += "  \"profile_memory\": 1,\n";
  if (options_.python_frames) out_ += "  \"with_stack\": 1,\n";
  out_ += "  \"trace_id\": \"";
  Random random(options_.seed + static_cast<std::uint64_t>(rank_) * 7919);
  for (int i = 0; i < 32; ++i)
    out_ += "0123456789ABCDEF"[static_cast<std::size_t>(random.Below(16))];
  out_ += "\",\n  \"traceEvents\": [\n";
}

void KinetoWriter::WriteMetadata(std::string_view name, std::int64_t pid, std::int64_t tid, Ns ts,
                                 std::string_view key, std::string_view value) {
  ++by_phase_["M"];
  ++by_category_[""];
  out_ += "  {\n    \"name\": ";
  AppendQuoted(out_, name);
  out_ += ", \"ph\": \"M\", \"ts\": ";
  AppendMicros(out_, ts);
  out_ += ", ";
  Where(pid, tid);
  out_ += ",\n    \"args\": {\n      ";
  AppendQuoted(out_, key);
  out_ += ": ";
  out_ += value;
  End();
}

void KinetoWriter::WriteProcesses(Ns ts) {
  const auto process = [&](std::int64_t pid, const std::string& label, std::int64_t order) {
    WriteMetadata("process_name", pid, 0, ts, "name", "\"python3\"");
    WriteMetadata("process_labels", pid, 0, ts, "labels", '"' + label + '"');
    WriteMetadata("process_sort_index", pid, 0, ts, "sort_index", Number(order));
  };
  process(pid_, "CPU", pid_);
  for (int id = 0; id < GpusOfNode(options_); ++id)
    process(id, "GPU " + Number(id), 5'000'000 + id);
  for (const int stream : {device_.compute_stream, device_.comm_stream}) {
    if (stream == device_.comm_stream && options_.world == 1) continue;
    WriteMetadata("thread_name", gpu_, stream, ts, "name", "\"stream " + Number(stream) + " \"");
    WriteMetadata("thread_sort_index", gpu_, stream, ts, "sort_index", Number(stream));
  }
}

void KinetoWriter::WriteFooter(std::span<const FrameEvent> outer_frames, std::span<const int> tids,
                               Ns begin, Ns end) {
  for (const FrameEvent& frame : outer_frames)
    WriteFrame(frame);
  WriteProcesses(begin);
  for (const int tid : tids) {
    WriteMetadata("thread_name", pid_, tid, begin, "name",
                  "\"thread " + Number(tid) + " (python3)\"");
    WriteMetadata("thread_sort_index", pid_, tid, begin, "sort_index", Number(tid));
  }
  ++by_phase_["X"];
  ++by_category_["Trace"];
  out_ += "  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ";
  AppendMicros(out_, begin);
  out_ += ", \"dur\": ";
  AppendMicros(out_, end - begin);
  out_ +=
      ",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch "
      "Profiler (0)\",\n    \"args\": {\n      \"Op count\": 0\n    }\n  },\n";
  ++by_phase_["M"];
  by_phase_["i"] += 2;
  by_category_[""] += 3;
  out_ += "  {\n    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": ";
  AppendMicros(out_, begin);
  out_ +=
      ",\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {\n      \"sort_index\": "
      "536870912\n    }\n  },\n  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", "
      "\"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch "
      "Profiler\", \"ts\": ";
  AppendMicros(out_, begin);
  out_ +=
      "\n  },\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    "
      "\"pid\": \"\", \"tid\": \"\", \"ts\": ";
  AppendMicros(out_, end + 21'402'000);
  Field("\n  }\n  ],\n  \"traceName\": \"./traces/rank", rank_);
  out_ +=
      "_transformer.json\",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": "
      "1767189312000000000\n}";
  sink_.Append(out_);
  out_.clear();
  sink_.Close();
}

}  // namespace make_trace
