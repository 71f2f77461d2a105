// Plain data as one block of bytes that can be read into memory and used where it lies.
//
// A type lists its parts once, for both ways:
//
//   template <typename Self, typename Image>
//   static void EachPart(Self& self, Image& image) {
//     image(self.count_);
//     image(self.column_);
//   }
//
// No part may hold pointers: what they lead to is not in the image. An image is read by the very
// program that wrote it: sizes and order of members are the compiler's, and nothing in it says what
// a part is. Whoever keeps images makes sure of that, and that no byte has changed; a reader only
// checks that it stays within the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/column.h"

namespace jarvis {

template <typename T>
concept PlainPart = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                    !std::is_same_v<T, std::string_view>;

// Collects parts. Long ones are not copied: they must stay as they are until the image is written.
class ImageWriter {
 public:
  static constexpr bool kReads = false;

  template <PlainPart T>
  void operator()(const T& value) {
    Put(&value, 1, sizeof(T));
  }
  template <PlainPart T>
  void operator()(const Column<T>& column) {
    Put(column.data(), column.size(), sizeof(T));
  }
  template <PlainPart T>
  void operator()(const std::vector<T>& values) {
    Put(values.data(), values.size(), sizeof(T));
  }
  void operator()(std::string_view text) { Put(text.data(), text.size(), 1); }
  void operator()(const std::string& text) { (*this)(std::string_view(text)); }
  void operator()(const Column<std::string_view>& texts) { Texts(texts.span()); }
  void operator()(const std::vector<std::string_view>& texts) { Texts(texts); }
  template <PlainPart Key, PlainPart Value>
  void operator()(const std::unordered_map<Key, Value>& map) {
    std::vector<Key> keys;
    std::vector<Value> values;
    for (const auto& [key, value] : map) {
      keys.push_back(key);
      values.push_back(value);
    }
    Copy(keys);
    Copy(values);
  }
  // A part that is gone before the image is written.
  template <PlainPart T>
  void Copy(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    kept_.emplace_back(bytes.begin(), bytes.end());
    Put(kept_.back().data(), values.size(), sizeof(T));
  }

  // The image, in order.
  const std::vector<std::span<const std::byte>>& pieces() const { return pieces_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void Put(const void* data, std::size_t count, std::size_t size);
  void Texts(std::span<const std::string_view> texts);
  void Append(const void* data, std::size_t bytes);

  std::vector<std::span<const std::byte>> pieces_;
  std::deque<std::vector<std::byte>> kept_;
  std::uint64_t bytes_ = 0;
};

// Reads the parts in the order in which they were written. Columns and texts lie in the image
// itself, which must outlive them and is not written to. After the first part that does not fit,
// all are empty.
class ImageReader {
 public:
  static constexpr bool kReads = true;

  explicit ImageReader(std::span<const std::byte> image) : image_(image) {}
  bool good() const { return good_; }
  bool at_end() const { return at_ == image_.size(); }

  template <PlainPart T>
  void operator()(T& value) {
    std::size_t count = 0;
    const std::byte* const data = Take(&count, sizeof(T));
    if (data != nullptr && count == 1)
      std::memcpy(&value, data, sizeof(T));
    else
      good_ = false;
  }
  template <PlainPart T>
  void operator()(Column<T>& column) {
    const std::span<T> values = Values<T>();
    column = Column<T>::Borrow(values.data(), values.size());
  }
  template <PlainPart T>
  void operator()(std::vector<T>& values) {
    const std::span<T> there = Values<T>();
    values.assign(there.begin(), there.end());
  }
  template <PlainPart T>
  void Copy(std::vector<T>& values) {
    (*this)(values);
  }
  void operator()(std::string_view& text) {
    const std::span<char> there = Values<char>();
    text = {there.data(), there.size()};
  }
  void operator()(std::string& text) {
    std::string_view there;
    (*this)(there);
    text = there;
  }
  void operator()(Column<std::string_view>& texts) { Texts(&texts); }
  void operator()(std::vector<std::string_view>& texts) { Texts(&texts); }
  template <PlainPart Key, PlainPart Value>
  void operator()(std::unordered_map<Key, Value>& map) {
    const std::span<Key> keys = Values<Key>();
    const std::span<Value> values = Values<Value>();
    good_ = good_ && keys.size() == values.size();
    if (!good_) return;
    map.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      map.emplace(keys[i], values[i]);
  }

 private:
  // Where the next part lies, and how many elements of that size it has; null: it has none, or the
  // image ends before it does.
  const std::byte* Take(std::size_t* count, std::size_t size);
  template <typename T>
  std::span<T> Values() {
    std::size_t count = 0;
    const std::byte* const data = Take(&count, sizeof(T));
    // It is not written to; see Column::Borrow.
    return {reinterpret_cast<T*>(const_cast<std::byte*>(data)), data == nullptr ? 0 : count};
  }
  template <typename List>
  void Texts(List* texts) {
    const std::span<std::uint64_t> ends = Values<std::uint64_t>();
    std::string_view all;
    (*this)(all);
    texts->reserve(ends.size());
    std::uint64_t begin = 0;
    for (const std::uint64_t end : ends) {
      good_ = good_ && begin <= end && end <= all.size();
      if (!good_) return;
      texts->push_back(all.substr(begin, end - begin));
      begin = end;
    }
  }

  std::span<const std::byte> image_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace jarvis
