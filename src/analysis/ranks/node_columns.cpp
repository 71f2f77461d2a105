#include "analysis/ranks/node_columns.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "base/text.h"

namespace jarvis::analysis {
namespace {

// All whole numbers in a text.
std::vector<std::int64_t> NumbersIn(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = text.find_first_of("0123456789", at);
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", start), text.size());
    if (const auto number = ParseInt(text.substr(start, end - start))) numbers.push_back(*number);
    at = end;
  }
  return numbers;
}

// "1, 2, 3" without brackets; nothing: something else is in it.
std::optional<std::vector<std::int64_t>> ListInside(std::string_view text) {
  std::vector<std::int64_t> numbers;
  text = Trim(text);
  if (text.empty()) return numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = Trim(text.substr(at, comma - at));
    at = comma + 1;
    if (item.empty() && at > text.size() && !numbers.empty()) break;  // (7,)
    const auto number = ParseInt(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// What a group of ranks spans, by the text that lists them.
const char* SpanOf(std::string_view text, std::int64_t gpus_per_node) {
  std::set<std::int64_t> nodes;
  for (const std::int64_t rank : RanksIn(text))
    nodes.insert(rank / gpus_per_node);
  return nodes.empty() ? "unknown" : nodes.size() == 1 ? "intra_node" : "inter_node";
}

bool Between(std::string_view text, char open, char close) {
  return text.size() >= 2 && text.front() == open && text.back() == close;
}

}  // namespace

std::vector<std::int64_t> RanksIn(std::string_view text) {
  text = Trim(text);
  const bool brackets = Between(text, '[', ']') || Between(text, '(', ')');
  if (brackets) {
    const auto list = ListInside(text.substr(1, text.size() - 2));
    return list ? *list : NumbersIn(text);
  }
  if (Between(text, '{', '}') || Between(text, '\'', '\'') || Between(text, '"', '"')) return {};
  if (const auto list = ListInside(text)) {
    // A number alone is no list.
    return text.find(',') == std::string_view::npos ? std::vector<std::int64_t>() : *list;
  }
  return NumbersIn(text);
}

std::optional<std::vector<std::int64_t>> SplitsIn(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return std::nullopt;
  const std::string_view trimmed = Trim(*text);
  if (!Between(trimmed, '[', ']') && !Between(trimmed, '(', ')')) return std::nullopt;
  return ListInside(trimmed.substr(1, trimmed.size() - 2));
}

void AddNodeColumns(const RankSet& set, std::int64_t gpus_per_node, std::vector<Table>* tables) {
  const auto column_of = [](const Table& table, std::string_view name) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    return found == table.columns.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - table.columns.begin()));
  };
  for (Table& table : *tables) {
    const auto rank_column = column_of(table, "rank");
    const auto group_column = column_of(table, "Process Group Ranks");
    // Groups that nobody listed say nothing, unless the size of the world is known.
    const auto listed = [&](const std::vector<Cell>& row) {
      const auto* text = std::get_if<std::string>(&row[*group_column]);
      return text == nullptr || Trim(*text) != "[]";
    };
    if (group_column && !set.world_size && !table.rows.empty() &&
        std::none_of(table.rows.begin(), table.rows.end(), listed))
      continue;
    if (rank_column) table.columns.emplace_back("node_id");
    if (group_column) table.columns.emplace_back("node_span");
    std::unordered_map<std::string, const char*> spans;  // few texts are on many rows
    for (auto& row : table.rows) {
      if (rank_column) {
        const auto* rank = std::get_if<std::int64_t>(&row[*rank_column]);
        const bool known = rank != nullptr && (!set.world_size || *rank < *set.world_size);
        row.push_back(known ? Cell(*rank / gpus_per_node) : Cell());
      }
      if (!group_column) continue;
      const auto* text = std::get_if<std::string>(&row[*group_column]);
      const auto [span, added] = spans.try_emplace(text == nullptr ? std::string() : *text);
      if (added) span->second = SpanOf(span->first, gpus_per_node);
      row.emplace_back(std::string(span->second));
    }
  }
}

}  // namespace jarvis::analysis
