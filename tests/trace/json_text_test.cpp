#include "trace/json_text.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::trace {
namespace {

void CheckUnescape(std::string_view raw, const std::string& text) {
  CAPTURE(raw);
  CHECK(Unescape(raw) == text);
}

TEST_CASE("Unescape") {
  CheckUnescape("", "");
  CheckUnescape("plain", "plain");
  CheckUnescape(R"(a\"b\\c\/d)", "a\"b\\c/d");
  CheckUnescape(R"(\n\t\r\b\f)", "\n\t\r\b\f");
  CheckUnescape(R"(\u0041\u00e9\u20AC)", "Aé€");
  CheckUnescape(R"(\ud83d\ude00)", "😀");
  CheckUnescape(R"(\ud83d)", "\uFFFD");    // a lone high surrogate
  CheckUnescape(R"(\ude00x)", "\uFFFDx");  // a lone low one
  CheckUnescape(R"(\ud83d\u0041)",
                "\uFFFD"
                "A");  // a high one with no low one after it
  CheckUnescape(R"(\ud83dA)",
                "\uFFFD"
                "A");
  CheckUnescape(R"(\u12)", R"(\u12)");  // cut short: stays
  CheckUnescape(R"(\uzzzz)", R"(\uzzzz)");
  CheckUnescape(R"(\q)", R"(\q)");
  CheckUnescape("end\\", "end\\");
}

TEST_CASE("Escape is undone by Unescape") {
  for (const std::string text : {"", "a\"b", "\\", "line\nline", "\x01\x1f", "é😀", "{}[],:"}) {
    CHECK(Unescape(Escape(text)) == text);
  }
}

TEST_CASE("IntegerOf") {
  const auto check = [](std::string_view token, std::optional<std::int64_t> value) {
    CAPTURE(token);
    CHECK(IntegerOf(token) == value);
  };
  check("0", 0);
  check("-12", -12);
  check("\"42\"", 42);
  check("1.9", 1);
  check("1e3", 1000);
  check("9223372036854775807", INT64_MAX);
  check("-9223372036854775808", INT64_MIN);
  check("1180591620717411303424", std::nullopt);  // 2^70
  check("null", std::nullopt);
  check("\"\"", std::nullopt);
  check("\"stream 7\"", std::nullopt);
  check("-", std::nullopt);
  check("NaN", std::nullopt);
}

void CheckTime(std::string_view token, std::int64_t ns, bool exact = true, bool quoted = false) {
  CAPTURE(token);
  const std::optional<TimeValue> value = TimeOf(token);
  REQUIRE(value.has_value());
  CHECK(value->ns == ns);
  CHECK(value->exact == exact);
  CHECK(value->quoted == quoted);
}

TEST_CASE("TimeOf") {
  CheckTime("0", 0);
  CheckTime("12", 12000);
  CheckTime("5.1", 5100);
  CheckTime("0.001", 1);
  CheckTime("-5.0", -5000);
  CheckTime("-0.25", -250);
  CheckTime("1751410836123456.789", 1751410836123456789);  // exact, which a double is not
  CheckTime("1751410836123456", 1751410836123456000);
  CheckTime("1.5000000", 1500);  // zeros are no digits below a nanosecond
  CheckTime("\"17.25\"", 17250, true, true);
  CheckTime("\" 17.25 \"", 17250, true, true);
  CheckTime("0.0004", 0, false);
  CheckTime("2.0005", 2001, false);
  CheckTime("1e3", 1000000, false);
  CheckTime("1.5E-2", 15, false);
  CHECK(TimeOf("2.0005")->us == 2.0005);
  for (const std::string_view bad :
       {"", "null", "\"\"", "abc", "\"soon\"", "NaN", "Infinity", "1e300", "99999999999999999999",
        "-", "1.2.3", "--1", "true"}) {
    CAPTURE(bad);
    CHECK_FALSE(TimeOf(bad).has_value());
  }
}

TEST_CASE("MemberOf finds one key among raw members") {
  const std::string members =
      R"("a": 1,"b": "x,\"}y","list": [1,{"c":2},"]"],"key": "a","c": -3.5,"last": {"d":[{}]},)";
  const auto check = [&](std::string_view key, std::string_view value) {
    CAPTURE(key);
    CHECK(MemberOf(members, key) == value);
  };
  check("a", "1");
  check("b", R"("x,\"}y")");
  check("list", R"([1,{"c":2},"]"])");
  check("c", "-3.5");  // not the one inside the list
  check("key", "\"a\"");
  check("last", R"({"d":[{}]})");
  check("d", "");
  check("", "");
  // Text that no writer would write: no crash, no wrong answer.
  for (const std::string_view odd :
       {"", "\"", "\"a", "\"a\"", "\"a\":", "\"a\\", "\"a\":\"b", "\"a\":[", ":,"}) {
    CAPTURE(odd);
    CHECK(MemberOf(odd, "b") == "");
  }
}

TEST_CASE("Unquoted") {
  CHECK(Unquoted("\"a\"") == "a");
  CHECK(Unquoted(" \"a\" ") == "a");
  CHECK(Unquoted("a") == "a");
  CHECK(Unquoted("\"") == "\"");
  CHECK(Unquoted("\"\"") == "");
}

TEST_CASE("ElementsOf") {
  using Elements = std::vector<std::string_view>;
  CHECK(ElementsOf(R"( ["a,]", [1, [2]], {"b": [3, 4]}, -5e1 ] )") ==
        Elements{R"("a,]")", "[1, [2]]", R"({"b": [3, 4]})", "-5e1"});
  CHECK(ElementsOf(R"(["\"", ""])") == Elements{R"("\"")", R"("")"});
  CHECK(ElementsOf("[]").empty());
  CHECK(ElementsOf("[1").empty());
  CHECK(ElementsOf("7").empty());
  CHECK(ElementsOf("").empty());
}

}  // namespace
}  // namespace jarvis::trace
