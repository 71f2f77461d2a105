#include "perf/small_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace jarvis::perf {

void* SmallBlocks::Resize(void* block, std::size_t old_size, std::size_t new_size) {
  if (block == nullptr) return new_size == 0 ? nullptr : Take(new_size);
  if (new_size == 0) {
    GiveBack(block, old_size);
    return nullptr;
  }
  if (!IsSmall(old_size) && !IsSmall(new_size)) return std::realloc(block, new_size);
  if (IsSmall(old_size) && IsSmall(new_size) && PlaceOf(old_size) == PlaceOf(new_size))
    return block;
  void* moved = Take(new_size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(old_size, new_size));
  GiveBack(block, old_size);
  return moved;
}

void* SmallBlocks::Take(std::size_t size) {
  if (!IsSmall(size)) return std::malloc(size);
  const std::size_t place = PlaceOf(size);
  if (Free* const block = free_[place]; block != nullptr) {
    free_[place] = block->next;
    return block;
  }
  const std::size_t bytes = place * kStep;
  if (static_cast<std::size_t>(end_ - next_) < bytes) {
    // What is left of the page before is less than a block, and lost.
    try {
      pages_.push_back(std::make_unique_for_overwrite<std::byte[]>(kPageBytes));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    next_ = pages_.back().get();
    end_ = next_ + kPageBytes;
  }
  void* const block = next_;
  next_ += bytes;
  return block;
}

void SmallBlocks::GiveBack(void* block, std::size_t size) {
  if (!IsSmall(size)) {
    std::free(block);
    return;
  }
  free_[PlaceOf(size)] = new (block) Free{free_[PlaceOf(size)]};
}

}  // namespace jarvis::perf
