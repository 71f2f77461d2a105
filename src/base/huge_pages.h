// Large blocks in large pages: the system makes a page of 2 MiB about as fast as twenty of 4 KiB.
#pragma once

#include <cstddef>

namespace jarvis {

// Asks for huge pages in what of a block lies on their borders; blocks of a few MiB and less are
// left alone, and so is everything where the system has none. For blocks that are filled as a whole
// and stay where they are: what grows by moving has its pages split.
void PreferHugePages(void* block, std::size_t bytes);

}  // namespace jarvis
