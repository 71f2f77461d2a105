// How numbers look in sentences: never with an exponent ("1440", not "1.44e+03"), since a reader
// reads "e+03" twice and a script that copies a figure takes it for a name.
#pragma once

#include <cstdint>
#include <string>

namespace jarvis {

// `value` with three significant digits, and all digits before the point ("1195", "382", "3.03",
// "0.0412", "3"): no zeros at the end, no exponent whatever its size. Not finite: "–".
std::string ThreeDigits(double value);
// The same with another number of significant digits.
std::string PlainDigits(double value, int digits);

inline double MillisOf(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// Decimal units, three significant digits: "512 B", "4.1 kB", "33.6 MB", "52.4 GB", "1.2 TB".
std::string BytesText(double bytes);

}  // namespace jarvis
