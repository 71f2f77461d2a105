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

}  // namespace
}  // namespace jarvis::documents
