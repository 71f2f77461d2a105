#include "documents/front_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "documents/first_screen.h"
#include "documents/front.h"
#include "documents/markdown_text.h"
#include "phrases/ids/front.h"
#include "phrases/phrase.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kColumnsLeast = 40;
constexpr std::size_t kColumnsMost = 140;
constexpr std::size_t kCellLeast = 8;
constexpr std::size_t kBarLeast = 12;
constexpr std::size_t kBarMost = 30;
constexpr std::size_t kFixesMost = 18;  // columns
constexpr std::size_t kNumberWide = 3;
constexpr double kLegendLeast = 4;                                           // percent of the bar
constexpr std::string_view kFull = "\xE2\x96\x88", kLight = "\xE2\x96\x91";  // blocks
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kCode = "\x1b[36m";
constexpr std::string_view kBarColour = "\x1b[34m";
constexpr std::string_view kPlain = "\x1b[0m";

// Characters, as far as one is one column wide.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// Without the marks of code and bold type.
std::string Unmarked(std::string text) {
  text = WithoutEmphasis(std::move(text));
  std::erase(text, '`');
  return text;
}

// As wide as text is whose code and bold type are colours, or whose code keeps its marks.
std::size_t WidthUnmarked(std::string_view text) {
  return WidthOf(Unmarked(std::string(text)));
}
std::size_t WidthWithCode(std::string_view text) {
  return WidthOf(WithoutEmphasis(std::string(text)));
}

// Lines of at most `columns`, broken at blanks; a longer word is cut.
std::vector<std::string> Wrapped(std::string_view text, std::size_t columns,
                                 std::size_t (*width_of)(std::string_view) = &WidthUnmarked) {
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
    while (width_of(word) > columns) {
      if (width > 0) flush();
      const std::string_view part = Utf8Characters(word, columns);
      lines.emplace_back(part);
      word.remove_prefix(part.size());
    }
    const std::size_t wide = width_of(word);
    if (width > 0 && width + 1 + wide > columns) flush();
    line += (width > 0 ? " " : "") + std::string(word);
    width += wide + (width > 0 ? 1 : 0);
  }
  if (width > 0 || lines.empty()) flush();
  return lines;
}

// Tables of a terminal and lists of fixes.
class FrontWriter {
 public:
  explicit FrontWriter(const TerminalLook& look)
      : look_(look), columns_(std::clamp(look.columns, kColumnsLeast, kColumnsMost)) {}

  // First what fits a screen: what it is, the bar, the first fixes, one line on trust. Then the
  // rest.
  std::string Write(const Front& front) {
    FirstScreen(front);
    Sections(front);
    return std::move(out_);
  }

 private:
  void Blank() { out_ += "\n"; }

  void Sentences(const std::vector<std::string>& sentences) {
    if (!sentences.empty()) Paragraph(fmt::format("{}", fmt::join(sentences, " ")), "");
  }

  void FirstScreen(const Front& front) {
    Heading(front.title);
    if (!front.run.empty()) Paragraph(front.run, "");
    Sentences({front.summary.begin(), Further(front)});
    Bar(front);
    Blank();
    FirstFixes(front);
    if (const std::string trust = FirstTrust(front); !trust.empty()) Paragraph(trust, "");
  }
  static std::vector<std::string>::const_iterator Further(const Front& front) {
    return front.summary.begin() + static_cast<std::ptrdiff_t>(front.brief);
  }

  // What takes longer to read than a glance.
  void Sections(const Front& front) {
    const std::vector<std::string> further(Further(front), front.summary.end());
    Parts(front);
    Fixes(front);
    if (!front.trust.empty() || !further.empty()) {
      Blank();
      Heading(Say(phrases::front::kTrustHeading));
      for (const std::string& line : front.trust)
        Paragraph(line, "- ");
      for (const std::string& line : further)
        Paragraph(line, "- ");
    }
    if (front.model.empty()) return;
    Blank();
    Heading(Say(phrases::front::kWorkloadHeading));
    Paragraph(front.model, "");
  }

