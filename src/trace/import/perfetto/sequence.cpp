#include "trace/import/perfetto/sequence.h"

#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

std::string_view PlainKey(std::string_view key) {
  constexpr std::string_view kDebug = "debug.";
  if (key.starts_with(kDebug)) key.remove_prefix(kDebug.size());
  return key;
}

std::string NameOfUnknown(std::uint64_t id) {
  return fmt::format("iid:{}", id);
}

OwnNumber OwnNumberOf(std::string_view key) {
  if (key == "begin_ns") return OwnNumber::kBegin;
  if (key == "end_ns") return OwnNumber::kEnd;
  if (key == "delta_ns") return OwnNumber::kLength;
  if (key == "corr_id") return OwnNumber::kCorrelation;
  return key == "correlation" ? OwnNumber::kOtherName : OwnNumber::kNone;
}

InternedTexts::Entry* InternedTexts::Find(std::uint64_t id) {
  if (id < near_.size() && near_[id].known) return &near_[id];
  if (far_.empty()) return nullptr;
  const auto found = far_.find(id);
  return found == far_.end() ? nullptr : &found->second;
}

bool InternedTexts::Set(std::uint64_t id, std::string_view text) {
  const Entry* const before = Find(id);
  const bool changed = before != nullptr && before->text != text;
  if (before == nullptr) ++count_;
  constexpr std::size_t kBeyond = 8;
  if (id >= near_.size() && id <= 2 * count_ + kBeyond) near_.resize(2 * (id + 1));
  (id < near_.size() ? near_[id] : far_[id]) = {text, kNoString, OwnNumberOf(PlainKey(text)), true};
  return changed;
}

void InternedTexts::Clear() {
  near_.clear();
  far_.clear();
  count_ = 0;
}

void Sequence::Clear() {
  categories.Clear();
  names.Clear();
  keys.Clear();
  strings.Clear();
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
