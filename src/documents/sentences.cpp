#include "documents/sentences.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/text.h"

namespace jarvis::documents {
namespace {

struct Unit {
  std::string_view word;
  QuantityKind kind;
  double factor;
};
// Longer ones first where one begins another.
constexpr Unit kUnits[] = {
    {"TFLOPS/s", QuantityKind::kRate, 1},     {"TFLOP/s", QuantityKind::kRate, 1},
    {"TFLOPS", QuantityKind::kRate, 1},       {"GFLOP/s", QuantityKind::kRate, 1e-3},
    {"TB/s", QuantityKind::kBandwidth, 1},    {"GB/s", QuantityKind::kBandwidth, 1e-3},
    {"GB", QuantityKind::kBytes, 1e3},        {"MB", QuantityKind::kBytes, 1},
    {"KB", QuantityKind::kBytes, 1e-3},       {"FLOPS/Byte", QuantityKind::kRatio, 1},
    {"FLOP/Byte", QuantityKind::kRatio, 1},   {"FLOP/B", QuantityKind::kRatio, 1},
    {"ms", QuantityKind::kTime, 1},           {"us", QuantityKind::kTime, 1e-3},
    {"\xC2\xB5s", QuantityKind::kTime, 1e-3},  // micro sign
    {"\xCE\xBCs", QuantityKind::kTime, 1e-3},  // Greek mu
    {"ns", QuantityKind::kTime, 1e-6},        {"seconds", QuantityKind::kTime, 1e3},
    {"s", QuantityKind::kTime, 1e3},          {"%", QuantityKind::kPercent, 1},
    {"percent", QuantityKind::kPercent, 1},   {"x", QuantityKind::kRatio, 1},
    {"\xC3\x97", QuantityKind::kRatio, 1},  // multiplication sign
    {"times", QuantityKind::kRatio, 1},       {"calls", QuantityKind::kCount, 1},
    {"call", QuantityKind::kCount, 1},        {"kernels", QuantityKind::kCount, 1},
    {"kernel", QuantityKind::kCount, 1},      {"launches", QuantityKind::kCount, 1},
    {"gaps", QuantityKind::kCount, 1},        {"gap", QuantityKind::kCount, 1},
    {"operations", QuantityKind::kCount, 1},  {"ops", QuantityKind::kCount, 1},
    {"op", QuantityKind::kCount, 1},          {"instances", QuantityKind::kCount, 1},
    {"copies", QuantityKind::kCount, 1},      {"rows", QuantityKind::kCount, 1},
    {"row", QuantityKind::kCount, 1},         {"events", QuantityKind::kCount, 1},
    {"steps", QuantityKind::kCount, 1},       {"layers", QuantityKind::kCount, 1},
    {"findings", QuantityKind::kCount, 1},    {"finding", QuantityKind::kCount, 1},
    {"collectives", QuantityKind::kCount, 1},
};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// The unit that begins at `at`; null: none.
const Unit* UnitAt(std::string_view text, std::size_t at) {
  if (at >= text.size()) return nullptr;
  for (const Unit& unit : kUnits) {
    if (text[at] != unit.word[0] || !text.substr(at).starts_with(unit.word)) continue;
    const std::size_t end = at + unit.word.size();
    const bool whole =
        end == text.size() || !IsLetter(unit.word.back()) ||
        (!IsLetter(text[end]) && !IsDigit(text[end]) && text[end] != '_' && text[end] != '/');
    if (whole) return &unit;
  }
  return nullptr;
}

struct NumberInText {
  double value = 0;
  int decimals = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The number that begins at `at`, with commas between thousands.
NumberInText ReadNumber(std::string_view text, std::size_t at) {
  NumberInText number{0, 0, at, at};
  std::string digits;
  std::size_t i = at;
  while (i < text.size()) {
    const bool comma = text[i] == ',' && i + 3 < text.size() && IsDigit(text[i + 1]) &&
                       IsDigit(text[i + 2]) && IsDigit(text[i + 3]) &&
                       (i + 4 == text.size() || !IsDigit(text[i + 4]));
    if (!IsDigit(text[i]) && !comma) break;
    if (!comma) digits += text[i];
    ++i;
  }
  if (i + 1 < text.size() && text[i] == '.' && IsDigit(text[i + 1])) {
    digits += text[i++];
    while (i < text.size() && IsDigit(text[i])) {
      digits += text[i++];
      ++number.decimals;
    }
  }
  number.value = ParseDouble(digits).value_or(0);
  number.end = i;
  return number;
}

// Part of a name ("H100", "0.5B-chat", "v1.2"), no number of its own.
bool BeginsNumber(std::string_view text, std::size_t at) {
  if (!IsDigit(text[at])) return false;
  if (at == 0) return true;
  const char before = text[at - 1];
  if (IsLetter(before) || IsDigit(before) || before == '_' || before == '.') return false;
  const bool dash = before == '-' || before == '/';
  return !(dash && at >= 2 && IsLetter(text[at - 2]));
}

std::size_t SkipBlank(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("\xC2\xA0")) return at + 2;  // a blank that does not break
  return at < text.size() && text[at] == ' ' ? at + 1 : at;
}

// The second number of "1.2 to 3.4", "1.2-3.4", "1.2 and 3.4"; npos: no range.
std::size_t RangeEnd(std::string_view text, std::size_t at) {
  std::size_t next = SkipBlank(text, at);
  for (const std::string_view word : {"to ", "and ", "-", "\xE2\x80\x93", "\xE2\x80\x94"}) {
    if (!text.substr(next).starts_with(word)) continue;
    next = SkipBlank(text, next + word.size());
    return next < text.size() && IsDigit(text[next]) ? next : std::string_view::npos;
  }
  return std::string_view::npos;
}

Quantity QuantityOf(std::string_view text, const NumberInText& number, const Unit* unit) {
  const double factor = unit == nullptr ? 1 : unit->factor;
  Quantity out;
  out.kind = unit == nullptr ? QuantityKind::kPlain : unit->kind;
  out.value = number.value * factor;
  out.half_unit =
      out.kind == QuantityKind::kCount ? 0 : 0.5 * std::pow(10.0, -number.decimals) * factor;
  out.text = std::string(text.substr(number.begin, number.end - number.begin));
  if (unit != nullptr) out.text += (unit->word == "%" ? "" : " ") + std::string(unit->word);
  return out;
}

// `always`: those without a unit too, with `usual`.
std::vector<Quantity> Scan(std::string_view text, bool always, const Unit* usual) {
  std::vector<Quantity> found;
  for (std::size_t at = 0; at < text.size();) {
    if (!BeginsNumber(text, at)) {
      ++at;
      continue;
    }
    const NumberInText number = ReadNumber(text, at);
    at = number.end;
    const Unit* unit = UnitAt(text, SkipBlank(text, at));
    if (unit == nullptr) {
      const std::size_t second = RangeEnd(text, at);
      if (second != std::string_view::npos) {
        unit = UnitAt(text, SkipBlank(text, ReadNumber(text, second).end));
      }
    }
    if (unit == nullptr) unit = usual;
    if (unit != nullptr || always) found.push_back(QuantityOf(text, number, unit));
  }
  return found;
}

// "Time (ms)", "% Compute", "Calls".
const Unit* UnitOfColumn(std::string_view column) {
  for (std::size_t at = 0; at < column.size(); ++at) {
    const bool begins = at == 0 || (!IsLetter(column[at - 1]) && !IsDigit(column[at - 1]));
    if (!begins) continue;
    if (const Unit* unit = UnitAt(column, at)) return unit;
  }
  const std::string lower = LowerAscii(column);
  for (const std::string_view word : {"count", "calls", "kernels", "instances"}) {
    if (lower.find(word) != std::string::npos) return UnitAt("calls", 0);
  }
  return nullptr;
}

// Reads "3 x 12.5 ms + 2 ms = 39.5 ms" from its first number on.
class CalculationReader {
 public:
  CalculationReader(std::string_view text, std::size_t at) : text_(text), at_(at), begin_(at) {}

