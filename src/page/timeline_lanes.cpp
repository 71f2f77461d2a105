#include "page/timeline_lanes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "analysis/host/host_names.h"
#include "analysis/host/host_walk.h"
#include "analysis/host/runtime_calls.h"
#include "base/parallel.h"
#include "findings/one/finding_spans.h"
#include "findings/one/idle.h"
#include "session/trace_frames.h"
#include "session/trace_host.h"

namespace jarvis::page {
namespace {

using trace::EventIndex;
using trace::EventKind;
using TimeRange = Interval<std::int64_t>;

constexpr std::size_t kStreamsMax = 16;
constexpr std::size_t kThreadsMax = 6;
constexpr std::size_t kLevelsMax = 10;
constexpr std::size_t kPythonLevelsMax = 8;
constexpr std::size_t kGapsMax = 3000;
constexpr std::size_t kFindingsShown = 10;
constexpr std::size_t kSpansMax = 3000;  // of a row above streams and threads
constexpr std::size_t kRowPiecesMax = 150'000;
constexpr int kGapKinds = static_cast<int>(findings::GapClass::kUnknown) + 1;

std::uint8_t Number(PieceKind kind) {
  return static_cast<std::uint8_t>(kind);
}

// Where to look closest: the steady step of middle length, with its GPU work; without steps at all.
TimeRange FocusOf(const analysis::TimeFrames& frames) {
  std::vector<const analysis::StepFrame*> steps;
  for (const analysis::StepFrame& step : frames.steps) {
    if (step.steady) steps.push_back(&step);
  }
  if (steps.empty())
    return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto* a, const auto* b) { return a->host_ns() < b->host_ns(); });
  const analysis::StepFrame& step = *steps[(steps.size() - 1) / 2];
  TimeRange focus{step.host.start, step.host.end};
  if (step.gpu) {
    focus.start = std::min(focus.start, step.gpu->start);
    focus.end = std::max(focus.end, step.gpu->end);
  }
  return focus;
}

class LaneMaker {
 public:
  LaneMaker(const session::LoadedTrace& trace, const findings::Analysis& analysis,
            const WorkTree& tree, ScriptNames* names)
      : trace_(trace),
        events_(trace.events()),
        analysis_(analysis),
        tree_(tree),
        names_(*names),
        meanings_(trace.events()) {
    all_.focus = FocusOf(analysis.frames->frames);
  }

