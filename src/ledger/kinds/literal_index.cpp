#include "ledger/kinds/literal_index.h"

#include <cstddef>

#include "base/check.h"
#include "ledger/kinds/required_literals.h"

namespace jarvis::ledger {
namespace {

constexpr std::uint32_t kHashBits = 12;
constexpr std::uint32_t kHashes = 1u << kHashBits;
constexpr std::size_t kLiteralsUsual = 4096;

std::uint32_t HashOfThree(const char* text) {
  const auto byte = [&](int i) { return std::uint32_t{static_cast<unsigned char>(text[i])}; };
  return ((byte(0) | byte(1) << 8 | byte(2) << 16) * 0x9E3779B1u) >> (32 - kHashBits);
}

}  // namespace

std::uint32_t LiteralIndex::Add(std::string_view literal) {
  JV_CHECK(literal.size() >= kLiteralMin && begin_.empty());
  if (numbers_.empty()) numbers_.reserve(kLiteralsUsual);
  const auto [known, added] = numbers_.try_emplace(literal, size());
  if (added) literals_.push_back(literal);
  return known->second;
}

// Each literal is looked for by the three bytes of it that fewest others have: many begin alike
// ("at::native::").
void LiteralIndex::Seal() {
  numbers_.clear();
  std::vector<std::uint32_t> uses(kHashes, 0);
  const auto each = [](std::string_view literal, auto&& use) {
    for (std::uint32_t i = 0; i + kLiteralMin <= literal.size(); ++i)
      use(i, HashOfThree(literal.data() + i));
  };
  for (const std::string_view literal : literals_)
    each(literal, [&](std::uint32_t, std::uint32_t hash) { ++uses[hash]; });
  std::vector<std::uint32_t> rarest(literals_.size(), 0);
  begin_.assign(kHashes + 1, 0);
  for (std::size_t n = 0; n < literals_.size(); ++n) {
    std::string_view literal = literals_[n];
    each(literal, [&](std::uint32_t i, std::uint32_t hash) {
      if (uses[hash] < uses[HashOfThree(literal.data() + rarest[n])]) rarest[n] = i;
    });
    ++begin_[HashOfThree(literal.data() + rarest[n]) + 1];
  }
  for (std::uint32_t h = 0; h < kHashes; ++h)
    begin_[h + 1] += begin_[h];
  entries_.resize(literals_.size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::uint32_t n = 0; n < size(); ++n)
    entries_[next[HashOfThree(literals_[n].data() + rarest[n])]++] = {n, rarest[n]};
}

void LiteralIndex::Find(std::string_view text, std::vector<bool>* occurs,
                        std::vector<std::uint32_t>* found) const {
  JV_CHECK(!begin_.empty());
  occurs->assign(size(), false);
  found->clear();
  for (std::size_t i = 0; i + kLiteralMin <= text.size(); ++i) {
    const std::uint32_t hash = HashOfThree(text.data() + i);
    for (std::uint32_t e = begin_[hash]; e < begin_[hash + 1]; ++e) {
      const auto [literal, offset] = entries_[e];
      if (offset > i || (*occurs)[literal]) continue;
      if (!text.substr(i - offset).starts_with(literals_[literal])) continue;
      (*occurs)[literal] = true;
      found->push_back(literal);
    }
  }
}

}  // namespace jarvis::ledger
