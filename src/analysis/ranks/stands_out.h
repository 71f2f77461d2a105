// Which ranks cost the others more than chance and the rest of them explain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jarvis::analysis {

// How likely one of `ranks` comes last so often or more, if all are as likely to.
double ChanceOfLast(std::size_t times, std::size_t of, std::size_t ranks);

// What a rank cost the others, and how often.
struct Cost {
  std::int64_t ns = 0;
  std::size_t times = 0;
};

// Ranks that cost so much more than the others do in the middle, and not by chance: they come last
// too often for that, or what all others cost together is little beside it. Never all: what all
// have is nobody's.
std::vector<std::size_t> StandingOut(const std::vector<Cost>& costs, double least);

}  // namespace jarvis::analysis
