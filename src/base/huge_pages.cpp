#include "base/huge_pages.h"

#include <memory>

#include <sys/mman.h>

namespace jarvis {

void PreferHugePages(void* block, std::size_t bytes) {
  constexpr std::size_t kPageBytes = std::size_t{2} << 20;
  constexpr std::size_t kBlockBytesMin = 2 * kPageBytes;
  if (bytes < kBlockBytesMin || std::align(kPageBytes, kPageBytes, block, bytes) == nullptr) return;
  ::madvise(block, bytes / kPageBytes * kPageBytes, MADV_HUGEPAGE);
}

}  // namespace jarvis
