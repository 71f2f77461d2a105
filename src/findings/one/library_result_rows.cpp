#include "findings/one/library_result_rows.h"

#include <string_view>

#include "base/check.h"
#include "base/dom_parse.h"

namespace jarvis::findings {
namespace {

LibraryResult LibraryResultOf(const simdjson::dom::element& row) {
  const auto text = [&](std::string_view key) {
    std::string_view value;
    JV_CHECK(row[key].get(value) == simdjson::SUCCESS);
    return std::string(value);
  };
  const std::string function = text("function"), of = text("of");
  const std::size_t colon = function.find(": ");
  JV_CHECK(colon != std::string::npos && (of == "inputs" || of == "weights"));
  JV_CHECK(!text("what").empty() && !text("do").empty() && !text("source").empty());
  return {function.substr(0, colon),
          function.substr(colon + 2),
          text("caller"),
          text("what"),
          text("do"),
          of == "weights"};
}

}  // namespace

const std::vector<LibraryResult>& LibraryResults() {
  static const std::vector<LibraryResult> results = [] {
    std::vector<LibraryResult> all;
    for (const EmbeddedFile& file : LibraryResultFiles()) {
      simdjson::dom::parser parser;
      simdjson::dom::element document;
      simdjson::dom::array rows;
      JV_CHECK(ParseDom(&parser, file.text, &document) == simdjson::SUCCESS &&
               document["results"].get(rows) == simdjson::SUCCESS);
      for (const simdjson::dom::element row : rows)
        all.push_back(LibraryResultOf(row));
    }
    return all;
  }();
  return results;
}

}  // namespace jarvis::findings
