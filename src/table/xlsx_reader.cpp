#include "table/xlsx_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <pugixml.hpp>
#include <zip.h>

#include "base/text.h"

namespace jarvis {
namespace {

constexpr std::size_t kColumnsMax = 16'384;  // Excel's own limit

std::string Shown(std::string_view text) {
  return OneLine(ValidUtf8(Utf8Prefix(text, 60)));
}

tl::unexpected<Error> Damaged(std::string_view part, std::string_view why) {
  return Fail(ErrorCode::kBadValue, fmt::format("workbook part {}: {}", Shown(part), why),
              "give a workbook (.xlsx) that a report was written as");
}

tl::unexpected<Error> TooLarge(std::string_view part) {
  return Fail(ErrorCode::kTooLarge,
              fmt::format("workbook part {}: larger than a report may be", Shown(part)),
              "give the report that was written, or its tables as CSV");
}

std::size_t ExpandedMax(std::string_view file, const XlsxLimits& limits) {
  return std::max(limits.expansion_free, file.size() * limits.expansion_max);
}

// The archive: parts by name, read whole and within the limit.
class Archive {
 public:
  static Result<Archive> Open(std::string_view bytes, const XlsxLimits& limits) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    zip_t* zip = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
    if (zip == nullptr && source != nullptr) zip_source_free(source);
    const bool refused = zip == nullptr && zip_error_code_zip(&error) == ZIP_ER_MEMORY;
    const std::string why = zip == nullptr && !refused ? zip_error_strerror(&error) : "";
    zip_error_fini(&error);
    if (refused) throw std::bad_alloc();
    if (zip == nullptr) {
      return Fail(ErrorCode::kBadValue, fmt::format("no workbook: {}", why),
                  "give a workbook (.xlsx) that a report was written as");
    }
    Archive archive;
    archive.zip_.reset(zip);
    archive.left_ = std::min(limits.bytes_max, ExpandedMax(bytes, limits));
    archive.nodes_max_ = limits.nodes_max;
    return archive;
  }

  bool Has(const std::string& name) const {
    return zip_name_locate(zip_.get(), name.c_str(), 0) >= 0;
  }

  std::size_t nodes_max() const { return nodes_max_; }

  Result<std::string> Read(const std::string& name, Job& job) {
    // Those of workbooks; others expand a file without bounds.
    zip_stat_t stat;
    if (zip_stat(zip_.get(), name.c_str(), 0, &stat) == 0 && (stat.valid & ZIP_STAT_COMP_METHOD) &&
        stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
      return Damaged(name, "it is compressed in a way that workbooks are not");
    const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen(zip_.get(), name.c_str(), 0));
    if (file == nullptr) {
      NotForMemory(zip_get_error(zip_.get()));
      return Damaged(name, zip_strerror(zip_.get()));
    }
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    std::string text;
    for (;;) {
      JV_TRY(job.Check());
      const std::size_t before = text.size();
      text.resize(before + kPiece);
      const zip_int64_t got = zip_fread(file.get(), text.data() + before, kPiece);
      if (got < 0) {
        NotForMemory(zip_file_get_error(file.get()));
        return Damaged(name, "its bytes are damaged");
      }
      text.resize(before + static_cast<std::size_t>(got));
      if (text.size() > left_) return TooLarge(name);
      if (got == 0) break;
    }
    left_ -= text.size();
    return text;
  }

 private:
  struct CloseZip {
    void operator()(zip_t* zip) const { zip_discard(zip); }
  };
  struct CloseFile {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
  };
  // Refused memory is no damage of the file.
  static void NotForMemory(const zip_error_t* error) {
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY) throw std::bad_alloc();
  }

  Archive() = default;
  std::unique_ptr<zip_t, CloseZip> zip_;
  std::size_t left_ = 0;
  std::size_t nodes_max_ = 0;
};

// At most so many nodes come of a text: elements, attributes and texts between them. A node costs
// some 60 bytes where its mark in the text may be the only one.
std::size_t NodesIn(std::string_view text) {
  std::size_t nodes = 0;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    const char c = text[at];
    const char next = text[at + 1];
    nodes += c == '=' || (c == '<' && next != '/') || (c == '>' && next != '<') ? 1 : 0;
  }
  return nodes;
}

struct Document {
  std::string text;  // parsed in place
  pugi::xml_document xml;
};

Result<std::unique_ptr<Document>> ReadXml(Archive& archive, const std::string& name, Job& job) {
  auto document = std::make_unique<Document>();
  JV_ASSIGN(document->text, archive.Read(name, job));
  if (NodesIn(document->text) > archive.nodes_max()) return TooLarge(name);
  const pugi::xml_parse_result parsed = document->xml.load_buffer_inplace(
      document->text.data(), document->text.size(),
      pugi::parse_default | pugi::parse_ws_pcdata_single, pugi::encoding_utf8);
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!parsed) return Damaged(name, parsed.description());
  return document;
}

// A name without its namespace's prefix.
std::string_view Local(const char* name) {
  const char* colon = std::strrchr(name, ':');
  return colon == nullptr ? name : colon + 1;
}

