#include "output/csv_writer.h"

#include <cmath>

#include "base/text.h"
#include "table/py_text.h"

namespace jarvis::output {
namespace {

void AppendField(std::string_view text, std::string* out) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) {
    out->append(text);
    return;
  }
  out->push_back('"');
  for (const char c : text) {
    if (c == '"') out->push_back('"');
    out->push_back(c);
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
  void operator()(std::monostate) const {}
  void operator()(std::int64_t value) const { out->append(std::to_string(value)); }
  void operator()(double value) const {
    if (!std::isnan(value)) out->append(PyFloat(value));
  }
  void operator()(bool value) const { out->append(value ? "True" : "False"); }
  void operator()(const std::string& value) const {
    AppendField(formulas == CsvFormulas::kQuoted && LooksLikeFormula(value) ? "'" + value : value,
                out);
  }
};

}  // namespace

std::string ToCsv(const Table& table, CsvFormulas formulas) {
  std::string out;
  const Append append{&out, formulas};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) out.push_back(',');
    append(table.columns[c]);
  }
  out.push_back('\n');
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) out.push_back(',');
      std::visit(append, row[c]);
    }
    out.push_back('\n');
  }
  return out;
}

}  // namespace jarvis::output
