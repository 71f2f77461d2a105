#include "table/csv_reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace jarvis {
namespace {

struct Field {
  std::string text;
  bool quoted = false;
};
using Row = std::vector<Field>;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }

  // False: a quote does not end.
  bool ReadRow(Row* row) {
    row->clear();
    ++line_;
    for (;;) {
      Field field;
      if (!AtEnd() && text_[at_] == '"') {
        if (!ReadQuoted(&field)) return false;
      }
      const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
      field.text.append(text_.substr(at_, end - at_));
      at_ = end;
      const bool more = at_ < text_.size() && text_[at_] == ',';
      if (!more && !field.text.empty() && field.text.back() == '\r') field.text.pop_back();
      row->push_back(std::move(field));
      if (at_ < text_.size()) ++at_;
      if (!more) return true;
    }
  }

 private:
  bool ReadQuoted(Field* field) {
    field->quoted = true;
    for (++at_;;) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) return false;
      field->text.append(text_.substr(at_, quote - at_));
      at_ = quote + 1;
      if (at_ >= text_.size() || text_[at_] != '"') return true;
      field->text.push_back('"');
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
};

template <typename T>
std::optional<T> Number(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

bool IsAbsent(const Field& field) {
  return field.text.empty() || field.text == "nan";
}

// The cells of one column, of one type.
void Convert(const std::vector<Row>& rows, std::size_t column,
             std::vector<std::vector<Cell>>* out) {
  bool integers = true;
  bool numbers = true;
  bool truths = true;
  for (const Row& row : rows) {
    const Field& field = row[column];
    const bool absent = IsAbsent(field);
    integers = integers && !absent && !field.quoted && Number<std::int64_t>(field.text);
    numbers = numbers && (absent || (!field.quoted && Number<double>(field.text)));
    truths = truths && (absent || field.text == "True" || field.text == "False");
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Field& field = rows[r][column];
    Cell cell;
    if (integers) {
      cell = *Number<std::int64_t>(field.text);
    } else if (IsAbsent(field)) {
    } else if (numbers) {
      cell = *Number<double>(field.text);
    } else if (truths) {
      cell = field.text == "True";
    } else {
      cell = field.text;
    }
    (*out)[r].push_back(std::move(cell));
  }
}

}  // namespace

Result<Table> ParseCsv(const std::string& name, std::string_view text) {
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Reader reader(text);
  const auto refuse = [&](ErrorCode code, const char* why) {
    return Fail(code, fmt::format("table {}, row {}: {}", name, reader.line(), why));
  };
  Table table{name, {}, {}};
  Row header;
  if (reader.AtEnd()) return table;
  if (!reader.ReadRow(&header)) return refuse(ErrorCode::kBadValue, "a quote does not end");
  if (header.size() == 1 && header[0].text.empty()) header.clear();
  std::map<std::string, int> seen;
  for (const Field& field : header) {
    const int before = seen[field.text]++;
    table.columns.push_back(before == 0 ? field.text : field.text + "." + std::to_string(before));
  }
  std::vector<Row> rows;
  Row row;
  while (!reader.AtEnd()) {
    if (!reader.ReadRow(&row)) return refuse(ErrorCode::kBadValue, "a quote does not end");
    if (row.size() == 1 && row[0].text.empty() && !row[0].quoted && header.size() != 1) continue;
    if (row.size() > header.size()) {
      return refuse(ErrorCode::kBadValue, "more cells than the header has");
    }
    if ((rows.size() + 1) * header.size() > kCsvCellsMax) {
      return refuse(ErrorCode::kTooLarge, "more cells than a table may have");
    }
    row.resize(header.size());
    rows.push_back(std::move(row));
  }
  table.rows.resize(rows.size());
  for (std::size_t c = 0; c < header.size(); ++c)
    Convert(rows, c, &table.rows);
  return table;
}

}  // namespace jarvis
