#include "documents/markdown_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace jarvis::documents {
namespace {

std::string Decimals(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

void AppendRow(const std::vector<std::string>& cells, std::string_view behind, std::string* text) {
  *text += "|";
  for (const std::string& cell : cells)
    *text += " " + cell + " |";
  if (!behind.empty()) *text += " " + std::string(behind);
  *text += "\n";
}

}  // namespace

std::string Code(std::string_view name, std::size_t bytes_max) {
  std::string plain = OneLine(ValidUtf8(name));
  if (bytes_max > 0 && plain.size() > bytes_max) {
    plain = std::string(Utf8Prefix(plain, bytes_max)) + "...";
  }
  std::string code;
  for (const char c : plain) {
    if (c == '`') {
      code += '\'';
    } else if (c == '|') {
      code += "\\|";
    } else {
      code += c;
    }
  }
  const std::string_view shown = Trim(code);
  return shown.empty() ? std::string(kAbsentText) : "`" + std::string(shown) + "`";
}

std::string CellOfText(std::string_view text) {
  const std::string plain = OneLine(ValidUtf8(text));
  // Of a link or an image; brackets of shapes stay as they are.
  const bool link = plain.find("](") != std::string::npos || plain.find("][") != std::string::npos;
  std::string cell;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::string_view rest = std::string_view(plain).substr(i);
    if (rest.starts_with("<br>")) {
      cell += "<br>";
      i += 3;
    } else if (plain[i] == '<') {
      cell += "&lt;";
    } else if (plain[i] == '|') {
      cell += "\\|";
    } else if (plain[i] == '[' && link) {
      cell += "\\[";
    } else if (plain[i] == '`') {
      cell += '\'';
    } else {
      cell += plain[i];
    }
  }
  return Trim(cell).empty() ? std::string(kAbsentText) : cell;
}

namespace {

bool IsEscaped(const std::string& text) {  // what comes behind it
  return !text.empty() && text.back() == '\\';
}

// The end of the code that begins there, behind its last backtick; npos: it is none.
std::size_t CodeEnd(std::string_view text, std::size_t begin) {
  const std::size_t inside = std::min(text.find_first_not_of('`', begin), text.size());
  const std::size_t ticks = inside - begin;
  for (std::size_t at = text.find('`', inside); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    if (end - at == ticks) return end;
    at = text.find('`', end);
  }
  return std::string_view::npos;
}

}  // namespace

std::string ProseOfText(std::string_view text) {
  const std::string plain = OneLine(ValidUtf8(text));
  const bool link = plain.find("](") != std::string::npos || plain.find("][") != std::string::npos;
  std::string prose;
  std::size_t code_end = 0;  // before it is code
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    if (c == '`' && i >= code_end) {
      const std::size_t end = CodeEnd(plain, i);
      if (end == std::string::npos) {  // one that nothing closes is no mark of code
        prose += '\'';
        continue;
      }
      code_end = end;
    }
    const bool code = i < code_end;
    if (c == '|' && !IsEscaped(prose)) {
      prose += "\\|";
    } else if (c == '<' && !code) {
      prose += "&lt;";
    } else if (c == '[' && !code && link && !IsEscaped(prose)) {
      prose += "\\[";
    } else {
      prose += c;
    }
  }
  return std::string(Trim(prose));
}

std::string ShortTitle(const std::string& title) {
  bool code = false;
  std::string_view head = title;
  for (std::size_t i = 0; i + 1 < title.size(); ++i) {
    if (title[i] == '`') code = !code;
    const bool ends = ((title[i] == ':' || title[i] == ',') && title[i + 1] == ' ') ||
                      (title[i] == ' ' && title[i + 1] == '(');
    if (code || !ends) continue;
    const std::string_view until = std::string_view(title).substr(0, i);
    // A name of the trace alone does not say what is wrong with it.
    if (until.starts_with('`') && until.find('`', 1) == until.size() - 1) continue;
    head = until;
    break;
  }
  return std::string(head);
}

