#include "trace/import/perfetto/packets.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"
#include "io/inflate.h"
#include "trace/import/perfetto/sequence.h"
#include "trace/import/proto/wire.h"
#include "trace/json_text.h"

namespace jarvis::trace::perfetto {
namespace {

using proto::Cursor;
using proto::Field;
using proto::Wire;

constexpr std::size_t kInflatedMax = std::size_t{256} << 20;  // of one packet
constexpr std::size_t kInflatedAllMax = std::size_t{2} << 30;
constexpr std::size_t kInflatedTimesMax = 64;  // of the file's size, all together
constexpr int kAnnotationDepthMax = 32;

// The value of an annotation: JSON, and what of it is asked for. Used again for the next one.
struct Value {
  std::string_view key;
  std::string made_key;  // where the file names none
  std::string json;
  std::optional<std::int64_t> number;

  void Clear() {
    key = {};
    json.clear();
    number.reset();
  }
};

void AppendQuoted(std::string_view text, std::string* json) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; });
  *json += '"';
  if (plain) {
    *json += text;
  } else {
    *json += Escape(ValidUtf8(text));
  }
  *json += '"';
}

template <typename Number>
void AppendNumber(Number number, std::string* json) {
  std::array<char, std::numeric_limits<Number>::digits10 + 3> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  json->append(digits.begin(), end);
}

class AnnotationReader {
 public:
  explicit AnnotationReader(const Sequence& sequence) : sequence_(sequence) {}

