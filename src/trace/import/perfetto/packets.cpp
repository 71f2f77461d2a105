#include "trace/import/perfetto/packets.h"

#include <algorithm>
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

// Fields of a TracePacket.
constexpr std::uint32_t kClocks = 6, kEvent = 11, kInterned = 12, kPacked = 50, kDefaults = 59,
                        kTrack = 60;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes), annotations_(&out_.texts) {}

  Packets Run() {
    constexpr std::size_t kBytesAPoint = 64;  // of most files, or more
    out_.points.reserve_whole(bytes_.size() / kBytesAPoint);
    out_.said.reserve_whole(bytes_.size() / kBytesAPoint / 2);
    ReadAll(bytes_, false);
    out_.kinds = annotations_.TakeKinds();
    return std::move(out_);
  }

 private:
  // The parts of a packet that are looked at in turn, whatever their order in it.
  struct Parts {
    std::uint64_t sequence = 0, flags = 0;
    std::optional<std::uint64_t> time, clock;
    std::vector<std::pair<std::uint32_t, std::string_view>> messages;  // by number of their fields

    void Clear() {
      sequence = flags = 0;
      time.reset();
      clock.reset();
      messages.clear();
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
        case kClocks:
        case kEvent:
        case kInterned:
        case kPacked:
        case kDefaults:
        case kTrack: parts->messages.emplace_back(field.number, field.bytes); break;
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
    Sequence& sequence = SequenceOf(parts.sequence);
    if ((parts.flags & 4) != 0) {
      sequence.valid = false;
      Lost("times that packets of a sequence were lost");
    }
    if ((parts.flags & 1) != 0) {
      sequence.Clear();
      sequence.valid = true;
      sequence.state = ++states_;
    }
    // Within a packet, defaults and interned texts hold for its own event.
    const auto all = [&](std::uint32_t number, const auto& read) {
      return std::ranges::all_of(parts.messages, [&](const auto& part) {
        return part.first != number || read(part.second);
      });
    };
    using View = std::string_view;
    if (parts.messages.size() > 1 ||
        (!parts.messages.empty() && parts.messages[0].first != kEvent)) {
      if (!all(kDefaults, [&](View one) { return ReadDefaults(one, &sequence); }) ||
          !all(kInterned, [&](View one) { return ReadInterned(one, &sequence); }) ||
          !all(kClocks, [&](View one) { return sequence.TakeClocks(one); }) ||
          !all(kTrack, [&](View one) { return ReadTrack(one); }) ||
          !all(kPacked, [&](View one) { return ReadPacked(one, inside); }))
        return false;
    }
    return all(kEvent, [&](View one) { return ReadEvent(one, parts, parts.sequence, &sequence); });
  }

  Sequence& SequenceOf(std::uint64_t id) {
    if (sequence_ == nullptr || id != sequence_id_) {
      const auto [found, added] = sequences_.try_emplace(id);
      if (added) found->second.state = ++states_;
      sequence_ = &found->second;
      sequence_id_ = id;
    }
    return *sequence_;
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

  bool ReadInterned(std::string_view message, Sequence* sequence) {
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      InternedTexts* const to = field.IsBytes(1)    ? &sequence->categories
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
      if (to->Set(id, text) || sequence->asked_unknown) {
        sequence->state = ++states_;
        sequence->asked_unknown = false;
      }
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

  StringId KeptOf(InternedTexts::Entry* entry) {
    if (entry->kept == kNoString) entry->kept = Keep(entry->text);
    return entry->kept;
  }

  std::uint32_t PlaceOfTrack(std::uint64_t track) {
    if (last_place_ < out_.tracks_of_points.size() && out_.tracks_of_points[last_place_] == track)
      return last_place_;
    const auto [found, added] = place_of_track_.try_emplace(
        track, static_cast<std::uint32_t>(out_.tracks_of_points.size()));
    if (added) out_.tracks_of_points.push_back(track);
    return last_place_ = found->second;
  }

  // A name or a category: an interned text, or another.
  struct Label {
    InternedTexts::Entry* interned = nullptr;
    std::string_view text{};
  };
  // `made`: holds the text where the file has none.
  static Label LabelOf(InternedTexts* texts, std::uint64_t id, std::string* made) {
    if (InternedTexts::Entry* entry = texts->Find(id)) return {entry, entry->text};
    *made = NameOfUnknown(id);
    return {nullptr, *made};
  }
  StringId Keep(const Label& label) {
    return label.interned != nullptr ? KeptOf(label.interned) : Keep(label.text);
  }

  // Categories of an event are one, in nearly all files.
  class Categories {
   public:
    void Clear() {
      only_ = {};
      joined_.clear();
      some_ = false;
    }
    void Add(const Label& one) {
      if (!some_ && one.interned != nullptr) {
        only_ = one;
      } else {
        if (only_.interned != nullptr) joined_ = only_.text;
        only_ = {};
        joined_.append(joined_.empty() ? "" : ",").append(one.text);
      }
      some_ = true;
    }
    Label all() const { return only_.interned != nullptr ? only_ : Label{nullptr, joined_}; }

   private:
    Label only_;
    std::string joined_;
    bool some_ = false;
  };

  bool ReadEvent(std::string_view message, const Parts& parts, std::uint64_t sequence_id,
                 Sequence* sequence) {
    constexpr std::uint64_t kNeedsState = 2;
    if ((parts.flags & kNeedsState) != 0 && !sequence->valid) {
      Lost("events whose state was lost");
      return true;
    }
    // Without a track: the sequence's own, which no descriptor can have.
    std::uint64_t track = sequence->default_track.value_or(~sequence_id);
    categories_.Clear();
    Label name;
    std::uint64_t type = 0;
    bool annotated = false;
    std::optional<std::int64_t> micros;
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
      if (field.IsBytes(AnnotationKinds::kField)) {
        if (!annotated) annotations_.Begin(*sequence);
        annotations_.Take(*sequence, cursor.rest().data(), field.bytes);
        annotated = true;
      } else if (field.number == 3) {
        if (!TakeCategories(field, sequence)) return false;
      } else if (field.wire == Wire::kVarint) {
        if (field.number == 9) type = field.value;
        if (field.number == 11) track = field.value;
        if (field.number == 10) name = LabelOf(&sequence->names, field.value, &made_);
        if (field.number == 16) micros = field.Signed();
      } else if (field.wire == Wire::kBytes) {
        if (field.number == 23) name = {nullptr, field.bytes};
        if (field.number == 22) categories_.Add({nullptr, field.bytes});
      }
    }
    if (cursor.broken()) return false;
    Said said;
    if (annotated && !annotations_.End(message, sequence, &said)) return false;
    TrackPoint point;
    if (!TimeOf(parts, micros, sequence, &point.when_ns)) return true;
    constexpr EventType kTypes[] = {EventType::kInstant, EventType::kBegin, EventType::kEnd,
                                    EventType::kInstant, EventType::kCounter};
    if (type >= std::size(kTypes)) return true;
    point.type = kTypes[type];
    point.track = PlaceOfTrack(track);
    if (point.type == EventType::kBegin) {
      point.name = Keep(name);
      point.category = Keep(categories_.all());
    }
    if (annotated && point.type != EventType::kCounter) {
      point.said = static_cast<std::uint32_t>(out_.said.size());
      out_.said.push_back(said);
    }
    out_.points.push_back(point);
    return true;
  }

  bool TakeCategories(const Field& field, Sequence* sequence) {
    const auto take = [&](std::uint64_t id) {
      categories_.Add(LabelOf(&sequence->categories, id, &made_category_));
    };
    if (field.wire == Wire::kVarint) {
      take(field.value);
      return true;
    }
    std::vector<std::int64_t> ids;
    if (!proto::AppendIntegers(field, &ids)) return false;
    for (const std::int64_t id : ids)
      take(static_cast<std::uint64_t>(id));
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

  std::string_view bytes_;
  // Of the packet and the event at hand.
  Parts parts_, parts_inside_;
  Categories categories_;
  std::string made_, made_category_;
  Packets out_;
  AnnotationKinds annotations_;
  std::unordered_map<std::uint64_t, Sequence> sequences_;
  Sequence* sequence_ = nullptr;  // the last one
  std::uint64_t sequence_id_ = 0;
  std::uint64_t states_ = 0;  // of all sequences: no two have the same
  std::unordered_map<std::uint64_t, std::uint32_t> place_of_track_;
  std::uint32_t last_place_ = 0;
  std::deque<std::string> kept_;
  std::size_t inflated_ = 0;
};

}  // namespace

Packets ReadPackets(std::string_view bytes) {
  return Reader(bytes).Run();
}

}  // namespace jarvis::trace::perfetto
