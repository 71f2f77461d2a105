// A JSON value, and the JSON of the wire: how it is read (limits before anything is built) and how
// it is printed (one line, never a failure).
//
// Members keep the order in which they were written, so equal answers are equal bytes; they are
// found by a linear search. Functions have the names that standard containers give them. Whatever
// can be is compiled once: this header is read by every file that answers a message. json.cpp has
// values and their members, json_compare.cpp equality and order, json_text.cpp reading and
// printing.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "json/json_item.h"
#include "json/json_iterator.h"

namespace jarvis {

// A value of another kind than the code asks for, a member or an element that is not there: our bug
// wherever the value was checked before, as it should be.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  using iterator = JsonIterator<Json>;
  using const_iterator = JsonIterator<const Json>;

  // Integers that are read are unsigned unless they are negative. Numbers compare by value.
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,
    kUnsigned,
    kFloat,
    kString,
    kArray,
    kObject,
  };
  // What printing does with a text that is not UTF-8.
  enum class BadUtf8 : std::uint8_t { kThrow, kReplace };

  Json() noexcept {}
  Json(const Json& other) { CopyFrom(other); }
  Json(Json&& other) noexcept : kind_(other.kind_), held_(other.held_) {
    other.kind_ = Kind::kNull;
  }
  // From null, numbers, text and containers of what values can be made from. A template, so that a
  // braced list is never taken for one of these.
  template <typename T>
  requires JsonSource<std::remove_cvref_t<T>> Json(T&& value) {
    Make(JsonItem(std::forward<T>(value)));
  }
  // An object if every item is an array of two with text first, or there is none; else an array.
  // Of a repeated name the first one counts.
  Json(std::initializer_list<JsonItem> items) { MakeList(items.begin(), items.size()); }
  ~Json() { Free(); }
  Json& operator=(Json other) noexcept {
    Swap(other);
    return *this;
  }

  static Json array(std::initializer_list<JsonItem> items = {});
  // Throws JsonError unless every item is a name and a value.
  static Json object(std::initializer_list<JsonItem> items = {});
  // For texts of our own, as there are no limits: throws JsonError if the text is not JSON.
  static Json parse(std::string_view text);

  Kind kind() const { return kind_; }
  const char* kind_name() const;
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_boolean() const { return kind_ == Kind::kBoolean; }
  bool is_number() const { return kind_ >= Kind::kInteger && kind_ <= Kind::kFloat; }
  bool is_number_integer() const { return kind_ == Kind::kInteger || kind_ == Kind::kUnsigned; }
  bool is_number_unsigned() const { return kind_ == Kind::kUnsigned; }
  bool is_number_float() const { return kind_ == Kind::kFloat; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  // Of elements or members; null has none, any other value is one.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // Makes an array or an object of null, adds what is not there (nulls, a member that is null).
  Json& operator[](std::size_t index);
  Json& operator[](std::string_view name);
  // As at().
  const Json& operator[](std::size_t index) const { return at(index); }
  const Json& operator[](std::string_view name) const { return at(name); }
  // Throw JsonError if there is no such element or member.
  const Json& at(std::size_t index) const;
  const Json& at(std::string_view name) const;
  Json& at(std::size_t index);
  Json& at(std::string_view name);
  const Json& front() const { return at(0); }
  const Json& back() const { return at(size() - 1); }
  Json& front() { return at(0); }
  Json& back() { return at(size() - 1); }

  // False, the end and 0 for values that are no object.
  bool contains(std::string_view name) const;
  const_iterator find(std::string_view name) const;
  iterator find(std::string_view name);
  std::size_t count(std::string_view name) const { return contains(name) ? 1 : 0; }
  // The member, or what is given instead. Throws JsonError if the value is no object, or the member
  // of another kind than the fallback.
  template <typename T>
  requires(!JsonText<T>) T value(std::string_view name, T fallback)
  const {
    const Json* found = MemberOrNull(name);
    return found == nullptr ? std::move(fallback) : found->get<T>();
  }
  std::string value(std::string_view name, std::string_view fallback) const;

  // Elements or the values of members; a value that has none is walked over as one element.
  const_iterator begin() const;
  const_iterator end() const;
  iterator begin();
  iterator end();
  // Of a value that is no object: none.
  JsonMembers<const JsonMember> items() const;
  JsonMembers<JsonMember> items();

  // These make an array of null, and throw JsonError for any other kind.
  void push_back(Json value);
  // In an object: a member, if there are two items with text first.
  void push_back(std::initializer_list<JsonItem> items);
  // True if there was one. Throws JsonError if the value is no object.
  bool erase(std::string_view name);
  // Takes over the members of an object.
  void update(const Json& object);

  // bool, integers, floating point, text, and vectors of them. Numbers are converted; throws
  // JsonError if the value is of another kind.
  template <typename T>
  T get() const {
    if constexpr (std::same_as<T, Json>) {
      return *this;
    } else if constexpr (std::same_as<T, bool>) {
      return Boolean();
    } else if constexpr (std::same_as<T, std::string>) {
      return Text();
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(Real());
    } else if constexpr (std::unsigned_integral<T>) {
      return static_cast<T>(Natural());
    } else if constexpr (std::signed_integral<T>) {
      return static_cast<T>(Integer());
    } else {
      T list;
      ExpectArray();
      for (const Json& element : *this)
        list.push_back(element.get<typename T::value_type>());
      return list;
    }
  }
  template <typename T>
  requires std::same_as<T, const std::string&> T get_ref()
  const { return Text(); }

  // With no indent on one line.
  std::string dump(int indent = -1, char fill = ' ', BadUtf8 bad = BadUtf8::kThrow) const;

  // Objects with the same members in another order differ.
  friend bool operator==(const Json& a, const Json& b) { return a.Equals(b); }
  template <typename T>
  requires JsonText<T>
  friend bool operator==(const Json& a, const T& b) { return a.EqualsText(b); }
  // Values of different kinds by their kinds.
  friend std::partial_ordering operator<=>(const Json& a, const Json& b) { return a.Compare(b); }
  friend std::ostream& operator<<(std::ostream& out, const Json& value) { return value.Write(out); }

 private:
  struct Elements;
  struct Members;
  friend class JsonItem;

  void Swap(Json& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(held_, other.held_);
  }
  explicit Json(Kind kind);  // an empty one
  // These expect a null, and leave it one if they throw.
  void CopyFrom(const Json& other);
  void Make(const JsonItem& item);
  void MakeList(const JsonItem* items, std::size_t count);
  void AddMember(const JsonItem& item);
  void Free() noexcept;
  [[noreturn]] void Throw(const char* what) const;
  void ExpectArray() const;
  bool Boolean() const;
  std::int64_t Integer() const;
  std::uint64_t Natural() const;
  double Real() const;
  const std::string& Text() const;
  const Json* MemberOrNull(std::string_view name) const;
  Json* MemberOrNull(std::string_view name);
  bool Equals(const Json& other) const;
  bool EqualsText(std::string_view text) const;
  std::partial_ordering Compare(const Json& other) const;
  std::ostream& Write(std::ostream& out) const;

  // Text, elements and members are owned.
  union Held {
    std::int64_t integer = 0;
    std::uint64_t natural;
    bool boolean;
    double real;
    std::string* text;
    Elements* elements;
    Members* members;
  };

  Kind kind_ = Kind::kNull;
  Held held_;
};

