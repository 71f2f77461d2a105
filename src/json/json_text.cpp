// JSON text: reading is nlohmann's parser, which this file alone includes. Printing gives the bytes
// that nlohmann's printer gives; its numbers, and texts that are not UTF-8, are left to it.
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/json.h"

namespace jarvis {
namespace {

using Parser = nlohmann::ordered_json;

// Counts brackets outside strings. Text that is not JSON may pass; the parser finds that.
Status CheckShape(std::string_view text) {
  std::array<std::uint32_t, kDepthMax> members{};
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (depth == kDepthMax) {
        return Fail(ErrorCode::kTooLarge,
                    "JSON nested deeper than " + std::to_string(kDepthMax) + " levels");
      }
      members[depth++] = 0;
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
    } else if (c == ':' && depth > 0 && ++members[depth - 1] > kObjectMembersMax) {
      return Fail(ErrorCode::kTooLarge,
                  "JSON object with more than " + std::to_string(kObjectMembersMax) + " members");
    }
  }
  return {};
}

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Makes a value of what the parser reports. Of a repeated name the last value counts, at the place
// of the first.
class Builder {
 public:
  explicit Builder(Json* root) : next_(root) {}

  bool null() { return Add(Json()); }
  bool boolean(bool value) { return Add(Json(value)); }
  bool number_integer(std::int64_t value) { return Add(Json(value)); }
  bool number_unsigned(std::uint64_t value) { return Add(Json(value)); }
  bool number_float(double value, const std::string&) { return Add(Json(value)); }
  bool string(std::string& value) { return Add(Json(std::move(value))); }
  bool binary(const Parser::binary_t&) { return false; }
  bool start_array(std::size_t) { return Open(Json::array()); }
  bool start_object(std::size_t) { return Open(Json::object()); }
  bool key(std::string& name) {
    next_ = &(*open_.back())[name];
    return true;
  }
  bool end_array() { return Close(); }
  bool end_object() { return Close(); }
  bool parse_error(std::size_t, const std::string&, const std::exception& error) {
    error_ = error.what();
    return false;
  }

  const std::string& error() const { return error_; }

