#include "trace/import/perfetto/sequence.h"

#include <limits>
#include <utility>
#include <vector>

#include "trace/import/proto/wire.h"

namespace jarvis::trace::perfetto {
namespace {

__extension__ using Wide = __int128;  // what no product of two times goes beyond

std::optional<std::int64_t> Narrow(Wide value) {
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

struct Shown {
  std::uint64_t id = 0, time = 0, unit = 1;
  bool incremental = false;
};

bool ReadShown(std::string_view message, Shown* out) {
  proto::Cursor cursor(message);
  proto::Field field;
  while (cursor.Next(&field)) {
    if (field.wire != proto::Wire::kVarint) continue;
    if (field.number == 1) out->id = field.value;
    if (field.number == 2) out->time = field.value;
    if (field.number == 3) out->incremental = field.value != 0;
    if (field.number == 4 && field.value > 0) out->unit = field.value;
  }
  return !cursor.broken();
}

}  // namespace

void Sequence::Clear() {
  categories.clear();
  names.clear();
  keys.clear();
  strings.clear();
  default_track.reset();
  default_clock.reset();
}

bool Sequence::TakeClocks(std::string_view message) {
  std::vector<Shown> all;
  proto::Cursor cursor(message);
  proto::Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(1) && !ReadShown(field.bytes, &all.emplace_back())) return false;
  }
  if (cursor.broken()) return false;
  // The trace's own clock: that of the time since boot, by habit.
  constexpr std::uint64_t kBases[] = {kBootClock, 3, 5, 4, 1, 2};
  const Shown* base = nullptr;
  for (const std::uint64_t id : kBases) {
    for (const Shown& one : all) {
      if (base == nullptr && one.id == id) base = &one;
    }
  }
  if (base == nullptr) return true;
  for (const Shown& one : all) {
    if (one.id == base->id) continue;
    const auto base_ns = Narrow(static_cast<Wide>(base->time) * base->unit);
    const auto at_ns = Narrow(static_cast<Wide>(one.time) * one.unit);
    const auto unit = Narrow(one.unit);
    if (!base_ns || !at_ns || !unit) continue;
    clocks_[one.id] = {*base_ns, *at_ns, *unit, one.incremental, *at_ns};
  }
  return true;
}

std::optional<std::int64_t> Sequence::ToTraceTime(std::uint64_t time,
                                                  std::optional<std::uint64_t> clock, bool* known) {
  *known = true;
  const std::uint64_t id = clock.value_or(0);
  if (id == 0 || id == kBootClock) return Narrow(time);
  const auto found = clocks_.find(id);
  *known = found != clocks_.end();
  if (!*known) return Narrow(time);
  Clock& of = found->second;
  Wide value = static_cast<Wide>(time) * of.unit_ns;
  if (of.incremental) {
    value += of.last_ns;
    const auto last = Narrow(value);
    if (!last) return std::nullopt;
    of.last_ns = *last;
  }
  return Narrow(value + of.base_ns - of.at_ns);
}

}  // namespace jarvis::trace::perfetto