std::string WithoutDirectories(std::string_view text) {
  std::string out(text);
  for (std::size_t at = out.find(".py("); at != std::string::npos; at = out.find(".py(", at + 1)) {
    const std::size_t slash = out.rfind('/', at);
    const std::size_t code = out.rfind('`', at);
    if (slash == std::string::npos || code == std::string::npos || slash < code) continue;
    if (out.find(' ', code) < slash) continue;  // that tick ends code, and the path stands outside
    out.erase(code + 1, slash - code);
    at -= slash - code;
  }
  return out;
}

std::string Capitalised(std::string text) {
  // A name of a program's ("cudaMalloc") is written as it is.
  const std::string_view word = std::string_view(text).substr(0, text.find(' '));
  const bool name =
      std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!name && !text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string ArgsText(std::string_view args) {
  const std::string cell = CellOfText(args);
  std::vector<std::string> parts;
  bool repeats = false;
  constexpr std::string_view kBreak = "<br>";
  for (std::size_t at = 0; at <= cell.size();) {
    const auto end_of = [&](std::size_t from) {
      return std::min(cell.find(kBreak, from), cell.size());
    };
    const std::size_t end = end_of(at);
    const std::string_view one = std::string_view(cell).substr(at, end - at);
    std::size_t times = 1;
    std::size_t next = end;
    while (next < cell.size()) {
      const std::size_t from = next + kBreak.size();
      const std::size_t to = end_of(from);
      if (std::string_view(cell).substr(from, to - from) != one) break;
      ++times;
      next = to;
    }
    repeats = repeats || times > 1;
    parts.push_back(times > 1 ? fmt::format("{} x {}", times, one) : std::string(one));
    at = next + kBreak.size();
  }
  // Beside a count another "x" would read as a product.
  return fmt::format("{}", fmt::join(parts, repeats ? ", " : " x "));
}

std::string Digits(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return std::string(kAbsentText);
  if (size >= 999.5) return Decimals(value, 0);
  if (size >= 9.995) return Decimals(value, 1);
  if (size >= 1 || size == 0) return Decimals(value, 2);
  const int zeros = static_cast<int>(std::floor(-std::log10(size)));  // behind the point
  return Decimals(value, std::min(zeros + 3, 5));
}

std::string Ms(double ms) {
  return Digits(ms) + " ms";
}

std::string Pct(double percent) {
  return Decimals(percent, std::abs(percent) < 1 && percent != 0 ? 2 : 1) + "%";
}

std::string PctOrDash(std::optional<double> percent) {
  return percent ? Pct(*percent) : std::string(kAbsentText);
}

std::string RangeMs(const findings::Range& ms) {
  if (ms.low == ms.high) return Ms(ms.high);
  if (findings::IsWide(ms)) return "up to " + Ms(ms.high);
  return Digits(ms.low) + " to " + Ms(ms.high);
}

std::string RangePct(const findings::Range& percent) {
  return percent.low == percent.high ? Pct(percent.high)
                                     : Pct(percent.low) + " to " + Pct(percent.high);
}

std::string Calls(std::uint64_t count, std::string_view what) {
  const bool one = count == 1 && what.ends_with('s');
  return fmt::format("{} {}", count, one ? what.substr(0, what.size() - 1) : what);
}

std::string FactText(const findings::Fact& fact) {
  std::string unit(fact.unit == "us" ? "µs" : fact.unit);  // "us" is its name in data
  if (!unit.empty() && unit != "%") unit.insert(0, " ");
  if (const auto* number = std::get_if<double>(&fact.value)) {
    return (fact.unit == "%" ? Pct(*number) : Digits(*number) + unit);
  }
  if (const auto* number = std::get_if<std::int64_t>(&fact.value)) {
    return fmt::format("{}{}", *number, unit);
  }
  if (const auto* flag = std::get_if<bool>(&fact.value)) return *flag ? "yes" : "no";
  if (const auto* text = std::get_if<std::string>(&fact.value)) return Code(*text, 120);
  return std::string(kAbsentText);
}

MarkdownTable::MarkdownTable(std::vector<std::string> header) {
  AppendRow(header, {}, &text_);
  AppendRow(std::vector<std::string>(header.size(), "---"), {}, &text_);
}

void MarkdownTable::Row(std::vector<std::string> cells, std::string_view behind) {
  AppendRow(cells, behind, &text_);
  ++rows_;
}

}  // namespace jarvis::documents
