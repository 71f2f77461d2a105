// Walking over the elements of an array and over the values of an object.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>

namespace jarvis {

class Json;
struct JsonMember;

// `Value` is Json or const Json. Valid until something is added to or taken from the value.
template <typename Value>
class JsonIterator {
 public:
  using Member = std::conditional_t<std::is_const_v<Value>, const JsonMember, JsonMember>;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Json;
  using difference_type = std::ptrdiff_t;
  using pointer = Value*;
  using reference = Value&;

  JsonIterator() = default;
  explicit JsonIterator(Value* element) : element_(element) {}
  explicit JsonIterator(Member* member) : member_(member) {}
  // An iterator that may change values is also one that may not.
  template <typename Other>
  requires(std::is_const_v<Value> && !std::is_const_v<Other>)
      JsonIterator(const JsonIterator<Other>& other)
      : element_(other.element_), member_(other.member_) {}

  Value& operator*() const { return member_ != nullptr ? member_->value : *element_; }
  Value* operator->() const { return &**this; }
  Value& operator[](difference_type n) const { return *(*this + n); }
  // Of an object's member.
  const std::string& key() const { return member_->key; }
  Value& value() const { return **this; }

  JsonIterator& operator+=(difference_type n) {
    if (member_ != nullptr) {
      member_ += n;
    } else {
      element_ += n;
    }
    return *this;
  }
  JsonIterator& operator-=(difference_type n) { return *this += -n; }
  JsonIterator& operator++() { return *this += 1; }
  JsonIterator& operator--() { return *this += -1; }
  JsonIterator operator++(int) {
    JsonIterator old = *this;
    ++*this;
    return old;
  }
  JsonIterator operator--(int) {
    JsonIterator old = *this;
    --*this;
    return old;
  }
  friend JsonIterator operator+(JsonIterator it, difference_type n) { return it += n; }
  friend JsonIterator operator+(difference_type n, JsonIterator it) { return it += n; }
  friend JsonIterator operator-(JsonIterator it, difference_type n) { return it -= n; }
  friend difference_type operator-(const JsonIterator& a, const JsonIterator& b) {
    return a.member_ != nullptr ? a.member_ - b.member_ : a.element_ - b.element_;
  }
  friend bool operator==(const JsonIterator& a, const JsonIterator& b) = default;
  friend auto operator<=>(const JsonIterator& a, const JsonIterator& b) = default;

 private:
  template <typename Other>
  friend class JsonIterator;

  Value* element_ = nullptr;
  Member* member_ = nullptr;
};

// The members of an object, for `for (const auto& [name, value] : object.items())`. Names are not
// to be changed.
template <typename Member>
class JsonMembers {
 public:
  JsonMembers(Member* begin, Member* end) : begin_(begin), end_(end) {}
  Member* begin() const { return begin_; }
  Member* end() const { return end_; }

 private:
  Member* begin_;
  Member* end_;
};

}  // namespace jarvis
