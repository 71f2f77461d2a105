#include "tools/shared/answer_picture.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "rpc/base64.h"

namespace jarvis::tools {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Answer WithRows() {
  Answer answer;
  answer.summary = "A headline.";
  answer.columns = {"row", "op", "gpu_ms", "count", "idle_ms"};
  answer.rows = {{"op1", "aten::mm", 1.5, std::int64_t{3}, 0.0},
                 {"op2", "</svg><script>alert(1)</script>", 0.5, std::int64_t{2}, 0.0},
                 {"op3", Cell(), Cell(), std::int64_t{1}, Cell()}};
  return answer;
}

std::uint32_t BigEndian(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

TEST_CASE("bars are the cells of rows") {
  const output::BarChart bars =
      BarsOf(WithRows(), {{"row", "op"}, {{"gpu_ms", "GPU"}, {"no_such", "x"}, {"count", "n"}}});
  CHECK(bars.horizontal);
  CHECK(bars.groups ==
        std::vector<std::string>{"op1 aten::mm", "op2 </svg><script>alert(1)</script>", "op3"});
  REQUIRE(bars.series.size() == 2);
  CHECK(bars.series[0].label == "GPU");
  CHECK(bars.series[0].y == std::vector<std::optional<double>>{1.5, 0.5, std::nullopt});
  CHECK(bars.series[1].y == std::vector<std::optional<double>>{3, 2, 1});
}

TEST_CASE("a drawing holds names as text, and nothing that is 0 everywhere") {
  const Answer answer = WithRows();
  const std::string svg =
      DrawBars({"Time", answer.summary, "ms",
                BarsOf(answer, {{"row", "op"}, {{"gpu_ms", "busy"}, {"idle_ms", "idle"}}})});
  CHECK(Has(svg, "aten::mm"));
  CHECK(Has(svg, "A headline."));
  CHECK_FALSE(Has(svg, "<script"));
  CHECK_FALSE(Has(svg, "idle"));
}

TEST_CASE("long headlines end with a sentence, and more rows than fit are counted") {
  Answer answer = WithRows();
  const std::string sentence = std::string(150, 'x') + ". ";
  answer.summary = sentence + sentence + "The end.";
  for (int i = 0; i < 100; ++i)
    answer.rows.push_back(answer.rows[0]);
  const std::string svg = DrawBars(
      {"Time", answer.summary, "ms", BarsOf(answer, {{"op"}, {{"gpu_ms", "a"}, {"count", "b"}}})});
  CHECK(Has(svg, "83 more rows are not drawn"));
  CHECK_FALSE(Has(svg, "The end"));
}

TEST_CASE("a picture is a PNG of a size for chats") {
  Answer answer = WithRows();
  answer.picture =
      DrawBars({"Time", answer.summary, "ms", BarsOf(answer, {{"op"}, {{"gpu_ms", ""}}})});
  const Json block = TakePicture(&answer);
  REQUIRE(block.is_object());
  CHECK(answer.notes.empty());
  CHECK(block["type"] == "image");
  CHECK(block["mimeType"] == "image/png");
  const auto png = rpc::DecodeBase64(block["data"].get<std::string>());
  REQUIRE(png.has_value());
  CHECK(png->starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(BigEndian(*png, 16) == 1000);
  CHECK(BigEndian(*png, 20) == 240);
  CHECK(png->size() < 150'000);
}

TEST_CASE("nothing to draw is told") {
  Answer answer = WithRows();
  CHECK(DrawBars({"Time", "", "ms", BarsOf(answer, {{"op"}, {{"no_such", ""}}})}).empty());
  answer.rows.clear();
  CHECK(DrawBars({"Time", "", "ms", BarsOf(answer, {{"op"}, {{"gpu_ms", ""}}})}).empty());
  CHECK(TakePicture(&answer).is_null());
  REQUIRE(answer.notes.size() == 1);
  CHECK(Has(answer.notes[0], "nothing to draw"));
}

}  // namespace
}  // namespace jarvis::tools
