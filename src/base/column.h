// A growable array of plain values for the large columns of a trace.
//
// Unlike std::vector it grows with realloc, which moves pages instead of bytes for large blocks, so
// that growing never holds two copies; pages that were reserved but not written cost nothing. Its
// values may also lie in memory of somebody else's, such as a kept image of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/huge_pages.h"

namespace jarvis {

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  explicit Column(std::size_t size, T value) { resize(size, value); }
  Column(Column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() {
    if (!borrowed()) std::free(data_);
  }
  // Values that lie elsewhere and stay there for as long as the column does. They are only read:
  // before it grows, or by Own(), the column makes a copy.
  static Column Borrow(T* values, std::size_t count) {
    Column column;
    column.data_ = values;
    column.size_ = count;
    return column;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) {
    JV_DCHECK(i < size_);
    return data_[i];
  }
  const T& operator[](std::size_t i) const {
    JV_DCHECK(i < size_);
    return data_[i];
  }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& front() const {
    JV_DCHECK(size_ > 0);
    return data_[0];
  }
  T& back() {
    JV_DCHECK(size_ > 0);
    return data_[size_ - 1];
  }
  std::span<const T> span() const { return {data_, size_}; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    void* const own = borrowed() ? nullptr : static_cast<void*>(data_);
    void* grown = std::realloc(own, capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    if (borrowed()) std::memcpy(grown, data_, std::min(size_, capacity) * sizeof(T));
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }
  // The same for one that will be filled and not grow, in huge pages if it is large.
  void reserve_whole(std::size_t capacity) {
    reserve(capacity);
    PreferHugePages(data_, capacity_ * sizeof(T));
  }
  // Adds values that the caller writes, from where this points to; truncate() takes back those that
  // were not written.
  T* append_unset(std::size_t count) {
    if (size_ + count > capacity_) Grow(size_ + count);
    size_ += count;
    return data_ + (size_ - count);
  }
  void truncate(std::size_t size) {
    JV_DCHECK(size <= size_);
    size_ = size;
  }
  // Makes values that lie elsewhere its own, so that they can be changed.
  void Own() {
    if (borrowed()) reserve(size_);
  }
  void push_back(T value) {
    if (size_ >= capacity_) Grow(size_ + 1);
    data_[size_++] = value;
  }
  void append(const T* values, std::size_t count) {
    if (count == 0) return;
    if (size_ + count > capacity_) Grow(size_ + count);
    std::memcpy(static_cast<void*>(data_ + size_), values, count * sizeof(T));
    size_ += count;
  }
  void resize(std::size_t size, T value) {
    reserve(size);
    for (std::size_t i = size_; i < size; ++i)
      data_[i] = value;
    size_ = size;
  }
  void clear() { size_ = 0; }
  // Gives reserved memory beyond the last element back.
  void shrink_to_fit() {
    if (capacity_ == size_ || size_ == 0 || borrowed()) return;
    void* shrunk = std::realloc(static_cast<void*>(data_), size_ * sizeof(T));
    if (shrunk == nullptr) return;
    data_ = static_cast<T*>(shrunk);
    capacity_ = size_;
  }

 private:
  bool borrowed() const { return capacity_ == 0 && data_ != nullptr; }
  void Grow(std::size_t needed) {
    const std::size_t grown = capacity_ + capacity_ / 2;
    reserve(grown > needed ? grown : (needed < 16 ? 16 : needed));
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace jarvis