  Result<Timeline> Make(const TimelineLimits& limits, const Job& job) {
    JV_ASSIGN(const auto host, session::HostOf(trace_, job));
    findings::IdleAnalysis idle;
    std::vector<Lane> gpu, threads, python;
    ParallelFor(2, 0, [&](std::size_t part) {
      if (part == 0) {
        gpu = GpuLanes();
        threads = HostLanes(*host, &python);
      } else {
        idle = findings::AnalyzeIdle(trace_, {.gaps_max = kGapsMax});
      }
    });
    Bound(gpu);
    Bound(threads);
    all_.focus = {std::max(all_.focus.start, all_.bounds.start),
                  std::min(all_.focus.end, all_.bounds.end)};
    Frames();
    Findings();
    Gaps(idle);
    const std::pair<std::vector<Lane>*, std::size_t> of[] = {
        {&gpu, limits.gpu_pieces}, {&threads, limits.host_pieces}, {&python, limits.python_pieces}};
    ParallelFor(std::size(of), 0, [&](std::size_t i) { Thin(of[i].first, of[i].second); });
    std::move(gpu.begin(), gpu.end(), std::back_inserter(all_.lanes));
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (!python[i].rows.empty()) all_.lanes.push_back(std::move(python[i]));
      all_.lanes.push_back(std::move(threads[i]));
    }
    return std::move(all_);
  }

 private:
  void Bound(const std::vector<Lane>& lanes) {
    for (const Lane& lane : lanes) {
      for (const Row& row : lane.rows) {
        for (const Piece& piece : row) {
          const bool first = all_.bounds.end <= all_.bounds.start;
          all_.bounds.start = first ? piece.start : std::min(all_.bounds.start, piece.start);
          all_.bounds.end = first ? piece.end : std::max(all_.bounds.end, piece.end);
        }
      }
    }
  }

  void Thin(std::vector<Lane>* lanes, std::size_t most) const {
    std::vector<Row*> rows;
    for (Lane& lane : *lanes) {
      for (Row& row : lane.rows)
        rows.push_back(&row);
    }
    ThinRows(rows, all_.focus, most);
  }

  static Piece PieceOf(std::int64_t start, std::int64_t end, std::int64_t name, PieceKind kind) {
    Piece piece;
    piece.start = start;
    piece.end = end;
    piece.name = name;
    piece.kind = Number(kind);
    return piece;
  }

  // No row gets longer than can be kept of any recording.
  void Add(const Piece& piece, Row* row) const {
    row->push_back(piece);
    if (row->size() < kRowPiecesMax) return;
    SortRow(row);
    ThinRows({row}, all_.focus, kRowPiecesMax / 2);
  }

  void Frames() {
    const session::TraceFrames& frames = *analysis_.frames;
    Lane steps{"frames", "Steps", {{}}};
    for (const analysis::StepFrame& step : frames.frames.steps) {
      Add(PieceOf(step.host.start, step.host.end, names_.Of(step.name),
                  step.steady ? PieceKind::kStep : PieceKind::kOddStep),
          &steps.rows[0]);
    }
    AddThinned(std::move(steps));
    Lane phases{"frames", "Phases", {{}, {}}};
    for (const analysis::Phase& phase : frames.phases.phases) {
      Row& row = phases.rows[phase.level == 0 ? 0 : 1];
      for (const TimeRange& span : phase.spans)
        Add(PieceOf(span.start, span.end, names_.Of(phase.name), PieceKind::kPhase), &row);
    }
    AddThinned(std::move(phases));
  }

  static void SortRow(Row* row) {
    const auto earlier = [](const Piece& a, const Piece& b) { return a.start < b.start; };
    // Most are: they are made in the order of their thread.
    if (std::is_sorted(row->begin(), row->end(), earlier)) return;
    std::stable_sort(row->begin(), row->end(), earlier);
  }
  // Rows by start, without empty ones.
  static void Sort(Lane* lane) {
    for (Row& row : lane->rows)
      SortRow(&row);
    std::erase_if(lane->rows, [](const Row& row) { return row.empty(); });
  }

  void Findings() {
    Lane lane{"findings", "Findings", {}};
    for (std::size_t i = 0; i < analysis_.findings.size() && i < kFindingsShown; ++i) {
      const findings::Finding& finding = analysis_.findings[i];
      const std::int64_t name = names_.Of(fmt::format("Finding {}", finding.global_rank));
      Row row;
      for (const TimeRange& span : findings::FindingSpans(events_, analysis_, finding)) {
        Add(PieceOf(span.start, span.end, name, PieceKind::kFinding), &row);
      }
      ThinRows({&row}, all_.focus, kSpansMax);
      lane.rows.push_back(std::move(row));
    }
    if (!lane.rows.empty()) all_.lanes.push_back(std::move(lane));
  }

  void Gaps(const findings::IdleAnalysis& idle) {
    Lane lane{"idle", "GPU idle, by cause", {{}}};
    for (const findings::Gap& gap : idle.gaps) {
      const std::string& name = gap.dominant.empty() ? gap.next_op : gap.dominant;
      Piece piece = PieceOf(gap.end_ns - std::llround(gap.dur_us * 1000), gap.end_ns,
                            names_.Of(name), PieceKind::kGap);
      piece.kind = static_cast<std::uint8_t>(piece.kind + static_cast<int>(gap.kind));
      lane.rows[0].push_back(piece);
    }
    AddThinned(std::move(lane));
  }

  // A lane above those of streams and threads, if there is anything in it.
  void AddThinned(Lane lane) {
    Sort(&lane);
    for (Row& row : lane.rows)
      ThinRows({&row}, all_.focus, kSpansMax);
    if (!lane.rows.empty()) all_.lanes.push_back(std::move(lane));
  }

  std::vector<Lane> GpuLanes() {
    std::vector<Lane> of_track(events_.tracks.size());
    std::vector<std::int64_t> busy(events_.tracks.size());
    for (const EventIndex e : trace_.attribution().timeline) {
      const trace::Event& event = events_[e];
      Lane& lane = of_track[event.track];
      if (lane.rows.empty()) lane.rows.emplace_back();
      Add(GpuPiece(e), &lane.rows[0]);
      busy[event.track] += event.dur_ns;
    }
    std::vector<std::uint32_t> tracks;
    for (std::uint32_t track = 0; track < of_track.size(); ++track) {
      if (!of_track[track].rows.empty()) tracks.push_back(track);
    }
    std::stable_sort(tracks.begin(), tracks.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return busy[a] > busy[b]; });
    if (tracks.size() > kStreamsMax) {
      all_.streams_left_out = tracks.size() - kStreamsMax;
      tracks.resize(kStreamsMax);
    }
    std::vector<Lane> lanes;
    for (const std::uint32_t track : tracks) {
      Lane& lane = of_track[track];
      lane.group = "gpu";
      const trace::Track& ids = events_.tracks[track];
      lane.title = fmt::format("GPU {}, stream {}", ids.pid, ids.tid);
      Sort(&lane);
      lanes.push_back(std::move(lane));
    }
    return lanes;
  }

  Piece GpuPiece(EventIndex e) {
    const trace::Event& event = events_[e];
    Piece piece =
        PieceOf(event.ts_ns, event.end_ns(), names_.OfEvent(events_, e), PieceKind::kOtherGpu);
    piece.op = tree_.op_of[e];
    piece.module = tree_.module_of[e];
    if (event.kind == EventKind::kMemcpy || event.kind == EventKind::kMemset) {
      piece.kind = Number(PieceKind::kCopy);
    } else if (piece.op != kNoOp) {
      piece.kind = Number(KindOfCategory(tree_.ops[piece.op]->category));
    } else if (analysis::IsCollectiveName(events_.name(e))) {
      piece.kind = Number(PieceKind::kCommunication);
    }
    return piece;
  }

  // `python`: of each thread the lane of its Python code, which may be empty.
  std::vector<Lane> HostLanes(const analysis::HostSummary& host, std::vector<Lane>* python) {
    using analysis::ThreadRole;
    std::vector<const analysis::WorkingThread*> chosen;
    for (const analysis::WorkingThread& thread : host.threads.threads) {
      if (thread.role != ThreadRole::kMonitor) chosen.push_back(&thread);
    }
    std::stable_sort(chosen.begin(), chosen.end(), [](const auto* a, const auto* b) {
      if (a->role != b->role) return a->role < b->role;
      return a->WorkNs() > b->WorkNs();
    });
    if (chosen.size() > kThreadsMax) {
      all_.threads_left_out = chosen.size() - kThreadsMax;
      chosen.resize(kThreadsMax);
    }
    const auto threads = analysis::ThreadsOf(events_, trace_.tree());
    std::vector<Lane> lanes;
    for (const analysis::WorkingThread* thread : chosen) {
      Lane lane{
          "host",
          fmt::format("Host thread {} ({})", thread->tid, analysis::ThreadRoleText(thread->role)),
          {}};
      Lane code{"python", fmt::format("Python, host thread {}", thread->tid), {}};
      for (const auto& events : threads) {
        if (events.empty() || events_[events.front()].track != thread->track) continue;
        AddThread(events, &lane);
        AddPython(events, &code);
      }
      Sort(&lane);
      Sort(&code);
      if (lane.rows.empty()) continue;
      lanes.push_back(std::move(lane));
      python->push_back(std::move(code));
    }
    return lanes;
  }

  // Of Python frames modules alone: the others have a lane of their own.
  std::optional<PieceKind> HostKind(EventIndex e) const {
    switch (events_[e].kind) {
      case EventKind::kCpuOp: return PieceKind::kOp;
      case EventKind::kUserAnnotation: return PieceKind::kAnnotation;
      case EventKind::kRuntime:
      case EventKind::kDriver:
        return analysis::IsSyncCall(events_.name(e)) ? PieceKind::kWait : PieceKind::kCall;
      case EventKind::kPythonFunction:
        if (!analysis::ModuleClass(events_.name(e)).empty()) return PieceKind::kModule;
        return std::nullopt;
      default: return std::nullopt;
    }
  }

  void AddThread(std::span<const EventIndex> events, Lane* lane) {
    struct Open {
      EventIndex event;
      std::size_t level;  // of what is shown inside it
    };
    std::vector<Open> open;
    for (const EventIndex e : events) {
      const EventIndex parent = trace_.tree().parent(e);
      while (!open.empty() && open.back().event != parent)
        open.pop_back();
      const std::size_t level = open.empty() ? 0 : open.back().level;
      const auto kind = HostKind(e);
      open.push_back({e, level + (kind ? 1 : 0)});
      if (!kind || level >= kLevelsMax) continue;
      if (lane->rows.size() <= level) lane->rows.resize(level + 1);
      lane->rows[level].push_back(
          PieceOf(events_[e].ts_ns, events_[e].end_ns(), names_.OfEvent(events_, e), *kind));
    }
  }

  // The lines of the user's own code and of libraries above torch, by which a user knows the
  // program. A line that is nearly all of the one around it takes its place: launchers and
  // decorators stand many deep and say nothing.
  void AddPython(std::span<const EventIndex> events, Lane* lane) {
    constexpr double kNearlyAll = 0.95;
    struct Open {
      std::int64_t end;
      std::int64_t shown_ns;
      std::size_t level;
    };
    std::vector<Open> open;
    for (const EventIndex e : events) {
      const trace::Event& event = events_[e];
      if (event.kind != EventKind::kPythonFunction || !meanings_.Of(e).user_frame) continue;
      while (!open.empty() && open.back().end <= event.ts_ns)
        open.pop_back();
      const Piece piece =
          PieceOf(event.ts_ns, event.end_ns(), names_.OfEvent(events_, e), PieceKind::kPython);
      if (!open.empty() && static_cast<double>(event.dur_ns) >=
                               kNearlyAll * static_cast<double>(open.back().shown_ns)) {
        lane->rows[open.back().level].back() = piece;
        open.back().shown_ns = event.dur_ns;
        continue;
      }
      const std::size_t level = open.empty() ? 0 : open.back().level + 1;
      if (level >= kPythonLevelsMax) continue;
      open.push_back({event.end_ns(), event.dur_ns, level});
      if (lane->rows.size() <= level) lane->rows.resize(level + 1);
      lane->rows[level].push_back(piece);
    }
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const findings::Analysis& analysis_;
  const WorkTree& tree_;
  ScriptNames& names_;
  analysis::HostNames meanings_;
  Timeline all_;
};