pugi::xml_node Child(const pugi::xml_node& node, std::string_view name) {
  return node.find_child([&](const pugi::xml_node& child) { return Local(child.name()) == name; });
}

std::string_view Attribute(const pugi::xml_node& node, std::string_view name) {
  const auto found = node.find_attribute(
      [&](const pugi::xml_attribute& attribute) { return Local(attribute.name()) == name; });
  return found.value();
}

// Excel writes characters that XML cannot hold as _x000D_, and a text that looks so as _x005F_x...
std::string Unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto digit = [&](std::size_t at) {
      const char c = text[at];
      return c >= '0' && c <= '9'   ? c - '0'
             : c >= 'a' && c <= 'f' ? c - 'a' + 10
             : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                    : -1;
    };
    int code = -1;
    if (text.size() >= 7 && text.starts_with("_x") && text[6] == '_') {
      code = 0;
      for (std::size_t at = 2; at < 6; ++at)
        code = code < 0 || digit(at) < 0 ? -1 : code * 16 + digit(at);
    }
    if (code > 0 && code < 0x80) {  // others are not written so
      out += static_cast<char>(code);
      text.remove_prefix(7);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

// A text in one piece, or in runs of different formats; phonetic hints do not count.
std::string TextOf(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xml_node& child : node.children()) {
    const std::string_view name = Local(child.name());
    if (name == "t") text += child.child_value();
    if (name == "r") text += Child(child, "t").child_value();
  }
  return Unescaped(text);
}

// The column of "AB12": 27; the number of columns and more: there is none.
std::optional<std::size_t> ColumnOf(std::string_view reference) {
  std::size_t column = 0;
  for (const char c : reference) {
    if (c < 'A' || c > 'Z') break;
    column = column * 26 + static_cast<std::size_t>(c - 'A' + 1);
    if (column > kColumnsMax) return kColumnsMax;
  }
  if (column == 0) return std::nullopt;
  return column - 1;
}

struct Sheet {
  std::string name;
  std::string part;
};

// Where the sheets of a workbook are.
Result<std::vector<Sheet>> SheetsOf(Archive& archive, std::size_t sheets_max, Job& job) {
  JV_ASSIGN(const auto book, ReadXml(archive, "xl/workbook.xml", job));
  JV_ASSIGN(const auto links, ReadXml(archive, "xl/_rels/workbook.xml.rels", job));
  std::map<std::string, std::string, std::less<>> targets;
  for (const pugi::xml_node& link : Child(links->xml, "Relationships").children()) {
    std::string target(Attribute(link, "Target"));
    target = target.starts_with('/') ? target.substr(1) : "xl/" + target;
    targets.emplace(Attribute(link, "Id"), std::move(target));
  }
  std::vector<Sheet> sheets;
  for (const pugi::xml_node& sheet : Child(Child(book->xml, "workbook"), "sheets").children()) {
    if (Local(sheet.name()) != "sheet") continue;
    if (sheets.size() == sheets_max) return TooLarge("xl/workbook.xml");
    // Beside sheetId, so by its whole name.
    const auto id = sheet.find_attribute([](const pugi::xml_attribute& attribute) {
      const std::string_view name = attribute.name();
      return name.ends_with(":id");
    });
    const auto target = targets.find(std::string_view(id.value()));
    if (target == targets.end()) return Damaged("xl/workbook.xml", "a sheet has no file");
    // Charts have sheets too.
    if (target->second.find("worksheets/") == std::string::npos) continue;
    sheets.push_back({std::string(Attribute(sheet, "name")), target->second});
  }
  if (sheets.empty()) return Damaged("xl/workbook.xml", "it has no sheet");
  return sheets;
}

class SheetReader {
 public:
  // What is left of the limits of all sheets.
  struct Budget {
    std::size_t cells;
    std::size_t text_bytes;
  };
  SheetReader(const std::vector<std::string>& texts, Budget* left) : texts_(texts), left_(*left) {}

  Result<Table> Read(const Sheet& sheet, const pugi::xml_node& data, Job& job) {
    std::vector<std::vector<Cell>> rows;
    for (const pugi::xml_node& row : data.children()) {
      if (Local(row.name()) != "row") continue;
      if (rows.size() % 1024 == 0) JV_TRY(job.Check());
      JV_ASSIGN(std::vector<Cell> cells, ReadRow(sheet, row));
      const bool blank = std::all_of(cells.begin(), cells.end(), [](const Cell& cell) {
        return std::holds_alternative<Absent>(cell);
      });
      if (!blank) rows.push_back(std::move(cells));
    }
    return MakeTable(sheet, std::move(rows));
  }

