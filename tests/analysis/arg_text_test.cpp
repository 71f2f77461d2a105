#include "analysis/attribution/arg_text.h"

#include <string>

#include <doctest/doctest.h>

namespace jarvis::analysis {
namespace {

void Check(std::string_view json, const std::string& text) {
  CAPTURE(json);
  CHECK(TupleText(json) == text);
}

TEST_CASE("lists become tuples") {
  Check("[]", "()");
  Check("[1]", "(1,)");
  Check("[[512, 64], []]", "((512, 64), ())");
  Check("[[[1,2],[3]],[4]]", "(((1, 2), (3,)), (4,))");
  Check("[ [ 1 ,2 ] ,\n[] ]", "((1, 2), ())");
}

TEST_CASE("values print as Python prints them") {
  Check(R"(["c10::Half", ""])", "('c10::Half', '')");
  Check(R"(["False","0.","[1, 1]","9.9999999999999998e-13"])",
        "('False', '0.', '[1, 1]', '9.9999999999999998e-13')");
  Check("[true,false,null]", "(True, False, None)");
  Check("[1.5,2.0,1e3,-7]", "(1.5, 2.0, 1000.0, -7)");
  Check(R"(["it's","a\"b","\u00e9\n","\\"])", R"(("it's", 'a"b', 'é\n', '\\'))");
  Check("[1180591620717411303424]", "(1180591620717411303424,)");
  Check(R"("text")", "'text'");
  Check("5", "5");
  Check("", "");
}

TEST_CASE("text that is no JSON is data all the same") {
  // No crash, and an end; what stands in the cell is of no further use.
  for (const char* odd : {"[", "]", "[[", "]]", "[1", "\"", "[\"", "[\"a\\", "{", "}",
                          "[{\"a\":1}]", ",", "[,]", "[1 2]", "[}", "nul", ":"}) {
    CAPTURE(odd);
    CHECK(TupleText(odd).size() < 40);
  }
  CHECK(TupleText(std::string(100000, '[')).size() == 100000);
}

}  // namespace
}  // namespace jarvis::analysis
