#include "app/install_toml_scan.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace jarvis::app {
namespace {

using Path = std::vector<std::string>;

class TomlScanner {
 public:
  explicit TomlScanner(std::string_view text) : text_(text) {}

  Result<std::vector<TomlItem>> Scan() {
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      SkipBlanks();
      if (AtLineEnd()) {
        SkipLine();
        continue;
      }
      TomlItem item;
      if (Peek() == '[') {
        JV_ASSIGN(item, Header());
      } else {
        JV_ASSIGN(item, KeyAndValue());
      }
      item.begin = begin;
      item.end = at_;
      items_.push_back(std::move(item));
    }
    return std::move(items_);
  }

 private:
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t')
      ++at_;
  }
  // Of what counts: a comment is the rest of its line.
  bool AtLineEnd() const {
    return at_ >= text_.size() || Peek() == '\n' || Peek() == '#' ||
           (Peek() == '\r' && Peek(1) == '\n');
  }
  void SkipLine() { at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1; }

  tl::unexpected<Error> Bad(std::string_view what) const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    return Fail(ErrorCode::kBadValue, fmt::format("it is not TOML: line {}: {}",
                                                  1 + std::count(text_.begin(), end, '\n'), what));
  }

  Status EndLine() {
    SkipBlanks();
    if (!AtLineEnd()) return Bad("something after the end of the statement");
    if (at_ < text_.size()) SkipLine();
    return {};
  }

  Result<TomlItem> Header() {
    const bool array = Peek(1) == '[';
    at_ += array ? 2 : 1;
    JV_ASSIGN(table_, Key());
    for (int i = 0; i < (array ? 2 : 1); ++i, ++at_) {
      if (Peek() != ']') return Bad("the table's name does not end");
    }
    JV_TRY(EndLine());
    return TomlItem{array ? TomlItem::Kind::kTableArray : TomlItem::Kind::kTable, table_, 0, 0};
  }

  Result<TomlItem> KeyAndValue() {
    JV_ASSIGN(Path key, Key());
    if (Peek() != '=') return Bad("a key without =");
    ++at_;
    JV_TRY(SkipValue());
    Path path = table_;
    path.insert(path.end(), key.begin(), key.end());
    return TomlItem{TomlItem::Kind::kKey, std::move(path), 0, 0};
  }

  // a."b c".d, with what blanks there are around the parts.
  Result<Path> Key() {
    Path path;
    for (;; ++at_) {
      SkipBlanks();
      JV_ASSIGN(std::string part, KeyPart());
      path.push_back(std::move(part));
      SkipBlanks();
      if (Peek() != '.') return path;
    }
  }

  Result<std::string> KeyPart() {
    const std::size_t begin = at_;
    if (Peek() == '"' || Peek() == '\'') {
      JV_TRY(SkipString());
      return std::string(text_.substr(begin + 1, at_ - begin - 2));
    }
    while (std::isalnum(static_cast<unsigned char>(Peek())) != 0 || Peek() == '_' || Peek() == '-')
      ++at_;
    if (at_ == begin) return Bad("expected a key");
    return std::string(text_.substr(begin, at_ - begin));
  }

  Status SkipString() {
    const char quote = Peek();
    const bool many_lines = Peek(1) == quote && Peek(2) == quote;
    if (!many_lines && Peek(1) == quote) {
      at_ += 2;
      return {};
    }
    const std::string_view mark =
        text_.substr(at_, many_lines ? 3 : 1);  // the text ends as it began
    for (at_ += mark.size(); at_ < text_.size(); ++at_) {
      if (!many_lines && Peek() == '\n') return Bad("a string without end");
      if (quote == '"' && Peek() == '\\') {
        ++at_;
      } else if (text_.substr(at_).starts_with(mark)) {
        at_ += mark.size();
        while (many_lines && Peek() == quote)  // up to two more belong to it
          ++at_;
        return {};
      }
    }
    return Bad("a string without end");
  }

  // Up to the end of the line that ends the value; arrays and texts may take several lines.
  Status SkipValue() {
    std::string closers;  // of the brackets that are open
    SkipBlanks();
    if (AtLineEnd()) return Bad("a key without a value");
    while (at_ < text_.size()) {
      const char c = Peek();
      if (c == '"' || c == '\'') {
        JV_TRY(SkipString());
      } else if (closers.empty() && AtLineEnd()) {
        return EndLine();
      } else if (c == '#') {
        SkipLine();
      } else {
        if (c == '[' || c == '{') closers += c == '[' ? ']' : '}';
        if (c == ']' || c == '}') {
          if (closers.empty() || closers.back() != c) return Bad("a bracket too many");
          closers.pop_back();
        }
        ++at_;
      }
    }
    if (!closers.empty()) return Bad("a bracket without end");
    return {};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  Path table_;
  std::vector<TomlItem> items_;
};

}  // namespace

Result<std::vector<TomlItem>> ScanToml(std::string_view text) {
  return TomlScanner(text).Scan();
}

}  // namespace jarvis::app
