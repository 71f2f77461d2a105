// Interned text: equal texts have equal ids, ids count up in order of first appearance.
//
// Threads: one writer; any number of readers once writing has ended. Views live as long as the
// pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/column.h"

namespace jarvis {

using StringId = std::uint32_t;
inline constexpr StringId kNoString = 0xFFFFFFFFu;

std::uint64_t HashText(std::string_view text);

class StringPool {
 public:
  StringPool() { Rehash(1024); }
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  // The text's id; adds it if it is new.
  StringId Intern(std::string_view text) { return Intern(text, HashText(text)); }
  // The same, for a caller that has the hash already. REQUIRES: hash == HashText(text).
  StringId Intern(std::string_view text, std::uint64_t hash);
  // The text's id, or kNoString.
  StringId Find(std::string_view text) const { return Find(text, HashText(text)); }
  StringId Find(std::string_view text, std::uint64_t hash) const;

  std::string_view operator[](StringId id) const {
    JV_DCHECK(id < texts_.size());
    return texts_[id];
  }
  std::uint64_t hash(StringId id) const {
    JV_DCHECK(id < hashes_.size());
    return hashes_[id];
  }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const;

  // Forgets all texts and keeps the memory for the next ones.
  void Clear();

  // See base/image.h.
  template <typename Self, typename Image>
  static void EachPart(Self& self, Image& image) {
    image(self.texts_);
    image(self.hashes_);
    image(self.slots_);
    if constexpr (Image::kReads) {
      for (const std::string_view text : self.texts_)
        self.large_bytes_ += text.size();
    }
  }

 private:
  std::string_view Store(std::string_view text);
  void Rehash(std::size_t slots);

  Column<std::string_view> texts_;
  Column<std::uint64_t> hashes_;
  Column<StringId> slots_;  // open addressing, a power of two, at most half full
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::unique_ptr<char[]>> large_;
  std::size_t large_bytes_ = 0;
  std::size_t block_ = 0;  // the block being filled
  std::size_t used_ = 0;   // bytes used of it
};

}  // namespace jarvis
