#include "trace/rank_label.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/text.h"

namespace jarvis::trace {
namespace {

bool IsLabelLetter(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsLabelDigit(char c) {
  return c >= '0' && c <= '9';
}

// The number behind a word that ends at `at`, after one separator at most.
std::optional<std::int64_t> NumberAt(std::string_view text, std::size_t at, bool* separated) {
  *separated = at < text.size() && std::string_view("-_ =:[(").find(text[at]) != std::string::npos;
  if (*separated) ++at;
  std::size_t end = at;
  while (end < text.size() && IsLabelDigit(text[end]))
    ++end;
  // A longer number is a time or a process id.
  return end - at > 6 ? std::nullopt : ParseInt(text.substr(at, end - at));
}

// "_r3.": the letter alone, between signs. (Behind a hyphen it is of the name of a host.)
std::optional<std::int64_t> ShortRank(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] != 'r' || std::string_view("_.").find(text[at - 1]) == std::string::npos) continue;
    bool separated = false;
    const auto number = NumberAt(text, at + 1, &separated);
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
    if (number && !separated && (end == text.size() || !IsLabelLetter(text[end]))) return number;
  }
  return std::nullopt;
}

using Coordinates = std::array<std::optional<std::int64_t>, RankLabel::kWords>;

// Places in a box as large as the coordinates are; nothing where two share a place.
std::optional<std::vector<std::int64_t>> Numbered(const std::vector<Coordinates>& labels) {
  std::array<std::int64_t, RankLabel::kWords> sizes{};
  for (const Coordinates& label : labels) {
    for (std::size_t word = 0; word < sizes.size(); ++word)
      sizes[word] = std::max(sizes[word], label[word].value_or(0) + 1);
  }
  std::vector<std::int64_t> ranks;
  std::set<std::int64_t> taken;
  for (const Coordinates& label : labels) {
    std::int64_t rank = 0;
    for (std::size_t word = 0; word < sizes.size(); ++word) {
      if (__builtin_mul_overflow(rank, sizes[word], &rank) ||
          __builtin_add_overflow(rank, label[word].value_or(0), &rank))
        return std::nullopt;
    }
    if (!taken.insert(rank).second) return std::nullopt;
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

bool RankLabel::empty() const {
  return *this == RankLabel{};
}

RankLabel RankLabelIn(std::string_view name) {
  const std::string text = LowerAscii(name);
  RankLabel label;
  bool separated = false;
  for (std::size_t at = text.find("rank"); at != std::string::npos && !label.rank;
       at = text.find("rank", at + 4))
    label.rank = NumberAt(text, at + 4, &separated);
  if (!label.rank) label.rank = ShortRank(text);
  constexpr std::array<std::string_view, RankLabel::kWords> kNames = {"dp", "pp", "ep", "tp"};
  for (std::size_t word = 0; word < kNames.size(); ++word) {
    for (std::size_t at = text.find(kNames[word]);
         at != std::string::npos && !label.coordinates[word];
         at = text.find(kNames[word], at + 2)) {
      if (at > 0 && IsLabelLetter(text[at - 1])) continue;
      label.coordinates[word] = NumberAt(text, at + 2, &separated);
      if (label.coordinates[word]) label.separated |= separated;
    }
  }
  return label;
}

std::vector<std::optional<std::int64_t>> RanksOfLabels(const std::vector<RankLabel>& labels) {
  std::vector<std::optional<std::int64_t>> ranks(labels.size());
  std::vector<std::size_t> places;
  std::vector<Coordinates> found;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ranks[i] = labels[i].rank;
    if (ranks[i] || labels[i].empty()) continue;
    places.push_back(i);
    found.push_back(labels[i].coordinates);
  }
  // Nobody counts ranks from 8: such a number is a size.
  for (std::size_t word = 0; word < RankLabel::kWords; ++word) {
    if (std::any_of(found.begin(), found.end(),
                    [&](const Coordinates& label) { return label[word] == 0; }))
      continue;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!labels[places[i]].separated) found[i][word].reset();
    }
  }
  for (std::size_t i = found.size(); i-- > 0;) {
    if (found[i] != Coordinates{}) continue;
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
  }
  auto numbers = Numbered(found);
  const auto gaps = [&] {
    return !numbers->empty() && *std::max_element(numbers->begin(), numbers->end()) >=
                                    static_cast<std::int64_t>(numbers->size());
  };
  for (const std::size_t word : {RankLabel::kEp, RankLabel::kDp, RankLabel::kPp}) {
    if (found.size() < 2 || !numbers || !gaps()) break;
    std::vector<Coordinates> without = found;
    for (Coordinates& label : without)
      label[word].reset();
    if (auto fewer = Numbered(without)) {
      numbers = std::move(fewer);
      found = std::move(without);
    }
  }
  for (std::size_t i = 0; numbers && i < places.size(); ++i)
    ranks[places[i]] = (*numbers)[i];
  return ranks;
}

}  // namespace jarvis::trace
