#include "table/py_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

namespace jarvis {

void AppendPyFloat(double value, std::string* out) {
  if (std::isnan(value)) {
    *out += "nan";
    return;
  }
  if (std::isinf(value)) {
    *out += value < 0 ? "-inf" : "inf";
    return;
  }
  // The shortest digits in scientific form, placed as Python places them: exponent form below
  // 1e-4 and from 1e16 on.
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<std::size_t>(end.ptr - buffer));
  if (text[0] == '-') {
    *out += '-';
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  int exponent = 0;
  const std::size_t exponent_start = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + exponent_start, text.data() + text.size(), exponent);
  const char first = text[0];
  const std::string_view rest = e > 1 ? text.substr(2, e - 2) : std::string_view();
  if (exponent < -4 || exponent >= 16) {
    *out += first;
    if (!rest.empty()) out->append(".").append(rest);
    fmt::format_to(std::back_inserter(*out), "e{}{:02d}", exponent < 0 ? '-' : '+',
                   std::abs(exponent));
  } else if (exponent < 0) {
    out->append("0.").append(static_cast<std::size_t>(-exponent - 1), '0');
    *out += first;
    *out += rest;
  } else {
    const auto whole = static_cast<std::size_t>(exponent);  // digits after the first
    *out += first;
    *out += rest.substr(0, whole);
    if (rest.size() > whole) {
      out->append(".").append(rest.substr(whole));
    } else {
      out->append(whole - rest.size(), '0').append(".0");
    }
  }
}

std::string PyFloat(double value) {
  std::string out;
  AppendPyFloat(value, &out);
  return out;
}

void AppendPyString(std::string_view text, std::string* out) {
  const bool single =
      text.find('\'') == std::string_view::npos || text.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  const auto plain = [quote](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c != quote && c != '\\' && byte >= 0x20 && byte != 0x7F;
  };
  *out += quote;
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), plain);
    out->append(text.begin(), end);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    if (text.empty()) break;
    const char c = text.front();
    text.remove_prefix(1);
    if (c == quote || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\r') {
      *out += "\\r";
    } else if (c == '\t') {
      *out += "\\t";
    } else {
      *out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  *out += quote;
}

std::string PyString(std::string_view text) {
  std::string out;
  AppendPyString(text, &out);
  return out;
}

}  // namespace jarvis
