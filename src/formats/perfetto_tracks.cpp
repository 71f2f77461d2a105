#include "formats/perfetto_tracks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "analysis/simulation/path_shares.h"
#include "base/interval.h"
#include "base/text.h"
#include "documents/prose.h"
#include "findings/one/finding_spans.h"
#include "findings/one/idle.h"
#include "session/trace_frames.h"
#include "session/trace_simulation.h"
#include "trace/json_text.h"

namespace jarvis::formats {
namespace {

using trace::EventIndex;
using Span = Interval<std::int64_t>;

// No process of a machine has it; viewers show it where its sort index says, above all others.
constexpr std::int64_t kPid = 2'000'000'001;
constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kFindingsMax = 10;
constexpr std::size_t kSlicesMax = 5000;  // of one track
constexpr std::size_t kBins = 2000;       // of a counter

class Tracks {
 public:
  Tracks() {
    text_ = fmt::format(
        ",\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{0},\"tid\":0,\"args\":{{\"name\":"
        "\"JARVIS\"}}}},\n{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{0},\"tid\":0,"
        "\"args\":{{\"sort_index\":-1000}}}}",
        kPid);
  }

  // Slices of one track follow each other or lie in each other.
  void Begin(std::string_view name) {
    ++track_;
    text_ += fmt::format(
        ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{0},\"tid\":{1},\"args\":{{\"name\":"
        "\"{2}\"}}}},\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{0},\"tid\":{1},"
        "\"args\":{{\"sort_index\":{1}}}}}",
        kPid, track_, Inside(name));
  }
  void Slice(std::string_view name, Span span, std::string_view why = {}) {
    if (span.end <= span.start) return;
    const std::string args =
        why.empty() ? std::string() : fmt::format(",\"args\":{{\"what\":\"{}\"}}", Inside(why));
    text_ += fmt::format(
        ",\n{{\"ph\":\"X\",\"cat\":\"jarvis\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},"
        "\"dur\":{}{}}}",
        Inside(name), kPid, track_, Micros(span.start), Micros(span.end - span.start), args);
  }
  void Counter(std::string_view name, std::int64_t at, double value) {
    text_ += fmt::format(
        ",\n{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":{},\"ts\":{},\"args\":{{\"value\":{:.6g}}}}}",
        Inside(name), kPid, Micros(at), value);
  }
  std::string Take() { return std::move(text_); }

 private:
  static std::string Inside(std::string_view text) {
    return trace::Escape(Shortened(OneLine(ValidUtf8(text)), kNameBytesMax));
  }
  static std::string Micros(std::int64_t ns) {
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
  }

  std::string text_;
  int track_ = 0;
};

void AddFrames(const session::TraceFrames& all, Tracks* tracks) {
  if (!all.frames.steps.empty()) {
    tracks->Begin("steps");
    for (const analysis::StepFrame& step : all.frames.steps)
      tracks->Slice(step.name, step.host, step.odd_because);
  }
  if (all.phases.phases.empty()) return;
  tracks->Begin("phases");
  for (const analysis::Phase& phase : all.phases.phases) {
    for (std::size_t i = 0; i < phase.spans.size() && i < kSlicesMax; ++i)
      tracks->Slice(phase.name, phase.spans[i]);
  }
}

void AddGaps(const session::LoadedTrace& trace, Tracks* tracks) {
  const findings::IdleAnalysis idle = findings::AnalyzeIdle(trace, {.gaps_max = kSlicesMax});
  if (idle.gaps.empty()) return;
  tracks->Begin("GPU idle, by cause");
  for (const findings::Gap& gap : idle.gaps) {
    const std::int64_t end = gap.end_ns;
    tracks->Slice(findings::GapText(gap.kind), {end - std::llround(gap.dur_us * 1000), end},
                  gap.dominant);
  }
}

void AddPath(const analysis::Simulation& simulation, Tracks* tracks) {
  if (simulation.empty()) return;
  const auto path = simulation.CriticalPath();
  const auto stretches = analysis::StretchesOf(path, kBins);
  if (stretches.empty()) return;
  tracks->Begin("critical path");
  const std::int64_t base = simulation.recorded().base_ns;
  for (const analysis::PathStretch& one : stretches) {
    tracks->Slice(analysis::PathClassText(one.prevails), {base + std::llround(one.begin_us * 1000),
                                                          base + std::llround(one.end_us * 1000)});
  }
}

void AddFindings(const session::LoadedTrace& trace, const findings::Analysis& analysis,
                 Tracks* tracks) {
  std::size_t shown = 0;
  for (const findings::Finding& finding : analysis.findings) {
    if (shown == kFindingsMax) break;
    const IntervalSet<std::int64_t> work =
        findings::FindingSpans(trace.events(), analysis, finding);
    if (work.empty()) continue;
    ++shown;
    const documents::FindingText words = documents::DraftText(analysis, finding);
    tracks->Begin(fmt::format("{}. {}", finding.global_rank, words.title));
    for (std::size_t i = 0; i < work.size() && i < kSlicesMax; ++i)
      tracks->Slice(finding.id, work[i], words.action);
  }
}

// A rate over time: what each piece of work does, spread over its time, in equal bins.
class Rate {
 public:
  explicit Rate(Span frame) : frame_(frame), sums_(kBins) {}

