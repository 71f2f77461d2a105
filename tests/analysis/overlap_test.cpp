#include "analysis/attribution/overlap.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/attribution/attribution.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// Kernels a, b, c... each on a stream of its own, over [start, end], below the op of its group: ops
// A, B... by `op`; '-': unlinked.
struct Span {
  double start;
  double end;
  char op = '-';
  int stream = -1;  // -1: its own
};

Loaded KernelsAt(const std::vector<Span>& spans) {
  TraceText text;
  for (char op = 'A'; op <= 'C'; ++op) {
    const double at = 100 * (op - 'A');
    text.Op(std::string(1, op), at, 90);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].op == op)
        text.Runtime("launch", at + 1 + static_cast<double>(i), 0.5, static_cast<int>(i) + 1);
    }
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const int stream = spans[i].stream < 0 ? static_cast<int>(i) + 1 : spans[i].stream;
    text.Kernel(std::string(1, static_cast<char>('a' + i)), spans[i].start,
                spans[i].end - spans[i].start, static_cast<int>(i) + 1, stream);
  }
  return Load(text);
}

struct Found {
  Loaded loaded;
  Attribution attribution;
  Overlaps overlaps;
};

Found Find(Loaded loaded, Clock clock = Clock::kNanoseconds, bool by_op = true) {
  Attribution attribution = Attribute(loaded.events(), loaded.tree);
  std::vector<EventIndex> op_of(loaded.events().size(), kNoEvent);
  for (const KernelPlace& place : attribution.places)
    op_of[place.kernel] = place.op;
  Job job;
  OverlapOptions options{.clock = clock, .op_of = {}, .order = nullptr};
  if (by_op) options.op_of = op_of;
  auto overlaps = FindOverlaps(loaded.events(), attribution.timeline, options, job);
  REQUIRE(overlaps.has_value());
  return {std::move(loaded), std::move(attribution), std::move(*overlaps)};
}

// "a:bc b:a": who overlaps with whom.
std::string Pairs(const std::vector<Span>& spans, bool by_op = true) {
  std::string first;
  for (const Clock clock : {Clock::kNanoseconds, Clock::kDoubleMicros}) {
    const Found found = Find(KernelsAt(spans), clock, by_op);
    std::string text;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const EventIndex kernel = found.loaded.Find(std::string(1, static_cast<char>('a' + i)));
      const auto partners = found.overlaps.PartnersOf(kernel);
      if (partners.empty()) continue;
      text += fmt::format("{}{}:", text.empty() ? "" : " ", static_cast<char>('a' + i));
      for (const EventIndex partner : partners)
        text += found.loaded.NameOf(partner);
    }
    if (clock == Clock::kNanoseconds) first = text;
    CHECK(text == first);
  }
  return first;
}

TEST_CASE("which kernels overlap") {
  CHECK(Pairs({}).empty());                                          // O1
  CHECK(Pairs({{0, 10}}).empty());                                   //
  CHECK(Pairs({{0, 10}, {20, 30}}).empty());                         // O2
  CHECK(Pairs({{0, 10}, {5, 15}}) == "a:b b:a");                     // O3
  CHECK(Pairs({{0, 10}, {10, 20}}).empty());                         // O4
  CHECK(Pairs({{0, 100}, {10, 20}, {15, 25}}) == "a:bc b:ac c:ab");  // O5
  CHECK(Pairs({{0, 20, 'A'}, {10, 30, 'A'}}).empty());               // O7
  CHECK(Pairs({{0, 20, 'A'}, {10, 30, 'A'}}, false) == "a:b b:a");   // the same, ops not known
  CHECK(Pairs({{0, 20, 'A'}, {10, 30, 'B'}}) == "a:b b:a");          // O8
  CHECK(Pairs({{0, 20, 'A'}, {5, 15, 'A'}, {10, 15, 'B'}}) == "a:c b:c c:ab");  // O9
  CHECK(Pairs({{0, 20, 'A', 7}, {10, 30, 'B', 7}}).empty());                    // O10
  CHECK(Pairs({{0, 10}, {9.8, 20}}).empty());                                   // O12
  CHECK(Pairs({{0, 10}, {9, 20}}) == "a:b b:a");                                //
  CHECK(Pairs({{0, 10}, {8, 20}}) == "a:b b:a");                                //
  CHECK(Pairs({{0, 10}, {5, 5}, {10, 10}, {5, 15}}) == "a:d d:a");              // O13
}

