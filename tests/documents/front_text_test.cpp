// The front of an analysis on a terminal: what stands on the first screen, and what below it.
#include "documents/front_text.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "documents/front.h"

namespace jarvis::documents {
namespace {

const findings::Finding kFinding;

FixRow Advised(int number, std::string action, std::string brief) {
  FixRow row;
  row.findings = {&kFinding};
  row.number = std::to_string(number);
  row.ways = {{'B', std::move(action), {}}};
  row.because = "Reason " + row.number;
  row.alone = row.after = brief + " (1.0%)";
  row.brief = std::move(brief);
  return row;
}

Front Shown() {
  Front front;
  front.title = "Model on GPU";
  front.run = "training, bf16";
  front.model = "36 layers";
  front.summary = {"Step: 10.0 ms.", "All save 5.00 ms.", "Left out: 1.00 ms."};
  front.brief = 2;
  front.parts_of = "step: 10.0 ms";
  front.parts = {{"GPU: GEMMs", "compute", "6.00 ms", "60.0%", 60, "priority 1"},
                 {"GPU idle: launch latency", "wait", "3.00 ms", "30.0%", 30, ""},
                 {"All other lines", "rest", "1.00 ms", "10.0%", 10, ""}};
  for (int i = 1; i <= 6; ++i)
    front.fixes.push_back(Advised(i, "Do " + std::to_string(i), "1.00 ms"));
  front.trust = {"Only one step (with `f()`) is recorded. Record next: three.", "A second."};
  return front;
}

bool Prints(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "the first screen has the base, one bar, five fixes with their savings and one line on trust") {
  const std::string text = FrontText(Shown(), {80, false});
  const std::size_t end = text.find("\nWhere the time goes");
  REQUIRE(end != std::string::npos);
  const std::string first = text.substr(0, end), rest = text.substr(end);
  CHECK(first.starts_with("Model on GPU\ntraining, bf16\nStep: 10.0 ms. All save 5.00 ms.\n"));
  CHECK(Prints(first, "GEMMs 60.0%, idle: launch latency 30.0%, other 10.0%\n"));
  CHECK(Prints(first, "5  B  1.00 ms  Do 5.\n"));
  CHECK_FALSE(Prints(first, "Do 6"));
  CHECK(Prints(first, "Trust: Only one step is recorded. 2 more below.\n"));
  // What is told there is not told again, but for why; the sixth is told whole.
  CHECK_FALSE(Prints(rest, "Do 5"));
  CHECK(Prints(rest, "5  Saves 1.00 ms (1.0%). Why: Reason 5.\n"));
  CHECK(Prints(rest, "6  B  Do 6. Saves 1.00 ms (1.0%). Why: Reason 6.\n"));
  CHECK(Prints(rest, "- Left out: 1.00 ms.\n"));
  CHECK(Prints(rest, "Workload\n36 layers\n"));
}

TEST_CASE("of several changes the first screen has the first, and the reasons have all") {
  Front front = Shown();
  front.fixes.front().ways.front().action = "Copy back once (`.cpu()`; not `.item()`); use a mask";
  const std::string text = FrontText(front, {80, false});
  CHECK(Prints(text,
               "1  B  1.00 ms  Copy back once (`.cpu()`; not `.item()`); and one more change,\n"));
  CHECK(Prints(text, "1  B  Copy back once (`.cpu()`; not `.item()`); use a mask. Saves 1.00 ms"));
}

TEST_CASE("on a narrow terminal no line is longer than it is wide") {
  Front front = Shown();
  front.fixes.front().number = "1, 2, 3, 4, 5, 6, 7, 8";
  front.fixes.front().brief = "about 12345.6 ms of all";
  const std::string text = FrontText(front, {40, false});
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    if (text.compare(at, 3, "\xE2\x96\x88") != 0) CHECK(end - at <= 40);
  }
}

TEST_CASE("each part of the bar is as long as its share, in any width") {
  for (const std::size_t columns : {std::size_t{40}, std::size_t{80}, std::size_t{140}}) {
    const std::string text = FrontText(Shown(), {columns, false});
    const std::size_t at = text.find("\xE2\x96");
    const std::string bar = text.substr(at, text.find('\n', at) - at);
    CHECK(bar.size() == 3 * columns);
  }
}

}  // namespace jarvis::documents
