#include "session/part_request.h"

#include <algorithm>

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

}  // namespace jarvis::session
