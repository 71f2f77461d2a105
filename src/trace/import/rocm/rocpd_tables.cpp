#include "trace/import/rocm/rocpd_tables.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/text.h"

namespace jarvis::trace {
namespace {

// In a row of `dense_`: absent, or too large for it.
constexpr std::uint32_t kAbsentPlace = 0xFFFFFFFFu;
constexpr RocmWord kNoRow = static_cast<RocmWord>(0xFF);
constexpr std::int64_t kDenseMax = std::int64_t{1} << 31;

std::uint32_t Pack(std::int64_t id) {
  return id == kNoCell ? kAbsentPlace : static_cast<std::uint32_t>(id);
}
std::int64_t Unpack(std::uint32_t place) {
  return place == kAbsentPlace ? kNoCell : place;
}
bool Fits(std::int64_t id) {
  return id == kNoCell || (id >= 0 && id < std::int64_t{kAbsentPlace});
}

}  // namespace

std::string RocpdEvents::Read(io::SqliteFile& file, const std::string& table,
                              const TextTable& categories) {
  io::SqliteRows rows =
      file.Read(table, {"id", "category_id", "stack_id", "parent_stack_id", "extdata"});
  std::unordered_map<std::int64_t, RocmWord> words;
  std::int64_t last_category = kNoCell;
  RocmWord last_word = RocmWord::kOther;
  simdjson::dom::parser parser;
  while (rows.Next()) {
    const std::int64_t id = rows.Int(0);
    if (id == kNoCell) continue;
    const std::int64_t category = rows.Int(1);
    if (category != last_category) {
      const auto [word, added] = words.try_emplace(category, RocmWord::kOther);
      if (added) word->second = RocmWordOf(categories.TextOf(category).value_or(""));
      last_category = category;
      last_word = word->second;
    }
    has_hsa_ = has_hsa_ || last_word == RocmWord::kHsa;
    has_rccl_ = has_rccl_ || last_word == RocmWord::kRccl;
    Put(id, {rows.Int(2), rows.Int(3), last_word});
    if (last_word != RocmWord::kMarker) continue;
    const auto more = rows.Text(4);
    simdjson::dom::element parsed;
    std::string_view message;
    if (more && *more != "{}" && !ParseDom(&parser, *more, &parsed) &&
        !parsed["message"].get_string().get(message))
      message_of_[id] = messages_.Intern(message.substr(0, 2 * kRecordedNameBytesMax));
  }
  odd_cells_ = rows.odd_cells();
  return rows.damage();
}

void RocpdEvents::Put(std::int64_t id, const Row& row) {
  const auto near = static_cast<std::int64_t>(std::max<std::size_t>(dense_.size() * 4, 1 << 20));
  if (id < 0 || id >= std::min(near, kDenseMax) || !Fits(row.stack) || !Fits(row.parent)) {
    sparse_[id] = row;
    return;
  }
  const auto at = static_cast<std::size_t>(id);
  while (dense_.size() <= at) {
    dense_.push_back({kAbsentPlace, kAbsentPlace});
    words_.push_back(kNoRow);
  }
  dense_[at] = {Pack(row.stack), Pack(row.parent)};
  words_[at] = row.word;
}

RocpdEvents::Row RocpdEvents::At(std::int64_t id) const {
  const auto at = static_cast<std::size_t>(id);
  if (id >= 0 && at < dense_.size() && words_[at] != kNoRow)
    return {Unpack(dense_[at].stack), Unpack(dense_[at].parent), words_[at]};
  const auto found = sparse_.find(id);
  return found == sparse_.end() ? Row() : found->second;
}

std::string_view RocpdEvents::MessageOf(std::int64_t id) const {
  const auto found = message_of_.find(id);
  return found == message_of_.end() ? std::string_view() : messages_[found->second];
}

template <typename Each>
void RocpdEvents::EachRow(const Each& each) const {
  for (std::size_t at = 0; at < dense_.size(); ++at) {
    if (words_[at] != kNoRow)
      each(Row{Unpack(dense_[at].stack), Unpack(dense_[at].parent), words_[at]});
  }
  for (const auto& [id, row] : sparse_)
    each(row);
}

void RocpdEvents::TellCalls(RocmCalls* calls) const {
  EachRow([&](const Row& row) {
    if (row.word != RocmWord::kHip) return;
    calls->has_hip = true;
    if (row.stack != kNoCell && row.stack != 0) calls->hip.Insert(row.stack);
  });
}

void RocpdEvents::TellParents(std::vector<std::int64_t> wanted, RocmCalls* calls) const {
  constexpr int kDepthMax = 64;
  for (int depth = 0; depth < kDepthMax && !wanted.empty(); ++depth) {
    const std::unordered_set<std::int64_t> asked(wanted.begin(), wanted.end());
    wanted.clear();
    EachRow([&](const Row& row) {
      if (row.word != RocmWord::kHsa || row.parent == kNoCell || row.parent == 0 ||
          row.parent == row.stack || !asked.contains(row.stack))
        return;
      if (!calls->parent_of.try_emplace(row.stack, row.parent).second) return;
      if (!calls->hip.Has(row.parent) && !calls->parent_of.contains(row.parent))
        wanted.push_back(row.parent);
    });
  }
}

}  // namespace jarvis::trace
