#include "trace/event_decoder.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "trace/json_slicer.h"
#include "trace/json_text.h"
#include "trace/json_tokens.h"

namespace jarvis::trace {
namespace {

using Place = JsonTokens::Place;

// The members of an event that matter, as raw tokens; empty: absent.
struct Members {
  std::string_view ph, cat, name, pid, tid, ts, dur, id;
  bool has_task_type = false;
  std::int64_t order = 0;
  Args args;
};

// Args that differ at every event and that nothing asks for.
bool IsVolatile(std::string_view key) {
  return key == "Record function id" || key == "Python parent id" || key == "Python module id";
}

char PhaseOf(std::string_view token) {
  const std::string_view text = Unquoted(token);
  return text.size() == 1 ? text[0] : '\0';
}

// Empties the parts of a slice; what has memory keeps it for the next slice.
template <typename... Parts>
void EmptyAll(Parts&... parts) {
  const auto empty = [](auto& part) {
    if constexpr (requires { part.clear(); }) {
      part.clear();
    } else if constexpr (requires { part.Clear(); }) {
      part.Clear();
    } else {
      part = {};
    }
  };
  (empty(parts), ...);
}

}  // namespace

void DecodedSlice::Clear() {
  // A part that is added and not named here does not compile.
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = *this;
  EmptyAll(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
}

class EventDecoder::Impl {
 public:
  void Decode(char* text, std::size_t size, std::uint64_t first_uid, std::uint64_t elements,
              DecodedSlice* out) {
    out_ = out;
    out_->Clear();
    uid_ = first_uid;
    while (size > 0 && (*text == ',' || *text == ' ' || *text == '\n' || *text == '\r')) {
      ++text;
      --size;
    }
    text[-1] = '[';
    text[size] = ']';
    text[size + 1] = '\0';
    // Kinds of brackets are not told of brackets apart: with a wrong one it finds other elements.
    if (!DecodeArray(text - 1, size + 2) || uid_ != first_uid + elements) {
      out_->Clear();
      uid_ = first_uid;
      DecodeOneByOne({text, size});
    }
  }

 private:
  // Behind the text lies a byte 0.
  bool DecodeArray(const char* text, std::size_t size) {
    last_category_ = -1;
    last_track_ = kNoTrack;
    if (!tokens_.Find(text, size)) return false;
    Place at = tokens_.begin();
    if (tokens_.First(at++) != '[') return false;
    if (tokens_.First(at) == ']') return true;
    for (;;) {
      at = DecodeElement(at);
      if (at == nullptr) return false;
      const char next = tokens_.First(at++);
      if (next == ']') return true;
      if (next != ',') return false;
    }
  }

  // The slow way, for a slice in which something is wrong: an element that cannot be decoded is
  // counted and left out, its neighbours are not.
  void DecodeOneByOne(std::string_view text) {
    EventScanner scanner;
    std::size_t start = 0;
    std::size_t scanned = 0;
    while (scanned < text.size()) {
      // Grows the view to the next place where an element can end, so that they come one at a time.
      const std::size_t stop_char = text.find_first_of(",}", scanned);
      const std::size_t end = stop_char == std::string_view::npos ? text.size() : stop_char + 1;
      scanner.Scan(text.substr(0, end), scanned);
      scanned = end;
      if (scanner.elements() == 0 && end < text.size()) continue;
      const std::size_t stop = end == text.size() ? end : scanner.events_end();
      DecodeAlone(text.substr(start, stop - start), std::max<std::uint64_t>(scanner.elements(), 1));
      start = stop;
      scanner.Drop(0);
    }
  }

  void DecodeAlone(std::string_view text, std::uint64_t elements) {
    while (!text.empty() && (text.front() == ',' || Trim(text.substr(0, 1)).empty())) {
      text.remove_prefix(1);
    }
    if (text.empty()) return;
    const std::uint64_t uid = uid_;
    bool utf8_changed = false;
    std::string clean = ValidUtf8(text, &utf8_changed);
    bool control_changed = false;
    for (char& c : clean) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') {
        c = ' ';
        control_changed = true;
      }
    }
    if (!TryAlone(clean)) {
      uid_ = uid;
      for (char& c : clean) {  // raw line ends and tabs are not allowed inside strings either
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
      }
      control_changed = true;
      if (!TryAlone(clean)) {
        out_->oddities.Count(Oddity::kMalformedEvent, uid);
        uid_ = uid + elements;
        return;
      }
    }
    if (utf8_changed) out_->oddities.Count(Oddity::kBadUtf8, uid);
    if (control_changed) out_->oddities.Count(Oddity::kControlCharacter, uid);
    uid_ = uid + elements;
  }

