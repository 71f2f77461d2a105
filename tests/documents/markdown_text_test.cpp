#include "documents/markdown_text.h"

#include <string>

#include <doctest/doctest.h>

#include "documents/comparative_facts.h"

namespace jarvis::documents {
namespace {

TEST_CASE("names of a trace are no links, images or tags") {
  for (const std::string hostile : {"![i](http://evil.example/x.png)", "[a](javascript:x)",
                                    "[a][b]", "<img onerror=x>", "a\n# heading", "a|b"}) {
    CAPTURE(hostile);
    for (const std::string& shown : {CellOfText(hostile), Md(hostile)}) {
      CHECK(shown.find('<') == std::string::npos);
      CHECK(shown.find('\n') == std::string::npos);
      for (std::size_t at = shown.find('['); at != std::string::npos;
           at = shown.find('[', at + 1)) {
        REQUIRE(at > 0);
        CHECK(shown[at - 1] == '\\');
      }
    }
  }
  // Shapes and lists of types stay as they are.
  CHECK(CellOfText("[[8, 4], [4, 8]] ['float']") == "[[8, 4], [4, 8]] ['float']");
  CHECK(Md("aten::mm [[8, 4], [4, 8]]") == "aten::mm [[8, 4], [4, 8]]");
  CHECK(MdCode("void k<4>(T*)") == "void k<4>(T*)");
}

TEST_CASE("words of others are no markup, and stay readable") {
  struct Case {
    std::string given;
    std::string shown;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"},
           {"a <img src=http://evil.example/x.png onerror=x> b",
            "a &lt;img src=http://evil.example/x.png onerror=x> b"},
           {"![p](http://evil.example/x.png)", "!\\[p](http://evil.example/x.png)"},
           {"[go](javascript:x) and [a][b]", "\\[go](javascript:x) and \\[a]\\[b]"},
           {"a\n# heading", "a # heading"},
           {"a|b and `c|d`", "a\\|b and `c\\|d`"},
           // What nothing closes is no code, and hides nothing.
           {"` <b>", "' &lt;b>"},
           {"``a` <b> `c`", "'`a` &lt;b> `c`"},
           {"`vector<float>` and ``a`<b>``", "`vector<float>` and ``a`<b>``"},
           // Ordinary words stay as they are.
           {"**Bold**, 3 < 4 & a > b: [8, 4] (x) it's \"so\" 50% -> f(x)!",
            "**Bold**, 3 &lt; 4 & a > b: [8, 4] (x) it's \"so\" 50% -> f(x)!"},
           {"std::vector<int> k<4>(T*)", "std::vector&lt;int> k&lt;4>(T*)"}}) {
    CAPTURE(one.given);
    const std::string shown = ProseOfText(one.given);
    CHECK(shown == one.shown);
    CHECK(ProseOfText(shown) == shown);
  }
}

TEST_CASE("places lose their folders, other text keeps its slashes") {
  CHECK(WithoutDirectories("`a/b/model.py(12): forward` (3 ms in `c/d.py(4): g`), 5 ms") ==
        "`model.py(12): forward` (3 ms in `d.py(4): g`), 5 ms");
  CHECK(WithoutDirectories("`model.py(12): f` and `a/b`") == "`model.py(12): f` and `a/b`");
  CHECK(WithoutDirectories("`x` at a/b.py(3)") == "`x` at a/b.py(3)");
}

TEST_CASE("a sentence begins with a large letter, or with a name as it is written") {
  CHECK(Capitalised("device copies") == "Device copies");
  CHECK(Capitalised("fp32 products") == "Fp32 products");
  CHECK(Capitalised("cudaMalloc and cudaFree calls") == "cudaMalloc and cudaFree calls");
  CHECK(Capitalised("`aten::mm` and others") == "`aten::mm` and others");
  CHECK(Capitalised("").empty());
}

TEST_CASE("operands are told apart from how many there are of one") {
  CHECK(ArgsText("(8,4) bf16<br>(4,2) bf16") == "(8,4) bf16 x (4,2) bf16");
  CHECK(ArgsText("(2,38,64) bf16<br>(2,38,64) bf16") == "2 x (2,38,64) bf16");
  CHECK(ArgsText("(8,8,16) fp32<br>(8,64,16) fp32<br>(8,64,16) fp32") ==
        "(8,8,16) fp32, 2 x (8,64,16) fp32");
}

}  // namespace
}  // namespace jarvis::documents