  // Nothing: no calculation begins there.
  std::optional<Calculation> Read() {
    std::optional<double> value = Sum();
    if (!value || operators_ == 0 || !Takes("=")) return std::nullopt;
    Skip();
    if (at_ >= text_.size() || !IsDigit(text_[at_])) return std::nullopt;
    calculation_.result = Factor();
    const Quantity& result = calculation_.result;
    if (result.kind == QuantityKind::kPercent) *value *= 100;
    // Operands are rounded, too.
    constexpr double kRounding = 0.005;
    calculation_.holds = std::abs(*value - result.value) <=
                         result.half_unit * (1 + 1e-6) + kRounding * std::abs(*value);
    calculation_.text = std::string(Trim(text_.substr(begin_, at_ - begin_)));
    return std::move(calculation_);
  }
  std::size_t end() const { return at_; }

 private:
  void Skip() { at_ = SkipBlank(text_, at_); }

  bool Takes(std::string_view sign) {
    const std::size_t next = SkipBlank(text_, at_);
    if (!text_.substr(next).starts_with(sign)) return false;
    at_ = next + sign.size();
    return true;
  }
  bool TakesOne(std::initializer_list<std::string_view> signs) {
    const bool taken =
        std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) { return Takes(sign); });
    if (taken) ++operators_;
    return taken;
  }

