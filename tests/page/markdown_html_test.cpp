#include "page/markdown_html.h"

#include <doctest/doctest.h>

#include "page/script_text.h"

namespace jarvis::page {
namespace {

TEST_CASE("inline: code, emphasis, links within the document") {
  CHECK(InlineHtml("`a<b>` and **bold** *it*") ==
        "<code>a&lt;b&gt;</code> and <strong>bold</strong> <em>it</em>");
  CHECK(InlineHtml("[1](#detail-f1)") == "<a href=\"#detail-f1\">1</a>");
  CHECK(InlineHtml("3 * 4 * 5") == "3 * 4 * 5");
  CHECK(InlineHtml("(4,8) fp32<br>(8,) fp32") == "(4,8) fp32<br>(8,) fp32");
}

TEST_CASE("inline: no text becomes markup or leads elsewhere") {
  CHECK(InlineHtml("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;");
  CHECK(InlineHtml("&lt;b>") == "&lt;b&gt;");
  CHECK(InlineHtml("[here](http://example.com)") == "here");
  CHECK(InlineHtml("[here](javascript:alert(1))").find("href") == std::string::npos);
  CHECK(InlineHtml("[x](#a\" onclick=\"y)").find("href") == std::string::npos);
  CHECK(InlineHtml("a \\[b\\] \\| c") == "a [b] | c");
  CHECK(InlineHtml("`unclosed") == "`unclosed");
}

TEST_CASE("blocks: a table whose numbers sort") {
  const std::string html = MarkdownHtml(
      "| Op | Time | Achieved |\n| --- | --- | --- |\n| `a\\|b` | 12.5 ms | 3 TB/s |\n"
      "| c | 0.4 ms | 5 TFLOPS/s |\n| d | \xE2\x80\x94 | \xE2\x80\x94 |\n");
  CHECK(html.find("<td><code>a|b</code></td>") != std::string::npos);
  CHECK(html.find("<th scope=\"col\" class=\"n\">Time</th>") != std::string::npos);
  CHECK(html.find("data-v=\"12.5\"") != std::string::npos);
  // Numbers of different units do not compare.
  CHECK(html.find("<th scope=\"col\">Achieved</th>") != std::string::npos);
}

TEST_CASE("blocks: paragraphs, lists, headings, anchors") {
  CHECK(MarkdownHtml("one\ntwo\n\n- a\n- b\n\n#### Four\n") ==
        "<p>one two</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<h4>Four</h4>\n");
  CHECK(MarkdownHtml("<a id=\"detail-f1\"></a>\n") == "<a id=\"detail-f1\"></a>\n");
  CHECK(MarkdownHtml("<a id=\"x\"><img src=y></a>\n").find("<img") == std::string::npos);
}

TEST_CASE("blocks: tables and lists as comparisons write them") {
  CHECK(MarkdownHtml("* a\n* b\n\n1. c\n2. d\n") ==
        "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>\n<li>d</li>\n</ol>\n");
  const std::string html = MarkdownHtml(
      "| A | B |\n|---|---|\n| 3,125 | \xE2\x88\x92"
      "1.5 ms |\n| 12 | \xE2\x80\x93 |\n");
  CHECK(html.find("---") == std::string::npos);
  CHECK(html.find("data-v=\"3125\"") != std::string::npos);
  CHECK(html.find("data-v=\"-1.5\"") != std::string::npos);
}

TEST_CASE("a document in parts") {
  const auto parts = PartsOfMarkdown("# T\n\n## A\n\ntext\n### B\nmore\n");
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].title == "A");
  CHECK(parts[1].body == "\ntext\n");
  CHECK(parts[2].level == 3);
  CHECK(parts[2].body == "more\n");
  CHECK(PartsOfMarkdown("no heading").empty());
}

TEST_CASE("script text: nothing ends the element that it stands in") {
  CHECK(ScriptString("</script><!--") == "\"\\u003c/script>\\u003c!--\"");
  CHECK(ScriptString("a\xE2\x80\xA8z\"\\") == "\"a z\\\"\\\\\"");
  CHECK(ScriptString("\xFF") == "\"\xEF\xBF\xBD\"");
  ScriptNames names;
  CHECK(names.Of("x") == 0);
  CHECK(names.Of("<y") == 1);
  CHECK(names.Of("x") == 0);
  CHECK(names.Json() == "[]");  // nothing is shown
  CHECK(names.Shown(names.Of("<y")) == 0);
  CHECK(names.Shown(names.Of("<y")) == 0);
  CHECK(names.Json() == "[\"\\u003cy\"]");
}

}  // namespace
}  // namespace jarvis::page