  void Add(Span span, double amount) {
    const std::int64_t length = std::max<std::int64_t>(1, span.end - span.start);
    for (std::size_t bin = BinOf(span.start); bin < kBins; ++bin) {
      const std::int64_t from = std::max(span.start, BeginOf(bin));
      const std::int64_t to = std::min(std::max(span.end, span.start + 1), BeginOf(bin + 1));
      if (to <= from) break;
      sums_[bin] += amount * static_cast<double>(to - from) / static_cast<double>(length);
      known_ = true;
    }
  }
  // Of `amount` a nanosecond.
  void Write(std::string_view name, Tracks* tracks) const {
    if (!known_) return;
    double last = -1;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const std::int64_t length = BeginOf(bin + 1) - BeginOf(bin);
      const double value = length > 0 ? sums_[bin] / static_cast<double>(length) : 0;
      if (value != last) tracks->Counter(name, BeginOf(bin), value);
      last = value;
    }
    tracks->Counter(name, frame_.end, 0);
  }

 private:
  std::int64_t BeginOf(std::size_t bin) const {
    const auto length = static_cast<double>(frame_.end - frame_.start);
    return frame_.start +
           std::llround(length * static_cast<double>(bin) / static_cast<double>(kBins));
  }
  std::size_t BinOf(std::int64_t at) const {
    const auto length = static_cast<double>(std::max<std::int64_t>(1, frame_.end - frame_.start));
    const double place = static_cast<double>(at - frame_.start) / length;
    auto bin = static_cast<std::size_t>(std::clamp(place, 0.0, 1.0) * static_cast<double>(kBins));
    while (bin > 0 && BeginOf(bin) > at)
      --bin;
    return bin;
  }

  const Span frame_;
  std::vector<double> sums_;
  bool known_ = false;
};

// Bytes of a copy as recorded; absent: 0.
double BytesOf(const trace::EventStore& events, EventIndex copy) {
  const std::string_view other = events.text(events.args_of(copy).other);
  for (const char* key : {"bytes", "Bytes", "size"}) {
    if (const auto bytes = trace::IntegerOf(trace::MemberOf(other, key)))
      return static_cast<double>(*bytes);
  }
  return 0;
}

void AddCounters(const session::LoadedTrace& trace, Tracks* tracks) {
  const trace::EventStore& events = trace.events();
  const analysis::Attribution& all = trace.attribution();
  if (all.timeline.empty()) return;
  Span frame{events[all.timeline.front()].ts_ns, events[all.timeline.front()].end_ns()};
  for (const EventIndex e : all.timeline) {
    frame.start = std::min(frame.start, events[e].ts_ns);
    frame.end = std::max(frame.end, events[e].end_ns());
    const EventIndex call = trace.tree().parent(e);
    if (call != trace::kNoEvent) frame.start = std::min(frame.start, events[call].ts_ns);
  }
  Rate waiting(frame), copies(frame), computing(frame), moving(frame);
  for (const EventIndex e : all.timeline) {
    const trace::Event& event = events[e];
    const EventIndex call = trace.tree().parent(e);
    if (call != trace::kNoEvent && events[call].ts_ns < event.ts_ns) {
      const Span pending{events[call].ts_ns, event.ts_ns};
      waiting.Add(pending, static_cast<double>(pending.end - pending.start));
    }
    if (event.kind == trace::EventKind::kMemcpy)
      copies.Add({event.ts_ns, event.end_ns()}, BytesOf(events, e));
  }
  const auto& works = trace.Works();
  for (std::size_t i = 0; i < all.launchers.size() && i < works.size(); ++i) {
    if (works[i].work == nullptr) continue;
    const auto kernels = all.KernelsOf(all.launchers[i]);
    double total = 0;
    for (const EventIndex e : kernels)
      total += static_cast<double>(events[e].dur_ns);
    for (const EventIndex e : kernels) {
      const double part = total > 0 ? static_cast<double>(events[e].dur_ns) / total : 0;
      const Span span{events[e].ts_ns, events[e].end_ns()};
      if (works[i].work->flops) computing.Add(span, *works[i].work->flops * part / 1000);
      if (works[i].work->bytes) moving.Add(span, *works[i].work->bytes * part / 1000);
    }
  }
  // Bytes a nanosecond are GB/s, operations a nanosecond GFLOPS/s: the latter in thousands.
  waiting.Write("work launched and not begun", tracks);
  copies.Write("copies, GB/s", tracks);
  computing.Write("modelled TFLOPS/s", tracks);
  moving.Write("modelled TB/s", tracks);
}

}  // namespace

Result<std::string> PerfettoTracks(const session::LoadedTrace& trace,
                                   const findings::Analysis& analysis, Job& job) {
  JV_ASSIGN(const auto frames, session::FramesOf(trace, job));
  JV_ASSIGN(const auto simulation, session::SimulationOf(trace, job));
  Tracks tracks;
  AddFrames(*frames, &tracks);
  AddGaps(trace, &tracks);
  AddPath(*simulation, &tracks);
  AddFindings(trace, analysis, &tracks);
  AddCounters(trace, &tracks);
  return tracks.Take();
}

}  // namespace jarvis::formats