TEST_CASE("copies overlap too, and work without a stream overlaps with all") {  // O6, O11
  TraceText text;
  text.Kernel("k", 0, 20, 1, 7).Memcpy("m", 5, 10, 2, 8);
  text.Raw(R"({"ph":"X","cat":"kernel","name":"n","pid":0,"tid":9,"ts":6,"dur":4,"args":{}})");
  const Found found = Find(Load(text));
  CHECK(found.loaded.Names(found.overlaps.PartnersOf(found.loaded.Find("k"))) == "m n");
  CHECK(found.loaded.Names(found.overlaps.PartnersOf(found.loaded.Find("n"))) == "k m");
  CHECK(found.overlaps.pairs() == 3);
}

// "0.5 b:0.5/10" of each op in order: share, then the partners with their share and duration.
std::string Shares(const std::vector<Span>& spans) {
  const Found found = Find(KernelsAt(spans));
  std::string text;
  for (const Launcher& launcher : found.attribution.launchers) {
    const Overlap overlap =
        OverlapOf(found.loaded.events(), found.overlaps, found.attribution.KernelsOf(launcher), {});
    text += text.empty() ? "" : ", ";
    text += overlap.overlap_pct ? fmt::format("{}", *overlap.overlap_pct) : "-";
    for (const OverlapPartner& partner : overlap.partners)
      text += fmt::format(" {}:{}/{}", partner.name, partner.overlap_pct, partner.duration_us);
  }
  return text;
}

TEST_CASE("how much of an op's time is shared") {
  CHECK(Shares({{1000, 1100, 'A'}, {1050, 1200, 'B'}}) == "0.5 b:0.5/150, 0.33 a:0.33/100");  // P1
  CHECK(Shares({{1000, 1200, 'A'}, {1050, 1100, 'B'}}) == "0.25 b:0.25/50, 1 a:1/200");       // P2
  CHECK(Shares({{1000, 1100, 'A'}, {1200, 1300, 'B'}}) == "-, -");                            // P3
  CHECK(Shares({{1000, 1100, 'A'}, {1100, 1200, 'B'}}) == "-, -");                            //
  CHECK(Shares({{1000, 1100, 'A'}, {1000, 1100, 'B'}}) == "1 b:1/100, 1 a:1/100");            // P4
  CHECK(Shares({{1000, 1200, 'A'}, {1050, 1100, 'B'}, {1150, 1250, 'C'}}) ==
        "0.5 b:0.25/50 c:0.25/100, 1 a:1/200, 0.5 a:0.5/200");  // P5
  CHECK(Shares({{1000, 1100, 'A'}, {1200, 1300, 'A'}, {1050, 1150, 'B'}}) ==
        "0.25 c:0.25/100, 0.5 a:0.5/100");  // P6
  CHECK(Shares({{1000, 1100, 'A'}, {1200, 1300, 'A'}, {1050, 1250, 'B'}}) ==
        "0.5 c:0.25/200, 0.5 a:0.25/100 b:0.25/100");  // P7
}

TEST_CASE("the cells of a row") {
  Overlap first{{{"k", 4, 10, 0.25}}, 0.25};
  Overlap second{{{"k", 5, 20, 0.5}}, 0.51};
  const Overlap none;
  const Overlap* calls[] = {&first, &second};
  CHECK(first.NamesText() == "['k']");
  CHECK(none.NamesText().empty());
  const std::vector<Cell> cells = OverlapCells(calls, {.two_decimals = true});
  REQUIRE(cells.size() == OverlapColumns().size());
  CHECK(std::get<std::string>(cells[0]).starts_with(
      "[{'name': 'k', 'stream': 4, 'overlap_pct': 0.38, 'count': 2, 'total_duration_us': 30.0,"));
  CHECK(std::get<std::string>(cells[1]) ==
        "[{'name': 'k', 'stream': 4, 'mean_duration_us': 15.0}]");
  CHECK(std::get<double>(cells[2]) == 0.38);
  CHECK(std::get<double>(OverlapCells(calls, {})[2]) == 0.38);
  CHECK(std::get<std::string>(OverlapCells(calls, {.share_of_first_call = true})[0])
            .find("'overlap_pct': 0.25") != std::string::npos);
  const Overlap* alone[] = {&none};
  const std::vector<Cell> empty = OverlapCells(alone, {});
  CHECK(std::get<std::string>(empty[0]) == "[]");
  CHECK(std::get<std::string>(empty[1]).empty());
  CHECK(empty[2] == Cell());
  const Overlap* one[] = {&first};
  CHECK(std::get<double>(OverlapCells(one, {})[4]) == 0);
}

TEST_CASE("two decimals, correctly rounded") {
  CHECK(RoundedTo2(1.115) == 1.11);
  CHECK(RoundedTo2(2.675) == 2.67);
  CHECK(RoundedTo2(0.125) == 0.12);
}

}  // namespace
}  // namespace jarvis::analysis
