#include "json/json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace jarvis {
namespace {

constexpr std::array<const char*, 8> kKindNames = {"null",   "boolean", "number", "number",
                                                   "number", "string",  "array",  "object"};

// The nearest integer towards zero that there is.
template <typename Integer>
Integer Truncated(double value) {
  constexpr auto kMin = std::numeric_limits<Integer>::min();
  constexpr auto kMax = std::numeric_limits<Integer>::max();
  if (!(value > static_cast<double>(kMin))) return kMin;
  if (value >= static_cast<double>(kMax)) return kMax;
  return static_cast<Integer>(value);
}

}  // namespace

struct Json::Elements {
  std::vector<Json> list;
};
struct Json::Members {
  JsonMember* Find(std::string_view name) {
    for (JsonMember& member : list) {
      if (member.key == name) return &member;
    }
    return nullptr;
  }

  std::vector<JsonMember> list;
};

bool JsonItem::IsText() const {
  return kind_ == Kind::kText || kind_ == Kind::kMovedText ||
         ((kind_ == Kind::kValue || kind_ == Kind::kMovedValue) && value_->is_string());
}

bool JsonItem::IsMember() const {
  const auto is_member = [](const Json& value) {
    return value.is_array() && value.size() == 2 && value.front().is_string();
  };
  switch (kind_) {
    case Kind::kItems: return size_ == 2 && items_[0].IsText();
    case Kind::kValue: return is_member(*value_);
    case Kind::kMovedValue: return is_member(*moved_);
    case Kind::kContainer: {
      Json made;
      make_(container_, &made);
      return is_member(made);
    }
    default: return false;
  }
}

Json::Json(Kind kind) {
  switch (kind) {
    case Kind::kString: held_.text = new std::string; break;
    case Kind::kArray: held_.elements = new Elements; break;
    case Kind::kObject: held_.members = new Members; break;
    default: break;
  }
  kind_ = kind;
}

void Json::CopyFrom(const Json& other) {
  switch (other.kind_) {
    case Kind::kString: held_.text = new std::string(*other.held_.text); break;
    case Kind::kArray: held_.elements = new Elements(*other.held_.elements); break;
    case Kind::kObject: held_.members = new Members(*other.held_.members); break;
    default: held_ = other.held_; break;
  }
  kind_ = other.kind_;
}

void Json::Free() noexcept {
  switch (kind_) {
    case Kind::kString: delete held_.text; break;
    case Kind::kArray: delete held_.elements; break;
    case Kind::kObject: delete held_.members; break;
    default: break;
  }
}

void Json::Make(const JsonItem& item) {
  using ItemKind = JsonItem::Kind;
  switch (item.kind_) {
    case ItemKind::kNull: break;
    case ItemKind::kBoolean:
      held_.boolean = item.integer_ != 0;
      kind_ = Kind::kBoolean;
      break;
    case ItemKind::kInteger:
      held_.integer = item.integer_;
      kind_ = Kind::kInteger;
      break;
    case ItemKind::kUnsigned:
      held_.natural = item.natural_;
      kind_ = Kind::kUnsigned;
      break;
    case ItemKind::kFloat:
      held_.real = item.real_;
      kind_ = Kind::kFloat;
      break;
    case ItemKind::kText:
      held_.text = new std::string(item.text_, item.size_);
      kind_ = Kind::kString;
      break;
    case ItemKind::kMovedText:
      held_.text = new std::string(std::move(*item.string_));
      kind_ = Kind::kString;
      break;
    case ItemKind::kValue: CopyFrom(*item.value_); break;
    case ItemKind::kMovedValue: Swap(*item.moved_); break;
    case ItemKind::kItems: MakeList(item.items_, item.size_); break;
    case ItemKind::kContainer: {
      Json made;
      item.make_(item.container_, &made);
      Swap(made);
      break;
    }
  }
}