  // Nothing of an event that turns out to be broken may stay behind, in whatever part of the slice.
  // So it is decoded for trial first, and into the slice only if it is whole.
  bool TryAlone(const std::string& text) {
    const std::string array = "[" + text + "]";
    const std::uint64_t uid = uid_;
    const auto decode = [&](DecodedSlice* to) {
      out_ = to;
      uid_ = uid;
      return DecodeArray(array.c_str(), array.size()) && uid_ == uid + 1;
    };
    DecodedSlice* const slice = out_;
    trial_.Clear();
    const bool whole = decode(&trial_);
    out_ = slice;
    if (!whole) return false;
    const bool again = decode(slice);
    JV_CHECK(again);
    return true;
  }

  // The functions from here to Raw() take the place of what they decode, and return that of the
  // token behind it; null: the text is not in order.

  Place DecodeElement(Place at) {
    const std::uint64_t uid = uid_++;
    if (tokens_.First(at) != '{') {
      if (!IsElement(at)) return nullptr;
      out_->oddities.Count(Oddity::kNotAnObject, uid);
      return tokens_.Behind(at);
    }
    Members members;
    kind_ = EventKind::kOther;
    at = EachMember<&Impl::DecodeMember>(at, &members);
    if (at != nullptr) AddEvent(members, static_cast<std::uint32_t>(uid));
    return at;
  }

  // Whether what is no object is a value at all. Python writes NaN and Infinity, which JSON does
  // not have.
  bool IsElement(Place at) const {
    if (at == tokens_.end()) return false;
    const std::string_view token = tokens_.Text(at);
    return token.find_first_of("[\"tfn-0123456789") == 0 || token == "NaN" || token == "Infinity";
  }

  // Calls Decode(key, place of the value, members) for each member of the object at `at`.
  template <auto Decode>
  Place EachMember(Place at, Members* members) {
    if (tokens_.First(++at) == '}') return at + 1;
    for (;;) {
      std::string_view key;
      if (!tokens_.IsKey(at, &key) || !tokens_.IsValue(at + 2)) return nullptr;
      at = (this->*Decode)(key, at + 2, members);
      if (at == nullptr) return nullptr;
      const char next = tokens_.First(at++);
      if (next == '}') return at;
      if (next != ',') return nullptr;
    }
  }

  Place DecodeMember(std::string_view key, Place value, Members* members) {
    std::string_view* token = nullptr;
    switch (key.size()) {
      case 2:
        token = key == "ph"   ? &members->ph
                : key == "ts" ? &members->ts
                : key == "id" ? &members->id
                              : nullptr;
        break;
      case 3:
        token = key == "cat"   ? &members->cat
                : key == "pid" ? &members->pid
                : key == "tid" ? &members->tid
                : key == "dur" ? &members->dur
                               : nullptr;
        break;
      case 4:
        if (key == "name") token = &members->name;
        if (key == "args" && tokens_.First(value) == '{') return DecodeArgs(value, members);
        break;
      default: break;
    }
    if (token != nullptr) {
      *token = tokens_.Text(value);
      if (token == &members->cat) {
        category_ = CategoryOf(Unquoted(*token));
        kind_ = out_->categories[category_].rule.kind;
      }
    }
    return tokens_.Behind(value);
  }

