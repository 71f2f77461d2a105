#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ledger/books/books.h"

namespace jarvis::ledger {
namespace {

// Whose the wall is when several run.
constexpr int kOfCommunication = 1;
constexpr int kOfHostCopies = 2;
int ClassOf(WorkKind kind) {
  if (IsCommunication(kind)) return kOfCommunication;
  return kind == WorkKind::kHostCopy ? kOfHostCopies : 0;
}

class GpuBookKeeper {
 public:
  GpuBookKeeper(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
                const KindsOfWork& kinds, Books* books)
      : facts_(facts), base_(base), kinds_(kinds), in_base_(base.base), books_(*books) {}

  void Run() {
    Collect();
    Sweep();
    Sum();
    FileUnrecorded();
  }

 private:
  struct Work {
    TimeSpan span;
    std::size_t kernel;  // place in kernels
    WorkKind kind;
  };

  void Collect() {
    std::map<std::pair<StringId, WorkKind>, std::size_t> places;
    for (const analysis::LaunchedWork& launched : facts_.gpu) {
      const EventIndex e = launched.event;
      if (base_.head.IsForeign(e)) continue;
      const trace::Event& event = facts_.events[e];
      const KernelKind& kind = kinds_.Of(e);
      const auto [place, added] = places.try_emplace({event.name, kind.kind}, kernels().size());
      if (added) kernels().push_back({event.name, kind, {}});
      work_.push_back({{event.ts_ns, event.end_ns()}, place->second, kind.kind});
    }
  }

  // From one begin or end to the next, with what runs between.
  void Sweep() {
    // First the one that the wall is filed under.
    using Rank = std::tuple<int, std::int64_t, std::int64_t, std::size_t>;
    std::set<Rank> running;
    const auto rank_of = [&](std::size_t at) {
      const Work& work = work_[at];
      return Rank{ClassOf(work.kind), work.span.start, -work.span.end, at};
    };
    std::vector<std::size_t> by_end;
    for (std::size_t at = 0; at < work_.size(); ++at) {
      if (work_[at].span.end > work_[at].span.start) by_end.push_back(at);
    }
    std::vector<std::size_t> by_start = by_end;
    std::stable_sort(by_end.begin(), by_end.end(), [&](std::size_t a, std::size_t b) {
      return work_[a].span.end < work_[b].span.end;
    });
    std::int64_t now = 0;
    const auto reach = [&](std::int64_t until) {
      if (!running.empty() && until > now) {
        const std::int64_t ns = in_base_.In({now, until});
        const Work& first = work_[std::get<3>(*running.begin())];
        AddInterval({now, until}, &books_.wall.busy);
        if (ClassOf(first.kind) == kOfCommunication)
          AddInterval({now, until}, &books_.wall.communication);
        if (ClassOf(first.kind) == kOfHostCopies)
          AddInterval({now, until}, &books_.wall.host_copies);
        if (ns > 0) {
          books_.gpu.busy_ns += ns;
          books_.wall.work_ns[static_cast<std::size_t>(first.kind)] += ns;
          kernels()[first.kernel].line.wall_ns += ns;
          if (running.size() == 1) {
            books_.gpu.kinds[static_cast<std::size_t>(first.kind)].exposed_ns += ns;
            kernels()[first.kernel].line.exposed_ns += ns;
          }
        }
      }
      now = until;
    };
    std::size_t ended = 0;
    for (const std::size_t at : by_start) {
      const std::int64_t start = work_[at].span.start;
      for (; ended < by_end.size() && work_[by_end[ended]].span.end <= start; ++ended) {
        reach(work_[by_end[ended]].span.end);
        running.erase(rank_of(by_end[ended]));
      }
      reach(start);
      running.insert(rank_of(at));
    }
    for (; ended < by_end.size(); ++ended) {
      reach(work_[by_end[ended]].span.end);
      running.erase(rank_of(by_end[ended]));
    }
  }

  void Sum() {
    for (const Work& work : work_) {
      const std::int64_t ns = in_base_.In(work.span);
      const bool empty = work.span.end == work.span.start;
      if (ns == 0 && !(empty && Contains(base_.base, work.span.start))) continue;
      for (GpuLine* line :
           {&books_.gpu.kinds[static_cast<std::size_t>(work.kind)], &kernels()[work.kernel].line}) {
        line->ns += ns;
        ++line->count;
      }
    }
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
      books_.gpu.kinds[kind].wall_ns = books_.wall.work_ns[kind];
    std::erase_if(kernels(), [](const KernelLine& one) { return one.line.count == 0; });
    std::stable_sort(
        kernels().begin(), kernels().end(),
        [](const KernelLine& a, const KernelLine& b) { return a.line.ns > b.line.ns; });
  }

  // Work of before that reaches into the base is no idle time.
  void FileUnrecorded() {
    for (const TimeSpan& piece : facts_.busy)
      books_.wall.unrecorded_ns += in_base_.In(piece);
    books_.wall.unrecorded_ns -= books_.gpu.busy_ns;
  }

  std::vector<KernelLine>& kernels() { return books_.gpu.kernels; }

  const analysis::FrameFacts& facts_;
  const analysis::BaseOfTime& base_;
  const KindsOfWork& kinds_;
  TimeMeter in_base_;
  std::vector<Work> work_;  // by start
  Books& books_;
};

}  // namespace

void KeepGpuBook(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
                 const KindsOfWork& kinds, Books* books) {
  GpuBookKeeper(facts, base, kinds, books).Run();
}

}  // namespace jarvis::ledger
