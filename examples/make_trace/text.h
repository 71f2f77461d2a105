// Appends numbers to text, without locale and without allocation.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace make_trace {

using Ns = std::int64_t;

inline void AppendInt(std::string& out, std::int64_t value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  static_cast<void>(error);
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

// value / 10^decimals, for value >= 0, with all decimals written: 1500 with 3 gives "1.500".
inline void AppendFixed(std::string& out, std::int64_t value, int decimals) {
  std::int64_t scale = 1;
  for (int i = 0; i < decimals; ++i)
    scale *= 10;
  AppendInt(out, value / scale);
  out += '.';
  std::int64_t rest = value % scale;
  std::array<char, 24> digits;
  for (int i = decimals - 1; i >= 0; --i) {
    digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  }
  out.append(digits.data(), static_cast<std::size_t>(decimals));
}

// Nanoseconds as the microseconds of a trace.
inline void AppendMicros(std::string& out, Ns ns) {
  AppendFixed(out, ns, 3);
}

inline void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  out += text;
  out += '"';
}

inline std::string Number(std::int64_t value) {
  std::string out;
  AppendInt(out, value);
  return out;
}

}  // namespace make_trace
