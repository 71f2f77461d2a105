#include "documents/sentences.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace jarvis::documents {
namespace {

std::string Texts(const std::vector<documents::Quantity>& quantities) {
  std::string text;
  for (const documents::Quantity& one : quantities)
    text += fmt::format("{}{}={:.6g}", text.empty() ? "" : "; ", one.text, one.value);
  return text;
}

TEST_CASE("figures with a unit are found, names are not") {
  const struct {
    std::string_view prose;
    std::string_view found;
  } kCases[] = {
      {"takes 12.5 ms", "12.5 ms=12.5"},
      {"takes 12.5ms and 30 us", "12.5 ms=12.5; 30 us=0.03"},
      {"1.2 to 3.4 ms", "1.2 ms=1.2; 3.4 ms=3.4"},
      {"1.2-3.4 ms", "1.2 ms=1.2; 3.4 ms=3.4"},
      {"23% of compute", "23%=23"},
      {"23 % of compute", "23%=23"},
      {"1,234 calls", "1,234 calls=1234"},
      {"5.3 TB/s of 708 TFLOPS/s", "5.3 TB/s=5.3; 708 TFLOPS/s=708"},
      {"On H100 with bf16 and Qwen1.5-0.5B in 3 layers", "3 layers=3"},
      {"Priority 1: step 2 of `5 ms kernel` <!-- 7 ms -->", ""},
      {"[3 ms](#5-ms)", "3 ms=3"},
      {"2 sets", ""},
  };
  for (const auto& one : kCases) {
    CAPTURE(one.prose);
    CHECK(Texts(documents::Quantities(one.prose)) == one.found);
  }
}

TEST_CASE("a cell's figure takes its column's unit") {
  CHECK(Texts(documents::CellQuantities("Time (ms)", "12.50")) == "12.50 ms=12.5");
  CHECK(Texts(documents::CellQuantities("Value", "12.50 ms")) == "12.50 ms=12.5");
  CHECK(Texts(documents::CellQuantities("% Compute", "12.5")) == "12.5%=12.5");
  CHECK(Texts(documents::CellQuantities("Args", "(8192,8192) fp32")) == "");
  CHECK(Texts(documents::CellQuantities("Kernel", "`4 ms`")) == "");
  CHECK(Texts(documents::CellQuantities("Value", "GEMM (45.2%)")) == "45.2%=45.2");
}

TEST_CASE("prose may round a figure, and no more than that") {
  const auto prose = [](std::string_view text) { return documents::Quantities(text).at(0); };
  const auto cell = [](std::string_view text) {
    return documents::CellQuantities("Value", text).at(0);
  };
  CHECK(documents::Agree(prose("12.3 ms"), cell("12.34 ms")));
  CHECK(documents::Agree(prose("12 ms"), cell("12.34 ms")));
  CHECK_FALSE(documents::Agree(prose("12.4 ms"), cell("12.34 ms")));
  CHECK_FALSE(
      documents::Agree(prose("12.34 ms"), cell("12.3 ms")));  // more digits than the table has
  CHECK_FALSE(documents::Agree(prose("12.3 ms"), cell("12.3%")));
  CHECK(documents::Agree(prose("0.3 ms"), cell("300 us")));
  CHECK(documents::Agree(prose("12 calls"), cell("12")));
  CHECK_FALSE(documents::Agree(prose("13 calls"), cell("12")));
}

TEST_CASE("a calculation that is shown is read with its operands, and checked") {
  const auto one = Calculations("Four layers of 3 x 12.5 ms + 2 ms = 39.5 ms each.");
  REQUIRE(one.size() == 1);
  CHECK(one[0].holds);
  CHECK(one[0].result.text == "39.5 ms");
  REQUIRE(one[0].operands.size() == 3);
  CHECK(one[0].operands[0].kind == QuantityKind::kPlain);
  CHECK(one[0].operands[1].text == "12.5 ms");
  REQUIRE(Calculations("40 ms / 800 ms = 5 %").size() == 1);
  CHECK(Calculations("40 ms / 800 ms = 5 %")[0].holds);
  CHECK(Calculations("20 % \xC3\x97 250 \xC2\xB5s = 50 \xC2\xB5s")[0].holds);
  CHECK_FALSE(Calculations("3 x 12.5 ms = 40 ms")[0].holds);
  // No operator, no result, another range: none of these is a calculation.
  CHECK(Calculations("batch = 40 ms").empty());
  CHECK(Calculations("3 x 12.5 ms and more").empty());
  CHECK(Calculations("from 1.2 - 3.4 ms").empty());
  CHECK(Calculations("40 ms / 0 ms = 5 %").empty());
}

TEST_CASE("a range goes from low to high; a change may go down") {
  using documents::ReversedRanges;
  CHECK(ReversedRanges("It saves 5 to 3 ms.") == std::vector<std::string>{"5 to 3 ms"});
  CHECK(ReversedRanges("0.151 to 0.0591 ms").size() == 1);
  CHECK(ReversedRanges("12.5%\xE2\x80\x93 3 ms").empty());
  CHECK(ReversedRanges("It saves 3 to 5 ms, 4 to 4 ms.").empty());
  CHECK(ReversedRanges("It goes from 5 to 3 ms.").empty());
  CHECK(ReversedRanges("Ranks 5 to 3, `7 to 2 ms`, 5 and 3 ms").empty());
}

TEST_CASE("sentences end with a stop or with their line") {
  CHECK(documents::Sentences("One is 1.5 ms. Two! Three\nfour") ==
        std::vector<std::string>{"One is 1.5 ms.", "Two!", "Three", "four"});
}

}  // namespace
}  // namespace jarvis::documents
