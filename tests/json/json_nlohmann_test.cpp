// Nlohmann's own ordered_json beside ours: what is read, what is printed, what is equal.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "json/json.h"

namespace jarvis {
namespace {

using Other = nlohmann::ordered_json;

class Documents {
 public:
  explicit Documents(std::uint32_t seed) : random_(seed) {}

  std::uint64_t Below(std::uint64_t end) { return random_() % end; }

  std::string Text() {
    static const std::array<std::string, 14> kParts = {"a",
                                                       "name",
                                                       "\"",
                                                       "\\",
                                                       "\n\t\b\f\r",
                                                       std::string("\0", 1),
                                                       "\x1f\x7f",
                                                       "\xC3\xA9",
                                                       "\xE2\x82\xAC",
                                                       "\xF0\x9F\x98\x80",
                                                       "\xEF\xBF\xBF",
                                                       "/",
                                                       "\xF4\x8F\xBF\xBF",
                                                       "\xED\x9F\xBF"};
    std::string text;
    for (std::uint64_t parts = Below(4); parts > 0; --parts)
      text += kParts[Below(kParts.size())];
    return text;
  }

  double Real() {
    switch (Below(4)) {
      case 0: return static_cast<double>(Below(2000)) / 8 - 100;
      case 1: return static_cast<double>(random_()) * 1e-3;
      default: return std::bit_cast<double>(random_());  // of any size, infinite, no number
    }
  }

