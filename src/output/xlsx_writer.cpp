#include "output/xlsx_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "io/zip_part.h"
#include "output/svg.h"
#include "output/xlsx_sheet.h"
#include "output/xlsx_text.h"

namespace jarvis::output {
namespace {

constexpr std::size_t kSheetNameMax = 31;
constexpr std::string_view kXmlHead =
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
constexpr std::string_view kPackage = "http://schemas.openxmlformats.org/package/2006";
constexpr std::string_view kOffice =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
constexpr std::string_view kSpreadsheet =
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
constexpr std::string_view kSheetType =
    "application/vnd.openxmlformats-officedocument.spreadsheetml";

// The fonts and number formats that CellStyle names, in its order.
constexpr std::string_view kStyles =
    "<numFmts count=\"4\"><numFmt numFmtId=\"164\" formatCode=\"0\"/>"
    "<numFmt numFmtId=\"165\" formatCode=\"0.000\"/>"
    "<numFmt numFmtId=\"166\" formatCode=\"0.000E+00\"/>"
    "<numFmt numFmtId=\"167\" formatCode=\"0.00&quot;%&quot;\"/></numFmts>"
    "<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/><family val=\"2\"/></font>"
    "<font><b/><sz val=\"11\"/><name val=\"Calibri\"/><family val=\"2\"/></font></fonts>"
    "<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>"
    "<fill><patternFill patternType=\"gray125\"/></fill></fills>"
    "<borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>"
    "<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/>"
    "</cellStyleXfs><cellXfs count=\"6\">"
    "<xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/>"
    "<xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyFont=\"1\"/>"
    "<xf numFmtId=\"164\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" "
    "applyNumberFormat=\"1\"/>"
    "<xf numFmtId=\"165\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" "
    "applyNumberFormat=\"1\"/>"
    "<xf numFmtId=\"166\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" "
    "applyNumberFormat=\"1\"/>"
    "<xf numFmtId=\"167\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" "
    "applyNumberFormat=\"1\"/></cellXfs>"
    "<cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles>"
    "<dxfs count=\"0\"/><tableStyles count=\"0\" defaultTableStyle=\"TableStyleMedium9\" "
    "defaultPivotStyle=\"PivotStyleLight16\"/>";

// Some fixed time.
constexpr std::string_view kCreated = "2000-01-01T00:00:00Z";

io::ZipPart PartOf(std::string name, std::string_view text) {
  io::ZipPart part(std::move(name));
  part.Add(kXmlHead);
  part.Add(text);
  part.Finish();
  return part;
}

std::string SheetPart(std::size_t sheet) {
  return fmt::format("worksheets/sheet{}.xml", sheet + 1);
}

std::string ContentTypes(std::size_t sheets) {
  std::string xml = fmt::format(
      "<Types xmlns=\"{0}/content-types\"><Default Extension=\"rels\" "
      "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
      "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
      "<Override PartName=\"/docProps/core.xml\" "
      "ContentType=\"application/vnd.openxmlformats-package.core-properties+xml\"/>"
      "<Override PartName=\"/xl/styles.xml\" ContentType=\"{1}.styles+xml\"/>"
      "<Override PartName=\"/xl/workbook.xml\" ContentType=\"{1}.sheet.main+xml\"/>",
      kPackage, kSheetType);
  for (std::size_t i = 0; i < sheets; ++i) {
    xml += fmt::format("<Override PartName=\"/xl/{}\" ContentType=\"{}.worksheet+xml\"/>",
                       SheetPart(i), kSheetType);
  }
  return xml + "</Types>";
}

std::string RootLinks() {
  return fmt::format(
      "<Relationships xmlns=\"{0}/relationships\"><Relationship Id=\"rId1\" "
      "Type=\"{1}/officeDocument\" Target=\"xl/workbook.xml\"/><Relationship Id=\"rId2\" "
      "Type=\"{0}/relationships/metadata/core-properties\" Target=\"docProps/core.xml\"/>"
      "</Relationships>",
      kPackage, kOffice);
}

std::string BookLinks(std::size_t sheets) {
  std::string xml = fmt::format("<Relationships xmlns=\"{}/relationships\">", kPackage);
  for (std::size_t i = 0; i < sheets; ++i) {
    xml += fmt::format("<Relationship Id=\"rId{}\" Type=\"{}/worksheet\" Target=\"{}\"/>", i + 1,
                       kOffice, SheetPart(i));
  }
  return xml + fmt::format(
                   "<Relationship Id=\"rId{}\" Type=\"{}/styles\" Target=\"styles.xml\"/>"
                   "</Relationships>",
                   sheets + 1, kOffice);
}

std::string CoreProperties() {
  return fmt::format(
      "<cp:coreProperties xmlns:cp=\"{0}/metadata/core-properties\" "
      "xmlns:dcterms=\"http://purl.org/dc/terms/\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><dcterms:created "
      "xsi:type=\"dcterms:W3CDTF\">{1}</dcterms:created><dcterms:modified "
      "xsi:type=\"dcterms:W3CDTF\">{1}</dcterms:modified></cp:coreProperties>",
      kPackage, kCreated);
}

// A sheet's name within a formula.
std::string QuotedName(std::string_view name) {
  std::string quoted = "'";
  for (const char c : name) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

// Excel expects a hidden name for the range of each automatic filter.
std::string FilterNames(std::span<const Table> tables, std::span<const std::string> sheets) {
  std::string xml;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string range = FilterRange(tables[i]);
    if (range.empty()) continue;
    xml += fmt::format(
        "<definedName name=\"_xlnm._FilterDatabase\" localSheetId=\"{}\" hidden=\"1\">{}!{}"
        "</definedName>",
        i, XmlText(QuotedName(sheets[i])), range);
  }
  return xml.empty() ? xml : "<definedNames>" + xml + "</definedNames>";
}

std::string BookXml(std::span<const Table> tables, std::span<const std::string> sheets) {
  std::string xml = fmt::format(
      "<workbook xmlns=\"{}\" xmlns:r=\"{}\"><bookViews><workbookView xWindow=\"240\" "
      "yWindow=\"15\" windowWidth=\"16095\" windowHeight=\"9660\"/></bookViews><sheets>",
      kSpreadsheet, kOffice);
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    xml += fmt::format("<sheet name=\"{}\" sheetId=\"{}\" r:id=\"rId{}\"/>", XmlText(sheets[i]),
                       i + 1, i + 1);
  }
  return xml + "</sheets>" + FilterNames(tables, sheets) + "</workbook>";
}

// Every sheet as a part, made on several threads.
std::vector<io::ZipPart> MakeSheets(std::span<const Table> tables, XlsxFile* file) {
  std::vector<std::optional<io::ZipPart>> made(tables.size());
  std::vector<XlsxFile> facts(tables.size());
  ParallelFor(tables.size(), 0, [&](std::size_t i) {
    made[i] = MakeSheet(tables[i], "xl/" + SheetPart(i), i == 0, &facts[i]);
  });
  std::vector<io::ZipPart> parts;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    parts.push_back(std::move(*made[i]));
    file->texts_cut += facts[i].texts_cut;
    file->texts_mended += facts[i].texts_mended;
    file->rows_left_out += facts[i].rows_left_out;
    file->columns_left_out += facts[i].columns_left_out;
  }
  return parts;
}

}  // namespace