void AddRowJson(const Row& row, std::int64_t zero, ScriptNames* names, std::string* json) {
  constexpr std::int64_t kUnitNs = 100;
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";
  std::string start = "[", length = "[", name = "[", op = "[", module = "[", many = "[", kind;
  std::int64_t before = 0;
  bool ops = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Piece& piece = row[i];
    const std::int64_t at = (piece.start - zero) / kUnitNs;
    AppendNumber(at - before, &start);
    before = at;
    AppendNumber((piece.end - piece.start + kUnitNs / 2) / kUnitNs, &length);
    AppendNumber(names->Shown(piece.name), &name);
    AppendNumber(piece.op == kNoOp ? 0 : static_cast<std::int64_t>(piece.op) + 1, &op);
    AppendNumber(piece.module == 0 ? 0 : names->Shown(piece.module - 1) + 1, &module);
    ops = ops || piece.op != kNoOp;
    kind += kDigits[std::min<std::size_t>(piece.kind, kDigits.size() - 1)];
    if (piece.count == 1) continue;
    for (const std::int64_t value : {static_cast<std::int64_t>(i),
                                     static_cast<std::int64_t>(piece.count), piece.busy / kUnitNs})
      AppendNumber(value, &many);
  }
  *json += fmt::format("{{\"s\":{}],\"d\":{}],\"n\":{}],\"k\":\"{}\",\"m\":{}]", start, length,
                       name, kind, many);
  *json += ops ? fmt::format(",\"o\":{}],\"p\":{}]}}", op, module) : "}";
}

}  // namespace

