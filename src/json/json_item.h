// What a JSON value can be made from, seen without copying it: one element of a braced list.
//
// An item borrows. It lives in the expression that makes the list, and so does what it points at;
// nothing keeps items. It is trivial, so that a list of them costs the compiler and the program
// next to nothing until a value is made from it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace jarvis {

class Json;

template <typename T>
concept JsonText =
    std::convertible_to<const T&, std::string_view> && !std::same_as<T, std::nullptr_t>;

template <typename T>
constexpr bool IsJsonSource();

// A map from text: becomes an object.
template <typename T>
concept JsonMap =
    !std::same_as<T, Json> && JsonText<typename T::key_type> && requires(const T& map) {
  typename T::mapped_type;
  map.begin();
}
&&IsJsonSource<typename T::mapped_type>();

// Any other container: becomes an array.
template <typename T>
concept JsonList = !std::same_as<T, Json> && !JsonText<T> && requires(const T& list) {
  { *list.begin() } -> std::convertible_to<typename T::value_type>;
}
&&!requires {
  typename T::mapped_type;
}
&&IsJsonSource<typename T::value_type>();

template <typename T>
concept JsonSource = std::same_as<T, std::nullptr_t> || std::integral<T> ||
    std::floating_point<T> || JsonText<T> || JsonMap<T> || JsonList<T>;

template <typename T>
constexpr bool IsJsonSource() {
  return std::same_as<T, Json> || JsonSource<T>;
}

// Made from a map or from any other container.
template <typename T>
void MakeJsonFrom(const void* container, Json* value);

class JsonItem {
 public:
  // All of these are meant to convert: they are what may stand in a list.
  constexpr JsonItem(std::nullptr_t) : kind_(Kind::kNull), integer_(0), size_(0) {}
  constexpr JsonItem(const char* text) : JsonItem(std::string_view(text)) {}
  constexpr JsonItem(std::string_view text)
      : kind_(Kind::kText), text_(text.data()), size_(text.size()) {}
  JsonItem(const std::string& text) : JsonItem(std::string_view(text)) {}
  JsonItem(std::string&& text) : kind_(Kind::kMovedText), string_(&text), size_(0) {}
  JsonItem(const Json& value) : kind_(Kind::kValue), value_(&value), size_(0) {}
  JsonItem(Json&& value) : kind_(Kind::kMovedValue), moved_(&value), size_(0) {}
  constexpr JsonItem(std::initializer_list<JsonItem> items)
      : kind_(Kind::kItems), items_(nullptr), size_(items.size()) {
    items_ = items.begin();
  }

  // Templates, as a pointer would become a bool otherwise.
  template <std::integral T>
  constexpr JsonItem(T value) : size_(0) {
    if constexpr (std::same_as<T, bool>) {
      kind_ = Kind::kBoolean;
      integer_ = value ? 1 : 0;
    } else if constexpr (std::is_signed_v<T>) {
      kind_ = Kind::kInteger;
      integer_ = value;
    } else {
      kind_ = Kind::kUnsigned;
      natural_ = value;
    }
  }
  template <std::floating_point T>
  constexpr JsonItem(T value) : kind_(Kind::kFloat), real_(static_cast<double>(value)), size_(0) {}
  template <typename T>
  requires JsonMap<T> || JsonList<T> JsonItem(const T& container)
      : kind_(Kind::kContainer), container_(&container), make_(&MakeJsonFrom<T>) {}

 private:
  friend class Json;

  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,
    kUnsigned,
    kFloat,
    kText,
    kMovedText,
    kValue,
    kMovedValue,
    kItems,
    kContainer,
  };

  // As an object's name is.
  bool IsText() const;
  // As a member of an object: an array of two, text first.
  bool IsMember() const;

  Kind kind_;
  union {
    std::int64_t integer_;  // and a boolean
    std::uint64_t natural_;
    double real_;
    const char* text_;
    std::string* string_;
    const Json* value_;
    Json* moved_;
    const JsonItem* items_;
    const void* container_;
  };
  union {
    std::size_t size_;  // of the text, of the items
    void (*make_)(const void* container, Json* value);
  };
};

}  // namespace jarvis
