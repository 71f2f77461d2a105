#include "sweep/draw/page.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sweep/draw/page_parts.h"
#include "sweep/page_support.h"

namespace jarvis::sweep {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t CountOf(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_CASE("changes in words") {
  CHECK(ChangeText(-3.24) == "−3.2 %");
  CHECK(ChangeText(0.251) == "+0.25 %");
  CHECK(ChangeText(0.001) == "0 %");
  CHECK(ChangeText(250) == "+250 %");
  CHECK(ChangeCell(-3.2, PageVerdict::kNoise, "").detail == "within noise");
  CHECK(ChangeCell(-3.2, PageVerdict::kBetter, "p 0.01").detail == "better; p 0.01");
  CHECK(ChangeCell(std::nullopt, PageVerdict::kBetter, "").text == "–");
  CHECK(NumberCell(std::nullopt).text == "–");
  CHECK(NumberCell(44.66312).text == "44.663");
  CHECK(NumberCell(1234.5).text == "1234");
  CHECK_FALSE(NumberCell(std::nullopt).value.has_value());
}

TEST_CASE("a page of one to eight sweeps") {
  for (const std::size_t sweeps : {1U, 2U, 3U, 8U}) {
    const std::string html = RenderComparisonPage(SamplePage(sweeps, false));
    CHECK(html == RenderComparisonPage(SamplePage(sweeps, false)));
    CHECK(Has(html, "Content-Security-Policy"));
    CHECK(CountOf(html, "<script>") == 1);
    CHECK_FALSE(Has(html, "src="));
    CHECK_FALSE(Has(html, "href=\"http"));
    CHECK(Has(html, "512 threads, 28ch"));
    CHECK(Has(html, "95 % interval -") == (sweeps > 1));
    CHECK(Has(html, "another kernel for the same shapes") == (sweeps > 1));
    // Five plots of the variance and five more of each sweep.
    CHECK(CountOf(html, "<figure") == 10 * sweeps);
  }
}

TEST_CASE("no text of a sweep is markup") {
  const std::string html = RenderComparisonPage(SamplePage(2, true));
  CHECK(CountOf(html, "<script") == 1);
  CHECK_FALSE(Has(html, "<img"));
  CHECK(Has(html, "&lt;script&gt;alert(&quot;x&quot;)"));
  const std::string single = RenderSinglePage(SampleSinglePage(3, true));
  CHECK(CountOf(single, "<script") == 1);
  CHECK_FALSE(Has(single, "<img"));
}

TEST_CASE("a page without anything is a page") {
  CHECK(Has(RenderComparisonPage({}), "</html>"));
  CHECK(Has(RenderSinglePage({}), "</html>"));
  ComparisonPage uneven = SamplePage(2, false);
  uneven.baseline = 7;
  uneven.metrics.front().rows.front().sweeps.clear();
  uneven.collectives.front().sweeps.clear();
  uneven.kernels.front().sweep = 9;
  CHECK(Has(RenderComparisonPage(uneven), "</html>"));
}

// For tests/sweep/pages_test.py.
TEST_CASE("samples of pages") {
  const char* folder = std::getenv("JARVIS_SAMPLE_DIR");
  if (folder == nullptr) return;
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& html) {
    std::ofstream(std::string(folder) + "/" + name + ".html") << html;
  };
  for (const std::size_t sweeps : {1U, 2U, 3U, 8U})
    write(fmt::format("sweeps_{}", sweeps), RenderComparisonPage(SamplePage(sweeps, false)));
  write("sweeps_hostile", RenderComparisonPage(SamplePage(3, true)));
  write("runs_3", RenderSinglePage(SampleSinglePage(3, false)));
  write("runs_hostile", RenderSinglePage(SampleSinglePage(3, true)));
}

}  // namespace
}  // namespace jarvis::sweep
