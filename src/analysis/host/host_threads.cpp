#include "analysis/host/host_threads.h"

#include <algorithm>
#include <map>

#include "base/run_sort.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;

// What one thread did, in order: neighbours of one kind are one piece.
struct ThreadPiece {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t thread;  // into the list of threads
  HostState state;
  bool loader;
};

// Cuts a thread's time into pieces of one state.
class StateVisitor {
 public:
  StateVisitor(const HostInput& input, const Waits& waits, HostNames* names, std::uint32_t thread,
               WorkingThread* out, std::vector<ThreadPiece>* pieces)
      : events_(input.events),
        waits_(waits),
        names_(*names),
        at_(thread),
        out_(*out),
        pieces_(*pieces) {}

  void Open(EventIndex e, std::int64_t) {
    if (names_.Of(e).loader) ++loaders_;
    if (names_.Of(e).autograd) ++nodes_;
  }
  void Close(EventIndex e, std::int64_t) {
    if (names_.Of(e).loader) --loaders_;
    if (names_.Of(e).autograd) --nodes_;
  }
  void Piece(EventIndex e, std::int64_t start, std::int64_t end) {
    const HostState state = StateOf(e);
    out_.ns[static_cast<std::size_t>(state)] += end - start;
    if (loaders_ > 0) out_.loader_ns += end - start;
    if (nodes_ > 0) out_.backward_ns += end - start;
    const bool loader = loaders_ > 0;
    if (!pieces_.empty()) {
      ThreadPiece& last = pieces_.back();
      if (last.thread == at_ && last.end_ns == start && last.state == state &&
          last.loader == loader) {
        last.end_ns = end;
        return;
      }
    }
    pieces_.push_back({start, end, at_, state, loader});
  }

 private:
  HostState StateOf(EventIndex e) const {
    if (waits_.Is(e)) return waits_.IsForeign(e) ? HostState::kForeignWait : HostState::kGpuWait;
    switch (events_[e].kind) {
      case EventKind::kCpuOp: return names_.Of(e).range ? HostState::kRange : HostState::kOp;
      case EventKind::kPythonFunction:
        return names_.Of(e).waiting_frame ? HostState::kPause : HostState::kPython;
      case EventKind::kUserAnnotation: return HostState::kRange;
      default: return HostState::kCall;
    }
  }

  const trace::EventStore& events_;
  const Waits& waits_;
  HostNames& names_;
  std::uint32_t at_;
  WorkingThread& out_;
  std::vector<ThreadPiece>& pieces_;
  int loaders_ = 0;  // open events of the loader
  int nodes_ = 0;    // open nodes of autograd
};

WorkingThread Introduce(const HostInput& input, std::span<const EventIndex> events) {
  WorkingThread thread;
  thread.track = input.events[events.front()].track;
  thread.events = events.size();
  thread.pid = input.events.tracks[thread.track].pid;
  thread.tid = input.events.tracks[thread.track].tid;
  if (thread.track < input.names.size()) thread.name = input.names[thread.track].thread_name;
  if (thread.name == "Unknown") thread.name.clear();
  thread.span = {input.events[events.front()].ts_ns, 0};
  for (const EventIndex e : events)
    thread.span.end = std::max(thread.span.end, input.events[e].end_ns());
  return thread;
}

void GiveRoles(std::vector<WorkingThread>* threads) {
  WorkingThread* main = nullptr;
  const auto better = [](const WorkingThread& a, const WorkingThread& b) {
    // A thread that runs little else than the backward pass serves the one that asked for it.
    const bool a_serves = a.backward_ns * 2 > a.WorkNs();
    const bool b_serves = b.backward_ns * 2 > b.WorkNs();
    if ((a.launches > 0) != (b.launches > 0)) return a.launches > 0;
    if (a_serves != b_serves) return b_serves;
    return a.WorkNs() > b.WorkNs();
  };
  for (WorkingThread& thread : *threads) {
    if (main == nullptr || better(thread, *main)) main = &thread;
  }
  for (WorkingThread& thread : *threads) {
    const std::int64_t work = thread.WorkNs();
    const std::int64_t covered = work + thread.ns[static_cast<std::size_t>(HostState::kPause)];
    constexpr std::int64_t kMonitorShare = 50;  // a fiftieth of its time at most is work
    if (&thread == main) {
      thread.role = ThreadRole::kMain;
    } else if (thread.backward_ns * 2 > work && work > 0) {
      thread.role = ThreadRole::kAutograd;
    } else if (thread.launches > 0) {
      thread.role = ThreadRole::kLauncher;
    } else if (covered > 0 && work * kMonitorShare <= covered) {
      thread.role = ThreadRole::kMonitor;
    } else if (thread.loader_ns * 2 > work || thread.name.find("DataLoader") != std::string::npos) {
      thread.role = ThreadRole::kLoader;
    }
  }
}

