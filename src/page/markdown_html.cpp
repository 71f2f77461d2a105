#include "page/markdown_html.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "output/svg.h"

namespace jarvis::page {
namespace {

using output::XmlText;

bool IsAnchor(std::string_view target) {
  return target.size() > 1 && target[0] == '#' &&
         std::all_of(target.begin() + 1, target.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

// One line, from left to right.
class InlineWriter {
 public:
  explicit InlineWriter(std::string_view text) : left_(text) {}

  std::string Write() {
    while (!left_.empty()) {
      if (Code() || Break() || Link() || Emphasis() || Escape()) continue;
      plain_ += left_[0];
      left_.remove_prefix(1);
    }
    Flush();
    return out_;
  }

 private:
  bool Code() {
    if (left_[0] != '`') return false;
    const std::size_t end = left_.find('`', 1);
    if (end == std::string_view::npos) return false;
    std::string code(left_.substr(1, end - 1));
    for (std::size_t at = code.find("\\|"); at != std::string::npos; at = code.find("\\|", at + 1))
      code.erase(at, 1);
    Flush();
    out_ += "<code>" + XmlText(code) + "</code>";
    left_.remove_prefix(end + 1);
    return true;
  }
  bool Break() {
    if (!left_.starts_with("<br>")) return false;
    Flush();
    out_ += "<br>";
    left_.remove_prefix(4);
    return true;
  }
  // [words](#anchor) leads there; of another target the words alone are left.
  bool Link() {
    if (left_[0] != '[') return false;
    const std::size_t close = left_.find("](");
    const std::size_t end = close == std::string_view::npos ? close : left_.find(')', close);
    if (end == std::string_view::npos || left_.substr(1, close - 1).find('[') != std::string::npos)
      return false;
    const std::string_view words = left_.substr(1, close - 1);
    const std::string_view target = left_.substr(close + 2, end - close - 2);
    Flush();
    const std::string inside = InlineHtml(words);
    out_ += IsAnchor(target) ? fmt::format("<a href=\"{}\">{}</a>", target, inside) : inside;
    left_.remove_prefix(end + 1);
    return true;
  }
  bool Emphasis() {
    if (left_[0] != '*') return false;
    const bool strong = left_.starts_with("**");
    const std::string_view mark = strong ? "**" : "*";
    const std::size_t end = left_.find(mark, mark.size());
    if (end == std::string_view::npos || end == mark.size() || left_[mark.size()] == ' ')
      return false;
    Flush();
    const std::string inside = InlineHtml(left_.substr(mark.size(), end - mark.size()));
    out_ += strong ? "<strong>" + inside + "</strong>" : "<em>" + inside + "</em>";
    left_.remove_prefix(end + mark.size());
    return true;
  }
  // "\|", "\[" and "&lt;" stand for the character.
  bool Escape() {
    if (left_.starts_with("&lt;")) {
      plain_ += '<';
      left_.remove_prefix(4);
      return true;
    }
    if (left_[0] != '\\' || left_.size() < 2 || !std::ispunct(static_cast<unsigned char>(left_[1])))
      return false;
    plain_ += left_[1];
    left_.remove_prefix(2);
    return true;
  }
  void Flush() {
    out_ += XmlText(plain_);
    plain_.clear();
  }

  std::string_view left_;
  std::string plain_;
  std::string out_;
};

std::string_view TakeLine(std::string_view* text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line;
}

int HeadingLevel(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  const bool heading = level != std::string_view::npos && level > 0 && level <= 6;
  return heading && line[level] == ' ' ? static_cast<int>(level) : 0;
}

// The number that a cell begins with, and what follows it: "12.4 ms", "8.15% of 5.30 TB/s".
struct LeadingNumber {
  double value;
  std::string_view unit;
};
std::optional<LeadingNumber> LeadingNumberOf(std::string_view cell) {
  const std::size_t end = cell.find_first_not_of("0123456789.");
  const auto value = ParseDouble(cell.substr(0, end));
  if (!value) return std::nullopt;
  std::string_view unit = end == std::string_view::npos ? "" : Trim(cell.substr(end));
  return LeadingNumber{*value, unit.substr(0, unit.find(' '))};
}

// By column: every cell that holds something begins with a number of one unit.
std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows,
                                std::size_t columns) {
  std::vector<bool> numbers(columns, true);
  for (std::size_t i = 0; i < columns; ++i) {
    std::optional<std::string_view> unit;
    for (const std::vector<std::string>& row : rows) {
      if (i >= row.size() || row[i].empty() || row[i] == "\xE2\x80\x94") continue;
      const auto number = LeadingNumberOf(row[i]);
      numbers[i] = numbers[i] && number && (!unit || *unit == number->unit);
      if (number) unit = number->unit;
    }
    numbers[i] = numbers[i] && unit.has_value();
  }
  return numbers;
}

std::string TableHtml(const std::vector<std::vector<std::string>>& lines) {
  const std::vector<std::string>& header = lines.front();
  const std::vector<std::vector<std::string>> rows(lines.begin() + 1, lines.end());
  const std::vector<bool> numbers = NumberColumns(rows, header.size());
  std::string html =
      "<div class=\"scroll table\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table>\n"
      "<thead><tr>";
  for (std::size_t i = 0; i < header.size(); ++i) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", numbers[i] ? " class=\"n\"" : "",
                        InlineHtml(header[i]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::string cell = i < row.size() ? row[i] : "";
      const auto number = numbers[i] ? LeadingNumberOf(cell) : std::nullopt;
      html +=
          fmt::format("<td{}{}>{}</td>", numbers[i] ? " class=\"n\"" : "",
                      number ? fmt::format(" data-v=\"{}\"", number->value) : "", InlineHtml(cell));
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

}  // namespace

std::string InlineHtml(std::string_view markdown) {
  return InlineWriter(markdown).Write();
}

std::vector<std::string> CellsOfLine(std::string_view line) {
  std::vector<std::string> cells;
  if (line.starts_with("|")) line.remove_prefix(1);
  std::string cell;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      cell += line.substr(i, 2);
      ++i;
    } else if (line[i] == '|') {
      cells.emplace_back(Trim(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

std::string MarkdownHtml(std::string_view markdown) {
  std::string html;
  std::string paragraph;
  bool list = false;
  const auto close = [&] {
    if (!paragraph.empty()) html += "<p>" + paragraph + "</p>\n";
    paragraph.clear();
    if (list) html += "</ul>\n";
    list = false;
  };
  while (!markdown.empty()) {
    const std::string_view line = TakeLine(&markdown);
    if (line.starts_with("|")) {
      close();
      std::vector<std::vector<std::string>> table = {CellsOfLine(line)};
      if (markdown.starts_with("| ---")) TakeLine(&markdown);
      while (markdown.starts_with("|"))
        table.push_back(CellsOfLine(TakeLine(&markdown)));
      html += TableHtml(table);
    } else if (const int level = HeadingLevel(line); level > 0) {
      close();
      const auto text = line.substr(static_cast<std::size_t>(level) + 1);
      html += fmt::format("<h{0}>{1}</h{0}>\n", level, InlineHtml(text));
    } else if (line.starts_with("<a id=\"") && line.ends_with("\"></a>")) {
      close();
      html += fmt::format("<a id=\"{}\"></a>\n", XmlText(line.substr(7, line.size() - 13)));
    } else if (line.starts_with("- ")) {
      if (!paragraph.empty()) close();
      html += (list ? "" : "<ul>\n") + ("<li>" + InlineHtml(line.substr(2)) + "</li>\n");
      list = true;
    } else if (Trim(line).empty() || line == "---" || line.starts_with("<!--")) {
      close();
    } else {
      if (list) close();
      paragraph += (paragraph.empty() ? "" : " ") + InlineHtml(Trim(line));
      if (line.ends_with("  ")) paragraph += "<br>";
    }
  }
  close();
  return html;
}

std::vector<MarkdownPart> PartsOfMarkdown(std::string_view markdown) {
  std::vector<MarkdownPart> parts;
  const char* body = markdown.data();
  const auto finish = [&](const char* end) {
    if (!parts.empty())
      parts.back().body = std::string_view(body, static_cast<std::size_t>(end - body));
  };
  while (!markdown.empty()) {
    const std::string_view line = TakeLine(&markdown);
    const int level = HeadingLevel(line);
    if (level == 0) continue;
    finish(line.data());
    parts.push_back({level, line.substr(static_cast<std::size_t>(level) + 1), {}});
    body = markdown.data();
  }
  finish(markdown.data());
  return parts;
}

}  // namespace jarvis::page
