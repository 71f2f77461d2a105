#include "app/terminal_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <unistd.h>

#include "app/progress_line.h"
#include "base/text.h"

namespace jarvis::app {
namespace {

constexpr std::size_t kColumnsLeast = 40;
constexpr std::size_t kColumnsMost = 140;
constexpr std::size_t kCellLeast = 8;
constexpr std::size_t kBarLeast = 12;
constexpr std::size_t kBarMost = 30;
constexpr std::size_t kWordMost = 24;  // longer ones may be cut
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kCode = "\x1b[36m";
constexpr std::string_view kBarColour = "\x1b[34m";
constexpr std::string_view kPlain = "\x1b[0m";

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Characters, as far as one is one column wide.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

void Replace(std::string_view what, std::string_view with, std::string* text) {
  for (std::size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + with.size()))
    text->replace(at, what.size(), with);
}

// What stands for a character in markdown as the character.
std::string Unescaped(std::string_view markdown) {
  std::string text = OneLine(markdown);
  Replace("<br>", " ", &text);
  Replace("&lt;", "<", &text);
  Replace("\\|", "|", &text);
  Replace("\\[", "[", &text);
  return text;
}

// Without the marks of code and bold type.
std::string Unmarked(std::string text) {
  Replace("**", "", &text);
  Replace("`", "", &text);
  return text;
}

// Lines of at most `columns`, broken at blanks; a longer word is cut.
std::vector<std::string> Wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t width = 0;
  const auto flush = [&] {
    lines.push_back(std::move(line));
    line.clear();
    width = 0;
  };
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    for (std::size_t long_one = WidthOf(Unmarked(std::string(word))); long_one > columns;
         long_one = WidthOf(Unmarked(std::string(word)))) {
      if (width > 0) flush();
      const std::string_view part = Utf8Characters(word, columns);
      lines.emplace_back(part);
      word.remove_prefix(part.size());
    }
    const std::size_t wide = WidthOf(Unmarked(std::string(word)));
    if (width > 0 && width + 1 + wide > columns) flush();
    line += (width > 0 ? " " : "") + std::string(word);
    width += wide + (width > 0 ? 1 : 0);
  }
  if (width > 0 || lines.empty()) flush();
  return lines;
}

