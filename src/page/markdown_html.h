// Our own documents' markdown as HTML: headings, paragraphs, lists, tables, code, emphasis, links
// within the document. All else is text, so nothing that a trace or an agent wrote becomes markup.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jarvis::page {

// Of one line: code, emphasis, links to "#anchors", escapes.
std::string InlineHtml(std::string_view markdown);

// Of blocks. Headings are given as they stand, "###" as <h3>.
std::string MarkdownHtml(std::string_view markdown);

// A document cut at its headings, in order: what stands before a heading's first inner one.
struct MarkdownPart {
  int level = 0;
  std::string_view title;
  std::string_view body;
};
std::vector<MarkdownPart> PartsOfMarkdown(std::string_view markdown);

// Cells of a table's line, as they stand.
std::vector<std::string> CellsOfLine(std::string_view line);

}  // namespace jarvis::page
