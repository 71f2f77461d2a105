#include "trace/import/xplane/space.h"

#include <utility>

#include <fmt/format.h>

namespace jarvis::trace::xplane {
namespace {

using proto::Cursor;
using proto::Field;
using proto::Wire;

struct MapEntry {
  std::int64_t key = 0;
  std::string_view value;
};

bool ReadEntry(std::string_view message, MapEntry* entry) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsVarint(1)) entry->key = field.Signed();
    if (field.IsBytes(2)) entry->value = field.bytes;
  }
  return !cursor.broken();
}

bool ReadEventName(std::string_view message, EventName* out) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(2)) out->name = field.bytes;
    if (field.IsBytes(4)) out->display = field.bytes;
    if (field.IsBytes(5)) out->stats.push_back(field.bytes);
  }
  return !cursor.broken();
}

bool ReadStatName(std::string_view message, std::string_view* name) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(2)) *name = field.bytes;
  }
  return !cursor.broken();
}

bool ReadLine(std::string_view message, Line* line) {
  line->message = message;
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(4)) ++line->events;
    if (field.IsVarint(1)) line->id = field.Signed();
    if (field.IsBytes(2)) line->name = field.bytes;
    if (field.IsVarint(3)) line->timestamp_ns = field.Signed();
    if (field.IsVarint(10)) line->display_id = field.Signed();
    if (field.IsBytes(11)) line->display_name = field.bytes;
  }
  return !cursor.broken();
}

// Its tables stand behind the lines that use them, so events are read later.
bool ReadPlane(std::string_view message, Plane* plane) {
  Cursor cursor(message);
  Field field;
  MapEntry entry;
  while (cursor.Next(&field)) {
    if (field.IsVarint(1)) plane->id = field.Signed();
    if (field.wire != Wire::kBytes) continue;
    bool whole = true;
    switch (field.number) {
      case 2: plane->name = field.bytes; break;
      case 3: whole = ReadLine(field.bytes, &plane->lines.emplace_back()); break;
      case 4:
        entry = {};
        whole = ReadEntry(field.bytes, &entry) &&
                ReadEventName(entry.value, &(plane->event_names[entry.key] = {}));
        break;
      case 5:
        entry = {};
        whole = ReadEntry(field.bytes, &entry) &&
                ReadStatName(entry.value, &plane->stat_names[entry.key]);
        break;
      case 6: whole = ReadStat(field.bytes, &plane->stats.emplace_back()); break;
      default: break;
    }
    if (!whole) return false;
  }
  return !cursor.broken();
}

}  // namespace

bool ReadStat(std::string_view message, Stat* stat) {
  using Kind = Stat::Kind;
  constexpr Kind kKinds[] = {Kind::kNone,   Kind::kNone, Kind::kDouble, Kind::kUnsigned,
                             Kind::kSigned, Kind::kText, Kind::kBytes,  Kind::kReference};
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsVarint(1)) stat->id = field.Signed();
    const bool number =
        field.IsVarint(3) || field.IsVarint(4) || field.IsVarint(7) || field.Is(2, Wire::kFixed64);
    if (!number && !field.IsBytes(5) && !field.IsBytes(6)) continue;
    stat->kind = kKinds[field.number];
    if (number) {
      stat->number = field.value;
    } else {
      stat->text = field.bytes;
    }
  }
  return !cursor.broken();
}

bool ReadEvent(std::string_view message, Event* event) {
  *event = {};
  bool offset = false;
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsVarint(1)) event->name_id = field.Signed();
    if (field.IsVarint(2)) {
      event->offset_ps = field.Signed();
      offset = true;
    }
    if (field.IsVarint(3)) event->duration_ps = field.Signed();
    if (field.IsVarint(5)) event->total = true;
    if (field.IsBytes(kStatField) && event->stats.empty()) event->stats = cursor.rest();
  }
  event->total = event->total && !offset;
  return !cursor.broken();
}

std::string_view Plane::StatName(std::int64_t wanted) const {
  const auto found = stat_names.find(wanted);
  return found == stat_names.end() ? std::string_view() : found->second;
}

std::string_view Plane::TextOf(const Stat& stat) const {
  if (stat.kind == Stat::Kind::kText) return stat.text;
  if (stat.kind == Stat::Kind::kReference) return StatName(static_cast<std::int64_t>(stat.number));
  return {};
}

const Stat* Plane::Find(std::string_view wanted) const {
  const Stat* found = nullptr;
  for (const Stat& stat : stats) {
    if (StatName(stat.id) == wanted) found = &stat;
  }
  return found;
}

Space ReadSpace(std::string_view bytes) {
  Space space;
  Cursor cursor(bytes);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(1)) {
      Plane plane;
      if (ReadPlane(field.bytes, &plane)) {
        space.planes.push_back(std::move(plane));
      } else {
        space.damage.push_back(fmt::format("the plane at byte {} cannot be read", cursor.offset()));
      }
    }
    if (field.IsBytes(2)) space.errors.push_back(field.bytes);
    if (field.IsBytes(3)) space.warnings.push_back(field.bytes);
    if (field.IsBytes(4)) space.hostnames.push_back(field.bytes);
  }
  if (cursor.broken()) {
    space.damage.push_back(
        fmt::format("the file breaks off at byte {}: {}", cursor.offset(), cursor.problem()));
  }
  return space;
}

}  // namespace jarvis::trace::xplane