std::vector<std::string> KindNames() {
  std::vector<std::string> names = {"matrix products",
                                    "attention",
                                    "convolution",
                                    "elementwise",
                                    "norms and reductions",
                                    "MoE and Triton",
                                    "communication",
                                    "copies",
                                    "other GPU work",
                                    "annotation",
                                    "module",
                                    "op",
                                    "runtime call",
                                    "call that waits for the GPU",
                                    "Python",
                                    "step",
                                    "odd step",
                                    "phase",
                                    "finding"};
  for (int i = 0; i < kGapKinds; ++i) {
    std::string name(findings::GapText(static_cast<findings::GapClass>(i)));
    std::replace(name.begin(), name.end(), '_', ' ');
    names.push_back("GPU idle: " + name);
  }
  return names;
}

PieceKind KindOfCategory(std::string_view category_key) {
  switch (findings::KindOf(category_key)) {
    case findings::Kind::kGemm: return PieceKind::kGemm;
    case findings::Kind::kSdpa: return PieceKind::kAttention;
    case findings::Kind::kConvolution: return PieceKind::kConvolution;
    case findings::Kind::kElementwise: return PieceKind::kElementwise;
    case findings::Kind::kReduce:
    case findings::Kind::kNorm: return PieceKind::kNorm;
    case findings::Kind::kMoe:
    case findings::Kind::kTriton: return PieceKind::kMoe;
    case findings::Kind::kCommunication: return PieceKind::kCommunication;
    case findings::Kind::kOther: break;
  }
  return PieceKind::kOtherGpu;
}

Result<Timeline> MakeTimeline(const session::LoadedTrace& trace, const findings::Analysis& analysis,
                              const WorkTree& tree, const TimelineLimits& limits,
                              ScriptNames* names, const Job& job) {
  return LaneMaker(trace, analysis, tree, names).Make(limits, job);
}

std::string TimelineJson(const Timeline& timeline, ScriptNames* names) {
  constexpr std::int64_t kUnitNs = 100;
  const std::int64_t zero = timeline.bounds.start;
  std::string json = fmt::format(
      "{{\"end\":{},\"focus\":[{},{}],\"lanes\":[", (timeline.bounds.end - zero) / kUnitNs,
      (timeline.focus.start - zero) / kUnitNs, (timeline.focus.end - zero) / kUnitNs);
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const Lane& lane = timeline.lanes[i];
    json += fmt::format("{}{{\"group\":\"{}\",\"title\":{},\"rows\":[", i == 0 ? "" : ",",
                        lane.group, ScriptString(lane.title, 80));
    for (std::size_t row = 0; row < lane.rows.size(); ++row) {
      if (row > 0) json += ',';
      AddRowJson(lane.rows[row], zero, names, &json);
    }
    json += "]}";
  }
  return json + "]}";
}

}  // namespace jarvis::page
