// A markdown document taken apart, as far as a check of it needs: headings, tables, links, prose.
// The views point into the text, which must outlive the result.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::documents {

struct Heading {
  int level = 1;
  std::string_view text;
  std::size_t line = 0;  // from 0
};
struct ScannedTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // cells, trimmed
  std::size_t line = 0;
};
struct Link {
  std::string_view target;
  std::size_t line = 0;
};
struct ProseLine {
  std::string_view text;
  std::size_t line = 0;
};

struct ScannedMarkdown {
  std::vector<std::string_view> lines;
  std::vector<Heading> headings;
  std::vector<ScannedTable> tables;
  std::vector<Link> links;
  std::vector<ProseLine> prose;           // neither tables nor comments; headings too
  std::set<std::string> anchors;          // of headings, as the web makes them, and of <a id="">
  std::vector<std::string_view> markers;  // "impact-begin kind=p_item ..." of <!-- -->
};

ScannedMarkdown ScanMarkdown(std::string_view text);

}  // namespace jarvis::documents
