// What values take up on the heap, for the count that a memory limit is held to: with what an
// allocation costs beside its bytes, as small ones are most of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace jarvis {

inline constexpr std::size_t kAllocationBytes = 16;  // beside what is asked for, about

// Nothing where the text lies in the object itself.
inline std::size_t HeapBytes(const std::string& text) {
  constexpr std::size_t kInside = 15;
  return text.capacity() <= kInside ? 0 : text.capacity() + kAllocationBytes;
}

// The array alone; what its items own is theirs to say.
template <typename T>
std::size_t HeapBytes(const std::vector<T>& list) {
  return list.capacity() == 0 ? 0 : list.capacity() * sizeof(T) + kAllocationBytes;
}

inline std::size_t HeapBytes(const std::vector<std::string>& texts) {
  std::size_t bytes = texts.capacity() * sizeof(std::string) + kAllocationBytes;
  for (const std::string& text : texts)
    bytes += HeapBytes(text);
  return bytes;
}

}  // namespace jarvis