std::string SheetName(const std::string& table, std::span<const std::string> taken) {
  static constexpr std::string_view kForbidden = "[]:*?/\\";
  std::string base;
  for (const char c : ValidUtf8(table)) {
    const bool bad = static_cast<unsigned char>(c) < 0x20 || kForbidden.find(c) != kForbidden.npos;
    base.push_back(bad ? '_' : c);
  }
  base = FirstUnits(base, kSheetNameMax);
  // An apostrophe at an end would close the name in a formula; Excel keeps "History" for itself.
  if (base.starts_with('\'')) base.front() = '_';
  if (base.ends_with('\'')) base.back() = '_';
  if (base.empty()) base = "table";
  if (EqualsNoCase(base, "history")) base += "_";
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const std::string& other) { return EqualsNoCase(other, name); });
  };
  std::string name = base;
  for (int number = 2; is_taken(name); ++number) {
    const std::string suffix = fmt::format("~{}", number);
    name = FirstUnits(base, kSheetNameMax - suffix.size()) + suffix;
  }
  return name;
}

Result<XlsxFile> WriteXlsx(std::span<const Table> tables, io::OutputFolder& folder,
                           const std::string& name) {
  std::string content;
  JV_ASSIGN(XlsxFile file, ToXlsx(tables, &content));
  JV_ASSIGN(file.path, folder.Write(name, content));
  return file;
}

Result<XlsxFile> ToXlsx(std::span<const Table> tables, std::string* content) {
  // A workbook has one sheet at least.
  const Table nothing{"Sheet1", {}, {}};
  const std::span<const Table> sheets = tables.empty() ? std::span(&nothing, 1) : tables;
  XlsxFile file;
  for (const Table& table : sheets)
    file.sheets.push_back(SheetName(table.name, file.sheets));
  std::vector<io::ZipPart> parts = MakeSheets(sheets, &file);
  const auto add = [&parts](std::string name, std::string_view text) {
    parts.push_back(PartOf(std::move(name), text));
  };
  add("xl/workbook.xml", BookXml(sheets, file.sheets));
  add("xl/styles.xml",
      fmt::format("<styleSheet xmlns=\"{}\">{}</styleSheet>", kSpreadsheet, kStyles));
  add("xl/_rels/workbook.xml.rels", BookLinks(sheets.size()));
  add("docProps/core.xml", CoreProperties());
  add("_rels/.rels", RootLinks());
  // What others tell the kind of an archive by comes first.
  add("[Content_Types].xml", ContentTypes(sheets.size()));
  std::rotate(parts.begin(), parts.end() - 1, parts.end());
  JV_ASSIGN(*content, io::JoinZip(std::move(parts)));
  return file;
}

}  // namespace jarvis::output
