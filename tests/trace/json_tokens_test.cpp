#include "trace/json_tokens.h"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::trace {
namespace {

struct Found {
  explicit Found(std::string json) : text(std::move(json)) {
    whole = tokens.Find(text.c_str(), text.size());
  }
  std::vector<std::string> All() const {
    std::vector<std::string> all;
    for (JsonTokens::Place at = tokens.begin(); at != tokens.end(); ++at)
      all.emplace_back(tokens.Text(at));
    return all;
  }

  std::string text;
  JsonTokens tokens;
  bool whole = false;
};

TEST_CASE("tokens are brackets, commas, colons, strings and what stands between") {
  const Found found(R"( {"a\"b" : [1, -2.5e3 ,NaN], "c": "}," }  )");
  REQUIRE(found.whole);
  CHECK(found.All() == std::vector<std::string>{"{", R"("a\"b")", ":", "[", "1", ",", "-2.5e3", ",",
                                                "NaN", "]", ",", R"("c")", ":", R"("},")", "}"});
  CHECK(found.tokens.First(found.tokens.end()) == '\0');
}

TEST_CASE("a key is a string with a colon behind it") {
  const Found found("{\"a\\\"\\\\\" \n : 1, \"\":2, \"c\", 4: 5}");
  REQUIRE(found.whole);
  const JsonTokens::Place first = found.tokens.begin();
  std::string_view key;
  REQUIRE(found.tokens.IsKey(first + 1, &key));
  CHECK(key == R"(a\"\\)");
  REQUIRE(found.tokens.IsKey(first + 5, &key));
  CHECK(key.empty());
  CHECK_FALSE(found.tokens.IsKey(first + 9, &key));   // "c",
  CHECK_FALSE(found.tokens.IsKey(first + 11, &key));  // 4:
}

TEST_CASE("a value ends where its brackets are closed") {
  const Found found(R"([{"a": [[], {}]}, 7, [)");
  REQUIRE(found.whole);
  const JsonTokens& tokens = found.tokens;
  const JsonTokens::Place object = tokens.begin() + 1;
  const JsonTokens::Place behind = tokens.Behind(object);
  REQUIRE(behind != nullptr);
  CHECK(tokens.Text(behind) == ",");
  CHECK(tokens.Behind(behind + 1) == behind + 2);
  REQUIRE(tokens.IsValue(behind + 3));
  CHECK(tokens.Behind(behind + 3) == nullptr);
  CHECK_FALSE(tokens.IsValue(behind));
  CHECK_FALSE(tokens.IsValue(tokens.end()));
}

TEST_CASE("text that cannot be cut into tokens is refused") {
  CHECK_FALSE(Found("").whole);
  CHECK_FALSE(Found(R"(["no end)").whole);
  CHECK_FALSE(Found("[\"\xff\"]").whole);
  CHECK_FALSE(Found("[\"a\nb\"]").whole);
}

TEST_CASE("longer and shorter texts follow each other") {
  JsonTokens tokens;
  for (const std::size_t elements : {1U, 5000U, 3U, 20000U}) {
    std::string text = "[";
    for (std::size_t i = 0; i < elements; ++i)
      text += std::to_string(i) + ",";
    text.back() = ']';
    REQUIRE(tokens.Find(text.c_str(), text.size()));
    CHECK(static_cast<std::size_t>(tokens.end() - tokens.begin()) == 2 * elements + 1);
  }
}

}  // namespace
}  // namespace jarvis::trace
