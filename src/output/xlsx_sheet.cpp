#include "output/xlsx_sheet.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "output/xlsx_text.h"

namespace jarvis::output {
namespace {

// Column widths, in characters: of the header and the first rows, within these.
constexpr std::size_t kWidthMin = 8;
constexpr std::size_t kWidthMax = 60;
constexpr std::size_t kWidthRows = 100;
// Larger integers lose digits as the doubles that Excel calculates with.
constexpr std::int64_t kExactIntegerMax = std::int64_t{1} << 53;
// Text is deflated when so much of it has come together.
constexpr std::size_t kXmlPiece = std::size_t{128} << 10;

bool IsPercentColumn(const std::string& column) {
  const std::string lower = LowerAscii(column);
  return lower.find("percent") != std::string::npos || lower.find("(%)") != std::string::npos ||
         lower.starts_with("pct ") || lower.starts_with("pct_") || lower.ends_with("_pct");
}

// Digits shown of a number; the cell keeps the whole value.
CellStyle StyleOf(double value, bool percent) {
  constexpr double kThreeDecimals = 1e-3;
  constexpr double kPlain = 1e15;
  if (percent) return CellStyle::kPercent;
  const double size = std::abs(value);
  return size == 0 || (size >= kThreeDecimals && size < kPlain) ? CellStyle::kNumber
                                                                : CellStyle::kTiny;
}

std::size_t WidthOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return Units(std::string_view(*text).substr(0, text->find('\n')));
  }
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.3f}", *number).size();
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    return std::to_string(*integer).size();
  return 0;
}

// 0: "A", 26: "AA".
std::string ColumnName(std::size_t column) {
  std::string name;
  for (std::size_t rest = column + 1; rest > 0; rest = (rest - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (rest - 1) % 26));
  return name;
}

std::size_t ColumnsOf(const Table& table) {
  return std::min<std::size_t>(table.columns.size(), kXlsxColumnsMax);
}

// Rows below the header that are written; where not all are, one more says how many are not.
std::size_t RowsOf(const Table& table) {
  return table.rows.size() < kXlsxRowsMax ? table.rows.size() : kXlsxRowsMax - 2;
}

class SheetXml {
 public:
  SheetXml(const Table& table, std::string name, bool first, XlsxFile* file)
      : table_(table), columns_(ColumnsOf(table)), file_(*file), part_(std::move(name)) {
    for (std::size_t c = 0; c < columns_; ++c) {
      percent_.push_back(IsPercentColumn(table.columns[c]));
      names_.push_back(ColumnName(c));
    }
    Begin(first);
  }

  io::ZipPart Write() {
    const std::size_t rows = RowsOf(table_);
    xml_ += "<sheetData>";
    if (columns_ > 0) {
      BeginRow(0);
      for (std::size_t c = 0; c < columns_; ++c)
        AddText(c, table_.columns[c], CellStyle::kHeader);
      EndRow();
      for (std::size_t r = 0; r < rows; ++r)
        WriteRow(r + 1, table_.rows[r]);
      if (rows < table_.rows.size()) {
        const std::uint64_t left_out = table_.rows.size() - rows;
        file_.rows_left_out += left_out;
        WriteRow(kXlsxRowsMax - 1, {fmt::format("[{} more rows left out]", left_out)});
      }
    }
    xml_ += "</sheetData>";
    if (columns_ > 0) xml_ += fmt::format("<autoFilter ref=\"A1:{}{}\"/>", names_.back(), rows + 1);
    xml_ +=
        "<pageMargins left=\"0.7\" right=\"0.7\" top=\"0.75\" bottom=\"0.75\" header=\"0.3\" "
        "footer=\"0.3\"/></worksheet>";
    part_.Add(xml_);
    part_.Finish();
    return std::move(part_);
  }

 private:
  void Begin(bool first) {
    file_.columns_left_out += table_.columns.size() - columns_;
    xml_ +=
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" "
        "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">";
    const std::size_t rows = std::min<std::size_t>(table_.rows.size() + 1, kXlsxRowsMax);
    xml_ += columns_ == 0 ? "<dimension ref=\"A1\"/>"
                          : fmt::format("<dimension ref=\"A1:{}{}\"/>", names_.back(), rows);
    xml_ += fmt::format("<sheetViews><sheetView{} workbookViewId=\"0\">",
                        first ? " tabSelected=\"1\"" : "");
    if (columns_ > 0) {
      xml_ +=
          "<pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/>"
          "<selection pane=\"bottomLeft\"/>";
    }
    xml_ += "</sheetView></sheetViews><sheetFormatPr defaultRowHeight=\"15\"/>";
    if (columns_ > 0) AddWidths();
  }

