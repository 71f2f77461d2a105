// Zip archives in memory, as a workbook comes, for tests.
#pragma once

#include <map>
#include <string>

#include <zip.h>

namespace jarvis::testing {

using ZipParts = std::map<std::string, std::string>;  // texts by name

// Empty: the library said no.
inline std::string ZipOf(const ZipParts& parts) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* archive = zip_open_from_source(source, ZIP_TRUNCATE, &error);
  if (archive == nullptr) return {};
  zip_source_keep(source);
  for (const auto& [name, text] : parts) {
    zip_source_t* part = zip_source_buffer(archive, text.data(), text.size(), 0);
    zip_file_add(archive, name.c_str(), part, ZIP_FL_ENC_UTF_8);
  }
  std::string bytes;
  zip_stat_t stat;
  if (zip_close(archive) == 0 && zip_source_stat(source, &stat) == 0 &&
      zip_source_open(source) == 0) {
    bytes.resize(stat.size);
    zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
  }
  zip_source_free(source);
  return bytes;
}

// A workbook of one sheet, "one".
inline ZipParts OneSheet(const std::string& sheet_data) {
  return {
      {"xl/workbook.xml",
       R"(<workbook xmlns:r="r"><sheets><sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>)"},
      {"xl/_rels/workbook.xml.rels",
       R"(<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>)"},
      {"xl/worksheets/sheet1.xml",
       "<worksheet><sheetData>" + sheet_data + "</sheetData></worksheet>"}};
}

}  // namespace jarvis::testing
