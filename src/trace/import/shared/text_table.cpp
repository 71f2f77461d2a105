#include "trace/import/shared/text_table.h"

#include <algorithm>

#include "trace/import/shared/event_writer.h"

namespace jarvis::trace {
namespace {

// Beyond, ids cost more as places in a vector than as keys.
constexpr std::int64_t kDenseIdsMax = std::int64_t{64} << 20;

}  // namespace

std::string TextTable::Read(io::SqliteFile& file, const std::string& table,
                            std::string_view id_column, std::string_view text_column) {
  io::SqliteRows rows = file.Read(table, {id_column, text_column});
  while (rows.Next()) {
    const std::int64_t id = rows.Int(0);
    const auto text = rows.Text(1);
    if (id == io::SqliteRows::kAbsent || !text) continue;
    // What is beyond, a name loses anyway; some is left to tell it from others.
    const StringId place = texts_.Intern(text->substr(0, 2 * kRecordedNameBytesMax));
    const auto most = static_cast<std::int64_t>(4 * (rows.rows() + 1024));
    if (id >= 0 && id < std::min(most, kDenseIdsMax)) {
      if (dense_.size() <= static_cast<std::size_t>(id))
        dense_.resize(static_cast<std::size_t>(id) + 1, kNoString);
      dense_[static_cast<std::size_t>(id)] = place;
    } else {
      sparse_[id] = place;
    }
  }
  odd_cells_ = rows.odd_cells();
  return rows.damage();
}

StringId TextTable::PlaceOf(std::int64_t id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < dense_.size()) {
    const StringId place = dense_[static_cast<std::size_t>(id)];
    if (place != kNoString) return place;
  }
  if (sparse_.empty()) return kNoString;
  const auto found = sparse_.find(id);
  return found == sparse_.end() ? kNoString : found->second;
}

std::optional<std::string_view> TextTable::TextOf(std::int64_t id) const {
  const StringId place = PlaceOf(id);
  if (place == kNoString) return std::nullopt;
  return texts_[place];
}

}  // namespace jarvis::trace