 private:
  Result<std::vector<Cell>> ReadRow(const Sheet& sheet, const pugi::xml_node& row) {
    std::vector<Cell> cells;
    for (const pugi::xml_node& node : row.children()) {
      if (Local(node.name()) != "c") continue;
      const std::size_t column = ColumnOf(Attribute(node, "r")).value_or(cells.size());
      if (column >= kColumnsMax) return Damaged(sheet.part, "a cell beyond the last column");
      if (column >= cells.size()) {
        const std::size_t more = column + 1 - cells.size();
        if (more > left_.cells) return TooLarge(sheet.part);
        left_.cells -= more;
        cells.resize(column + 1);
      }
      JV_ASSIGN(cells[column], ReadCell(sheet, node));
    }
    return cells;
  }

  Result<Cell> TextCell(const Sheet& sheet, std::string text) {
    if (text.empty()) return Cell();
    if (text.size() > left_.text_bytes) return TooLarge(sheet.part);
    left_.text_bytes -= text.size();
    return Cell(std::move(text));
  }

  Result<Cell> ReadCell(const Sheet& sheet, const pugi::xml_node& node) {
    const std::string_view type = Attribute(node, "t");
    if (type == "inlineStr") return TextCell(sheet, TextOf(Child(node, "is")));
    const std::string_view value = Child(node, "v").child_value();
    if (type == "e" || value.empty()) return Cell();
    if (type == "str") return TextCell(sheet, Unescaped(value));
    if (type == "b") return Cell(value == "1");
    if (type == "s") {
      const auto index = ParseInt(value);
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= texts_.size()) {
        return Damaged(sheet.part, "a cell without its text");
      }
      const std::string& text = texts_[static_cast<std::size_t>(*index)];
      if (text.size() > left_.text_bytes) return TooLarge(sheet.part);
      return TextCell(sheet, text);
    }
    if (const auto whole = ParseInt(value)) return Cell(*whole);
    const auto number = ParseDouble(value);
    if (!number || !std::isfinite(*number)) return Damaged(sheet.part, "a cell that is no number");
    return Cell(*number);
  }

  Result<Table> MakeTable(const Sheet& sheet, std::vector<std::vector<Cell>> rows) {
    Table table{sheet.name, {}, {}};
    if (rows.empty()) return table;
    std::map<std::string, int> seen;
    for (const Cell& cell : rows.front()) {
      std::string name = HeaderText(cell, table.columns.size());
      const int before = seen[name]++;
      table.columns.push_back(before == 0 ? name : fmt::format("{}.{}", name, before));
    }
    rows.erase(rows.begin());
    for (std::vector<Cell>& row : rows) {
      if (row.size() > table.columns.size()) {
        return Damaged(sheet.part, "a row that is longer than the header");
      }
      const std::size_t more = table.columns.size() - row.size();
      if (more > left_.cells) return TooLarge(sheet.part);
      left_.cells -= more;
      row.resize(table.columns.size());
    }
    table.rows = std::move(rows);
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      GiveType(c, &table);
    return table;
  }

  static std::string HeaderText(const Cell& cell, std::size_t column) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
    if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
    return fmt::format("Unnamed: {}", column);
  }

  // A column in which a number is absent or not whole is one of floating point numbers.
  static void GiveType(std::size_t column, Table* table) {
    const auto is_whole = [&](const std::vector<Cell>& row) {
      return std::holds_alternative<std::int64_t>(row[column]);
    };
    if (std::all_of(table->rows.begin(), table->rows.end(), is_whole)) return;
    for (std::vector<Cell>& row : table->rows) {
      if (is_whole(row)) row[column] = static_cast<double>(std::get<std::int64_t>(row[column]));
    }
  }

  const std::vector<std::string>& texts_;
  Budget& left_;
};

Result<std::vector<std::string>> SharedTexts(Archive& archive, Job& job) {
  static constexpr const char* kPart = "xl/sharedStrings.xml";
  std::vector<std::string> texts;
  if (!archive.Has(kPart)) return texts;
  JV_ASSIGN(const auto document, ReadXml(archive, kPart, job));
  for (const pugi::xml_node& item : Child(document->xml, "sst").children()) {
    if (Local(item.name()) == "si") texts.push_back(TextOf(item));
  }
  return texts;
}

}  // namespace

bool LooksLikeXlsx(std::string_view start) {
  return start.starts_with("PK\x03\x04");
}

Result<std::vector<Table>> ParseXlsx(std::string_view bytes, Job& job, const XlsxLimits& limits) {
  JV_ASSIGN(Archive archive, Archive::Open(bytes, limits));
  JV_ASSIGN(const std::vector<Sheet> sheets, SheetsOf(archive, limits.sheets_max, job));
  JV_ASSIGN(const std::vector<std::string> texts, SharedTexts(archive, job));
  SheetReader::Budget left{
      std::min(limits.cells_max, limits.cells_free + bytes.size() * limits.cells_a_byte),
      std::min(limits.text_bytes_max, ExpandedMax(bytes, limits))};
  std::vector<Table> tables;
  for (const Sheet& sheet : sheets) {
    JV_ASSIGN(const auto document, ReadXml(archive, sheet.part, job));
    const pugi::xml_node data = Child(Child(document->xml, "worksheet"), "sheetData");
    JV_ASSIGN(Table table, SheetReader(texts, &left).Read(sheet, data, job));
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace jarvis