  // The parts of the time as one bar, light and dark in turn, and the shares of the large ones in
  // its order.
  void Bar(const Front& front) {
    double all = 0;
    for (const FrontPart& part : front.parts)
      all += part.percent;
    if (all <= 0) return;
    std::string bar, legend;
    double end = 0, other = 0;
    std::size_t drawn = 0;
    for (std::size_t i = 0; i < front.parts.size(); ++i) {
      const FrontPart& part = front.parts[i];
      end += part.percent / all * static_cast<double>(columns_);
      for (const auto to = static_cast<std::size_t>(std::lround(end)); drawn < to; ++drawn)
        bar += i % 2 == 0 ? kFull : kLight;
      const bool last = i + 1 == front.parts.size();  // all other lines
      if (part.percent < kLegendLeast || last) {
        other += part.percent;
        continue;
      }
      legend += (legend.empty() ? "" : ", ") + BarName(part.name) + " " + part.share;
    }
    out_ += Coloured(kBarColour, bar) + "\n";
    Paragraph(Say(phrases::front::kBarLegend, {{"parts", legend}, {"other", Pct(other)}}), "");
  }

  // Number, path and saving in columns, and what to do.
  void FirstFixes(const Front& front) {
    const std::vector<const FixRow*> rows = FirstFixRows(front);
    if (rows.empty()) return;
    Heading(Say(phrases::front::kFixesHeading));
    std::size_t number = 1, saving = 0;
    for (const FixRow* row : rows) {
      number = std::max(number, WidthOf(NumberOf(*row)));
      saving = std::max(saving, WidthOf(row->brief));
    }
    for (const FixRow* row : rows) {
      const std::string blanks(number - WidthOf(NumberOf(*row)), ' ');
      const std::string more(saving - WidthOf(row->brief), ' ');
      const std::string before =
          fmt::format("{}{}  {}  {}{}{}", NumberOf(*row), blanks, row->ways.front().path,
                      row->brief, more, saving > 0 ? "  " : "");
      // On a narrow terminal without columns.
      const bool wide = 2 * WidthOf(before) <= columns_;
      Paragraph((wide ? "" : before) + FirstAction(*row), wide ? before : "");
    }
  }

  void Heading(std::string_view title) {
    for (const std::string& line : Wrapped(Unmarked(PlainLine(title)), columns_))
      out_ += Coloured(kBold, line) + "\n";
  }

  std::string Coloured(std::string_view colour, const std::string& text) const {
    if (!look_.colours || text.empty()) return text;
    return std::string(colour) + text + std::string(kPlain);
  }

