// A page of HTML that stands alone: sections of text, tables and charts as data. No network, no
// script needed to read it, everything escaped; a small script sorts and filters tables. Light and
// dark as the reader's system is; tables scroll in themselves on narrow screens; prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace jarvis::output {

enum class HtmlTone { kPlain, kBetter, kWorse, kNoise, kWarning };

struct HtmlCell {
  std::string text;
  std::optional<double> value = {};  // sorts the column; makes the cell a number
  HtmlTone tone = HtmlTone::kPlain;
  std::string detail = {};  // small, below the text
  bool code = false;  // a name that may be long: wrapped, cut after two lines, whole on a click
};

struct HtmlColumn {
  std::string heading;
  bool number = false;
  std::string detail = {};  // small, below the heading: a unit, a label
};

struct HtmlTable {
  std::string caption = {};
  std::vector<HtmlColumn> columns = {};
  std::vector<std::vector<HtmlCell>> rows = {};
  std::string empty = "None.";  // instead of a table without rows
};

struct HtmlText {
  std::string text;
  HtmlTone tone = HtmlTone::kPlain;
};
struct HtmlList {
  std::vector<std::string> items;
};
// Pairs of a name and what there is to say, without a table's lines.
struct HtmlFacts {
  std::vector<std::pair<std::string, std::string>> facts;
};
// Pictures side by side where there is room, below each other where there is not.
struct HtmlFigure {
  std::string caption;
  std::string svg;    // of RenderSheet(..., ChartTheme::kPage): put in as it is
  bool wide = false;  // alone in its row
};
struct HtmlFigures {
  std::string title = {};
  std::vector<HtmlFigure> figures;
};

using HtmlBlock = std::variant<HtmlText, HtmlList, HtmlFacts, HtmlTable, HtmlFigures>;

struct HtmlSection {
  std::string title;
  std::vector<HtmlBlock> blocks;
};

struct HtmlPage {
  std::string title;
  std::string subtitle;
  std::vector<HtmlSection> sections;
};

std::string RenderHtml(const HtmlPage& page);

// The blocks alone, for pages that have more than sections of them.
std::string RenderBlocks(const std::vector<HtmlBlock>& blocks);

// A whole document around a body: style and script stand in it, and nothing else may run. The
// style sheet and the script of every page come first.
struct HtmlShell {
  std::string title;
  std::string style;   // beside that of every page
  std::string script;  // likewise
  std::string body;    // markup
};
std::string RenderShell(const HtmlShell& shell);

}  // namespace jarvis::output
