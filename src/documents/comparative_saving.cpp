#include "documents/comparative_saving.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/base_text.h"
#include "documents/comparative_words.h"
#include "documents/saving_base.h"

namespace jarvis::documents {

std::string UpTo(double ms) {
  return "up to " + Ms(ms);
}

std::string SavingText(const ComparativeFacts& facts, const findings::Range& ms) {
  const findings::Analysis& analysis = *facts.pair.primary;
  const std::string expected = Expected(analysis, ms);
  const std::string range = EachRange(analysis, ms);
  return expected.empty() ? range : fmt::format("{} ({})", expected, range);
}

std::optional<double> RoomMs(const ComparativeFacts& facts) {
  if (!facts.pair.host_floor_ms) return std::nullopt;
  return std::max(0.0, facts.pair.balance.ms[0] - *facts.pair.host_floor_ms);
}

std::string GpuSavingText(const ComparativeFacts& facts, const std::string& saving, double ms,
                          bool frees_host) {
  const std::string unit = UnitText(facts);
  const std::optional<double> room = RoomMs(facts);
  if (!room || ms <= *room) return fmt::format("{} of GPU time {}", saving, unit);
  const bool none = *room < kRoomShare * facts.pair.balance.ms[0];
  const std::string more =
      frees_host ? "as its launches go and free the host" : "once the host is faster";
  return none ? fmt::format("{} of GPU time {}; of wall time {}", saving, unit,
                            frees_host ? "only what the host spends on the launches that go"
                                       : "nothing before the host is faster")
              : fmt::format(
                    "{} of GPU time {}; of wall time up to {}, as the host alone takes {}, and "
                    "more {}",
                    saving, unit, Ms(*room), Ms(*facts.pair.host_floor_ms), more);
}

std::string GpuSavingCell(const ComparativeFacts& facts, const std::string& saving, double ms) {
  const std::optional<double> room = RoomMs(facts);
  if (!room || ms <= *room) return saving;
  if (*room < kRoomShare * facts.pair.balance.ms[0]) return "0 before the host is faster";
  return UpTo(*room);
}

double WallMs(const ComparativeFacts& facts, double ms) {
  return std::min(ms, RoomMs(facts).value_or(ms));
}

}  // namespace jarvis::documents