  // Code and bold type in colours; without colours code keeps its marks, which say what is to be
  // typed.
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
      if (!look_.colours && !bold) text += '`';
      i += bold ? 1 : 0;
    }
    return text;
  }

  // `first` stands before the first line, as many blanks before the others.
  void Paragraph(std::string_view text, std::string_view first) {
    const std::size_t indent = WidthOf(first);
    std::string before(first);
    for (const std::string& line : Wrapped(PlainLine(Trim(text)), columns_ - indent, Width())) {
      out_ += before + Marked(line) + "\n";
      before.assign(indent, ' ');
    }
    if ((code_ || bold_) && look_.colours) out_ += kPlain;
    code_ = bold_ = false;
  }

  // How wide a piece of a paragraph is on this terminal.
  std::size_t (*Width() const)(std::string_view) {
    return look_.colours ? &WidthUnmarked : &WidthWithCode;
  }

  // Name, time, share and the fixes that are about it, with the share as a bar.
  void Parts(const Front& front) {
    if (front.parts.empty()) return;
    Blank();
    Heading(Say(phrases::front::kPartsHeading, {{"of", front.parts_of}}));
    std::vector<std::array<std::string, 4>> rows;
    for (const FrontPart& part : front.parts)
      rows.push_back({Unmarked(PlainLine(part.name)), part.time, part.share, part.fixes});
    std::array<std::size_t, 4> widths{};
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
    const std::size_t between = 8;  // indent and two blanks after each
    widths[3] = std::min(widths[3], kFixesMost);
    const std::size_t others = widths[1] + widths[2] + widths[3] + between;
    widths[0] = std::min(widths[0], columns_ - std::min(columns_ - kCellLeast, others));
    const std::size_t used = widths[0] + others;
    const std::size_t room = columns_ > used + kBarLeast ? std::min(kBarMost, columns_ - used) : 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      PartRow(rows[i], widths, BarOf(front.parts[i].percent, room));
    }
  }

  void PartRow(const std::array<std::string, 4>& row, const std::array<std::size_t, 4>& widths,
               const std::string& bar) {
    const std::vector<std::string> names = Wrapped(row[0], widths[0]);
    const std::vector<std::string> fixes = Wrapped(row[3], widths[3]);
    for (std::size_t line = 0; line < std::max(names.size(), fixes.size()); ++line) {
      const auto cell = [&](const std::string& text, std::size_t width, bool right) {
        const std::string blanks(width - std::min(width, WidthOf(text)), ' ');
        return right ? blanks + text : text + blanks;
      };
      const auto of = [&](const std::vector<std::string>& lines) {
        return line < lines.size() ? lines[line] : std::string();
      };
      std::string text = "  " + cell(of(names), widths[0], false) + "  " +
                         cell(line == 0 ? row[1] : "", widths[1], true) + "  " +
                         cell(line == 0 ? row[2] : "", widths[2], true) + "  " +
                         cell(of(fixes), widths[3], false);
      if (line == 0 && !bar.empty()) text += "  " + bar;
      text.erase(text.find_last_not_of(' ') + 1);
      out_ += text + "\n";
    }
  }

  // Of a share, as long as the room behind the table allows.
  std::string BarOf(double percent, std::size_t room) const {
    const double cells = std::clamp(percent / 100, 0.0, 1.0) * static_cast<double>(room);
    const auto full = static_cast<std::size_t>(std::lround(cells));
    std::string bar;
    for (std::size_t i = 0; i < full; ++i)
      bar += "\xE2\x96\x88";  // a full block
    return Coloured(kBarColour, bar);
  }

  // What each saves and why, and other ways; of those that have not been told, what to do as well.
  void Fixes(const Front& front) {
    if (front.fixes.empty()) return;
    Blank();
    Heading(Say(phrases::front::kReasonsHeading));
    const std::vector<const FixRow*> first = FirstFixRows(front);
    for (const FixRow& row : front.fixes)
      Fix(row, std::ranges::find(first, &row) != first.end());
  }

  void Fix(const FixRow& row, bool told) {
    const std::string number = NumberOf(row);
    const std::string indent(std::max(kNumberWide, WidthOf(number) + 1), ' ');
    std::string before = number + std::string(indent.size() - WidthOf(number), ' ');
    std::string reasons = SavesSentence(row);
    if (row.because != kAbsentText && !row.because.empty())
      reasons +=
          (reasons.empty() ? "" : " ") + Say(phrases::front::kWhy, {{"reason", row.because}});
    for (const FixWay& way : row.ways) {
      const bool again = told && &way == &row.ways.front() && way.action + "." == FirstAction(row);
      std::string text = way.path == '\0' || again ? "" : std::string(1, way.path) + "  ";
      if (!again) text += way.action + ".";
      if (const std::string saves = WaySaves(row, way); !saves.empty())
        text += (text.empty() ? "" : " ") + saves;
      // The reasons are of all ways, and stand with the first.
      if (&way == &row.ways.front() && !reasons.empty())
        text += (text.empty() ? "" : " ") + reasons;
      if (text.empty()) continue;
      Paragraph(text, before);
      before = indent;
    }
  }

  const TerminalLook look_;
  const std::size_t columns_;
  bool code_ = false;  // open where a line was broken
  bool bold_ = false;
  std::string out_;
};

}  // namespace

std::string FrontText(const Front& front, const TerminalLook& look) {
  return FrontWriter(look).Write(front);
}

}  // namespace jarvis::documents
