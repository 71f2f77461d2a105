#include "trace/json_slicer.h"

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/limits.h"
#include "json/json.h"

namespace jarvis::trace {
namespace {

struct Sliced {
  std::vector<std::string> elements;  // re-dumped, so that white space does not matter
  std::vector<std::string> keys;
  std::string error;
  std::uint64_t count = 0;
  bool complete = false;
  bool text_after_end = false;
  friend bool operator==(const Sliced&, const Sliced&) = default;
};

// Feeds the document in the given pieces, as the reader does.
Sliced Slice(const std::vector<std::string>& pieces) {
  Sliced result;
  JsonSlicer slicer;
  std::string buffer;
  for (const std::string& piece : pieces) {
    buffer += piece;
    for (bool more = true; more;) {
      const Status fed = slicer.Feed(buffer);
      if (!fed) {
        result.error = fed.error().message;
        return result;
      }
      const JsonSlicer::Slice slice = slicer.slice();
      if (slice.elements > 0) {
        CHECK(slice.first_element == result.count);
        result.count += slice.elements;
        std::string_view text = slice.text;  // the comma after the last slice comes first
        text.remove_prefix(std::min(text.find_first_not_of(", \n\t\r"), text.size()));
        if (const auto parsed = ParseJson("[" + std::string(text) + "]")) {
          for (const Json& element : *parsed)
            result.elements.push_back(element.dump());
        }
      }
      more = slicer.consumed() > 0 && !slicer.inside_events() && slicer.consumed() < buffer.size();
      buffer.erase(0, slicer.consumed());
    }
  }
  result.complete = slicer.complete();
  result.text_after_end = slicer.text_after_end();
  CHECK(slicer.elements() == result.count);
  for (const TopLevelValue& value : slicer.values())
    result.keys.push_back(value.key + value.json);
  return result;
}

std::vector<std::string> InPieces(const std::string& text, std::size_t bytes) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += bytes)
    pieces.push_back(text.substr(at, bytes));
  return pieces;
}

// Whole, split in two at every byte, and byte by byte: always the same.
Sliced SliceEveryWay(const std::string& text) {
  const Sliced whole = Slice({text});
  for (std::size_t at = 1; at < text.size(); ++at) {
    const Sliced split = Slice({text.substr(0, at), text.substr(at)});
    CHECK_MESSAGE(split == whole, "split at byte ", at, " of ", text);
  }
  CHECK(Slice(InPieces(text, 1)) == whole);
  CHECK(Slice(InPieces(text, 7)) == whole);
  return whole;
}

void Check(const std::string& text, const std::vector<std::string>& elements) {
  CAPTURE(text);
  const Sliced sliced = SliceEveryWay(text);
  CHECK(sliced.error == "");
  CHECK(sliced.complete);
  CHECK(sliced.elements == elements);
}

TEST_CASE("elements of traceEvents, however the text is cut") {
  Check(R"({"traceEvents":[]})", {});
  Check(R"({"traceEvents":[{}]})", {"{}"});
  Check(R"({"traceEvents": [ {"a":1} , {"b":{"c":[{}]}} ] })",
        {R"({"a":1})", R"({"b":{"c":[{}]}})"});
  Check(R"([{"a":1},{"b":2}])", {R"({"a":1})", R"({"b":2})"});
  Check("\xEF\xBB\xBF [{\"a\":1}]", {R"({"a":1})"});
  Check("\xEF\xBB\xBF{\"traceEvents\":[{\"a\":1}]}", {R"({"a":1})"});
  Check(R"({"a":"traceEvents","traceEvents":[{"a":1}]})", {R"({"a":1})"});
  Check(R"({"x":{"traceEvents":[{"no":1}]},"traceEvents":[{"a":1}]})", {R"({"a":1})"});
  Check(R"({"traceEvents":[{"a":1}],"b":[{"c":1}],"traceEvents":[{"d":2}]})",
        {R"({"a":1})", R"({"d":2})"});
}