  void AddWidths() {
    constexpr std::size_t kFilterButton = 3;
    xml_ += "<cols>";
    for (std::size_t c = 0; c < columns_; ++c) {
      std::size_t width = Units(ValidUtf8(table_.columns[c])) + kFilterButton;
      for (std::size_t r = 0; r < std::min(table_.rows.size(), kWidthRows); ++r) {
        if (c < table_.rows[r].size()) width = std::max(width, WidthOf(table_.rows[r][c]) + 1);
      }
      // Five pixels of seven are the cell's margins.
      xml_ += fmt::format("<col min=\"{0}\" max=\"{0}\" width=\"{1}.7109375\" customWidth=\"1\"/>",
                          c + 1, std::clamp(width, kWidthMin, kWidthMax));
    }
    xml_ += "</cols>";
  }

  void WriteRow(std::size_t row, const std::vector<Cell>& cells) {
    BeginRow(row);
    for (std::size_t c = 0; c < std::min(cells.size(), columns_); ++c)
      AddCell(c, cells[c]);
    EndRow();
  }

  void BeginRow(std::size_t row) {
    row_ = std::to_string(row + 1);
    xml_ += "<row r=\"";
    xml_ += row_;
    xml_ += "\">";
  }

  void EndRow() {
    xml_ += "</row>";
    if (xml_.size() < kXmlPiece) return;
    part_.Add(xml_);
    xml_.clear();
  }

  void AddCell(std::size_t c, const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      if (*integer > kExactIntegerMax || *integer < -kExactIntegerMax) {
        AddText(c, std::to_string(*integer), CellStyle::kNone);
      } else {
        AddNumber(c, *integer, CellStyle::kInteger);
      }
    } else if (const auto* number = std::get_if<double>(&cell)) {
      if (std::isfinite(*number)) AddNumber(c, *number, StyleOf(*number, percent_[c]));
    } else if (const auto* truth = std::get_if<bool>(&cell)) {
      BeginCell(c, CellStyle::kNone);
      xml_ += *truth ? " t=\"b\"><v>1</v></c>" : " t=\"b\"><v>0</v></c>";
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      AddText(c, *text, CellStyle::kNone);
    }
  }

  void BeginCell(std::size_t c, CellStyle style) {
    xml_ += "<c r=\"";
    xml_ += names_[c];
    xml_ += row_;
    xml_ += '"';
    if (style == CellStyle::kNone) return;
    xml_ += " s=\"";
    xml_ += static_cast<char>('0' + static_cast<int>(style));
    xml_ += '"';
  }

  // The shortest digits that read back as the same number.
  template <typename Number>
  void AddNumber(std::size_t c, Number value, CellStyle style) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    BeginCell(c, style);
    xml_ += "><v>";
    xml_.append(digits, end.ptr);
    xml_ += "</v></c>";
  }

  void AddText(std::size_t c, std::string_view raw, CellStyle style) {
    if (raw.empty()) return;
    const auto is_blank = [](char at) {
      return at == ' ' || at == '\t' || at == '\n' || at == '\r';
    };
    BeginCell(c, style);
    xml_ += is_blank(raw.front()) || is_blank(raw.back())
                ? " t=\"inlineStr\"><is><t xml:space=\"preserve\">"
                : " t=\"inlineStr\"><is><t>";
    if (!AppendPlain(raw, &xml_)) {
      const SafeText safe = MakeSafe(raw);
      file_.texts_cut += safe.cut ? 1 : 0;
      file_.texts_mended += safe.mended ? 1 : 0;
      AppendEscaped(safe.text, &xml_);
    }
    xml_ += "</t></is></c>";
  }

  const Table& table_;
  std::size_t columns_;
  XlsxFile& file_;
  io::ZipPart part_;
  std::vector<bool> percent_;       // by column
  std::vector<std::string> names_;  // "A", by column
  std::string row_;                 // its number
  std::string xml_;                 // what is not deflated yet
};

}  // namespace

std::string FilterRange(const Table& table) {
  const std::size_t columns = ColumnsOf(table);
  if (columns == 0) return "";
  return fmt::format("$A$1:${}${}", ColumnName(columns - 1), RowsOf(table) + 1);
}

io::ZipPart MakeSheet(const Table& table, std::string name, bool first, XlsxFile* file) {
  return SheetXml(table, std::move(name), first, file).Write();
}

}  // namespace jarvis::output