// Roles whose threads a step can wait for.
bool IsSwept(ThreadRole role) {
  return role != ThreadRole::kWorker && role != ThreadRole::kMonitor;
}
bool Launching(ThreadRole role) {
  return IsSwept(role) && role != ThreadRole::kLoader;
}

// How many threads are in which state at a moment of the sweep.
class Moment {
 public:
  void Change(ThreadRole role, const ThreadPiece& piece, int by) {
    const auto state = static_cast<std::size_t>(piece.state);
    count_[static_cast<std::size_t>(role)][state] += by;
    if (role == ThreadRole::kMain && piece.loader) main_loads_ += by;
  }
  bool Active() const {
    return Works(ThreadRole::kMain) || Works(ThreadRole::kAutograd) ||
           Works(ThreadRole::kLauncher) || Waits(HostState::kGpuWait) ||
           Waits(HostState::kForeignWait);
  }
  StepPart Part() const {
    if (main_loads_ > 0) return StepPart::kLoader;
    if (Works(ThreadRole::kMain)) return StepPart::kMain;
    if (Works(ThreadRole::kAutograd)) return StepPart::kAutograd;
    if (In(ThreadRole::kMain, HostState::kGpuWait)) return StepPart::kGpuWait;
    if (In(ThreadRole::kMain, HostState::kForeignWait)) return StepPart::kForeignWait;
    if (Works(ThreadRole::kLauncher)) return StepPart::kOther;
    if (Waits(HostState::kGpuWait)) return StepPart::kGpuWait;
    if (Waits(HostState::kForeignWait)) return StepPart::kForeignWait;
    if (In(ThreadRole::kMain, HostState::kPython)) return StepPart::kMainPython;
    if (In(ThreadRole::kAutograd, HostState::kPython)) return StepPart::kAutograd;
    if (Works(ThreadRole::kLoader) || In(ThreadRole::kLoader, HostState::kPython))
      return StepPart::kLoader;
    if (In(ThreadRole::kLauncher, HostState::kPython)) return StepPart::kOther;
    return StepPart::kNothing;
  }

 private:
  bool In(ThreadRole role, HostState state) const {
    return count_[static_cast<std::size_t>(role)][static_cast<std::size_t>(state)] > 0;
  }
  bool Works(ThreadRole role) const {
    return In(role, HostState::kOp) || In(role, HostState::kCall);
  }
  bool Waits(HostState state) const {
    return In(ThreadRole::kMain, state) || In(ThreadRole::kAutograd, state) ||
           In(ThreadRole::kLauncher, state);
  }

  std::array<std::array<int, kHostStates>, 6> count_{};  // by role, state
  int main_loads_ = 0;
};

// Each step begins where the one before ended at the earliest, so that a moment is in one step.
std::vector<StepThreads> WindowsOf(const HostInput& input, Interval<std::int64_t> span) {
  std::vector<StepThreads> windows;
  std::int64_t free = trace::kAbsent;
  for (std::size_t i = 0; i < input.steps.size(); ++i) {
    Interval<std::int64_t> step = input.steps[i];
    step.start = std::max(step.start, free);
    if (step.start >= step.end) continue;
    windows.push_back({step, {}, StepPart::kNothing, i < input.odd.size() && input.odd[i]});
    free = step.end;
  }
  if (windows.empty() && span.start < span.end)
    windows.push_back({span, {}, StepPart::kNothing, false});
  return windows;
}

class ThreadSweep {
 public:
  ThreadSweep(const HostInput& input, const std::vector<ThreadPiece>& pieces, ThreadTimes* times)
      : pieces_(pieces), times_(*times) {
    times_.steps = WindowsOf(input, times_.span);
  }

