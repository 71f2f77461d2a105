#include "trace/import/perfetto/annotations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/import/proto/wire.h"
#include "trace/import/shared/slice_writer.h"
#include "trace/json_text.h"

namespace jarvis::trace::perfetto {
namespace {

using proto::Cursor;
using proto::Field;
using proto::Wire;

constexpr int kAnnotationDepthMax = 32;
constexpr std::uint64_t kSignedMax = std::numeric_limits<std::int64_t>::max();

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
  explicit AnnotationReader(Sequence* sequence) : sequence_(*sequence) {}

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
  std::string_view TextOf(const InternedTexts& texts, std::uint64_t id, std::string* made) const {
    if (const InternedTexts::Entry* found = texts.Find(id)) return found->text;
    sequence_.asked_unknown = true;
    *made = NameOfUnknown(id);
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

  Sequence& sequence_;
};

void TakeAnnotation(const Value& value, StringPool* texts, Annotations* to, ArgText* args) {
  const std::string_view key = PlainKey(value.key);
  const auto number = [&](std::int64_t* at) {
    if (value.number) *at = *value.number;
  };
  const auto text = [&](StringId* at) { *at = texts->Intern(Unquoted(value.json)); };
  const OwnNumber own = OwnNumberOf(key);
  if (own == OwnNumber::kBegin) number(&to->begin_ns);
  if (own == OwnNumber::kEnd) number(&to->end_ns);
  if (own == OwnNumber::kCorrelation || own == OwnNumber::kOtherName) number(&to->correlation);
  if (key == "tid") number(&to->tid);
  if (key == "stream_ID" || key == "stream") number(&to->stream);
  if (key == "queue") number(&to->queue);
  if (key == "agent") text(&to->agent);
  if (key == "src_agent") text(&to->source_agent);
  if (key == "dst_agent") text(&to->target_agent);
  if (key == "copy_bytes") to->copies = true;
  // Times and ids are the event's own, and no two have the same.
  if (value.number && own != OwnNumber::kNone && own != OwnNumber::kOtherName) return;
  args->Raw(key, value.json.empty() ? "null" : value.json);
}

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

void AnnotationKinds::Begin(const Sequence& sequence) {
  char state[sizeof(sequence.state)];
  std::memcpy(state, &sequence.state, sizeof(state));
  key_.assign(state, sizeof(state));
  said_ = {};
  row_ = nullptr;
  mixed_ = false;
}

void AnnotationKinds::EndRow() {
  if (row_ != nullptr) key_.append(row_, row_end_);
  row_ = nullptr;
}

void AnnotationKinds::Take(const Sequence& sequence, const char* field, std::string_view message) {
  // A key and a number, and nothing else: what rocprofv3 writes.
  OwnNumber own = OwnNumber::kNone;
  std::optional<std::int64_t> number;
  int parts = 0;
  Cursor cursor(message);
  Field part;
  for (; cursor.Next(&part); ++parts) {
    if (part.IsVarint(1)) {
      const InternedTexts::Entry* key = sequence.keys.Find(part.value);
      own = key == nullptr ? OwnNumber::kNone : key->own;
    }
    if (part.IsBytes(10)) own = OwnNumberOf(PlainKey(part.bytes));
    if (part.IsVarint(4) || (part.IsVarint(3) && part.value <= kSignedMax)) number = part.Signed();
  }
  const char* const end = message.data() + message.size();
  if (own == OwnNumber::kNone) {
    if (field != row_end_) EndRow();
    if (row_ == nullptr) row_ = field;
    row_end_ = end;
    return;
  }
  EndRow();
  mixed_ = mixed_ || own == OwnNumber::kOtherName || parts != 2 || !number || cursor.broken();
  if (mixed_) return;
  if (own == OwnNumber::kBegin) said_.begin_ns = *number;
  if (own == OwnNumber::kEnd) said_.end_ns = *number;
  if (own == OwnNumber::kCorrelation) said_.correlation = *number;
}

bool AnnotationKinds::End(std::string_view event, Sequence* sequence, Said* said) {
  EndRow();
  if (mixed_) {
    Begin(*sequence);
    Cursor cursor(event);
    Field field;
    while (cursor.Next(&field)) {
      if (field.IsBytes(kField))
        key_.append(cursor.rest().data(), field.bytes.data() + field.bytes.size());
    }
  }
  // Where hardly any says what another said, looking for it is in vain.
  constexpr std::size_t kTried = 4096;
  if (whole_.size() == kTried) alone_ = events_ < 2 * kTried;
  ++events_;
  const std::size_t kind = alone_ ? whole_.size() : keys_.Intern(key_);
  if (kind == whole_.size()) {
    const std::string_view fields = std::string_view(key_).substr(sizeof(sequence->state));
    whole_.push_back(Make(fields, sequence));
  }
  *said = said_;
  said->kind = static_cast<std::uint32_t>(kind);
  return whole_[kind];
}

bool AnnotationKinds::Make(std::string_view fields, Sequence* sequence) {
  Annotations& made = kinds_.emplace_back();
  const AnnotationReader reader(sequence);
  ArgText args;
  Cursor cursor(fields);
  Field field;
  while (cursor.Next(&field)) {
    Value value;
    if (!reader.Read(field.bytes, 0, &value)) return false;
    TakeAnnotation(value, &texts_, &made, &args);
  }
  if (!args.text().empty()) made.all = texts_.Intern(args.text());
  return true;
}

}  // namespace jarvis::trace::perfetto