TEST_CASE("braces, quotes and backslashes in strings") {
  Check(R"({"traceEvents":[{"n":"{\"}{\\"},{"n":"}]}"}]})",
        {R"({"n":"{\"}{\\"})", R"({"n":"}]}"})"});
  for (const int backslashes : {1, 2, 3, 31, 62, 63, 64, 65, 126, 127, 128, 129}) {
    // Pairs of backslashes and an escaped quote, at every place in a block of 64 bytes.
    for (int lead = 0; lead<64; lead += backslashes> 3 ? 7 : 1) {
      const std::string text = std::string(static_cast<std::size_t>(lead), ' ') + "[{\"n\":\"" +
                               std::string(2 * static_cast<std::size_t>(backslashes), '\\') +
                               "\\\"}{\"},{}]";
      const Sliced sliced = Slice({text});
      CHECK(sliced.count == 2);
      CHECK(sliced.elements.size() == 2);
      CHECK(Slice(InPieces(text, 5)) == sliced);
    }
  }
}

TEST_CASE("elements that are no objects are counted, and pass whole") {
  const Sliced sliced = SliceEveryWay(R"([1,"a,]{",{"a":1},[{"b":[1,2]},3],null,{"c":2}])");
  CHECK(sliced.count == 6);
  CHECK(sliced.complete);
  CHECK(sliced.elements == std::vector<std::string>{"1", "\"a,]{\"", R"({"a":1})",
                                                    R"([{"b":[1,2]},3])", "null", R"({"c":2})"});
}

TEST_CASE("white space of any length, anywhere") {
  const std::string event = R"({"ph":"X","name":" a  b "})";
  for (const std::size_t size :
       std::initializer_list<std::size_t>{0, 1, 15, 16, 17, 63, 64, 1000}) {
    std::string space;
    while (space.size() < size)
      space += " \t\r\n"[space.size() % 4];
    // Within a kept value it belongs to the value.
    const auto with = [&](const std::string& s) {
      return s + "{" + s + R"("a")" + s + ":" + s + "[1,2]," + s + R"("traceEvents")" + s + ":" +
             s + "[" + s + event + s + "," + s + event + s + "]" + s + "," + s + R"("b":" x  "})" +
             s;
    };
    const std::string text = with(space);
    const Sliced expected = Slice({with("")});
    CHECK(expected.count == 2);
    CHECK(Slice({text}) == expected);
    CHECK(Slice({text.substr(0, text.size() / 2), text.substr(text.size() / 2)}) == expected);
    std::vector<std::string> bytes;
    for (const char c : text)
      bytes.emplace_back(1, c);
    CHECK(Slice(bytes) == expected);
    const std::string value = "[1," + space + "2]" + space;
    const std::string inside = R"({"a":)" + value + R"(,"traceEvents":[]})";
    CHECK(Slice({inside}).keys.size() == 1);
    CHECK(Slice({inside}) == Slice({inside.substr(0, 7), inside.substr(7)}));
  }
}

TEST_CASE("members before and after the events") {
  const Sliced sliced = SliceEveryWay(
      R"({"v" : 1 , "s":"},{\"", "d":[{"id":0,"n":"]"}],"traceEvents":[{"a":1}],"after":{"x":[1]},"z":null})");
  CHECK(sliced.complete);
  CHECK(sliced.count == 1);
  CHECK(sliced.keys == std::vector<std::string>{"v1 ", R"(s"},{\"")", R"(d[{"id":0,"n":"]"}])",
                                                R"(after{"x":[1]})", "znull"});
}