  // False: it cannot be read, or is nested too deep.
  bool Read(std::string_view message, int depth, Value* out) const {
    if (depth > kAnnotationDepthMax) return false;
    std::string entries, items;
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      if (field.IsBytes(10)) out->key = field.bytes;
      if (field.IsVarint(1)) out->key = TextOf(sequence_.keys, field.value, &out->made_key);
      if (field.IsBytes(11) || field.IsBytes(12)) {
        Value inner;
        if (!Read(field.bytes, depth + 1, &inner)) return false;
        if (field.number == 11) {
          entries += entries.empty() ? "" : ", ";
          AppendQuoted(inner.key, &entries);
          entries.append(": ").append(inner.json.empty() ? "null" : inner.json);
        } else {
          items += (items.empty() ? "" : ", ") + (inner.json.empty() ? "null" : inner.json);
        }
        continue;
      }
      TakeScalar(field, out);
    }
    if (!entries.empty()) out->json = "{" + entries + "}";
    if (!items.empty() && entries.empty()) out->json = "[" + items + "]";
    return !cursor.broken();
  }

  // `made`: holds the text where the file has none.
  static std::string_view TextOf(const Sequence::Texts& texts, std::uint64_t id,
                                 std::string* made) {
    const auto found = texts.find(id);
    if (found != texts.end()) return found->second;
    *made = fmt::format("iid:{}", id);
    return *made;
  }

 private:
  void TakeScalar(const Field& field, Value* out) const {
    if (field.IsVarint(2)) out->json = field.value != 0 ? "true" : "false";
    if (field.IsVarint(3)) {
      out->json.clear();
      AppendNumber(field.value, &out->json);
      if (field.value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        out->number = field.Signed();
    }
    if (field.IsVarint(4)) {
      out->json.clear();
      AppendNumber(field.Signed(), &out->json);
      out->number = field.Signed();
    }
    if (field.Is(5, Wire::kFixed64)) {
      ArgText number;
      number.Number("", field.Double());
      out->json = number.text().empty() ? "null" : fmt::format("{}", field.Double());
    }
    if (field.IsVarint(7)) out->json = fmt::format("\"0x{:x}\"", field.value);
    // Text that says that it is JSON is text all the same: nobody knows whether it is.
    if (field.IsBytes(6) || field.IsBytes(9)) TakeText(field.bytes, out);
    if (field.IsVarint(17)) {
      std::string made;
      TakeText(TextOf(sequence_.strings, field.value, &made), out);
    }
  }

  static void TakeText(std::string_view text, Value* out) {
    out->json.clear();
    AppendQuoted(text, &out->json);
    out->number = ParseInt(text);
  }

  const Sequence& sequence_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Packets Run() {
    constexpr std::size_t kBytesAPoint = 64;  // of most files, or more
    out_.points.reserve(bytes_.size() / kBytesAPoint);
    out_.annotations.reserve(bytes_.size() / kBytesAPoint);
    ReadAll(bytes_, false);
    return std::move(out_);
  }

 private:
  // The parts of a packet that are looked at in turn, whatever their order in it.
  struct Parts {
    std::uint64_t sequence = 0, flags = 0;
    std::optional<std::uint64_t> time, clock;
    std::vector<std::string_view> clocks, interned, defaults, tracks, events, packed;

    void Clear() {
      sequence = flags = 0;
      time.reset();
      clock.reset();
      for (auto* const part : {&clocks, &interned, &defaults, &tracks, &events, &packed})
        part->clear();
    }
  };

  void Lost(std::string_view why) { ++out_.lost[std::string(why)]; }

  void ReadAll(std::string_view bytes, bool inside) {
    Cursor cursor(bytes);
    Field field;
    while (cursor.Next(&field)) {
      if (!field.IsBytes(1)) continue;
      ++out_.packets;
      if (!ReadPacket(field.bytes, inside)) Lost("packets that cannot be read");
    }
    if (cursor.broken()) {
      out_.damage.push_back(fmt::format(
          "{} at byte {}: {}", inside ? "a compressed packet breaks off" : "the file breaks off",
          cursor.offset(), cursor.problem()));
    }
  }

  bool ReadParts(std::string_view message, Parts* parts) {
    constexpr std::uint64_t kStateCleared = 1, kPacketsLost = 4;
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      if (field.IsVarint(8)) parts->time = field.value;
      if (field.IsVarint(58)) parts->clock = field.value;
      if (field.IsVarint(10)) parts->sequence = field.value;
      if (field.IsVarint(13)) parts->flags |= field.value & 3;
      if (field.IsVarint(41) && field.value != 0) parts->flags |= kStateCleared;
      if (field.IsVarint(42) && field.value != 0) parts->flags |= kPacketsLost;
      if (field.wire != Wire::kBytes) continue;
      switch (field.number) {
        case 6: parts->clocks.push_back(field.bytes); break;
        case 11: parts->events.push_back(field.bytes); break;
        case 12: parts->interned.push_back(field.bytes); break;
        case 50: parts->packed.push_back(field.bytes); break;
        case 59: parts->defaults.push_back(field.bytes); break;
        case 60: parts->tracks.push_back(field.bytes); break;
        default: ++out_.skipped[field.number]; break;
      }
    }
    return !cursor.broken();
  }

  // False: a part of it cannot be read, which costs that packet.
  bool ReadPacket(std::string_view message, bool inside) {
    Parts& parts = inside ? parts_inside_ : parts_;
    parts.Clear();
    if (!ReadParts(message, &parts)) return false;
    Sequence& sequence = sequences_[parts.sequence];
    if ((parts.flags & 4) != 0) {
      sequence.valid = false;
      Lost("times that packets of a sequence were lost");
    }
    if ((parts.flags & 1) != 0) {
      sequence.Clear();
      sequence.valid = true;
    }
    // Within a packet, defaults and interned texts hold for its own event.
    for (const std::string_view one : parts.defaults)
      if (!ReadDefaults(one, &sequence)) return false;
    for (const std::string_view one : parts.interned)
      if (!ReadInterned(one, &sequence)) return false;
    for (const std::string_view one : parts.clocks)
      if (!sequence.TakeClocks(one)) return false;
    for (const std::string_view one : parts.tracks)
      if (!ReadTrack(one)) return false;
    for (const std::string_view one : parts.packed)
      if (!ReadPacked(one, inside)) return false;
    for (const std::string_view one : parts.events)
      if (!ReadEvent(one, parts, parts.sequence, &sequence)) return false;
    return true;
  }

  bool ReadPacked(std::string_view message, bool inside) {
    if (inside) return false;
    const std::size_t all_max = std::min(kInflatedAllMax, kInflatedTimesMax * bytes_.size());
    auto text = io::InflateZlib(message, std::min(kInflatedMax, all_max - inflated_));
    if (!text) return false;
    inflated_ += text->size();
    // Interned texts are views into it.
    kept_.push_back(std::move(*text));
    ReadAll(kept_.back(), true);
    return true;
  }

  static bool ReadDefaults(std::string_view message, Sequence* sequence) {
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      if (field.IsVarint(58)) sequence->default_clock = field.value;
      if (!field.IsBytes(11)) continue;
      Cursor inner(field.bytes);
      Field of_event;
      while (inner.Next(&of_event)) {
        if (of_event.IsVarint(11)) sequence->default_track = of_event.value;
      }
      if (inner.broken()) return false;
    }
    return !cursor.broken();
  }

  static bool ReadInterned(std::string_view message, Sequence* sequence) {
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      Sequence::Texts* const to = field.IsBytes(1)    ? &sequence->categories
                                  : field.IsBytes(2)  ? &sequence->names
                                  : field.IsBytes(3)  ? &sequence->keys
                                  : field.IsBytes(29) ? &sequence->strings
                                                      : nullptr;
      if (to == nullptr) continue;
      Cursor inner(field.bytes);
      Field part;
      std::uint64_t id = 0;
      std::string_view text;
      while (inner.Next(&part)) {
        if (part.IsVarint(1)) id = part.value;
        if (part.IsBytes(2)) text = part.bytes;
      }
      if (inner.broken()) return false;
      (*to)[id] = text;
    }
    return !cursor.broken();
  }

  bool ReadTrack(std::string_view message) {
    TrackInfo track;
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      if (field.IsVarint(1)) track.uuid = field.value;
      if (field.IsVarint(5)) track.parent = field.value;
      if (field.IsBytes(2) || field.IsBytes(10) || field.IsBytes(13)) track.name = field.bytes;
      if (field.IsBytes(8)) track.counter = true;
      if (!field.IsBytes(3) && !field.IsBytes(4)) continue;
      const bool thread = field.number == 4;
      Cursor inner(field.bytes);
      Field part;
      while (inner.Next(&part)) {
        if (part.IsVarint(1)) track.pid = part.Signed();
        if (thread && part.IsVarint(2)) track.tid = part.Signed();
        if (thread && part.IsBytes(5)) track.thread = part.bytes;
        if (!thread && part.IsBytes(6)) track.process = part.bytes;
      }
      if (inner.broken()) return false;
    }
    if (cursor.broken()) return false;
    // A track may be told of in parts.
    const auto [known, added] = out_.tracks.try_emplace(track.uuid, track);
    if (added) {
      out_.track_order.push_back(track.uuid);
      return true;
    }
    TrackInfo& old = known->second;
    if (track.parent != 0) old.parent = track.parent;
    for (std::string TrackInfo::*const part :
         {&TrackInfo::name, &TrackInfo::process, &TrackInfo::thread}) {
      if (!(track.*part).empty()) old.*part = track.*part;
    }
    if (track.pid) old.pid = track.pid;
    if (track.tid) old.tid = track.tid;
    old.counter = old.counter || track.counter;
    return true;
  }

  // A text of the file as names in a slice stand: without what is no UTF-8.
  StringId Keep(std::string_view text) { return out_.texts.Intern(text); }

  bool ReadEvent(std::string_view message, const Parts& parts, std::uint64_t sequence_id,
                 Sequence* sequence) {
    constexpr std::uint64_t kNeedsState = 2;
    if ((parts.flags & kNeedsState) != 0 && !sequence->valid) {
      Lost("events whose state was lost");
      return true;
    }
    TrackPoint point;
    // Without a track: the sequence's own, which no descriptor can have.
    point.track = sequence->default_track.value_or(~sequence_id);
    category_.clear();
    std::string_view name;
    Annotations annotations;
    args_.Clear();
    std::uint64_t type = 0;
    bool annotated = false;
    std::optional<std::int64_t> micros;
    const AnnotationReader reader(*sequence);
    const auto add_category = [&](std::string_view one) {
      category_.append(category_.empty() ? "" : ",").append(one);
    };
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      if (field.IsVarint(9)) type = field.value;
      if (field.IsVarint(11)) point.track = field.value;
      if (field.IsVarint(10)) name = AnnotationReader::TextOf(sequence->names, field.value, &made_);
      if (field.IsBytes(23)) name = field.bytes;
      if (field.IsBytes(22)) add_category(field.bytes);
      if (field.IsVarint(16)) micros = field.Signed();
      if (field.number == 3) {
        std::vector<std::int64_t> ids;
        if (!proto::AppendIntegers(field, &ids)) return false;
        for (const std::int64_t id : ids)
          add_category(AnnotationReader::TextOf(sequence->categories,
                                                static_cast<std::uint64_t>(id), &made_category_));
      }
      if (field.IsBytes(4)) {
        value_.Clear();
        if (!reader.Read(field.bytes, 0, &value_)) return false;
        TakeAnnotation(value_, &annotations, &args_);
        annotated = true;
      }
    }
    if (cursor.broken()) return false;
    if (!TimeOf(parts, micros, sequence, &point.when_ns)) return true;
    constexpr EventType kTypes[] = {EventType::kInstant, EventType::kBegin, EventType::kEnd,
                                    EventType::kInstant, EventType::kCounter};
    if (type >= std::size(kTypes)) return true;
    point.type = kTypes[type];
    if (point.type == EventType::kBegin) {
      point.name = Keep(name);
      point.category = Keep(category_);
    }
    if (annotated && point.type != EventType::kCounter) {
      if (!args_.text().empty()) annotations.all = Keep(args_.text());
      point.annotations = static_cast<std::uint32_t>(out_.annotations.size());
      out_.annotations.push_back(annotations);
    }
    out_.points.push_back(point);
    return true;
  }

  bool TimeOf(const Parts& parts, std::optional<std::int64_t> micros, Sequence* sequence,
              std::int64_t* when_ns) {
    if (!parts.time) {
      // As the oldest files have it.
      constexpr std::int64_t kNsPerUs = 1000;
      if (micros && !__builtin_mul_overflow(*micros, kNsPerUs, when_ns)) return true;
      Lost("events without a time");
      return false;
    }
    bool known = true;
    const auto when = sequence->ToTraceTime(
        *parts.time, parts.clock ? parts.clock : sequence->default_clock, &known);
    if (!known) Lost("times of a clock that nothing defines");
    if (!when) Lost("events whose time overflows");
    *when_ns = when.value_or(0);
    return when.has_value();
  }

  void TakeAnnotation(const Value& value, Annotations* to, ArgText* args) {
    std::string_view key = value.key;
    constexpr std::string_view kDebug = "debug.";
    if (key.starts_with(kDebug)) key.remove_prefix(kDebug.size());
    const auto number = [&](std::int64_t* at) {
      if (value.number) *at = *value.number;
    };
    const auto text = [&](StringId* at) { *at = Keep(Unquoted(value.json)); };
    if (key == "begin_ns") number(&to->begin_ns);
    if (key == "end_ns") number(&to->end_ns);
    if (key == "corr_id" || key == "correlation") number(&to->correlation);
    if (key == "tid") number(&to->tid);
    if (key == "stream_ID" || key == "stream") number(&to->stream);
    if (key == "queue") number(&to->queue);
    if (key == "agent") text(&to->agent);
    if (key == "src_agent") text(&to->source_agent);
    if (key == "dst_agent") text(&to->target_agent);
    if (key == "copy_bytes") to->copies = true;
    // Times and ids are the event's own, and no two have the same.
    if (value.number && IsOneOf(key, {"begin_ns", "end_ns", "delta_ns", "corr_id"})) return;
    args->Raw(key, value.json.empty() ? "null" : value.json);
  }

  std::string_view bytes_;
  // Of the packet and the event at hand.
  Parts parts_, parts_inside_;
  Value value_;
  ArgText args_;
  std::string category_, made_, made_category_;
  Packets out_;
  std::unordered_map<std::uint64_t, Sequence> sequences_;
  std::deque<std::string> kept_;
  std::size_t inflated_ = 0;
};

}  // namespace

void Annotations::Add(const Annotations& later) {
  for (std::int64_t Annotations::*const part :
       {&Annotations::begin_ns, &Annotations::end_ns, &Annotations::correlation, &Annotations::tid,
        &Annotations::stream, &Annotations::queue}) {
    if (later.*part != kAbsent) this->*part = later.*part;
  }
  for (StringId Annotations::*const part : {&Annotations::agent, &Annotations::source_agent,
                                            &Annotations::target_agent, &Annotations::all}) {
    if (later.*part != kNoString) this->*part = later.*part;
  }
  copies = copies || later.copies;
}

Packets ReadPackets(std::string_view bytes) {
  return Reader(bytes).Run();
}

}  // namespace jarvis::trace::perfetto
