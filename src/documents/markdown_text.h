// Pieces of markdown. What comes from a trace is data: it is put on one line, cut, and escaped, so
// that no name can end a table, open a comment or look like a heading.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/fact.h"

namespace jarvis::documents {

// What stands where there is no value.
inline constexpr std::string_view kAbsentText = "\xE2\x80\x94";  // em dash

// `name` in backticks, at most `bytes_max` bytes of it and "..." (0: all); empty: kAbsentText.
std::string Code(std::string_view name, std::size_t bytes_max = 0);
// A cell with its text as it is, but for what would end the cell, begin a tag or be a link; "<br>"
// stays.
std::string CellOfText(std::string_view text);

// Sentences that somebody else wrote, with their code and bold type as they are, and nothing that
// would be a tag, a link, a picture or the end of a cell. Twice is as good as once.
std::string ProseOfText(std::string_view text);

// The first letter large; names in backticks stay as they are.
std::string Capitalised(std::string text);

// Shapes and dtypes of a call on one line, equal neighbours together:
// "3 x (2,38,64) bf16", "(8,4) bf16 x (4,2) bf16", "(8,4) bf16, 2 x (4,4) bf16".
std::string ArgsText(std::string_view args);

// What a title begins with, as far as it names the finding: without its first member and figures.
std::string ShortTitle(const std::string& title);

// Places in code without their folders: "`a/b/model.py(12): forward`" as "`model.py(12): forward`".
std::string WithoutDirectories(std::string_view text);

// Numbers as reports show them, the unit behind: "382.5 ms", "0.0412 ms", "23.5%", "0.42%". A
// reader who compares prose with a table finds the same digits, for both are made here.
std::string Digits(double value);  // three or four digits: "1195", "382.5", "3.03", "0.0412"
std::string Ms(double ms);
std::string Pct(double percent);
std::string PctOrDash(std::optional<double> percent);
std::string RangeMs(const findings::Range& ms);        // "1.20 to 3.40 ms"; IsWide: "up to 3.40 ms"
std::string RangePct(const findings::Range& percent);  // "1.2% to 3.4%"
std::string Calls(std::uint64_t count, std::string_view what = "calls");  // "1 call", "12 calls"
std::string FactText(const findings::Fact& fact);  // "12.35 ms", "true", a text in backticks

// A table, row by row; cells are markdown already.
class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> header);
  void Row(std::vector<std::string> cells, std::string_view behind = {});
  bool empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t rows_ = 0;
};

}  // namespace jarvis::documents
