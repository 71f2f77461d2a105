#include "analysis/host/host_summary.h"

#include <algorithm>

namespace jarvis::analysis {

std::size_t HostSummary::MemoryBytes() const {
  std::size_t bytes = sizeof(*this) + launches.all().size() * (sizeof(Launch) + 16) +
                      threads.between.capacity() * sizeof(Interval<std::int64_t>) +
                      threads.threads.capacity() * (sizeof(WorkingThread) + 64) +
                      by_step.capacity() * sizeof(LaunchFigures);
  for (const HostTimeRow& row : time.rows)
    bytes += sizeof(row) + row.name.capacity() + row.code.capacity();
  for (const WaitGroup& group : waits)
    bytes += sizeof(group) + group.code.capacity() + group.waits_for.capacity() +
             group.calls.capacity() * sizeof(trace::EventIndex);
  for (const StretchGroup& group : stretches.groups)
    bytes += sizeof(group) + group.stretches.capacity() * sizeof(EmptyStretch) +
             group.frames.capacity() * sizeof(StretchFrame);
  return bytes;
}

Result<HostSummary> SummariseHost(const HostInput& input, const Job& job) {
  const HostGpuWork gpu(input.events);
  HostNames names(input.events);
  JV_TRY(job.Check());
  HostSummary out;
  out.launches = Launches(input.events, input.tree, gpu);
  out.has_host_events = !input.tree.preorder().empty();
  out.has_gpu_work = !gpu.by_start().empty();
  out.steps_marked = !input.steps.empty();
  JV_TRY(job.Check());
  const Waits waits = FindWaits(input.events, input.tree, gpu, out.launches, &names);
  out.threads = MeasureThreads(input, out.launches, waits, &names);
  JV_TRY(job.Check());
  out.time = MeasureHostTime(input, out.threads, waits, &names);
  out.has_frames = std::any_of(out.time.rows.begin(), out.time.rows.end(),
                               [](const auto& row) { return row.kind == HostRowKind::kFrame; });
  JV_TRY(job.Check());
  out.waits = GroupWaits(input.events, input.tree, gpu, waits, &names);
  out.stretches = FindStretches(input, out.threads, gpu, &names);
  JV_TRY(job.Check());
  out.launching = out.launches.All();
  const auto most = [](std::span<const std::uint32_t> tracks) {
    return tracks.first(std::min(tracks.size(), kLaunchTracksMax));
  };
  for (const std::uint32_t track : most(out.launches.threads()))
    out.by_thread.push_back({track, out.launches.OfThread(track)});
  for (const std::uint32_t track : most(out.launches.streams()))
    out.by_stream.push_back({track, out.launches.OfStream(track)});
  for (const StepThreads& step : out.threads.steps)
    out.by_step.push_back(out.launches.In(step.window));
  return out;
}

}  // namespace jarvis::analysis
