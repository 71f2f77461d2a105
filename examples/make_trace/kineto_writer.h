// Writes events in the profiler's own layout and key order, and counts what it wrote.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "byte_sink.h"
#include "device_model.h"
#include "options.h"
#include "step.h"

namespace make_trace {

class KinetoWriter {
 public:
  KinetoWriter(const Options& options, int rank, int pid, const std::string& path);

  void WriteHeader();
  void WriteStep(const Step& step);
  // tids: of the host threads. begin and end: of the whole capture.
  void WriteFooter(std::span<const FrameEvent> outer_frames, std::span<const int> tids, Ns begin,
                   Ns end);

  std::int64_t bytes() const { return sink_.bytes() + static_cast<std::int64_t>(out_.size()); }
  // Events by category ("" for events without one), and by phase.
  const std::map<std::string_view, std::int64_t>& by_category() const { return by_category_; }
  const std::map<std::string_view, std::int64_t>& by_phase() const { return by_phase_; }

 private:
  void Begin(std::string_view phase, std::string_view category, std::string_view name);
  void Where(std::int64_t pid, std::int64_t tid);
  void When(Ns ts, Ns dur);
  void End();
  void Field(std::string_view key, std::int64_t value);

  void WriteOp(const Step& step, const OpEvent& op);
  void WriteFrame(const FrameEvent& frame);
  void WriteCall(const Step& step, const CallEvent& call);
  void WriteGpu(const Step& step, const GpuEvent& gpu);
  void WriteKernelArgs(const Step& step, const GpuEvent& gpu);
  void WriteMemory(const MemoryEvent& memory);
  void WriteGpuAnnotation(const GpuAnnotationEvent& annotation);
  void WriteFlow(std::string_view phase, std::string_view category, std::int64_t id,
                 std::int64_t pid, std::int64_t tid, Ns ts);
  void WriteOverhead(Ns ts, Ns dur);
  void WriteMetadata(std::string_view name, std::int64_t pid, std::int64_t tid, Ns ts,
                     std::string_view key, std::string_view value);
  void WriteProcesses(Ns ts);
  void WriteDevice(int id);
  void WriteGrid(const GpuEvent& gpu);
  std::int64_t Blocks(const GpuEvent& gpu) const;
  void FlushIfLong();

  const Options& options_;
  const DeviceModel& device_;
  int rank_;
  int pid_;
  int gpu_;  // ordinal
  ByteSink sink_;
  std::string out_;
  std::int64_t event_index_ = 0;
  std::map<std::string_view, std::int64_t> by_category_;
  std::map<std::string_view, std::int64_t> by_phase_;
};

}  // namespace make_trace
