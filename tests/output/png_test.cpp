#include "output/png.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "output/svg.h"

namespace jarvis::output {
namespace {

std::string Sample() {
  Svg svg(60, 40, "sample");
  svg.Rect({10, 10}, 20, 20, {.fill = "#0077bb"});
  svg.Words({32, 30}, "text");
  return svg.Finish();
}

TEST_CASE("a drawing as PNG") {
  const auto png = RenderPng(Sample(), 2);
  REQUIRE_MESSAGE(png.has_value(), png.error().message);
  CHECK(png->starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(png->substr(16, 8) == std::string("\0\0\0\x78\0\0\0\x50", 8));
  CHECK(RenderPng(Sample(), 2).value() == *png);
  if (const char* folder = std::getenv("JARVIS_SAMPLE_DIR")) {
    std::filesystem::create_directories(folder);
    std::ofstream(std::string(folder) + "/sample.png", std::ios::binary) << *png;
  }
}

TEST_CASE("what is no drawing, and what is too large a one") {
  CHECK(RenderPng("", 1).error().code == ErrorCode::kBadValue);
  CHECK(RenderPng("<svg", 1).error().code == ErrorCode::kBadValue);
  CHECK(RenderPng("no picture", 1).error().code == ErrorCode::kBadValue);
  CHECK(RenderPng(Sample(), 0).error().code == ErrorCode::kBadValue);
  CHECK(RenderPng(Sample(), -1).error().code == ErrorCode::kBadValue);
  CHECK(RenderPng(Sample(), 1e9).error().code == ErrorCode::kTooLarge);
  CHECK(RenderPng(Svg(8000, 8000, "").Finish(), 4).error().code == ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace jarvis::output
