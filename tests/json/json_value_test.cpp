// How values are made, asked and changed.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "json/json.h"

namespace jarvis {
namespace {

using namespace std::string_view_literals;

TEST_CASE("a braced list is an object if all of it are names with values") {
  const std::string text = "t";
  const Json value = 5;
  const Json pair = {"p", 1};
  struct Case {
    Json made;
    std::string_view printed;
  };
  const Case cases[] = {
      {Json{}, "null"},
      {Json({}), "{}"},
      {{"a", "b"}, R"(["a","b"])"},
      {{{"a", "b"}}, R"({"a":"b"})"},
      {{{"a", 1}, {"b", Json::array()}}, R"({"a":1,"b":[]})"},
      {{{"a", 1}, {"b", 2, 3}}, R"([["a",1],["b",2,3]])"},
      {{{"a", 1}, {2, 3}}, R"([["a",1],[2,3]])"},
      {{{"a", 1}, "b"}, R"([["a",1],"b"])"},
      {{{"a", {{"b", {{"c", nullptr}}}}}}, R"({"a":{"b":{"c":null}}})"},
      {{{"a", {"x", "y"}}}, R"({"a":["x","y"]})"},
      {{{"a", {{"x", "y"}}}}, R"({"a":{"x":"y"}})"},
      {{{text, value}}, R"({"t":5})"},
      {{pair, {"q", 2}}, R"({"p":1,"q":2})"},
      {{{"first", 1}, {"first", 2}}, R"({"first":1})"},
      {{{"a", std::vector<int>{1, 2}}}, R"({"a":[1,2]})"},
      {{std::vector<std::string>{"a", "b"}}, R"({"a":"b"})"},
      {Json::array({{"a", 1}}), R"([["a",1]])"},
      {Json::array({pair}), R"([["p",1]])"},
      {Json::array({Json()}), "[null]"},
      {Json::object({{"a", 1}}), R"({"a":1})"},
      {{nullptr, true, -1, 1U, 1.5, 2.0F, 'c', text, "v"sv, value},
       R"([null,true,-1,1,1.5,2.0,99,"t","v",5])"},
  };
  for (const Case& c : cases)
    CHECK(c.made.dump() == c.printed);
  CHECK_THROWS_AS(Json::object({1, 2}), JsonError);
}

TEST_CASE("a braced list takes over what it is given for keeps") {
  std::string text(1000, 'x');
  const char* bytes = text.data();
  Json inner = Json::array({1});
  const Json* element = &inner.front();
  const Json outer = {{"text", std::move(text)}, {"list", std::move(inner)}};
  CHECK(outer.at("text").get_ref<const std::string&>().data() == bytes);
  CHECK(&outer.at("list").front() == element);
}

TEST_CASE("values of containers, and containers of values") {
  CHECK(Json(std::vector<std::string>{"a"}).dump() == R"(["a"])");
  CHECK(Json(std::vector<std::string>()).dump() == "[]");
  CHECK(Json(std::vector<bool>{true, false}).dump() == "[true,false]");
  CHECK(Json(std::vector<std::vector<int>>{{1}, {}}).dump() == "[[1],[]]");
  CHECK(Json(std::vector<Json>{1, "a"}).dump() == R"([1,"a"])");
  CHECK(Json(std::map<std::string, double>{{"b", 1}, {"a", 0.5}}).dump() == R"({"a":0.5,"b":1.0})");
  CHECK(Json(std::map<std::string, Json>{{"b", nullptr}}).dump() == R"({"b":null})");
  CHECK(Json({"a", "b"}).get<std::vector<std::string>>() == std::vector<std::string>{"a", "b"});
  CHECK(Json({1, 2.9}).get<std::vector<std::int64_t>>() == std::vector<std::int64_t>{1, 2});
  CHECK_THROWS_AS(Json("a").get<std::vector<std::string>>(), JsonError);
}

TEST_CASE("numbers are converted, other kinds are not") {
  CHECK(Json(-1).get<double>() == -1.0);
  CHECK(Json(2.9).get<int>() == 2);
  CHECK(Json(1e300).get<std::int64_t>() == INT64_MAX);
  CHECK(Json(-1e300).get<std::int64_t>() == INT64_MIN);
  CHECK(Json(-1.0).get<std::uint64_t>() == 0);
  CHECK(Json(UINT64_MAX).get<std::uint64_t>() == UINT64_MAX);
  CHECK_THROWS_AS(Json("1").get<int>(), JsonError);
  CHECK_THROWS_AS(Json(true).get<int>(), JsonError);
  CHECK_THROWS_AS(Json(1).get<bool>(), JsonError);
  CHECK_THROWS_AS(Json().get<std::string>(), JsonError);
}

TEST_CASE("members and elements") {
  Json json;
  json["a"]["b"] = 1;
  json["list"].push_back("x");
  json["list"].push_back({{"y", 2}});
  json["more"][2] = true;
  CHECK(json.dump() == R"({"a":{"b":1},"list":["x",{"y":2}],"more":[null,null,true]})");
  CHECK(json.size() == 3);
  CHECK(json.contains("a"));
  CHECK_FALSE(json.at("list").contains("a"));
  CHECK(json.find("a")->at("b") == 1);
  CHECK(json.find("a").key() == "a");
  CHECK(json.find("z") == json.end());
  CHECK(json.at("list").front() == "x");
  CHECK(json.at("list").back() == Json{{"y", 2}});
  json.push_back({"added", 1});
  json.push_back({"a", "not this one"});
  CHECK(json.erase("list"));
  CHECK_FALSE(json.erase("list"));
  json.update({{"more", 0}, {"most", 1}});
  CHECK(json.dump() == R"({"a":{"b":1},"more":0,"added":1,"most":1})");
  const Json& read = json;
  CHECK(read["a"] == Json{{"b", 1}});
  CHECK(json.value("more", 5) == 0);
  CHECK(json.value("none", 5) == 5);
  CHECK(json.value("none", "text") == "text");
  CHECK(json.value("none", std::vector<std::string>{"x"}).size() == 1);
  CHECK_THROWS_AS(json.value("more", "text"), JsonError);
  CHECK_THROWS_AS(Json(1).value("more", "text"), JsonError);
  CHECK_THROWS_AS(read["none"], JsonError);
  CHECK_THROWS_AS(read[0], JsonError);
  CHECK_THROWS_AS(read.at("none"), JsonError);
  CHECK_THROWS_AS(Json::array().at(0), JsonError);
  CHECK_THROWS_AS(Json::array().back(), JsonError);
  CHECK_THROWS_AS(Json(1)["a"], JsonError);
  CHECK_THROWS_AS(Json(1).push_back(2), JsonError);
  CHECK_THROWS_AS(Json(1).erase("a"), JsonError);
  CHECK_THROWS_AS(Json(1).update(Json::object()), JsonError);
}

TEST_CASE("walking over values") {
  const Json array = {3, 1, 2};
  int sum = 0;
  for (const Json& element : array)
    sum += element.get<int>();
  CHECK(sum == 6);
  CHECK(array.end() - array.begin() == 3);
  Json object = {{"a", 1}, {"b", 2}};
  std::string names;
  for (const auto& [name, value] : object.items())
    names += name + value.dump();
  CHECK(names == "a1b2");
  for (auto& [name, value] : object.items())
    value = name;
  for (Json& value : object)
    value = Json::array({value});
  CHECK(object.dump() == R"({"a":["a"],"b":["b"]})");
  for (const Json& empty : {Json(), Json::array(), Json::object()})
    CHECK(empty.begin() == empty.end());
  int others = 0;
  for (const Json& element : Json(7)) {
    ++others;
    CHECK(element == 7);
  }
  CHECK(others == 1);
  CHECK(array.items().begin() == array.items().end());
}

TEST_CASE("copies are apart, and what was moved is null") {
  Json a = {{"list", {1, 2}}};
  Json b = a;
  b["list"].push_back(3);
  CHECK(a.at("list").size() == 2);
  Json c = std::move(b);
  CHECK(b.is_null());  // NOLINT: says what is promised
  c = c["list"];
  CHECK(c.dump() == "[1,2,3]");
  c.push_back(c);
  CHECK(c.dump() == "[1,2,3,[1,2,3]]");
}

TEST_CASE("equality and order") {
  CHECK(Json(1) == Json(1.0));
  CHECK(Json(1) == Json(1U));
  CHECK(Json(-1) != Json(UINT64_MAX));
  CHECK(Json(-1) < Json(UINT64_MAX));
  CHECK(Json(INT64_MAX) < Json(UINT64_MAX));
  CHECK(Json(1) != Json(true));
  CHECK(Json("a") == "a");
  CHECK("a"sv == Json("a"));
  CHECK(Json() == nullptr);
  CHECK(Json("1") != 1);
  CHECK(Json{1, 2} < Json{1, 3});
  CHECK(Json{1} < Json{1, 2});
  CHECK(Json{{"a", 1}, {"b", 2}} != Json{{"b", 2}, {"a", 1}});
  CHECK(EqualInAnyOrder({{"a", 1}, {"b", {{"c", 1}, {"d", 2}}}},
                        {{"b", {{"d", 2}, {"c", 1}}}, {"a", 1}}));
  CHECK_FALSE(EqualInAnyOrder({{"a", 1}}, {{"a", 2}}));
  CHECK_FALSE(EqualInAnyOrder({{"a", 1}}, {{"b", 1}}));
  CHECK_FALSE(EqualInAnyOrder({1, 2}, {2, 1}));
}

}  // namespace
}  // namespace jarvis