TEST_CASE("what is no trace is noticed, and what is cut off") {
  CHECK(Slice({"<html>"}).error.find("not JSON") != std::string::npos);
  CHECK(Slice({"\x1f"}).error.find("0x1f") != std::string::npos);
  CHECK(Slice({"{1}"}).error.find("expected a member name") != std::string::npos);
  CHECK_FALSE(Slice({"   "}).complete);
  CHECK_FALSE(Slice({R"({"traceEvents":[{"a":1},{"b")"}).complete);
  CHECK(Slice({R"({"traceEvents":[{"a":1},{"b")"}).count == 1);
  CHECK(Slice({R"([{"a":1}] trailing)"}).text_after_end);
  CHECK(Slice({R"({"traceEvents":[{"a":1}]} {)"}).text_after_end);
  CHECK_FALSE(Slice({R"({"traceEvents":[{"a":1}]}  )"
                     "\n"})
                  .text_after_end);
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::size_t Below(std::size_t limit) { return engine_() % limit; }

  std::string Text() {
    static constexpr const char* kParts[] = {"{",       "}", "[", "]",          "\\\"",
                                             "\\\\",    ",", ":", "a",          "\\n",
                                             "\\u00e9", "é", " ", "traceEvents"};
    std::string text = "\"";
    for (std::size_t i = Below(9); i > 0; --i)
      text += kParts[Below(std::size(kParts))];
    return text + "\"";
  }
  std::string Space() { return std::string(Below(12) == 0 ? Below(70) : 0, " \n\t\r"[Below(4)]); }
  std::string Value(int depth) {
    switch (Below(depth > 3 ? 4 : 6)) {
      case 0: return Text();
      case 1: return std::to_string(Below(1000));
      case 2: return "null";
      case 3: return Below(2) == 0 ? "true" : "-1.5e3";
      case 4: return List('[', ']', depth, false);
      default: return Object(depth);
    }
  }
  std::string Object(int depth) { return List('{', '}', depth, true); }

 private:
  std::string List(char open, char close, int depth, bool keys) {
    std::string text(1, open);
    const std::size_t members = Below(4);
    for (std::size_t i = 0; i < members; ++i) {
      if (i > 0) text += "," + Space();
      if (keys) text += "\"k" + std::to_string(i) + "\":" + Space();
      text += Value(depth + 1) + Space();
    }
    return text + close;
  }
  std::mt19937 engine_;
};

TEST_CASE("the same elements as a JSON parser finds, for random documents") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::string text =
        "{" + random.Space() + "\"before\":" + random.Value(0) + ",\"traceEvents\":[";
    const std::size_t events = random.Below(12);
    for (std::size_t i = 0; i < events; ++i) {
      if (i > 0) text += "," + random.Space();
      text += random.Below(8) == 0 ? random.Value(0) : random.Object(0);
      text += random.Space();
    }
    text += "]," + random.Space() + "\"after\":" + random.Value(0) + "}" + random.Space();
    CAPTURE(seed);
    CAPTURE(text);
    const Json document = Json::parse(text);
    std::vector<std::string> wanted;
    for (const Json& element : document["traceEvents"])
      wanted.push_back(element.dump());
    const Sliced whole = Slice({text});
    CHECK(whole.elements == wanted);
    CHECK(whole.complete);
    CHECK(whole.keys.size() == 2);
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{65}}) {
      CHECK(Slice(InPieces(text, bytes)) == whole);
    }
  }
}

TEST_CASE("members beside the events are kept up to a limit in all") {
  JsonSlicer slicer;
  const auto feed = [&](std::string text) {
    while (!text.empty()) {
      REQUIRE(slicer.Feed(text).has_value());
      if (slicer.consumed() == 0) break;
      text.erase(0, slicer.consumed());
    }
  };
  feed(R"({"first":1,)");
  const std::string mebibyte(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 100; ++i)
    feed("\"" + std::to_string(i) + "\":\"" + mebibyte + "\",");
  feed(R"("small":2,"traceEvents":[{}]})");
  CHECK(slicer.complete());
  CHECK(slicer.elements() == 1);
  std::size_t bytes = 0;
  for (const TopLevelValue& value : slicer.values())
    bytes += value.key.size() + value.json.size();
  CHECK(bytes < limits::kMetadataBytesAllMax);
  CHECK(bytes > limits::kMetadataBytesAllMax / 2);
  CHECK(slicer.values_left_out() == 102 - slicer.values().size());
  // What is small still fits.
  CHECK(slicer.values().back().key == "small");
}

}  // namespace
}  // namespace jarvis::trace
