#include "findings/one/rank_part_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/number_text.h"
#include "session/file_ranks.h"

namespace jarvis::findings {

std::string RankPartText(const session::RankPart& part) {
  constexpr std::size_t kTold = 8;
  const session::RankWork& own = part.own();
  const std::string_view what = part.devices ? "GPU" : "rank";
  std::string others;
  double least = own.own_ms;
  double most = own.own_ms;
  for (const session::RankWork& one : part.ranks) {
    least = std::min(least, one.own_ms);
    most = std::max(most, one.own_ms);
    if (one.rank == part.rank) continue;
    others += fmt::format("{}{} {}: {} ms", others.empty() ? "" : ", ", what, one.rank,
                          ShortNumber(one.own_ms));
  }
  if (part.ranks.size() > kTold)
    others = fmt::format("all {}s: {} to {} ms", what, ShortNumber(least), ShortNumber(most));
  const bool alike = least >= (1 - session::kRanksAlike) * most;
  const bool bounds = !alike && session::RankThatBounds(part.ranks) == part.rank;
  if (part.ranks.size() == 1) {
    return fmt::format("All figures are of {}: it works for {} ms of all that was recorded.",
                       part.Text(), ShortNumber(own.busy_ms));
  }
  return fmt::format(
      "All figures are of {}{}{}: apart from communication {} works for {} ms of all that was "
      "recorded; "
      "{}{}. jarvis collectives FILE judges the job as a whole, --rank N picks another {}.",
      part.Text(), part.assumed ? ", numbered in the order of the file" : "",
      bounds ? ", the one that bounds the job" : "", part.devices ? "it" : "its GPU",
      ShortNumber(own.own_ms), others, alike ? " (alike)" : "", what);
}

std::string LeftOutText(const session::RankPart& part) {
  // Of one process that drives several GPUs the host is all of theirs.
  std::string text = part.devices ? fmt::format("{} pieces of GPU work of other GPUs are left out.",
                                                part.gpu_left_out)
                                  : fmt::format(
                                        "{} host events and {} pieces of GPU work of other ranks "
                                        "and processes are left out.",
                                        part.host_left_out, part.gpu_left_out);
  if (part.gpu_shared) {
    text +=
        " Another one works on a GPU of the same number: if that is the same GPU, this one's idle "
        "time may be the other's work.";
  }
  return text;
}

}  // namespace jarvis::findings