  void Run() {
    std::vector<Edge> edges;
    edges.reserve(pieces_.size() * 2);
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      edges.push_back({pieces_[i].start_ns, i, 1});
      edges.push_back({pieces_[i].end_ns, i, -1});
    }
    RunSort(edges, [](const Edge& a, const Edge& b) {  // each thread's are in order
      if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
      return a.piece != b.piece ? a.piece < b.piece : a.by < b.by;
    });
    std::int64_t now = times_.span.start;
    for (const Edge& edge : edges) {
      Cover(now, edge.at_ns);
      now = std::max(now, edge.at_ns);
      const ThreadPiece& piece = pieces_[edge.piece];
      moment_.Change(times_.threads[piece.thread].role, piece, edge.by);
    }
    Cover(now, times_.span.end);
    for (StepThreads& step : times_.steps)
      Close(&step);
  }

 private:
  struct Edge {
    std::int64_t at_ns;
    std::uint32_t piece;
    int by;
  };

  void Cover(std::int64_t start, std::int64_t end) {
    if (start >= end) return;
    if (!moment_.Active()) {
      IntervalSet<std::int64_t>& between = times_.between;
      if (!between.empty() && between.back().end == start) {
        between.back().end = end;
      } else {
        between.push_back({start, end});
      }
    }
    const auto part = static_cast<std::size_t>(moment_.Part());
    while (step_ < times_.steps.size() && times_.steps[step_].window.end <= start)
      ++step_;
    for (std::size_t i = step_; i < times_.steps.size(); ++i) {
      StepThreads& step = times_.steps[i];
      if (step.window.start >= end) break;
      step.ns[part] += std::min(end, step.window.end) - std::max(start, step.window.start);
    }
  }

  // What lies outside all threads' spans is nobody's.
  static void Close(StepThreads* step) {
    std::int64_t known = 0;
    for (const std::int64_t ns : step->ns)
      known += ns;
    step->ns[static_cast<std::size_t>(StepPart::kNothing)] +=
        step->window.end - step->window.start - known;
    const auto most = std::max_element(step->ns.begin(), step->ns.end());
    step->critical = static_cast<StepPart>(most - step->ns.begin());
  }

  const std::vector<ThreadPiece>& pieces_;
  ThreadTimes& times_;
  Moment moment_;
  std::size_t step_ = 0;  // the first that may not be over
};

}  // namespace

std::string_view ThreadRoleText(ThreadRole role) {
  constexpr std::array<std::string_view, 6> kTexts = {"main",     "autograd", "loader",
                                                      "launcher", "worker",   "waits only"};
  return kTexts[static_cast<std::size_t>(role)];
}

std::string_view StepPartText(StepPart part) {
  constexpr std::array<std::string_view, kStepParts> kTexts = {
      "main thread: ops and calls",
      "main thread: plain Python",
      "loading data",
      "autograd thread",
      "other launching threads",
      "waiting for the GPU",
      "waiting for work outside the recording",
      "between ops: no op, call or frame"};
  return kTexts[static_cast<std::size_t>(part)];
}

ThreadTimes MeasureThreads(const HostInput& input, const Launches& launches, const Waits& waits,
                           HostNames* names) {
  ThreadTimes times;
  std::vector<ThreadPiece> pieces;  // of all threads, then of those that a step can wait for
  std::map<std::uint32_t, std::uint64_t> launched;  // by track
  for (const Launch& launch : launches.all())
    ++launched[launch.thread];
  for (const std::span<const EventIndex> thread : ThreadsOf(input.events, input.tree)) {
    times.threads.push_back(Introduce(input, thread));
    WorkingThread& out = times.threads.back();
    if (const auto found = launched.find(out.track); found != launched.end())
      out.launches = found->second;
    StateVisitor visitor(input, waits, names, static_cast<std::uint32_t>(times.threads.size() - 1),
                         &out, &pieces);
    WalkThread(input.events, input.tree, thread, &visitor);
  }
  GiveRoles(&times.threads);
  std::erase_if(
      pieces, [&](const ThreadPiece& piece) { return !IsSwept(times.threads[piece.thread].role); });
  bool first = true;
  for (const WorkingThread& thread : times.threads) {
    if (!Launching(thread.role)) continue;
    times.span.start = first ? thread.span.start : std::min(times.span.start, thread.span.start);
    times.span.end = first ? thread.span.end : std::max(times.span.end, thread.span.end);
    first = false;
  }
  ThreadSweep(input, pieces, &times).Run();
  return times;
}

}  // namespace jarvis::analysis
