#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <utility>

#include "analysis/host/host_names.h"
#include "ledger/books/books.h"
#include "trace/by_name.h"

namespace jarvis::ledger {
namespace {

// A gap below this is the host between two launches, whatever it is in; above it, it does something
// else.
constexpr std::int64_t kBetweenLaunchesNs = 1'000'000;
// A call that goes on for this long after the work could begin is what the work waits for.
constexpr std::int64_t kLongCallNs = 100'000;
constexpr std::int64_t kLongGapNs = 50'000;

// Python frames that make a batch.
bool MakesInput(std::string_view frame) {
  std::string name(frame);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static constexpr std::string_view kParts[] = {"dataloader",      "__next__",  "datapipe",
                                                "collate",         "fetch(",    "image_processing",
                                                "feature_extract", "preprocess"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

class IdleFiler {
 public:
  IdleFiler(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
            const HostTimeline& host, WallBook* wall)
      : facts_(facts),
        base_(base),
        host_(host),
        wall_(*wall),
        makes_input_(facts.events, MakesInput),
        is_range_(facts.events, analysis::IsRangeName) {}

  void Run() {
    std::int64_t last = trace::kAbsent;
    for (const analysis::LaunchedWork& work : facts_.gpu) {
      if (base_.head.IsForeign(work.event)) continue;
      own_.push_back(work);
      last = std::max(last, facts_.events[work.event].end_ns());
    }
    for (const TimeSpan& gap : Subtract(base_.base, facts_.busy))
      FileGap(gap, last);
  }

 private:
  void Add(IdleCause cause, std::int64_t ns) {
    wall_.idle_ns[static_cast<std::size_t>(cause)] += ns;
  }

  void FileGap(TimeSpan gap, std::int64_t last) {
    const std::int64_t length = gap.end - gap.start;
    if (own_.empty()) {
      FileHost(gap, facts_.track, length);
      return;
    }
    const auto next =
        std::partition_point(own_.cbegin(), own_.cend(), [&](const analysis::LaunchedWork& work) {
          return facts_.events[work.event].ts_ns < gap.end;
        });
    if (next == own_.cend() || gap.start >= last) {
      // The next unit's launches are what it waits for, though their work was not recorded.
      const std::uint32_t track = own_.back().launch == trace::kNoEvent
                                      ? facts_.track
                                      : facts_.events[own_.back().launch].track;
      if (gap.start >= last && AnyUnitFrom(gap.end)) return FileHost(gap, track, length);
      Add(gap.start >= last ? IdleCause::kTail : IdleCause::kOutsideOps, length);
      return;
    }
    if (next->launch == trace::kNoEvent) {
      Add(IdleCause::kNoLaunch, length);
      return;
    }
    const trace::Event& call = facts_.events[next->launch];
    const std::int64_t begin = call.ts_ns;
    const std::int64_t end = call.end_ns();
    const bool is_long = end - begin > kLongCallNs;
    if (begin <= gap.start) {
      if (is_long && host_.IsFirstCall(begin)) {
        Add(IdleCause::kFirstCall, length);
      } else if (length > kLongGapNs && 2 * (end - gap.start) > length) {
        const std::int64_t until = std::min(gap.end, end);
        FileHost({gap.start, until}, call.track, until - gap.start);
        Add(IdleCause::kLaunchLatency, gap.end - until);
      } else {
        const bool queued = end <= gap.start || HasBegun(next);
        Add(queued ? IdleCause::kQueuedGap : IdleCause::kLaunchLatency, length);
      }
      return;
    }
    const std::int64_t launched = std::min(begin, gap.end);
    FileHost({gap.start, launched}, call.track, launched - gap.start);
    if (launched >= gap.end) return;
    const std::int64_t returned = is_long ? std::min(end, gap.end) : launched;
    if (returned > launched) FileHost({launched, returned}, call.track, returned - launched);
    Add(IdleCause::kLaunchLatency, gap.end - returned);
  }

  bool AnyUnitFrom(std::int64_t at) const {
    return !base_.units.empty() && base_.units.back().start >= at;
  }

  // Other work of the same launch has run already: a graph's, whose launch goes on meanwhile.
  bool HasBegun(std::vector<analysis::LaunchedWork>::const_iterator work) const {
    return work != own_.cbegin() && std::prev(work)->launch == work->launch;
  }

  // By what the thread is in.
  void FileHost(TimeSpan span, std::uint32_t track, std::int64_t gap) {
    const auto segments =
        track == analysis::FrameFacts::kNoTrack ? std::span<const HostSegment>() : host_.Of(track);
    if (segments.empty()) {
      Add(IdleCause::kNoHost, span.end - span.start);
      return;
    }
    // What is no call's is the host between two launches, if it is short.
    outside_ = gap < kBetweenLaunchesNs ? IdleCause::kBetweenLaunches : IdleCause::kOutsideOps;
    auto segment =
        std::partition_point(segments.begin(), segments.end(),
                             [&](const HostSegment& one) { return one.span.end <= span.start; });
    std::int64_t now = span.start;
    pieces_.clear();
    while (now < span.end) {
      if (segment == segments.end() || segment->span.start > now) {
        const std::int64_t until =
            segment == segments.end() ? span.end : std::min(span.end, segment->span.start);
        AddStanding({now, until}, track);
        now = until;
        continue;
      }
      const std::int64_t until = std::min(span.end, segment->span.end);
      if (segment->innermost == trace::kNoEvent) {
        AddStanding({now, until}, track);
      } else {
        AddPiece(CauseOf(*segment, track, now), until - now);
      }
      now = until;
      ++segment;
    }
    JoinToInput();
    for (const Piece& piece : pieces_)
      Add(piece.cause, piece.ns);
  }

  void AddPiece(IdleCause cause, std::int64_t ns) {
    const bool outside = cause == IdleCause::kPython || cause == IdleCause::kOutsideOps;
    pieces_.push_back({outside && outside_ == IdleCause::kBetweenLaunches ? outside_ : cause, ns});
  }

  // Nothing is recorded on the thread: by what the one does that feeds it.
  void AddStanding(TimeSpan span, std::uint32_t track) {
    const auto feeder = host_.FeederOf(track);
    auto piece = std::partition_point(feeder.begin(), feeder.end(),
                                      [&](const auto& one) { return one.span.end <= span.start; });
    std::int64_t now = span.start;
    for (; piece != feeder.end() && piece->span.start < span.end; ++piece) {
      const TimeSpan inside{std::max(now, piece->span.start), std::min(span.end, piece->span.end)};
      if (inside.start > now) AddPiece(outside_, inside.start - now);
      AddPiece(CauseOfFeeder(*piece, inside.start), inside.end - inside.start);
      now = inside.end;
    }
    if (now < span.end) AddPiece(outside_, span.end - now);
  }

  IdleCause CauseOfFeeder(const analysis::FeederPiece& piece, std::int64_t at) {
    switch (piece.state) {
      case analysis::FeederPiece::State::kWaits: return outside_;
      case analysis::FeederPiece::State::kWaitsForGpu: return IdleCause::kRoundTrip;
      case analysis::FeederPiece::State::kWorks: break;
    }
    return CauseOf({piece.span, piece.innermost}, facts_.events[piece.innermost].track, at);
  }

  // What passes right before or after a wait for data, and no longer, hands the batch over.
  void JoinToInput() {
    std::int64_t input = 0;
    for (const Piece& piece : pieces_)
      input += piece.cause == IdleCause::kInput ? piece.ns : 0;
    if (input == 0) return;
    const auto is_input = [&](std::size_t i) {
      return i < pieces_.size() && pieces_[i].cause == IdleCause::kInput;
    };
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      Piece& piece = pieces_[i];
      if (piece.cause == IdleCause::kOutsideOps && piece.ns <= input &&
          (is_input(i + 1) || (i > 0 && is_input(i - 1))))
        piece.joined = true;
    }
    for (Piece& piece : pieces_)
      piece.cause = piece.joined ? IdleCause::kInput : piece.cause;
  }

  IdleCause CauseOf(const HostSegment& segment, std::uint32_t track, std::int64_t at) {
    const trace::EventKind kind = facts_.events[segment.innermost].kind;
    if (host_.InLoader(track, at)) return IdleCause::kInput;
    if (trace::IsLaunchCall(kind)) {
      if (host_.IsFirstCall(at)) return IdleCause::kFirstCall;
      switch (host_.RoleOf(segment.innermost)) {
        case CallRole::kWait:
        case CallRole::kCopy: return IdleCause::kRoundTrip;
        case CallRole::kMemory: return IdleCause::kAllocator;
        case CallRole::kGraphLaunch: return IdleCause::kGraphLaunch;
        case CallRole::kLaunch:
        case CallRole::kOther: break;
      }
      return segment.stalled ? IdleCause::kNotScheduled : IdleCause::kHostIssues;
    }
    if (kind == trace::EventKind::kCpuOp)
      return segment.stalled ? IdleCause::kNotScheduled : IdleCause::kHostIssues;
    if (kind == trace::EventKind::kUserAnnotation) {
      // A range within an op, as the runs of a program are that became marks, is of the op.
      EventIndex op = segment.innermost;
      do {
        op = facts_.tree.Enclosing(facts_.events, op, trace::EventKind::kCpuOp);
      } while (op != trace::kNoEvent && is_range_.Of(op));
      return op == trace::kNoEvent ? IdleCause::kOutsideOps : IdleCause::kHostIssues;
    }
    return makes_input_.Of(segment.innermost) ? IdleCause::kInput : IdleCause::kPython;
  }

  struct Piece {
    IdleCause cause;
    std::int64_t ns;
    bool joined = false;
  };

  const analysis::FrameFacts& facts_;
  const analysis::BaseOfTime& base_;
  const HostTimeline& host_;
  WallBook& wall_;
  std::vector<Piece> pieces_;                   // of one stretch of the host
  IdleCause outside_ = IdleCause::kOutsideOps;  // likewise: of what is in no call
  std::vector<analysis::LaunchedWork> own_;     // by start
  trace::ByName<bool> makes_input_;             // of Python frames
  trace::ByName<bool> is_range_;                // of ops
};

}  // namespace

void FileIdleTime(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
                  const HostTimeline& host, WallBook* wall) {
  IdleFiler(facts, base, host, wall).Run();
}

}  // namespace jarvis::ledger
