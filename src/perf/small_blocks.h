// Memory for many small things of few sizes that come and go: blocks are cut from pages and, given
// back, wait in a list of their size for the next one. All goes back to the system at the end.
//
// Threads: one owner.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace jarvis::perf {

class SmallBlocks {
 public:
  SmallBlocks() = default;
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;

  // As std::realloc, where the caller knows the old size (0: no block); null: no memory. A size of
  // 0 gives the block back.
  void* Resize(void* block, std::size_t old_size, std::size_t new_size);

 private:
  static constexpr std::size_t kStep = 16;
  static constexpr std::size_t kSmallMax = 512;
  static constexpr std::size_t kPageBytes = std::size_t{64} << 10;
  struct Free {
    Free* next;
  };

  static bool IsSmall(std::size_t size) { return size <= kSmallMax; }
  static std::size_t PlaceOf(std::size_t size) { return (size + kStep - 1) / kStep; }
  void* Take(std::size_t size);
  void GiveBack(void* block, std::size_t size);

  std::array<Free*, kSmallMax / kStep + 1> free_{};
  std::vector<std::unique_ptr<std::byte[]>> pages_;
  std::byte* next_ = nullptr;  // what is left of the last page
  std::byte* end_ = nullptr;
};

}  // namespace jarvis::perf
