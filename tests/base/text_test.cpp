#include "base/text.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/run_sort.h"
#include "base/string_pool.h"

namespace jarvis {
namespace {

TEST_CASE("case and white space") {
  CHECK(LowerAscii("AbC_é1") == "abc_é1");
  CHECK(ContainsNoCase("ncclDevKERNEL", "kernel"));
  CHECK_FALSE(ContainsNoCase("kern", "kernel"));
  CHECK(EqualsNoCase("CPU_op", "cpu_OP"));
  CHECK_FALSE(EqualsNoCase("a", "ab"));
  CHECK(Trim(" \t\r\n a b \n") == "a b");
  CHECK(Trim("   ") == "");
}

TEST_CASE("a part is found wherever it stands and however it is written") {
  std::mt19937 random(3);
  const auto any = [&](std::size_t size) {
    std::string text(size, ' ');
    for (char& c : text)
      c = "aAbB_1"[random() % 6];
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    const std::string text = any(random() % 40);
    const std::string part = LowerAscii(any(random() % 4));
    CHECK(ContainsNoCase(text, part) == (LowerAscii(text).find(part) != std::string::npos));
  }
}

TEST_CASE("numbers") {
  CHECK(ParseInt("-12") == -12);
  CHECK(ParseInt("9223372036854775807") == INT64_MAX);
  for (const char* bad : {"", " 1", "1 ", "1.0", "9223372036854775808", "x", "+1"})
    CHECK_FALSE(ParseInt(bad));
  CHECK(ParseDouble("1.5e3") == 1500);
  for (const char* bad : {"", "1.5x", " 1"})
    CHECK_FALSE(ParseDouble(bad));
}

TEST_CASE("the closest word, if it is close") {
  const std::vector<std::string_view> words = {"load_trace", "gpu_timeline", "ops_summary"};
  CHECK(Closest("lod_trace", words) == "load_trace");
  CHECK(Closest("OPS_SUMMARY", words) == "ops_summary");
  CHECK_FALSE(Closest("zzzzzzzzzz", words).has_value());
  CHECK_FALSE(Closest("x", {}).has_value());
}

TEST_CASE("ValidUtf8") {
  const auto check = [](const std::string& text, const std::string& valid) {
    bool changed = false;
    CHECK(ValidUtf8(text, &changed) == valid);
    CHECK(changed == (text != valid));
  };
  const std::string r = "\uFFFD";
  check("plain é€😀", "plain é€😀");
  check(
      "a\xff"
      "b",
      "a" + r + "b");
  check("\x80", r);
  check("\xC0\xAF", r + r);          // overlong
  check("\xED\xA0\x80", r + r + r);  // a surrogate
  check("\xF4\x90\x80\x80", r + r + r + r);
  check("", "");
  bool changed = false;
  CHECK(ValidUtf8("x\xE2\x82", &changed).substr(0, 4) == "x" + r);  // cut short
  CHECK(changed);
}

TEST_CASE("StringPool") {
  StringPool pool;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i)
    texts.push_back("text " + std::to_string(i));
  texts.emplace_back("");
  texts.emplace_back(200000, 'x');  // larger than a block
  texts.emplace_back(std::string("a\0b", 3));
  for (int round = 0; round < 2; ++round) {
    for (StringId i = 0; i < texts.size(); ++i)
      CHECK(pool.Intern(texts[i]) == i);
  }
  for (StringId i = 0; i < texts.size(); ++i) {
    CHECK(pool[i] == texts[i]);
    CHECK(pool.Find(texts[i]) == i);
    CHECK(pool.hash(i) == HashText(texts[i]));
  }
  CHECK(pool.size() == texts.size());
  CHECK(pool.Find("nowhere") == kNoString);
  const std::string_view view = pool[7];
  StringPool moved = std::move(pool);
  CHECK(moved[7].data() == view.data());
  moved.Clear();
  CHECK(moved.size() == 0);
  CHECK(moved.Find("text 1") == kNoString);
  CHECK(moved.Intern("text 9") == 0);
}

TEST_CASE("RunSort is a stable sort") {
  std::mt19937 random(9);
  for (const int disorder : {0, 1, 10, 100, 1000}) {
    std::vector<std::pair<int, int>> values;
    for (int i = 0; i < 1000; ++i) {
      values.emplace_back(i / 3 + static_cast<int>(random() % static_cast<unsigned>(disorder + 1)),
                          i);
    }
    std::vector<std::pair<int, int>> wanted = values;
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(wanted.begin(), wanted.end(), less);
    RunSort(values, less);
    const bool same = values == wanted;
    CHECK_MESSAGE(same, disorder);
  }
  std::vector<int> none;
  RunSort(none, std::less<>());
  CHECK(none.empty());
}

TEST_CASE("names in natural order") {
  std::vector<std::string> names = {"rank10", "rank2", "b",      "rank1.json", "rank01.json",
                                    "a1b2",   "a1b",   "rank2a", "",           "a01b2"};
  std::sort(names.begin(), names.end(), NaturallyBefore);
  CHECK(names == std::vector<std::string>{"", "a1b", "a01b2", "a1b2", "b", "rank01.json",
                                          "rank1.json", "rank2", "rank2a", "rank10"});
  for (const std::string& one : names)
    CHECK_FALSE(NaturallyBefore(one, one));
}

TEST_CASE("control characters of all kinds become blanks, other text stays") {
  CHECK(OneLine("a\nb\tc\x7f") == "a b c ");
  CHECK(OneLine("a\xC2\x80"
                "b\xC2\x9F"
                "c\xC2\xA0") == "a b c\xC2\xA0");
  CHECK(OneLine("\xE2\x80\xAE\xE2\x80\xA8\xE2\x81\xA6\xD8\x9C") == "    ");
  CHECK(OneLine("\xE2\x80\x94 \xC3\xA4 \xE2\x82\xAC") == "\xE2\x80\x94 \xC3\xA4 \xE2\x82\xAC");
}

TEST_CASE("a shortened text has its start and its end") {
  CHECK(Shortened("abc", 3) == "abc");
  CHECK(Shortened("abcdefghijkl", 9) == "abcd...kl");
  CHECK(Shortened("abcdef", 2) == "..");
  CHECK(Shortened("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 8) == "\xC3\xA4\xC3\xA4...");
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    const std::string shown = Shortened(
        "a\xE2\x82\xAC"
        "b\xF0\x9F\x98\x80 and some more of \xC3\xA4\xC3\xB6",
        bytes);
    CHECK(shown.size() <= bytes);
    CHECK(ValidUtf8(shown) == shown);
  }
}

}  // namespace
}  // namespace jarvis
