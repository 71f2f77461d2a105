// A table of texts that others point into.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "io/sqlite_file.h"

namespace jarvis::trace {

// Texts by their ids. Once read, any thread may ask.
class TextTable {
 public:
  // A sentence where its reading ended early; else empty.
  std::string Read(io::SqliteFile& file, const std::string& table, std::string_view id_column,
                   std::string_view text_column);
  // Place of the text with that id, from 0 on; kNoString: there is none.
  StringId PlaceOf(std::int64_t id) const;
  std::string_view operator[](StringId place) const { return texts_[place]; }
  std::size_t size() const { return texts_.size(); }
  std::optional<std::string_view> TextOf(std::int64_t id) const;
  std::uint64_t odd_cells() const { return odd_cells_; }

 private:
  StringPool texts_;
  std::vector<StringId> dense_;                        // by id, where ids are close together
  std::unordered_map<std::int64_t, StringId> sparse_;  // the others
  std::uint64_t odd_cells_ = 0;
};

}  // namespace jarvis::trace