void Json::MakeList(const JsonItem* items, std::size_t count) {
  const bool is_object =
      std::all_of(items, items + count, [](const JsonItem& item) { return item.IsMember(); });
  Json made(is_object ? Kind::kObject : Kind::kArray);
  if (is_object) {
    made.held_.members->list.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      made.AddMember(items[i]);
  } else {
    std::vector<Json>& list = made.held_.elements->list;
    list.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      list.emplace_back().Make(items[i]);
  }
  Swap(made);
}

void Json::AddMember(const JsonItem& item) {
  Json name;
  Json value;
  if (item.kind_ == JsonItem::Kind::kItems) {
    name.Make(item.items_[0]);
    value.Make(item.items_[1]);
  } else {
    Json pair;
    pair.Make(item);
    name.Swap(pair.front());
    value.Swap(pair.back());
  }
  if (held_.members->Find(*name.held_.text) != nullptr) return;
  held_.members->list.push_back({std::move(*name.held_.text), std::move(value)});
}

Json Json::array(std::initializer_list<JsonItem> items) {
  Json made(Kind::kArray);
  std::vector<Json>& list = made.held_.elements->list;
  list.reserve(items.size());
  for (const JsonItem& item : items)
    list.emplace_back().Make(item);
  return made;
}

Json Json::object(std::initializer_list<JsonItem> items) {
  Json made(Kind::kObject);
  made.held_.members->list.reserve(items.size());
  for (const JsonItem& item : items) {
    if (!item.IsMember()) made.Throw("an item of the list is no name with a value");
    made.AddMember(item);
  }
  return made;
}

const char* Json::kind_name() const {
  return kKindNames[static_cast<std::size_t>(kind_)];
}

void Json::Throw(const char* what) const {
  throw JsonError(std::string("JSON: ") + what + " (the value is: " + kind_name() + ")");
}

std::size_t Json::size() const {
  switch (kind_) {
    case Kind::kNull: return 0;
    case Kind::kArray: return held_.elements->list.size();
    case Kind::kObject: return held_.members->list.size();
    default: return 1;
  }
}

Json& Json::operator[](std::size_t index) {
  if (is_null()) *this = Json(Kind::kArray);
  ExpectArray();
  std::vector<Json>& list = held_.elements->list;
  if (index >= list.size()) list.resize(index + 1);
  return list[index];
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) *this = Json(Kind::kObject);
  if (!is_object()) Throw("a member of what is no object");
  if (JsonMember* member = held_.members->Find(name)) return member->value;
  return held_.members->list.emplace_back(JsonMember{std::string(name), Json()}).value;
}

const Json& Json::at(std::size_t index) const {
  ExpectArray();
  const std::vector<Json>& list = held_.elements->list;
  if (index >= list.size()) {
    throw JsonError("JSON: element " + std::to_string(index) + " of " +
                    std::to_string(list.size()));
  }
  return list[index];
}

const Json& Json::at(std::string_view name) const {
  const Json* found = MemberOrNull(name);
  if (found == nullptr) throw JsonError("JSON: there is no member " + std::string(name));
  return *found;
}

Json& Json::at(std::size_t index) {
  static_cast<void>(std::as_const(*this).at(index));
  return held_.elements->list[index];
}

Json& Json::at(std::string_view name) {
  static_cast<void>(std::as_const(*this).at(name));
  return held_.members->Find(name)->value;
}

bool Json::contains(std::string_view name) const {
  return is_object() && held_.members->Find(name) != nullptr;
}

Json::const_iterator Json::find(std::string_view name) const {
  if (!is_object()) return end();
  const JsonMember* member = held_.members->Find(name);
  return member == nullptr ? end() : const_iterator(member);
}

Json::iterator Json::find(std::string_view name) {
  if (!is_object()) return end();
  JsonMember* member = held_.members->Find(name);
  return member == nullptr ? end() : iterator(member);
}

const Json* Json::MemberOrNull(std::string_view name) const {
  if (!is_object()) Throw("a member of what is no object");
  const JsonMember* member = held_.members->Find(name);
  return member == nullptr ? nullptr : &member->value;
}

