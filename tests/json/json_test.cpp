#include "json/json.h"

#include <limits>
#include <string>

#include <doctest/doctest.h>

namespace jarvis {
namespace {

TEST_CASE("JSON that is read, and what is refused") {
  struct Case {
    std::string name;
    std::string text;
    bool reads;
    ErrorCode code = ErrorCode::kBadValue;
  };
  const Case cases[] = {
      {"an object", R"({"a":[1,2.5,"x",null,true]})", true},
      {"a surrogate pair", R"("\ud83d\ude00")", true},
      {"a bracket in a string is not depth", "\"" + std::string(500, '[') + "\"", true},
      {"an escaped quote does not end a string", R"(["\"[[[["])", true},
      {"128 levels", std::string(128, '[') + std::string(128, ']'), true},
      {"129 levels", std::string(129, '[') + std::string(129, ']'), false, ErrorCode::kTooLarge},
      {"4 MiB of brackets", std::string(4 << 20, '['), false, ErrorCode::kTooLarge},
      {"nothing", "", false},
      {"half an object", R"({"a":)", false},
      {"two values", "1 2", false},
      {"a byte that is not UTF-8", "\"\xff\"", false},
      {"a cut UTF-8 sequence", "\"\xe2\x82\"", false},
      {"a lone high surrogate", R"("\ud800")", false},
      {"a lone low surrogate", R"("\udc00")", false},
      {"a number beyond double", "1e999", false},
      {"a control character in a string", "\"\x01\"", false},
      {"closing brackets only", "]]]]", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto value = ParseJson(c.text);
    CHECK(value.has_value() == c.reads);
    if (!value) CHECK(value.error().code == c.code);
  }
}

TEST_CASE("an object with very many members is refused before it costs quadratic time") {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i)
    text += "\"" + std::to_string(i) + "\":0,";
  text += "\"z\":0}";
  const auto value = ParseJson(text);
  REQUIRE_FALSE(value.has_value());
  CHECK(value.error().code == ErrorCode::kTooLarge);
}

TEST_CASE("of a repeated member the last one counts") {
  CHECK(ParseJson(R"({"id":1,"id":2})")->at("id") == 2);
}

TEST_CASE("printing is one line and never fails") {
  CHECK(DumpLine(Json{{"a", "x\ny"}, {"b", 1}}) == R"({"a":"x\ny","b":1})");
  CHECK(DumpLine(Json("\xff")) == "\"\xEF\xBF\xBD\"");
  CHECK(DumpLine(Json(std::numeric_limits<double>::quiet_NaN())) == "null");
}

TEST_CASE("an excerpt is cut between characters") {
  CHECK(Excerpt("abc") == "\"abc\"");
  CHECK(Excerpt("\xC3\xA9\xC3\xA9\xC3\xA9", 3) == "\"\xC3\xA9\xC3\xA9...");
  CHECK(Excerpt(std::string(100, 'a')).size() == 43);
}

}  // namespace
}  // namespace jarvis