std::vector<std::string> CellsOf(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  line.remove_prefix(std::min<std::size_t>(line.size(), 1));
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) {
      cells.push_back(Unmarked(Unescaped(Trim(cell))));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

using TextTable = std::vector<std::vector<std::string>>;

class TerminalWriter {
 public:
  explicit TerminalWriter(const TerminalLook& look)
      : look_(look), columns_(std::clamp(look.columns, kColumnsLeast, kColumnsMost)) {}

  std::string Write(std::string_view markdown) {
    while (!markdown.empty()) {
      const std::string_view line = Take(&markdown);
      if (line.starts_with("|")) {
        TextTable table = {CellsOf(line)};
        while (markdown.starts_with("|")) {
          const std::string_view row = Take(&markdown);
          if (row.find_first_not_of("|- ") != std::string_view::npos) table.push_back(CellsOf(row));
        }
        WriteTable(table);
      } else if (line.starts_with("#")) {
        const std::string_view title = line.substr(std::min(line.size(), line.find(' ') + 1));
        for (const std::string& part : Wrapped(Unmarked(Unescaped(title)), columns_))
          out_ += Coloured(kBold, part) + "\n";
      } else {
        WriteParagraph(line);
      }
    }
    return std::move(out_);
  }

 private:
  static std::string_view Take(std::string_view* text) {
    const std::string_view line = text->substr(0, text->find('\n'));
    text->remove_prefix(std::min(text->size(), line.size() + 1));
    return line;
  }

  std::string Coloured(std::string_view colour, const std::string& text) const {
    if (!look_.colours || text.empty()) return text;
    return std::string(colour) + text + std::string(kPlain);
  }

  // Code and bold type in colours, or without their marks.
  std::string Marked(const std::string& line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool bold = line.compare(i, 2, "**") == 0;
      if (!bold && line[i] != '`') {
        text += line[i];
        continue;
      }
      bool& open = bold ? bold_ : code_;
      open = !open;
      if (look_.colours) text += open ? (bold ? kBold : kCode) : kPlain;
      i += bold ? 1 : 0;
    }
    return text;
  }

  void WriteParagraph(std::string_view line) {
    const bool item = line.starts_with("- ") || line.starts_with("* ");
    const std::size_t indent = item ? 2 : 0;
    bool first = true;
    for (const std::string& part :
         Wrapped(Unescaped(Trim(line)).substr(indent), columns_ - indent)) {
      out_ += (item && first ? "- " : std::string(indent, ' ')) + Marked(part) + "\n";
      first = false;
    }
    if ((code_ || bold_) && look_.colours) out_ += kPlain;
    code_ = bold_ = false;
  }

  // As wide as the longest cells; where that is more than `columns`, less of the column that has
  // the most to give before a word of its is cut.
  static std::vector<std::size_t> Widths(const TextTable& table, std::size_t columns) {
    std::vector<std::size_t> widths(table.front().size(), 1);
    std::vector<std::size_t> words(table.front().size(), 1);
    for (const std::vector<std::string>& row : table) {
      for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
        widths[i] = std::max(widths[i], WidthOf(row[i]));
        words[i] = std::max(words[i], std::min(kWordMost, LongestWord(row[i])));
      }
    }
    const std::size_t between = 2 * (widths.size() - 1);
    for (const std::size_t least : {std::size_t{0}, kCellLeast}) {
      while (std::accumulate(widths.begin(), widths.end(), between) > columns) {
        std::size_t most = 0;
        const auto spare = [&](std::size_t i) {
          const std::size_t floor = least > 0 ? least : words[i];
          return widths[i] > floor ? widths[i] - floor : 0;
        };
        for (std::size_t i = 0; i < widths.size(); ++i)
          most = spare(i) > spare(most) ? i : most;
        if (spare(most) == 0) break;
        --widths[most];
      }
    }
    return widths;
  }

  static std::size_t LongestWord(std::string_view text) {
    std::size_t longest = 0;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      longest = std::max(longest, WidthOf(word));
    }
    return longest;
  }

  // Of a share such as "88.9%", as long as the room behind the table allows.
  std::string BarOf(const std::string& cell, std::size_t room) const {
    const auto percent = ParseDouble(cell.substr(0, cell.find('%')));
    if (!cell.ends_with('%') || !percent) return "";
    const double cells = std::clamp(*percent / 100, 0.0, 1.0) * static_cast<double>(room);
    const auto full = static_cast<std::size_t>(std::lround(cells));
    std::string bar;
    for (std::size_t i = 0; i < full; ++i)
      bar += "\xE2\x96\x88";  // a full block
    return Coloured(kBarColour, bar);
  }

  void WriteTable(const TextTable& table) {
    // Shares in the last column are drawn behind it.
    const bool shares = table.front().back().starts_with("Share of the ");
    const std::vector<std::size_t> widths = Widths(table, columns_ - (shares ? kBarLeast : 0));
    const std::size_t used = std::accumulate(widths.begin(), widths.end(), 2 * widths.size());
    const std::size_t room = columns_ > used ? std::min(kBarMost, columns_ - used) : 0;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const std::string bar = shares && row > 0 ? BarOf(table[row].back(), room) : "";
      WriteRow(table[row], widths, row == 0, bar);
    }
  }

  void WriteRow(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                bool heading, const std::string& bar) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      cells.push_back(Wrapped(i < row.size() ? row[i] : "", widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string text;
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string part = line < cells[i].size() ? cells[i][line] : "";
        text += part + std::string(widths[i] - WidthOf(part) + 2, ' ');
      }
      const std::size_t end = text.find_last_not_of(' ');
      const std::string shown = text.substr(0, end == std::string::npos ? 0 : end + 1);
      if (line == 0 && !bar.empty()) {
        out_ += text + bar + "\n";
      } else {
        out_ += (heading ? Coloured(kBold, shown) : shown) + "\n";
      }
    }
  }

  const TerminalLook look_;
  const std::size_t columns_;
  bool code_ = false;  // open where a line was broken
  bool bold_ = false;
  std::string out_;
};

}  // namespace

std::optional<TerminalLook> TerminalLookOf(int fd) {
  const char* terminal = std::getenv("TERM");
  if (::isatty(fd) == 0 || terminal == nullptr || std::string_view(terminal) == "dumb")
    return std::nullopt;
  return TerminalLook{TerminalColumns(fd), !IsSet("NO_COLOR")};
}

std::string TerminalText(std::string_view markdown, const TerminalLook& look) {
  return TerminalWriter(look).Write(markdown);
}

}  // namespace jarvis::app
