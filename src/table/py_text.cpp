#include "table/py_text.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace jarvis {

std::string PyFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // The shortest digits in scientific form, placed as Python places them: exponent form below
  // 1e-4 and from 1e16 on.
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(end.ptr - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const std::size_t exponent_start = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + exponent_start, text.data() + text.size(), exponent);
  const bool negative = text[0] == '-';
  std::string digits;
  for (const char c : text.substr(negative ? 1 : 0, e - (negative ? 1 : 0))) {
    if (c != '.') digits.push_back(c);
  }
  std::string out = negative ? "-" : "";
  const int length = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (length > 1) out += "." + digits.substr(1);
    out += fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (length <= exponent + 1) {
    out += digits + std::string(static_cast<std::size_t>(exponent + 1 - length), '0') + ".0";
  } else {
    const auto point = static_cast<std::size_t>(exponent + 1);
    out += digits.substr(0, point) + "." + digits.substr(point);
  }
  return out;
}

std::string PyString(std::string_view text) {
  const bool single =
      text.find('\'') == std::string_view::npos || text.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += quote;
  return out;
}

}  // namespace jarvis
