#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/align/names.h"
#include "analysis/align/sequence.h"

namespace jarvis::analysis {
namespace {

TEST_CASE("names without what differs from run to run") {
  struct Case {
    const char* name;
    const char* normal;
    const char* stripped;
  };
  const Case cases[] = {
      {"launch 0xabc123 at 0xdead", "launch 0xXXXX at 0xXXXX", "launch 0xXXXX at 0xXXXX"},
      {"/src/train.py(128): forward", "/src/train.py: forward", "train.py"},
      {"/srv/user/proj/layer.py(99): matmul : detail", "/srv/user/proj/layer.py: matmul : detail",
       "/srv/user/proj/layer.py: matmul "},
      {"x.py(3): f: g", "x.py: f: g", "x.py: f"},
      {"nn.Module: Foo_0", "nn.Module: Foo_0", "nn.Module"},
      {"/a/b/x.py(3)", "/a/b/x.py(3)", "/a/b/x.py(3)"},
      {"0x and .py(): stay", "0x and .py(): stay", "0x and .py()"},
      {"", "", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(DiffName(c.name) == c.normal);
    CHECK(StrippedDiffName(c.name) == c.stripped);
  }
  CHECK(DiffName("hipModuleLaunchKernel") == DiffName("cuLaunchKernel"));
  CHECK(DiffName("cuLaunchKernel") != DiffName("cuLaunchKernelEx"));
  // The default folds what is numbered, too.
  CHECK(FoldedDiffName("nn.Module: Foo_0") == FoldedDiffName("nn.Module: Foo_17"));
  CHECK(FoldedDiffName("ProfilerStep#3") == FoldedDiffName("ProfilerStep#4"));
}

// One letter a name.
std::vector<StringId> Letters(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string Text(const Alignment& alignment) {
  std::string out;
  for (const AlignStep& step : alignment) {
    out += out.empty() ? "" : " ";
    out += step.matched()        ? fmt::format("{}={}", step.a, step.b)
           : step.b == kUnpaired ? fmt::format("-{}", step.a)
                                 : fmt::format("+{}", step.b);
  }
  return out;
}

std::string Align(const std::string& a, const std::string& b, const AlignLimits& limits = {}) {
  Job job;
  bool approximate = false;
  const Alignment alignment = AlignNames(Letters(a), Letters(b), limits, job, &approximate);
  return Text(alignment) + (approximate ? " (approximate)" : "");
}

TEST_CASE("the alignment of two lists") {
  CHECK(Align("ab", "ac") == "0=0 -1 +1");
  CHECK(Align("", "") == "");
  CHECK(Align("abc", "") == "-0 -1 -2");
  CHECK(Align("", "ab") == "+0 +1");
  CHECK(Align("abcd", "abcd") == "0=0 1=1 2=2 3=3");
  CHECK(Align("abcd", "bd") == "-0 1=0 -2 3=1");
  CHECK(Align("a", "aa") == "+0 0=1");  // found from the end
}

TEST_CASE("lists that are too long to compare every pair are aligned by looking ahead") {
  const AlignLimits few = {.cells_max = 3};
  CHECK(Align("abcd", "abcd", few) == "0=0 1=1 2=2 3=3");  // equal ends cost nothing
  CHECK(Align("abcx", "xabcy", few) == "+0 0=1 1=2 2=3 -3 +4 (approximate)");
  CHECK(Align("abc", "xyz", few) == "-0 +0 -1 +1 -2 +2 (approximate)");
}

// A node's subtree as text: "X" is one child X; "(XY)" two; "P>X" a P with an X below.
Signature Below(const std::string& node) {
  Signature out(kSignatureLevels);
  std::size_t level = 0;
  for (const char c : node) {
    if (c == '>') {
      ++level;
    } else if (c != '-') {
      out[level].push_back(static_cast<StringId>(c));
    }
  }
  for (auto& names : out)
    std::sort(names.begin(), names.end());
  return out;
}

std::string Pairing(const std::vector<std::string>& a, const std::vector<std::string>& b,
                    Alignment alignment, std::size_t limit = 1000) {
  const std::vector<StringId> names_a(a.size(), 7);
  const std::vector<StringId> names_b(b.size(), 7);
  bool approximate = false;
  PairByWhatLiesBelow(
      names_a, names_b,
      [&](int side, std::uint32_t place) { return Below(side == 0 ? a[place] : b[place]); },
      {.score_steps_max = limit}, &alignment, &approximate);
  return Text(alignment) + (approximate ? " (approximate)" : "");
}

Alignment Positional(std::uint32_t matched, std::uint32_t a, std::uint32_t b) {
  Alignment out;
  for (std::uint32_t i = 0; i < matched; ++i)
    out.push_back({i, i});
  for (std::uint32_t i = matched; i < a; ++i)
    out.push_back({i, kUnpaired});
  for (std::uint32_t j = matched; j < b; ++j)
    out.push_back({kUnpaired, j});
  return out;
}

TEST_CASE("equal names are told apart by what lies below them") {
  CHECK(Pairing({"X"}, {"Y", "X"}, Positional(1, 1, 2)) == "0=1 +0");
  CHECK(Pairing({"-"}, {"-", "-"}, Positional(1, 1, 2)) == "0=0 +1");
  CHECK(Pairing({"X", "Y"}, {"X", "Z", "Y"}, Positional(2, 2, 3)) == "0=0 1=2 +1");
  CHECK(Pairing({"X", "X"}, {"Y", "X", "X"}, Positional(2, 2, 3)) == "0=2 1=1 +0");
  CHECK(Pairing({"X", "Y"}, {"Y", "X"}, Positional(2, 2, 2)) == "0=1 1=0");
  CHECK(Pairing({"A", "B", "C", "D", "E"}, {"A", "C", "B"}, Positional(3, 5, 3)) ==
        "0=0 1=2 2=1 -3 -4");
  CHECK(Pairing({"P>Y", "B", "P>X", "D", "E"}, {"P>X", "B", "P>Y"}, Positional(3, 5, 3)) ==
        "0=2 1=1 2=0 -3 -4");
  CHECK(Pairing({"P", "PQ"}, {"PQS"}, Positional(1, 2, 1)) == "1=0 -0");
  CHECK(Pairing({"X", "Y"}, {"X", "Y"}, Positional(2, 2, 2)) == "0=0 1=1");
}

TEST_CASE("no entry is used twice") {
  const Alignment old = {{kUnpaired, 0}, {0, 1}, {1, 2}, {2, 3}};
  CHECK(Pairing({"XY", "XY", "XY"}, {"XY", "X", "X", "X"}, old) == "0=0 1=2 2=3 +1");
}

TEST_CASE("names with too many different subtrees stay as they are") {
  CHECK(Pairing({"X", "Y"}, {"Y", "X"}, Positional(2, 2, 2), 15) == "0=0 1=1 (approximate)");
}

}  // namespace
}  // namespace jarvis::analysis