  Place DecodeArgs(Place at, Members* members) {
    other_.clear();
    at = EachMember<&Impl::DecodeArg>(at, members);
    if (at != nullptr && !other_.empty()) members->args.other = out_->raws.Intern(other_);
    return at;
  }

  Place DecodeArg(std::string_view key, Place value, Members* members) {
    Args& args = members->args;
    switch (key.size()) {
      case 6:
        if (key == "stream") return Integer(value, &args.stream);
        if (key == "Ev Idx") return Integer(value, &members->order);
        break;
      case 9:
        if (key == "Python id" && members->order == 0) return Integer(value, &members->order);
        if (key == "Task Type") members->has_task_type = true;
        if (key == "Stream Id") return Integer(value, &args.stream);
        break;
      case 10:
        if (key == "Input Dims" || key == "Input dims") return Raw(value, &args.dims);
        if (key == "Input type") return Raw(value, &args.types);
        break;
      case 11:
        if (key == "correlation") return Integer(value, &args.correlation);
        if (key == "External id" || key == "external id") return Integer(value, &args.external_id);
        break;
      case 13:
        if (key == "Input Strides") return Raw(value, &args.strides);
        break;
      case 15:
        if (key == "Concrete Inputs") return Raw(value, &args.concrete);
        if (key == "Sequence number") return Integer(value, &args.sequence);
        break;
      default: break;
    }
    const Place behind = tokens_.Behind(value);
    if (behind == nullptr || kind_ == EventKind::kPythonFunction || IsVolatile(key)) return behind;
    const std::string_view raw = TextOf(value, behind);
    if (other_.size() + key.size() + raw.size() > limits::kOtherArgsBytesMax) {
      out_->oddities.Count(Oddity::kLongArgs, uid_ - 1);
      return behind;
    }
    other_.append(1, '"').append(key).append("\": ").append(raw).append(1, ',');
    return behind;
  }

  // The raw text of a value. Scalars are not looked into: Python writes NaN and Infinity.
  std::string_view TextOf(Place value, Place behind) const {
    if (behind == value + 1) return tokens_.Text(value);
    const char* const start = tokens_.Start(value);
    return {start, static_cast<std::size_t>(tokens_.Start(behind - 1) + 1 - start)};
  }

  Place Integer(Place value, std::int64_t* to) const {
    if (const std::optional<std::int64_t> number = IntegerOf(tokens_.Text(value))) *to = *number;
    return tokens_.Behind(value);
  }

  Place Raw(Place value, StringId* to) {
    const Place behind = tokens_.Behind(value);
    if (behind == nullptr) return nullptr;
    const std::string_view raw = TextOf(value, behind);
    if (raw != "null") *to = out_->raws.Intern(raw);
    return behind;
  }

  void AddEvent(Members& m, std::uint32_t uid) {
    char phase = PhaseOf(m.ph);
    if (phase == '\0' && !m.ts.empty() && !m.dur.empty()) {
      out_->oddities.Count(Oddity::kNoPhase, uid);
      phase = 'X';
    }
    switch (phase) {
      case 'X': AddComplete(m, uid); return;
      case 'B':
      case 'E': AddBeginEnd(m, uid, phase); return;
      case 's':
      case 'f': AddFlow(m, phase); return;
      case 'M': AddMeta(m); return;
      default: ++out_->ignored_events;
    }
  }

  // Category of an event that has none.
  std::uint8_t MissingCategory(const Members& m) {
    if (!m.has_task_type) return CategoryOf("");
    const std::uint8_t category = CategoryOf("(device task)");
    CategoryRule& rule = out_->categories[category].rule;
    rule = {"(device task)", EventKind::kKernel, FlowKind::kNone, Rule::kNpu};
    out_->dialect.rules[static_cast<std::size_t>(Rule::kNpu)] = true;
    return category;
  }

