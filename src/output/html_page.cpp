#include "output/html_page.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "output/html_files.h"
#include "output/html_policy.h"
#include "output/svg.h"

namespace jarvis::output {
namespace {

std::string_view FileNamed(std::string_view name) {
  for (const EmbeddedFile& file : PageFiles()) {
    if (file.name == name) return file.text;
  }
  return {};
}

std::string_view ClassOf(HtmlTone tone) {
  switch (tone) {
    case HtmlTone::kPlain: return "";
    case HtmlTone::kBetter: return "better";
    case HtmlTone::kWorse: return "worse";
    case HtmlTone::kNoise: return "noise";
    case HtmlTone::kWarning: return "warn";
  }
  return "";
}

// class="a b", or nothing.
std::string Classes(std::initializer_list<std::string_view> names) {
  std::string all;
  for (const std::string_view name : names) {
    if (!name.empty()) all += (all.empty() ? "" : " ") + std::string(name);
  }
  return all.empty() ? all : fmt::format(" class=\"{}\"", all);
}

std::string Small(std::string_view detail) {
  return detail.empty() ? "" : fmt::format("<small>{}</small>", XmlText(detail));
}

class Writer {
 public:
  void Blocks(const std::vector<HtmlBlock>& blocks) {
    for (const HtmlBlock& block : blocks)
      std::visit([this](const auto& one) { Block(one); }, block);
  }
  std::string Take() { return std::move(out_); }

 private:
  void Block(const HtmlText& text) {
    out_ += fmt::format("<p{}>{}</p>\n", Classes({ClassOf(text.tone)}), XmlText(text.text));
  }

  void Block(const HtmlList& list) {
    if (list.items.empty()) return;
    out_ += "<ul>\n";
    for (const std::string& item : list.items)
      out_ += fmt::format("<li>{}</li>\n", XmlText(item));
    out_ += "</ul>\n";
  }

  void Block(const HtmlFacts& facts) {
    if (facts.facts.empty()) return;
    out_ += "<dl>\n";
    for (const auto& [name, what] : facts.facts)
      out_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", XmlText(name), XmlText(what));
    out_ += "</dl>\n";
  }

  void Block(const HtmlTable& table) {
    if (!table.caption.empty()) out_ += fmt::format("<h3>{}</h3>\n", XmlText(table.caption));
    if (table.rows.empty()) {
      out_ += fmt::format("<p class=\"noise\">{}</p>\n", XmlText(table.empty));
      return;
    }
    out_ += fmt::format(
        "<div class=\"scroll table\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
        "<table>\n<thead><tr>",
        XmlText(table.caption.empty() ? "table" : OneLine(table.caption)));
    const std::string_view key = HoldsCode(table) ? "" : "key";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const HtmlColumn& column = table.columns[i];
      out_ += fmt::format("<th scope=\"col\"{}>{}{}</th>",
                          Classes({column.number ? "n" : "", i == 0 ? key : ""}),
                          XmlText(column.heading), Small(column.detail));
    }
    out_ += "</tr></thead>\n<tbody>\n";
    for (const std::vector<HtmlCell>& row : table.rows) {
      out_ += "<tr>";
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        Cell(table.columns[i], i == 0 ? key : "", i < row.size() ? row[i] : HtmlCell{});
      out_ += "</tr>\n";
    }
    out_ += "</tbody>\n</table></div>\n";
  }

  // The first column stays in sight, but not one of long names.
  static bool HoldsCode(const HtmlTable& table) {
    for (const std::vector<HtmlCell>& row : table.rows) {
      if (!row.empty() && row.front().code) return true;
    }
    return false;
  }

  void Cell(const HtmlColumn& column, std::string_view key, const HtmlCell& cell) {
    out_ += fmt::format("<td{}", Classes({column.number ? "n" : "", key, cell.code ? "code" : "",
                                          ClassOf(cell.tone)}));
    if (cell.value && std::isfinite(*cell.value))
      out_ += fmt::format(" data-v=\"{}\"", *cell.value);
    const std::string text = XmlText(cell.text);
    if (cell.code) {
      out_ += fmt::format("><span tabindex=\"0\" title=\"{0}\">{0}</span>", text);
    } else {
      out_ += ">" + text;
    }
    out_ += Small(cell.detail) + "</td>";
  }

  void Block(const HtmlFigures& figures) {
    if (!figures.title.empty()) out_ += fmt::format("<h3>{}</h3>\n", XmlText(figures.title));
    if (figures.figures.empty()) return;
    out_ += "<div class=\"figures\">\n";
    for (const HtmlFigure& figure : figures.figures) {
      out_ += fmt::format("<figure{}>", Classes({figure.wide ? "wide" : ""}));
      if (!figure.caption.empty()) {
        out_ += fmt::format("<figcaption>{}</figcaption>", XmlText(figure.caption));
      }
      out_ += fmt::format("<div class=\"scroll\" tabindex=\"0\">\n{}</div></figure>\n", figure.svg);
    }
    out_ += "</div>\n";
  }

  std::string out_;
};

}  // namespace

std::string RenderBlocks(const std::vector<HtmlBlock>& blocks) {
  Writer writer;
  writer.Blocks(blocks);
  return writer.Take();
}

std::string RenderShell(const HtmlShell& shell) {
  const std::string style = std::string(FileNamed("page_style")) + shell.style;
  const std::string script = std::string(FileNamed("page_script")) + shell.script;
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n{}<script>{}</script>\n</body>\n</html>\n",
      PagePolicy(style, script), XmlText(shell.title), style, shell.body, script);
}

std::string RenderHtml(const HtmlPage& page) {
  std::string body = fmt::format("<header>\n<h1>{}</h1>\n", XmlText(page.title));
  if (!page.subtitle.empty()) {
    body += fmt::format("<p class=\"under\">{}</p>\n", XmlText(page.subtitle));
  }
  body += "</header>\n<nav aria-label=\"Sections\">\n";
  for (std::size_t i = 0; i < page.sections.size(); ++i) {
    body += fmt::format("<a href=\"#s{}\">{}</a>\n", i + 1, XmlText(page.sections[i].title));
  }
  body += "</nav>\n<main>\n";
  for (std::size_t i = 0; i < page.sections.size(); ++i) {
    body += fmt::format("<section id=\"s{}\">\n<h2>{}</h2>\n{}</section>\n", i + 1,
                        XmlText(page.sections[i].title), RenderBlocks(page.sections[i].blocks));
  }
  return RenderShell({page.title, {}, {}, body + "</main>\n"});
}

}  // namespace jarvis::output