  Quantity Factor() {
    const NumberInText number = ReadNumber(text_, at_);
    const std::size_t after = SkipBlank(text_, number.end);
    const Unit* unit = UnitAt(text_, after);
    // "3 x 12.5 ms" multiplies; "3x" alone is a ratio.
    if (unit != nullptr && unit->kind == QuantityKind::kRatio) {
      const std::size_t next = SkipBlank(text_, after + unit->word.size());
      if (next < text_.size() && IsDigit(text_[next])) unit = nullptr;
    }
    const Quantity quantity = QuantityOf(text_, number, unit);
    at_ = number.end;
    if (unit != nullptr) at_ = SkipBlank(text_, at_) + unit->word.size();
    return quantity;
  }

  std::optional<double> Operand() {
    Skip();
    if (at_ >= text_.size() || !IsDigit(text_[at_])) return std::nullopt;
    calculation_.operands.push_back(Factor());
    const Quantity& one = calculation_.operands.back();
    return one.kind == QuantityKind::kPercent ? one.value / 100 : one.value;
  }

  std::optional<double> Product() {
    std::optional<double> value = Operand();
    while (value) {
      const bool times = TakesOne({"x ", "\xC3\x97"});
      if (!times && !TakesOne({"/"})) break;
      const std::optional<double> next = Operand();
      if (!next || (!times && *next == 0)) return std::nullopt;
      *value = times ? *value * *next : *value / *next;
    }
    return value;
  }

  std::optional<double> Sum() {
    std::optional<double> value = Product();
    while (value) {
      const bool plus = TakesOne({"+"});
      if (!plus && !TakesOne({"- ", "\xE2\x88\x92"})) break;
      const std::optional<double> next = Product();
      if (!next) return std::nullopt;
      *value += plus ? *next : -*next;
    }
    return value;
  }

  const std::string_view text_;
  std::size_t at_;
  const std::size_t begin_;
  int operators_ = 0;
  Calculation calculation_;
};

// What ends at the closing text; the rest if it never comes.
std::size_t After(std::string_view text, std::size_t at, std::string_view close) {
  const std::size_t found = text.find(close, at);
  return found == std::string_view::npos ? text.size() : found + close.size();
}

}  // namespace

std::string ProseOf(std::string_view markdown) {
  std::string prose;
  prose.reserve(markdown.size());
  for (std::size_t i = 0; i < markdown.size();) {
    // Most of a text has none of what is looked for below.
    const std::size_t special = std::min(markdown.find_first_of("<`]*[", i), markdown.size());
    prose += markdown.substr(i, special - i);
    if ((i = special) == markdown.size()) break;
    const std::string_view rest = markdown.substr(i);
    if (rest.starts_with("<!--")) {
      i = After(markdown, i, "-->");
    } else if (rest.starts_with("<a ") || rest.starts_with("</a>")) {
      i = After(markdown, i, ">");
    } else if (rest[0] == '`') {
      const std::size_t line = std::min(markdown.find('\n', i), markdown.size());
      const std::size_t close = markdown.find('`', i + 1);
      if (close == std::string_view::npos || close > line) {
        prose += markdown[i++];
        continue;
      }
      prose += ' ';
      i = close + 1;
    } else if (rest.starts_with("](")) {
      const std::size_t line = std::min(markdown.find('\n', i), markdown.size());
      i = std::min(After(markdown, i, ")"), line);
    } else {
      if (rest[0] != '*' && rest[0] != '[') prose += rest[0];
      ++i;
    }
  }
  return prose;
}