  Event CommonOf(Members& m, std::uint32_t uid) {
    Event event{};
    event.category = m.cat.empty() ? MissingCategory(m) : category_;
    DecodedSlice::LocalCategory& category = out_->categories[event.category];
    if (category.events++ == 0) category.first_uid = uid;
    event.kind = category.rule.kind;
    event.uid = uid;
    event.track = TrackOf(m);
    const bool named = m.name.size() >= 2 && m.name.front() == '"';
    if (!named) out_->oddities.Count(Oddity::kNoName, uid);
    event.name = InternName(named ? Unquoted(m.name) : "(unnamed)");
    event.order = static_cast<std::uint32_t>(
        m.order != 0 ? m.order : (m.args.external_id == kAbsent ? 0 : m.args.external_id));
    if (IsGpuWork(event.kind) && m.args.stream == kAbsent) m.args.stream = StreamOfTrack(m);
    event.args = kNoArgs;
    const Args& a = m.args;
    if (a.correlation != kAbsent || a.external_id != kAbsent || a.sequence != kAbsent ||
        a.stream != kAbsent || a.dims != kNoString || a.strides != kNoString ||
        a.types != kNoString || a.concrete != kNoString || a.other != kNoString) {
      event.args = static_cast<std::uint32_t>(out_->args.size());
      out_->args.push_back(a);
    }
    return event;
  }

  // PyTorch 1.8 writes the stream only as the tid: "stream 7".
  static std::int64_t StreamOfTrack(const Members& m) {
    std::string_view tid = Unquoted(m.tid);
    if (tid.starts_with("stream ")) tid.remove_prefix(7);
    return ParseInt(Trim(tid)).value_or(kAbsent);
  }

  void AddComplete(Members& m, std::uint32_t uid) {
    if (m.ts.empty() || m.ts.starts_with("null")) {
      out_->oddities.Count(Oddity::kNoTimestamp, uid);
      return;
    }
    if (m.dur.empty() || m.dur.starts_with("null")) {
      out_->oddities.Count(Oddity::kNoDuration, uid);
      return;
    }
    const std::optional<TimeValue> ts = TimeOf(m.ts);
    const std::optional<TimeValue> dur = TimeOf(m.dur);
    if (!ts || !dur) {
      const bool huge = (!ts && IsHugeTime(m.ts)) || (!dur && IsHugeTime(m.dur));
      out_->oddities.Count(huge ? Oddity::kHugeTimestamp : Oddity::kBadTimestamp, uid);
      return;
    }
    out_->dialect.text_timestamps |= ts->quoted;
    if (dur->ns < 0) {
      out_->oddities.Count(Oddity::kNegativeDuration, uid);
      return;
    }
    Event event = CommonOf(m, uid);
    event.ts_ns = ts->ns;
    event.dur_ns = dur->ns;
    if (!ts->exact || !dur->exact) {
      event.flags |= kInexact;
      out_->inexact.push_back({static_cast<std::uint32_t>(out_->events.size()),
                               ts->exact ? static_cast<double>(ts->ns) / 1000.0 : ts->us,
                               dur->exact ? static_cast<double>(dur->ns) / 1000.0 : dur->us});
    }
    out_->events.push_back(event);
  }

  void AddBeginEnd(Members& m, std::uint32_t uid, char phase) {
    const std::optional<TimeValue> ts = TimeOf(m.ts);
    if (!ts) {
      out_->oddities.Count(m.ts.empty() ? Oddity::kNoTimestamp : Oddity::kBadTimestamp, uid);
      return;
    }
    out_->dialect.begin_end_pairs = true;
    if (phase == 'E') {
      Event event{};
      event.track = TrackOf(m);
      event.uid = uid;
      event.ts_ns = ts->ns;
      out_->begin_ends.push_back({event, phase});
      return;
    }
    Event event = CommonOf(m, uid);
    event.ts_ns = ts->ns;
    out_->begin_ends.push_back({event, phase});
  }