std::string Json::value(std::string_view name, std::string_view fallback) const {
  const Json* found = MemberOrNull(name);
  return found == nullptr ? std::string(fallback) : found->Text();
}

Json::iterator Json::begin() {
  switch (kind_) {
    case Kind::kNull: return {};
    case Kind::kArray: return iterator(held_.elements->list.data());
    case Kind::kObject: return iterator(held_.members->list.data());
    default: return iterator(this);
  }
}

Json::const_iterator Json::begin() const {
  switch (kind_) {
    case Kind::kNull: return {};
    case Kind::kArray: return const_iterator(std::as_const(held_.elements->list).data());
    case Kind::kObject: return const_iterator(std::as_const(held_.members->list).data());
    default: return const_iterator(this);
  }
}

Json::iterator Json::end() {
  return begin() + static_cast<std::ptrdiff_t>(size());
}

Json::const_iterator Json::end() const {
  return begin() + static_cast<std::ptrdiff_t>(size());
}

JsonMembers<JsonMember> Json::items() {
  if (!is_object()) return {nullptr, nullptr};
  std::vector<JsonMember>& list = held_.members->list;
  return {list.data(), list.data() + list.size()};
}

JsonMembers<const JsonMember> Json::items() const {
  if (!is_object()) return {nullptr, nullptr};
  const std::vector<JsonMember>& list = held_.members->list;
  return {list.data(), list.data() + list.size()};
}

void Json::push_back(Json value) {
  if (is_null()) *this = Json(Kind::kArray);
  ExpectArray();
  held_.elements->list.push_back(std::move(value));
}

void Json::push_back(std::initializer_list<JsonItem> items) {
  if (is_object() && items.size() == 2 && items.begin()->IsText()) {
    Json made;
    made.MakeList(items.begin(), items.size());
    if (!contains(*made.front().held_.text)) {
      held_.members->list.push_back({std::move(*made.front().held_.text), std::move(made.back())});
    }
    return;
  }
  push_back(Json(items));
}

bool Json::erase(std::string_view name) {
  if (!is_object()) Throw("a member of what is no object");
  JsonMember* found = held_.members->Find(name);
  if (found == nullptr) return false;
  std::vector<JsonMember>& list = held_.members->list;
  list.erase(list.begin() + (found - list.data()));
  return true;
}

void Json::update(const Json& object) {
  if (is_null()) *this = Json(Kind::kObject);
  if (!is_object() || !object.is_object()) Throw("members for, or of, what is no object");
  if (this == &object) return;
  for (const auto& [name, value] : object.items())
    (*this)[name] = value;
}

void Json::ExpectArray() const {
  if (!is_array()) Throw("elements of what is no array");
}

bool Json::Boolean() const {
  if (!is_boolean()) Throw("a boolean of what is none");
  return held_.boolean;
}

std::int64_t Json::Integer() const {
  switch (kind_) {
    case Kind::kInteger: return held_.integer;
    case Kind::kUnsigned: return static_cast<std::int64_t>(held_.natural);
    case Kind::kFloat: return Truncated<std::int64_t>(held_.real);
    default: Throw("a number of what is none");
  }
}

std::uint64_t Json::Natural() const {
  switch (kind_) {
    case Kind::kInteger: return static_cast<std::uint64_t>(held_.integer);
    case Kind::kUnsigned: return held_.natural;
    case Kind::kFloat: return Truncated<std::uint64_t>(held_.real);
    default: Throw("a number of what is none");
  }
}

double Json::Real() const {
  switch (kind_) {
    case Kind::kInteger: return static_cast<double>(held_.integer);
    case Kind::kUnsigned: return static_cast<double>(held_.natural);
    case Kind::kFloat: return held_.real;
    default: Throw("a number of what is none");
  }
}

const std::string& Json::Text() const {
  if (!is_string()) Throw("the text of what is no string");
  return *held_.text;
}

const Json* FindMember(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace jarvis