std::vector<std::string> Sentences(std::string_view markdown) {
  const std::string prose = ProseOf(markdown);
  std::vector<std::string> sentences;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view sentence = Trim(std::string_view(prose).substr(begin, end - begin));
    if (!sentence.empty()) sentences.emplace_back(sentence);
    begin = end;
  };
  for (std::size_t i = 0; i < prose.size(); ++i) {
    if (prose[i] == '\n') add(i);
    const bool stop = prose[i] == '.' || prose[i] == '!' || prose[i] == '?';
    if (stop && i + 1 < prose.size() && prose[i + 1] == ' ') add(i + 1);
  }
  add(prose.size());
  return sentences;
}

std::vector<Quantity> Quantities(std::string_view markdown) {
  return Scan(ProseOf(markdown), false, nullptr);
}

std::vector<std::string> ReversedRanges(std::string_view markdown) {
  constexpr std::string_view kDash = "\xE2\x80\x93";
  if (markdown.find("to ") == std::string_view::npos &&
      markdown.find(kDash) == std::string_view::npos) {
    return {};
  }
  const std::string prose = ProseOf(markdown);
  const std::string_view text = prose;
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    if (!BeginsNumber(text, at)) {
      ++at;
      continue;
    }
    const NumberInText first = ReadNumber(text, at);
    at = first.end;
    const std::size_t blank = SkipBlank(text, first.end);
    const bool range =
        text.substr(blank).starts_with("to ") || text.substr(blank).starts_with(kDash);
    const std::size_t next = range ? RangeEnd(text, first.end) : std::string_view::npos;
    if (next == std::string_view::npos) continue;
    const NumberInText second = ReadNumber(text, next);
    const Unit* unit = UnitAt(text, SkipBlank(text, second.end));
    at = second.end;
    const bool change = Trim(text.substr(0, first.begin)).ends_with("from");
    if (unit == nullptr || change || first.value <= second.value) continue;
    found.push_back(std::string(text.substr(first.begin, second.end - first.begin)) + " " +
                    std::string(unit->word));
  }
  return found;
}

std::vector<Calculation> Calculations(std::string_view markdown) {
  const std::string prose = ProseOf(markdown);
  std::vector<Calculation> found;
  for (std::size_t at = 0; at < prose.size(); ++at) {
    if (!BeginsNumber(prose, at)) continue;
    CalculationReader reader(prose, at);
    if (auto calculation = reader.Read()) {
      found.push_back(std::move(*calculation));
      at = reader.end() - 1;
    } else {
      at = ReadNumber(prose, at).end - 1;
    }
  }
  return found;
}

std::vector<Quantity> CellQuantities(std::string_view column, std::string_view cell) {
  const std::string text = ProseOf(cell);
  std::string_view number = Trim(text);
  for (const std::string_view sign : {"~", "+", "-", "\xE2\x88\x92", "<", "\xE2\x89\xA4"}) {
    if (number.starts_with(sign)) number.remove_prefix(sign.size());
  }
  number = Trim(number);
  const bool numeric = !number.empty() && IsDigit(number[0]);
  return Scan(number, numeric, numeric ? UnitOfColumn(column) : nullptr);
}

bool Agree(const Quantity& a, const Quantity& b) {
  if (a.kind != b.kind && b.kind != QuantityKind::kPlain) return false;
  const double difference = std::abs(std::abs(a.value) - std::abs(b.value));
  return difference <= a.half_unit * (1 + 1e-6) + 1e-9 * std::abs(a.value);
}

}  // namespace jarvis::documents
