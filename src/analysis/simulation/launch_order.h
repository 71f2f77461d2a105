// Which work had been launched, or had ended, by a time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/simulation/recorded_work.h"

namespace jarvis::analysis {

class LaunchOrder {
 public:
  explicit LaunchOrder(const RecordedWork& recorded);

  // The last work of the stream that was launched before the time, or kNoPlace. Work without a
  // launch in the trace counts as launched before its beginning.
  std::uint32_t LastBefore(std::uint32_t stream, double time) const;
  // Of all work launched before the time, the one that ends last.
  std::uint32_t LatestEndBefore(double time) const;
  // Works by their end, and how many of them ended up to a time.
  const std::vector<std::uint32_t>& by_end() const { return by_end_; }
  std::size_t EndedBy(double time) const;
  // The last of those, or kNoPlace.
  std::uint32_t LastEndedBy(double time) const;
  bool LaunchedBefore(std::uint32_t work, double time) const;

 private:
  double LaunchOf(std::uint32_t work) const;

  struct Launch {
    double at;
    std::uint32_t work;
  };
  const RecordedWork& recorded_;
  std::vector<std::vector<Launch>> streams_;  // by launch, then place on the stream
  std::vector<Launch> latest_;                // by launch: the latest end so far
  std::vector<std::uint32_t> by_end_;
  std::vector<double> ends_;
};

}  // namespace jarvis::analysis
