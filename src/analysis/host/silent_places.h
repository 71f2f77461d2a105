// Silent stretches of a thread by their place: the event that holds them, the call that returned
// before and the call that begins after. What is usual at one place is told far better than what is
// usual for a function as a whole.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

#include "analysis/host/host_pieces.h"
#include "analysis/host/host_walk.h"

namespace jarvis::analysis {

inline constexpr StringId kNoPlaceName = static_cast<StringId>(-1);

// Names; `before` and `after` are kNoPlaceName at the begin and the end of what holds the stretch.
struct SilentPlace {
  StringId owner, before, after;
  auto operator<=>(const SilentPlace&) const = default;
};

// A visitor of WalkThread that tells `take(piece, place)` of each stretch whose innermost event
// `fits(event)`.
template <typename Fits, typename Take>
class SilentPlaceWalk {
 public:
  SilentPlaceWalk(const trace::EventStore& events, Fits fits, Take take)
      : events_(events), fits_(std::move(fits)), take_(std::move(take)) {}

  void Open(trace::EventIndex e, std::int64_t) {
    Tell(events_[e].name);
    before_ = kNoPlaceName;
  }
  void Close(trace::EventIndex e, std::int64_t) {
    Tell(kNoPlaceName);
    before_ = events_[e].name;
  }
  void Piece(trace::EventIndex innermost, std::int64_t start, std::int64_t end) {
    if (!fits_(innermost, before_)) return;
    piece_ = {innermost, events_[innermost].track, start, end};
    waiting_ = true;
  }

 private:
  void Tell(StringId after) {
    if (waiting_) take_(piece_, SilentPlace{events_[piece_.owner].name, before_, after});
    waiting_ = false;
  }

  const trace::EventStore& events_;
  Fits fits_;
  Take take_;
  StringId before_ = kNoPlaceName;
  SilentPiece piece_;
  bool waiting_ = false;
};

}  // namespace jarvis::analysis
