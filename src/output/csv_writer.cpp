#include "output/csv_writer.h"

#include <cmath>

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

struct Append {
  std::string* out;
  void operator()(std::monostate) const {}
  void operator()(std::int64_t value) const { out->append(std::to_string(value)); }
  void operator()(double value) const {
    if (!std::isnan(value)) out->append(PyFloat(value));
  }
  void operator()(bool value) const { out->append(value ? "True" : "False"); }
  void operator()(const std::string& value) const { AppendField(value, out); }
};

}  // namespace

std::string ToCsv(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) out.push_back(',');
    AppendField(table.columns[c], &out);
  }
  out.push_back('\n');
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) out.push_back(',');
      std::visit(Append{&out}, row[c]);
    }
    out.push_back('\n');
  }
  return out;
}

}  // namespace jarvis::output