 private:
  Json* Put(Json value) {
    if (next_ == nullptr) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *next_ = std::move(value);
    return std::exchange(next_, nullptr);
  }
  bool Add(Json value) {
    Put(std::move(value));
    return true;
  }
  bool Open(Json value) {
    open_.push_back(Put(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;  // arrays and objects, each in the one before
  Json* next_;               // where the next value goes; null: to the end of the last array
  std::string error_;
};

class Printer {
 public:
  Printer(int indent, char fill, Json::BadUtf8 bad)
      : is_pretty_(indent >= 0),
        indent_(indent > 0 ? static_cast<std::size_t>(indent) : 0),
        fill_(fill),
        bad_(bad) {}

  void Print(const Json& value) {
    switch (value.kind()) {
      case Json::Kind::kNull: out_ += "null"; break;
      case Json::Kind::kBoolean: out_ += value.get<bool>() ? "true" : "false"; break;
      case Json::Kind::kInteger: PrintInteger(value.get<std::int64_t>()); break;
      case Json::Kind::kUnsigned: PrintInteger(value.get<std::uint64_t>()); break;
      case Json::Kind::kFloat: PrintReal(value.get<double>()); break;
      case Json::Kind::kString: PrintText(value.get_ref<const std::string&>()); break;
      case Json::Kind::kArray: PrintArray(value); break;
      case Json::Kind::kObject: PrintObject(value); break;
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  void NewLine() {
    if (!is_pretty_) return;
    out_ += '\n';
    out_.append(level_ * indent_, fill_);
  }

  void PrintArray(const Json& array) {
    if (array.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    ++level_;
    bool is_first = true;
    for (const Json& element : array) {
      if (!is_first) out_ += ',';
      is_first = false;
      NewLine();
      Print(element);
    }
    --level_;
    NewLine();
    out_ += ']';
  }

  void PrintObject(const Json& object) {
    if (object.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    ++level_;
    bool is_first = true;
    for (const auto& [name, value] : object.items()) {
      if (!is_first) out_ += ',';
      is_first = false;
      NewLine();
      PrintText(name);
      out_ += is_pretty_ ? ": " : ":";
      Print(value);
    }
    --level_;
    NewLine();
    out_ += '}';
  }

  template <typename Integer>
  void PrintInteger(Integer value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out_.append(digits.data(), end.ptr);
  }

  void PrintReal(double value) {
    if (!std::isfinite(value)) {
      out_ += "null";
      return;
    }
    std::array<char, 64> digits;
    const char* end =
        nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value);
    out_.append(static_cast<const char*>(digits.data()), end);
  }

  void PrintText(const std::string& text) {
    const std::size_t begin = out_.size();
    out_ += '"';
    std::size_t plain = 0;  // what is printed as it is begins here
    for (std::size_t i = 0; i < text.size();) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c >= 0x80) {
        const std::size_t length = SequenceLength(text, i);
        if (length == 0) {
          out_.resize(begin);
          PrintBadText(text);
          return;
        }
        i += length;
        continue;
      }
      if (c < 0x20 || c == '"' || c == '\\') {
        out_.append(text, plain, i - plain);
        PrintEscape(c);
        plain = i + 1;
      }
      ++i;
    }
    out_.append(text, plain);
    out_ += '"';
  }

  void PrintEscape(unsigned char c) {
    constexpr const char* kHex = "0123456789abcdef";
    out_ += '\\';
    switch (c) {
      case '\b': out_ += 'b'; break;
      case '\t': out_ += 't'; break;
      case '\n': out_ += 'n'; break;
      case '\f': out_ += 'f'; break;
      case '\r': out_ += 'r'; break;
      case '"':
      case '\\': out_ += static_cast<char>(c); break;
      default:
        out_ += "u00";
        out_ += kHex[c >> 4U];
        out_ += kHex[c & 0xFU];
        break;
    }
  }

  // Of the character at `at`, which is not ASCII; 0 if it is not UTF-8.
  static std::size_t SequenceLength(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) -> unsigned {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
    };
    const auto in = [](unsigned b, unsigned low, unsigned high) { return b >= low && b <= high; };
    const unsigned first = byte(0);
    const unsigned second = byte(1);
    if (in(first, 0xC2, 0xDF)) return in(second, 0x80, 0xBF) ? 2 : 0;
    if (in(first, 0xE0, 0xEF)) {
      const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
      const unsigned high = first == 0xED ? 0x9F : 0xBF;
      return in(second, low, high) && in(byte(2), 0x80, 0xBF) ? 3 : 0;
    }
    if (in(first, 0xF0, 0xF4)) {
      const unsigned low = first == 0xF0 ? 0x90 : 0x80;
      const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
      return in(second, low, high) && in(byte(2), 0x80, 0xBF) && in(byte(3), 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
  }

  void PrintBadText(const std::string& text) {
    if (bad_ == Json::BadUtf8::kThrow) throw JsonError("JSON: a text that is not UTF-8");
    out_ += Parser(text).dump(-1, ' ', false, Parser::error_handler_t::replace);
  }

  const bool is_pretty_;
  const std::size_t indent_;
  const char fill_;
  const Json::BadUtf8 bad_;
  std::size_t level_ = 0;
  std::string out_;
};

}  // namespace

Json Json::parse(std::string_view text) {
  Json value;
  Builder builder(&value);
  if (!Parser::sax_parse(text.begin(), text.end(), &builder)) throw JsonError(builder.error());
  return value;
}

std::string Json::dump(int indent, char fill, BadUtf8 bad) const {
  Printer printer(indent, fill, bad);
  printer.Print(*this);
  return printer.Take();
}

std::ostream& Json::Write(std::ostream& out) const {
  return out << DumpLine(*this);
}

Result<Json> ParseJson(std::string_view text) {
  JV_TRY(CheckShape(text));
  Json value;
  Builder builder(&value);
  if (!Parser::sax_parse(text.begin(), text.end(), &builder))
    return Fail(ErrorCode::kBadValue, "not valid JSON in UTF-8");
  return value;
}

std::string DumpLine(const Json& value) {
  return value.dump(-1, ' ', Json::BadUtf8::kReplace);
}

std::string Excerpt(const Json& value, std::size_t chars_max) {
  std::string text = DumpLine(value);
  std::size_t chars = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsContinuation(text[i])) continue;
    if (chars++ == chars_max) {
      text.resize(i);
      text += "...";
      break;
    }
  }
  return text;
}

}  // namespace jarvis