  void AddFlow(const Members& m, char phase) {
    if (m.cat.empty()) {
      ++out_->ignored_events;
      return;
    }
    const CategoryRule& rule = out_->categories[category_].rule;
    const std::optional<std::int64_t> id = IntegerOf(m.id);
    if (rule.flow != FlowKind::kLaunch || !id) {
      ++out_->ignored_events;
      return;
    }
    out_->dialect.arrows_ac2g |= rule.category == "ac2g";
    out_->dialect.arrows_async_cpu_to_gpu |= rule.category == "async_cpu_to_gpu";
    out_->dialect.arrows_async |= rule.category == "async";
    out_->flows.push_back({*id, TrackOf(m), phase, rule.category == "ac2g"});
  }

  std::string_view Kept(std::string_view name) {
    if (name.size() <= limits::kNameBytesMax) return name;
    out_->oddities.Count(Oddity::kLongName, uid_ - 1);
    cut_name_ = CutName(name, limits::kNameBytesMax);
    return cut_name_;
  }
  StringId InternName(std::string_view name) { return out_->names.Intern(Kept(name)); }

  void AddMeta(const Members& m) {
    out_->meta_events.push_back({TrackOf(m), InternName(Unquoted(m.name)), m.args.other});
  }

  std::uint8_t CategoryOf(std::string_view text) {
    if (last_category_ >= 0 && text == last_category_text_) {
      return static_cast<std::uint8_t>(last_category_);
    }
    const std::uint8_t category = FindOrAddCategory(text);
    last_category_ = category;
    last_category_text_ = text;
    return category;
  }

  std::uint8_t FindOrAddCategory(std::string_view text) {
    const StringId name = InternName(text);
    auto& categories = out_->categories;
    for (std::size_t i = 0; i < categories.size(); ++i) {
      if (categories[i].name == name) return static_cast<std::uint8_t>(i);
    }
    if (categories.size() == 255) return 254;  // an absurd number of categories: the rest share one
    categories.push_back({name, FindCategory(text)});
    const CategoryRule& rule = categories.back().rule;
    if (rule.kind != EventKind::kOther || rule.flow != FlowKind::kNone) {
      out_->dialect.rules[static_cast<std::size_t>(rule.rule)] = true;
    }
    return static_cast<std::uint8_t>(categories.size() - 1);
  }

  std::uint32_t TrackOf(const Members& m) {
    const std::string_view pid = Unquoted(m.pid);
    const std::string_view tid = Unquoted(m.tid);
    if (last_track_ != kNoTrack && pid == last_pid_ && tid == last_tid_) return last_track_;
    last_pid_ = pid;
    last_tid_ = tid;
    track_key_.assign(Kept(pid));
    track_key_.append(1, '\0').append(Kept(tid));
    const StringId id = out_->track_keys.Intern(track_key_);
    if (id == out_->tracks.size()) {
      out_->tracks.push_back({InternName(pid), InternName(tid)});
    }
    last_track_ = id;
    return id;
  }

  JsonTokens tokens_;
  DecodedSlice* out_ = nullptr;
  DecodedSlice trial_;  // of one event, see TryAlone
  std::uint64_t uid_ = 0;
  EventKind kind_ = EventKind::kOther;
  std::uint8_t category_ = 0;
  std::string other_;
  std::string cut_name_;
  std::string track_key_;

  // Events come in runs of one category and track. The views are into the text being decoded.
  static constexpr std::uint32_t kNoTrack = 0xFFFFFFFFu;
  std::string_view last_category_text_;
  std::string_view last_pid_;
  std::string_view last_tid_;
  int last_category_ = -1;  // none
  std::uint32_t last_track_ = kNoTrack;
};

EventDecoder::EventDecoder() : impl_(std::make_unique<Impl>()) {}
EventDecoder::~EventDecoder() = default;

void EventDecoder::Decode(char* text, std::size_t size, std::uint64_t first_uid,
                          std::uint64_t elements, DecodedSlice* out) {
  impl_->Decode(text, size, first_uid, elements, out);
}

}  // namespace jarvis::trace
