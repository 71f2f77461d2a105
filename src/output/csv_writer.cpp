#include "output/csv_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "table/py_text.h"

namespace jarvis::output {
namespace {

void AppendField(std::string_view text, std::string* out) {
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return c == ',' || c == '"' || c == '\n' || c == '\r';
  });
  if (plain) {
    out->append(text);
    return;
  }
  out->push_back('"');
  while (!text.empty()) {
    const std::size_t quote = std::min(text.find('"'), text.size());
    out->append(text.substr(0, quote));
    if (quote < text.size()) out->append("\"\"");
    text.remove_prefix(std::min(quote + 1, text.size()));
  }
  out->push_back('"');
}

// Would a spreadsheet evaluate it? Numbers as text, and signs that stand alone, do no harm.
bool LooksLikeFormula(std::string_view text) {
  if (text.empty()) return false;
  const char first = text.front();
  if (first == '=' || first == '@' || first == '\t' || first == '\r') return text.size() > 1;
  if (first != '+' && first != '-') return false;
  const std::string_view rest = text.substr(1);
  return rest.find_first_not_of("+-= ") != std::string_view::npos && !ParseDouble(rest);
}

struct Append {
  std::string* out;
  CsvFormulas formulas;
  void Row(const std::vector<Cell>& row) const {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) out->push_back(',');
      std::visit(*this, row[c]);
    }
    out->push_back('\n');
  }
  void operator()(Absent) const {}
  void operator()(std::int64_t value) const {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    out->append(digits, end.ptr);
  }
  void operator()(double value) const {
    if (!std::isnan(value)) AppendPyFloat(value, out);
  }
  void operator()(bool value) const { out->append(value ? "True" : "False"); }
  void operator()(const std::string& value) const {
    if (formulas == CsvFormulas::kQuoted && LooksLikeFormula(value)) {
      AppendField("'" + value, out);
    } else {
      AppendField(value, out);
    }
  }
};

}  // namespace

void WriteCsv(const Table& table, CsvFormulas formulas,
              const std::function<void(std::string_view piece)>& add) {
  constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
  std::string piece;
  const Append append{&piece, formulas};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) piece.push_back(',');
    append(table.columns[c]);
  }
  piece.push_back('\n');
  for (const std::vector<Cell>& row : table.rows) {
    append.Row(row);
    if (piece.size() < kPieceBytes) continue;
    add(piece);
    piece.clear();
  }
  add(piece);
}

std::string ToCsv(const Table& table, CsvFormulas formulas) {
  std::string out;
  WriteCsv(table, formulas, [&out](std::string_view piece) { out += piece; });
  return out;
}

void AppendCsvRows(const Table& table, CsvFormulas formulas, std::string* out) {
  const Append append{out, formulas};
  for (const std::vector<Cell>& row : table.rows)
    append.Row(row);
}

}  // namespace jarvis::output