struct JsonMember {
  std::string key;
  Json value;
};

template <typename T>
void MakeJsonFrom(const void* container, Json* value) {
  if constexpr (JsonMap<T>) {
    *value = Json::object();
    for (const auto& [name, member] : *static_cast<const T*>(container))
      (*value)[name] = Json(member);
  } else {
    *value = Json::array();
    for (const typename T::value_type& element : *static_cast<const T*>(container))
      value->push_back(Json(element));
  }
}

// Printing and comparing a value recurse once per level.
inline constexpr std::size_t kDepthMax = 128;
// Finding a member is a linear search and adding one searches first, so the members of one object
// cost quadratic time.
inline constexpr std::size_t kObjectMembersMax = 1000;

// kTooLarge: nested too deep or an object too wide. kBadValue: not JSON, which includes bytes that
// are not UTF-8 and lone surrogates. The message never repeats the text.
Result<Json> ParseJson(std::string_view text);

// The member, or null when there is none or the value is no object.
const Json* FindMember(const Json& object, std::string_view name);

// Equal but for the order of members, at any depth.
bool EqualInAnyOrder(const Json& a, const Json& b);

// One line without its end. Bytes that are not UTF-8 become U+FFFD.
std::string DumpLine(const Json& value);

// The value as JSON for use in a message: at most `chars_max` characters, cut with "...".
std::string Excerpt(const Json& value, std::size_t chars_max = 40);

}  // namespace jarvis
