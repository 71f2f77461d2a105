#include "table/py_text.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include <doctest/doctest.h>

namespace jarvis {
namespace {

TEST_CASE("PyFloat prints as repr(float)") {
  const auto check = [](double value, const char* text) { CHECK(PyFloat(value) == text); };
  check(0, "0.0");
  check(-0.0, "-0.0");
  check(1, "1.0");
  check(-1.5, "-1.5");
  check(0.1, "0.1");
  check(100, "100.0");
  check(123456789, "123456789.0");
  check(1e15, "1000000000000000.0");
  check(1e16, "1e+16");
  check(123456789012345680.0, "1.2345678901234568e+17");
  check(9007199254740993.0, "9007199254740992.0");
  check(0.0001, "0.0001");
  check(0.00001, "1e-05");
  check(0.000012345, "1.2345e-05");
  check(1e-9, "1e-09");
  check(1e100, "1e+100");
  check(1.7976931348623157e308, "1.7976931348623157e+308");
  check(5e-324, "5e-324");
  check(39.51904296875, "39.51904296875");
  check(1.0 / 3.0, "0.3333333333333333");
  check(std::nan(""), "nan");
  check(std::numeric_limits<double>::infinity(), "inf");
  check(-std::numeric_limits<double>::infinity(), "-inf");
}

TEST_CASE("PyFloat reads back the same") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    const std::string text = PyFloat(value);
    CHECK_MESSAGE(std::strtod(text.c_str(), nullptr) == value, text);
  }
}

TEST_CASE("PyString prints as repr(str)") {
  CHECK(PyString("") == "''");
  CHECK(PyString("a") == "'a'");
  CHECK(PyString("it's") == "\"it's\"");
  CHECK(PyString("\"x\"") == "'\"x\"'");
  CHECK(PyString("'\"") == "'\\'\"'");
  CHECK(PyString("a\\b") == "'a\\\\b'");
  CHECK(PyString("\n\r\t\x01\x7f") == "'\\n\\r\\t\\x01\\x7f'");
  CHECK(PyString("é😀") == "'é😀'");
}

}  // namespace
}  // namespace jarvis
