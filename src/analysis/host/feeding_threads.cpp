#include "analysis/host/feeding_threads.h"

#include <algorithm>
#include <utility>

#include "analysis/host/host_names.h"
#include "analysis/host/host_walk.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using State = FeederPiece::State;
using TimePieces = IntervalSet<std::int64_t>;

constexpr std::size_t kFedMost = 8;            // threads that launch most
constexpr std::int64_t kHandOverNs = 100'000;  // from a call's begin to the other one's
constexpr std::int64_t kStandsNs = 20'000;     // shorter pauses are of the thread itself
constexpr double kCovers = 0.5;                // of the time in which the other stands still
constexpr double kBesideMost = 0.5;            // while it works, of that share

struct CoverVisitor {
  TimePieces covered;
  void Open(EventIndex, std::int64_t) {}
  void Close(EventIndex, std::int64_t) {}
  void Piece(EventIndex, std::int64_t start, std::int64_t end) {
    AddInterval({start, end}, &covered);
  }
};

struct PieceVisitor {
  std::vector<FeederPiece> pieces;
  void Open(EventIndex, std::int64_t) {}
  void Close(EventIndex, std::int64_t) {}
  void Piece(EventIndex innermost, std::int64_t start, std::int64_t end) {
    pieces.push_back({{start, end}, innermost, State::kWorks});
  }
};

class FeederFinder {
 public:
  FeederFinder(const trace::EventStore& events, const tree::CallTree& tree, const TimePieces& busy)
      : events_(events), tree_(tree), busy_(busy), names_(events) {
    for (const auto& thread : ThreadsOf(events, tree))
      Collect(thread);
  }

  std::map<std::uint32_t, std::vector<FeederPiece>> Run() {
    std::map<std::uint32_t, std::vector<FeederPiece>> out;
    std::stable_sort(launching_.begin(), launching_.end(),
                     [](const Thread& a, const Thread& b) { return a.launches > b.launches; });
    launching_.resize(std::min(launching_.size(), kFedMost));
    for (const Thread& fed : launching_) {
      if (auto pieces = FeederOf(fed); !pieces.empty()) out.emplace(fed.track, std::move(pieces));
    }
    return out;
  }

 private:
  struct Thread {
    std::uint32_t track;
    std::span<const EventIndex> events;
    std::vector<std::int64_t> begins{};  // of its outermost calls, sorted
    std::uint64_t launches = 0;          // of GPU work that is recorded
  };

  void Collect(std::span<const EventIndex> events) {
    Thread thread{events_[events.front()].track, events};
    bool of_program = false;
    for (const EventIndex e : events) {
      const EventKind kind = events_[e].kind;
      of_program = of_program || kind == EventKind::kPythonFunction ||
                   kind == EventKind::kUserAnnotation ||
                   (kind == EventKind::kCpuOp && names_.Of(e).range);
      if (tree_.parent(e) == trace::kNoEvent) thread.begins.push_back(events_[e].ts_ns);
      if (trace::IsLaunchCall(kind) && !tree_.GpuOf(e).empty()) ++thread.launches;
    }
    std::sort(thread.begins.begin(), thread.begins.end());
    if (of_program) of_program_.push_back(thread);
    if (thread.launches > 0) launching_.push_back(std::move(thread));
  }

  std::vector<FeederPiece> FeederOf(const Thread& fed) {
    CoverVisitor visitor;
    WalkThread(events_, tree_, fed.events, &visitor);
    const TimePieces works = Union(std::move(visitor.covered));
    if (works.empty()) return {};
    TimePieces stands = Subtract({{works.front().start, works.back().end}}, works);
    std::erase_if(stands, [](const auto& one) { return one.end - one.start < kStandsNs; });
    stands = Subtract(stands, busy_);
    std::vector<FeederPiece> best;
    double best_share = kCovers;
    for (const Thread& other : of_program_) {
      if (stands.empty() || other.track == fed.track || Process(other) != Process(fed)) continue;
      std::vector<FeederPiece> pieces = PiecesOf(other, fed);
      TimePieces at_work, known;
      for (const FeederPiece& piece : pieces) {
        if (piece.state == State::kWorks) AddInterval(piece.span, &at_work);
        if (piece.state != State::kWaits) AddInterval(piece.span, &known);
      }
      const double share = ShareOf(stands, known);
      if (share < best_share || ShareOf(works, at_work) > kBesideMost * share) continue;
      if (!best.empty() && share <= best_share) continue;
      best = std::move(pieces);
      best_share = share;
    }
    return best;
  }

  std::string_view Process(const Thread& thread) const { return events_.tracks[thread.track].pid; }

  static double ShareOf(const TimePieces& of, const TimePieces& in) {
    return static_cast<double>(Length(Intersect(of, in))) / static_cast<double>(Length(of));
  }

  bool IsRange(EventIndex e) {
    return events_[e].kind == EventKind::kUserAnnotation ||
           (events_[e].kind == EventKind::kCpuOp && names_.Of(e).range);
  }

  std::vector<FeederPiece> PiecesOf(const Thread& thread, const Thread& fed) {
    PieceVisitor visitor;
    WalkThread(events_, tree_, thread.events, &visitor);
    std::vector<FeederPiece> out;
    for (FeederPiece& piece : visitor.pieces) {
      if (IsRange(piece.innermost)) continue;
      const HostNames::Meaning& meaning = names_.Of(piece.innermost);
      const auto begin = std::lower_bound(fed.begins.begin(), fed.begins.end(), piece.span.start);
      if (meaning.sync_call || meaning.gpu_wait_frame) {
        piece.state = State::kWaitsForGpu;
      } else if (meaning.waiting_frame) {
        piece.state = State::kWaits;
      } else if (begin != fed.begins.end() && *begin < piece.span.end) {
        // The call goes on while the other one works.
        if (*begin - piece.span.start <= kHandOverNs) {
          out.push_back({{piece.span.start, *begin}, piece.innermost, State::kWorks});
          piece.span.start = *begin;
        }
        piece.state = State::kWaits;
      }
      out.push_back(piece);
    }
    return out;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const TimePieces& busy_;
  HostNames names_;
  std::vector<Thread> launching_, of_program_;
};

}  // namespace

FeedingThreads::FeedingThreads(const trace::EventStore& events, const tree::CallTree& tree,
                               const IntervalSet<std::int64_t>& busy)
    : pieces_(FeederFinder(events, tree, busy).Run()) {}

std::span<const FeederPiece> FeedingThreads::Of(std::uint32_t track) const {
  const auto found = pieces_.find(track);
  return found == pieces_.end() ? std::span<const FeederPiece>() : found->second;
}

}  // namespace jarvis::analysis
