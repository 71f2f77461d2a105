// What a change would save of the candidate of a comparison, as text: of a unit.
#pragma once

#include <optional>
#include <string>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// Less wall time than this part of a unit is as good as none.
inline constexpr double kRoomShare = 0.02;

// "up to 3.84 ms".
std::string UpTo(double ms);
// With both ends, as the candidate's own analysis has it: "about 501.7 ms (320.3 to 638.1 ms)". Of
// all units.
std::string SavingText(const ComparativeFacts& facts, const findings::Range& ms);

// What may become wall time while the host takes what it takes as traced; absent: not known.
std::optional<double> RoomMs(const ComparativeFacts& facts);
// What of a saving of GPU time shows in the unit as the host is.
double WallMs(const ComparativeFacts& facts, double ms);

// What GPU time becomes: wall time as far as the host alone takes less than the unit. `saving`: its
// text, `ms` at most.
std::string GpuSavingText(const ComparativeFacts& facts, const std::string& saving, double ms,
                          bool frees_host);
// What of it shows in wall time, in a cell.
std::string GpuSavingCell(const ComparativeFacts& facts, const std::string& saving, double ms);

}  // namespace jarvis::documents
