#include "base/number_text.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

namespace jarvis {
namespace {

TEST_CASE("three digits, never an exponent") {
  const std::pair<double, const char*> rows[] = {
      {1440, "1440"},        {220, "220"},        {219.6, "220"},         {999.7, "1000"},
      {99.96, "100"},        {9.996, "10"},       {3.0349, "3.03"},       {3, "3"},
      {0.9996, "1"},         {0.04123, "0.0412"}, {0.000012, "0.000012"}, {0, "0"},
      {-0.0, "0"},           {-12.345, "-12.3"},  {7.24e9, "7240000000"}, {1e-15, "0"},
      {1234567.8, "1234568"}};
  for (const auto& [value, text] : rows)
    CHECK_MESSAGE(ThreeDigits(value) == text, value);
  CHECK(ThreeDigits(std::numeric_limits<double>::infinity()) == "–");
  CHECK(ThreeDigits(std::nan("")) == "–");
  // Of any size.
  for (double value = 1e-18; value < 1e18; value *= 3.7)
    CHECK_MESSAGE(ThreeDigits(value).find('e') == std::string::npos, value);
}

TEST_CASE("bytes") {
  CHECK(BytesText(0) == "0 B");
  CHECK(BytesText(512) == "512 B");
  CHECK(BytesText(999.6) == "1 kB");
  CHECK(BytesText(4096) == "4.1 kB");
  CHECK(BytesText(33554432) == "33.6 MB");
  CHECK(BytesText(5.24e10) == "52.4 GB");
  CHECK(BytesText(1.2e12) == "1.2 TB");
}

}  // namespace
}  // namespace jarvis