  Other Value(int depth) {
    switch (Below(depth > 0 ? 9 : 7)) {
      case 0: return nullptr;
      case 1: return Below(2) == 0;
      case 2: return static_cast<std::int64_t>(random_() >> Below(64));
      case 3: return random_() >> Below(64);
      case 4:
      case 5: return Real();
      case 6: return Text();
      case 7: {
        Other list = Other::array();
        for (std::uint64_t size = Below(5); size > 0; --size)
          list.push_back(Value(depth - 1));
        return list;
      }
      default: {
        Other object = Other::object();
        for (std::uint64_t size = Below(5); size > 0; --size)
          object[Text()] = Value(depth - 1);
        return object;
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

Json Same(const Other& other) {
  using Type = Other::value_t;
  switch (other.type()) {
    case Type::boolean: return other.get<bool>();
    case Type::number_integer: return other.get<std::int64_t>();
    case Type::number_unsigned: return other.get<std::uint64_t>();
    case Type::number_float: return other.get<double>();
    case Type::string: return other.get<std::string>();
    case Type::array: {
      Json list = Json::array();
      for (const Other& element : other)
        list.push_back(Same(element));
      return list;
    }
    case Type::object: {
      Json object = Json::object();
      for (const auto& [name, value] : other.items())
        object[name] = Same(value);
      return object;
    }
    default: return nullptr;
  }
}

// In every way in which we print.
void CheckPrinted(const Json& ours, const Other& other) {
  constexpr auto kReplace = Other::error_handler_t::replace;
  for (const int indent : {-1, 0, 1, 2, 4}) {
    for (const char fill : {' ', '\t'}) {
      CHECK(ours.dump(indent, fill, Json::BadUtf8::kReplace) ==
            other.dump(indent, fill, false, kReplace));
    }
  }
  CHECK(DumpLine(ours) == other.dump(-1, ' ', false, kReplace));
}

void CheckRead(const std::string& text) {
  CAPTURE(text);
  const Other other = Other::parse(text, nullptr, false);
  const auto ours = ParseJson(text);
  REQUIRE(ours.has_value() == !other.is_discarded());
  if (!ours) {
    CHECK_THROWS_AS(Json::parse(text), JsonError);
    return;
  }
  CHECK(Json::parse(text) == *ours);
  CHECK(static_cast<int>(ours->kind()) == static_cast<int>(Same(other).kind()));
  CHECK(*ours == Same(other));
  CheckPrinted(*ours, other);
}

TEST_CASE("random documents are printed and read alike") {
  Documents documents(1);
  for (int i = 0; i < 3000; ++i) {
    const Other other = documents.Value(4);
    CheckPrinted(Same(other), other);
    CheckRead(other.dump());
    CheckRead(other.dump(3));
  }
}

TEST_CASE("damaged documents are refused alike") {
  constexpr std::string_view kBytes = "{}[],:\"\\0-.eE+ntu\xC3\xA9\x01 ";
  Documents documents(2);
  for (int i = 0; i < 3000; ++i) {
    std::string text = documents.Value(3).dump();
    for (std::uint64_t changes = documents.Below(3); changes > 0; --changes) {
      const char c = kBytes[documents.Below(kBytes.size())];
      const std::size_t at = documents.Below(text.size());
      if (documents.Below(2) == 0) {
        text[at] = c;
      } else {
        text.insert(at, 1, c);
      }
    }
    CheckRead(text);
    CheckRead(text.substr(0, documents.Below(text.size() + 1)));
  }
}

TEST_CASE("numbers are read and printed alike") {
  for (const char* text : {"0",
                           "-0",
                           "-0.0",
                           "0.0",
                           "1",
                           "-1",
                           "1.0",
                           "1e20",
                           "1E+20",
                           "1e-7",
                           "100000000000000000000",
                           "9223372036854775807",
                           "9223372036854775808",
                           "-9223372036854775808",
                           "-9223372036854775809",
                           "18446744073709551615",
                           "18446744073709551616",
                           "0.1",
                           "123456789.123456789",
                           "5e-324",
                           "2.2250738585072014e-308",
                           "1.7976931348623157e308",
                           "1e308",
                           "1e309",
                           "-1e309",
                           "1e-400",
                           "00",
                           "01",
                           "+1",
                           ".5",
                           "5.",
                           "1e",
                           "1e+",
                           "0x10",
                           "NaN",
                           "Infinity",
                           "-",
                           "1 ",
                           " 1",
                           "\xEF\xBB\xBF"
                           "1"}) {
    CheckRead(text);
  }
  for (const double value :
       {0.0, -0.0, 1e20, 1e21, 1e15, 1e16, 123456789012345680.0, 5e-324, 0.1 + 0.2,
        std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
        std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    CheckPrinted(value, value);
  }
  CheckPrinted(1.1F, 1.1F);
}

TEST_CASE("texts that are not UTF-8 are printed alike") {
  std::mt19937_64 random(3);
  static constexpr unsigned char kBytes[] = {'a',  '"',  0x01, 0x7F, 0x80, 0x90, 0xA0, 0xBF,
                                             0xC0, 0xC2, 0xDF, 0xE0, 0xE2, 0xED, 0xEF, 0xF0,
                                             0xF1, 0xF4, 0xF5, 0xFF, 0x8F, 0x9F, '\n'};
  int bad = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t size = random() % 7; size > 0; --size)
      text += static_cast<char>(kBytes[random() % sizeof(kBytes)]);
    const Other other = text;
    const Json ours = text;
    CHECK(DumpLine(ours) == other.dump(-1, ' ', false, Other::error_handler_t::replace));
    std::string strict;
    try {
      strict = other.dump();
    } catch (const Other::type_error&) {
      ++bad;
      CHECK_THROWS_AS(ours.dump(), JsonError);
      continue;
    }
    CHECK(ours.dump() == strict);
  }
  CHECK(bad > 1000);
}

TEST_CASE("values are equal and ordered alike") {
  Documents documents(4);
  std::vector<Other> values = {nullptr,
                               true,
                               false,
                               0,
                               0U,
                               0.0,
                               -1,
                               1,
                               1U,
                               1.0,
                               1.5,
                               "",
                               "a",
                               Other::array(),
                               Other::object(),
                               Other::array({1}),
                               "b",
                               INT64_MAX,
                               INT64_MIN};
  for (int i = 0; i < 60; ++i)
    values.push_back(documents.Value(2));
  for (const Other& a : values) {
    for (const Other& b : values) {
      CAPTURE(a.dump());
      CAPTURE(b.dump());
      // Nlohmann takes unsigned integers beyond 2^63 for negative ones; ours are compared by value.
      const auto is_huge = [](const Other& value) {
        return value.dump(-1, ' ', false).size() > 18;
      };
      if (is_huge(a) || is_huge(b)) continue;
      CHECK((Same(a) == Same(b)) == (a == b));
      CHECK((Same(a) < Same(b)) == (a < b));
      CHECK((Same(a) >= Same(b)) == (a >= b));
    }
  }
}

}  // namespace
}  // namespace jarvis
