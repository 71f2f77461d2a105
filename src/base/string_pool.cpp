#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

#include <xxhash.h>

namespace jarvis {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

}  // namespace

std::uint64_t HashText(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

StringId StringPool::Intern(std::string_view text, std::uint64_t hash) {
  JV_DCHECK(hash == HashText(text));
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != kNoString) {
    const StringId id = slots_[slot];
    if (hashes_[id] == hash && texts_[id] == text) return id;
    slot = (slot + 1) & mask;
  }
  const StringId id = static_cast<StringId>(texts_.size());
  texts_.push_back(Store(text));
  hashes_.push_back(hash);
  slots_.Own();
  slots_[slot] = id;
  if (texts_.size() * 2 > slots_.size()) Rehash(slots_.size() * 2);
  return id;
}

StringId StringPool::Find(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != kNoString; slot = (slot + 1) & mask) {
    const StringId id = slots_[slot];
    if (hashes_[id] == hash && texts_[id] == text) return id;
  }
  return kNoString;
}

std::size_t StringPool::bytes() const {
  return blocks_.size() * kBlockBytes + large_bytes_ + slots_.size() * sizeof(StringId) +
         texts_.size() * (sizeof(std::string_view) + sizeof(std::uint64_t));
}

void StringPool::Clear() {
  slots_.Own();
  std::fill(slots_.begin(), slots_.end(), kNoString);
  texts_.clear();
  hashes_.clear();
  large_.clear();
  large_bytes_ = 0;
  block_ = 0;
  used_ = 0;
}

std::string_view StringPool::Store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > kBlockBytes / 4) {
    large_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
    large_bytes_ += text.size();
    std::memcpy(large_.back().get(), text.data(), text.size());
    return {large_.back().get(), text.size()};
  }
  if (!blocks_.empty() && used_ + text.size() > kBlockBytes) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
  }
  char* at = blocks_[block_].get() + used_;
  std::memcpy(at, text.data(), text.size());
  used_ += text.size();
  return {at, text.size()};
}

void StringPool::Rehash(std::size_t slots) {
  slots_ = Column<StringId>(slots, kNoString);
  const std::size_t mask = slots - 1;
  for (std::size_t id = 0; id < texts_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (slots_[slot] != kNoString)
      slot = (slot + 1) & mask;
    slots_[slot] = static_cast<StringId>(id);
  }
}

}  // namespace jarvis
