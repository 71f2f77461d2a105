#include "session/part_request.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace jarvis::session {

PartRequest PartRequest::Or(const PartRequest& other) const {
  return {window.whole() ? other.window : window, rank ? rank : other.rank};
}

std::string PartRequest::Text() const {
  return rank ? fmt::format("{} rank {}", window.Text(), *rank) : window.Text();
}

const RankWork& RankPart::own() const {
  return *std::find_if(ranks.begin(), ranks.end(),
                       [this](const RankWork& one) { return one.rank == rank; });
}

std::string RankPart::Text() const {
  const std::string_view what = devices ? "GPU" : "rank";
  if (ranks.size() == 1 && gpus_run > 1) {
    return fmt::format("{} {}, the only one of {} whose kernels were recorded", what, rank,
                       gpus_run);
  }
  if (ranks.size() == 1)
    return fmt::format("{} {}, the only one with kernels in this file", what, rank);
  bool counted = !devices;  // from 0, so that how many there are tells all of them
  std::string all;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    counted = counted && ranks[i].rank == static_cast<std::int64_t>(i);
    all += fmt::format("{}{}", i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i].rank);
  }
  constexpr std::size_t kListed = 8;
  if (counted || ranks.size() > kListed)
    return fmt::format("{} {} of {} in this file", what, rank, ranks.size());
  return fmt::format("{} {} of the {}s {} in this file", what, rank, what, all);
}

}  // namespace jarvis::session
