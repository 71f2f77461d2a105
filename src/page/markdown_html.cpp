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

// The number that a cell begins with, and what follows it: "12.4 ms", "8.15% of 5.30 TB/s",
// "+3,125 ms", "\u22121.43 ms".
struct LeadingNumber {
  double value;
  std::string_view unit;
};
std::optional<LeadingNumber> LeadingNumberOf(std::string_view cell) {
  constexpr std::string_view kMinus = "\xE2\x88\x92";
  const bool minus = cell.starts_with(kMinus) || cell.starts_with("-");
  if (minus) cell.remove_prefix(cell[0] == '-' ? 1 : kMinus.size());
  if (!minus && cell.starts_with("+")) cell.remove_prefix(1);
  const std::size_t end = std::min(cell.size(), cell.find_first_not_of("0123456789.,"));
  std::string digits(cell.substr(0, end));
  std::erase(digits, ',');
  const auto value = ParseDouble(digits);
  if (!value) return std::nullopt;
  const std::string_view unit = Trim(cell.substr(end));
  return LeadingNumber{minus ? -*value : *value, unit.substr(0, unit.find(' '))};
}

bool IsNothing(std::string_view cell) {
  return cell.empty() || cell == "\xE2\x80\x93" || cell == "\xE2\x80\x94";  // dashes
}

// By column: every cell that holds something begins with a number of one unit.
std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows,
                                std::size_t columns) {
  std::vector<bool> numbers(columns, true);
  for (std::size_t i = 0; i < columns; ++i) {
    std::optional<std::string_view> unit;
    for (const std::vector<std::string>& row : rows) {
      if (i >= row.size() || IsNothing(row[i])) continue;
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

namespace {

// "- text", "* text" and "1. text" are items of lists; the text, and the list's tag.
struct ListItem {
  std::string_view tag;  // empty: no item
  std::string_view text;
};
ListItem ItemOf(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return {"ul", line.substr(2)};
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits > 0 && digits != std::string_view::npos && line.substr(digits).starts_with(". "))
    return {"ol", line.substr(digits + 2)};
  return {};
}

class BlockWriter {
 public:
  std::string Write(std::string_view markdown) {
    while (!markdown.empty()) {
      const std::string_view line = TakeLine(&markdown);
      if (line.starts_with("|")) {
        Table(line, &markdown);
      } else if (!Heading(line) && !Anchor(line) && !Item(line)) {
        Text(line);
      }
    }
    Close();
    return std::move(html_);
  }

 private:
  void Close() {
    if (!paragraph_.empty()) html_ += "<p>" + paragraph_ + "</p>\n";
    paragraph_.clear();
    if (!list_.empty()) html_ += fmt::format("</{}>\n", list_);
    list_ = {};
  }
  void Table(std::string_view line, std::string_view* rest) {
    Close();
    std::vector<std::vector<std::string>> table = {CellsOfLine(line)};
    if (rest->starts_with("| ---") || rest->starts_with("|---")) TakeLine(rest);
    while (rest->starts_with("|"))
      table.push_back(CellsOfLine(TakeLine(rest)));
    html_ += TableHtml(table);
  }
  bool Heading(std::string_view line) {
    const int level = HeadingLevel(line);
    if (level == 0) return false;
    Close();
    html_ += fmt::format("<h{0}>{1}</h{0}>\n", level,
                         InlineHtml(line.substr(static_cast<std::size_t>(level) + 1)));
    return true;
  }
  bool Anchor(std::string_view line) {
    constexpr std::string_view kOpen = "<a id=\"";
    constexpr std::string_view kClose = "\"></a>";
    if (!line.starts_with(kOpen) || !line.ends_with(kClose)) return false;
    Close();
    line.remove_prefix(kOpen.size());
    line.remove_suffix(kClose.size());
    html_ += fmt::format("<a id=\"{}\"></a>\n", XmlText(line));
    return true;
  }
  bool Item(std::string_view line) {
    const ListItem item = ItemOf(line);
    if (item.tag.empty()) return false;
    if (item.tag != list_) Close();
    if (list_.empty()) html_ += fmt::format("<{}>\n", item.tag);
    list_ = item.tag;
    html_ += "<li>" + InlineHtml(item.text) + "</li>\n";
    return true;
  }
  void Text(std::string_view line) {
    const bool nothing = Trim(line).empty() || line == "---" || line.starts_with("<!--");
    if (nothing || !list_.empty()) Close();
    if (nothing) return;
    paragraph_ += (paragraph_.empty() ? "" : " ") + InlineHtml(Trim(line));
    if (line.ends_with("  ")) paragraph_ += "<br>";
  }

  std::string paragraph_;
  std::string_view list_;  // the tag of the open one
  std::string html_;
};

}  // namespace

std::string MarkdownHtml(std::string_view markdown) {
  return BlockWriter().Write(markdown);
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
