// Host nesting: the default's rules, on the rows of which the reference's tests speak (N1 to N12;
// what the reference makes of them is in tests/compat/tracelens_tree_test.cpp).
#include "tree/nest.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::tree {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// Each host event after its parent: "a(b c(d)) e".
std::string Shape(const Loaded& loaded, EventIndex e) {
  std::string text = loaded.NameOf(e);
  std::string below;
  for (const EventIndex child : loaded.tree.Children(e)) {
    if (!below.empty()) below += ' ';
    below += Shape(loaded, child);
  }
  return below.empty() ? text : text + "(" + below + ")";
}

std::string Shape(const Loaded& loaded) {
  std::string text;
  for (const EventIndex e : loaded.tree.preorder()) {
    if (loaded.tree.parent(e) != kNoEvent) continue;
    if (!text.empty()) text += ' ';
    text += Shape(loaded, e);
  }
  return text;
}

void Check(const TraceText& text, const std::string& shape) {
  const Loaded loaded = Load(text);
  CHECK(Shape(loaded) == shape);
  // Whatever the shape, no event is lost, and places agree with parents.
  std::size_t hosts = 0;
  for (EventIndex e = 0; e < loaded.events().size(); ++e)
    hosts += IsHost(loaded.events()[e].kind) ? 1u : 0u;
  CHECK(loaded.tree.preorder().size() == hosts);
  for (const EventIndex e : loaded.tree.preorder()) {
    const EventIndex parent = loaded.tree.parent(e);
    CHECK(loaded.tree.Subtree(e).front() == e);
    if (parent == kNoEvent) continue;
    CHECK(loaded.tree.position(parent) < loaded.tree.position(e));
    CHECK(loaded.tree.subtree_end(e) <= loaded.tree.subtree_end(parent));
  }
}

TEST_CASE("a step's mark that overlaps the one before it stands beside it") {
  Check(TraceText()
            .Annotation("ProfilerStep#0", 0, 101)
            .Op("a", 0, 20)
            .Annotation("ProfilerStep#1", 100, 101)
            .Op("b", 100, 20)
            .Runtime("launch", 101, 2, 1),
        "ProfilerStep#0(a) ProfilerStep#1(b(launch))");
  Check(TraceText().Annotation("ProfilerStep#0", 0, 101).Annotation("ProfilerStep#1", 1, 99),
        "ProfilerStep#0(ProfilerStep#1)");
}

TEST_CASE("nesting by time, row by row") {
  SUBCASE("N1") {
    Check(TraceText().Op("parent", 10, 20).Op("child", 10, 5), "parent(child)");
  }
  SUBCASE("N2: the order in the file does not matter") {
    Check(TraceText().Op("child", 10, 5).Op("parent", 10, 20), "parent(child)");
  }
  SUBCASE("N3") {
    Check(TraceText().Op("child", 10, 5).Op("parent", 10, 20).Op("outer", 0, 100),
          "outer(parent(child))");
  }
  SUBCASE("N4") {
    Check(TraceText().Op("child", 10, 0.5).Op("parent", 10, 20).Op("outer", 0, 100),
          "outer(parent(child))");
  }
  SUBCASE("N5: an overlap below a microsecond makes siblings, at the top too") {
    Check(TraceText().Op("a", 0, 10).Op("b", 9.5, 10), "a b");
  }
  SUBCASE("N6") {
    Check(TraceText().Op("o", 0, 100).Op("a", 0, 10).Op("b", 9.5, 10).Op("c", 12, 2), "o(a b(c))");
  }
  SUBCASE("N7: from a microsecond on the event stays a child") {
    Check(TraceText().Op("o", 0, 100).Op("a", 0, 10).Op("b", 9, 10).Op("c", 12, 2), "o(a(b) c)");
  }
  SUBCASE("N8: each ancestor is tested") {
    Check(TraceText().Op("o", 0, 10.2).Op("a", 0, 10).Op("b", 9.5, 10), "o(a) b");
  }
  SUBCASE("N9") {
    Check(TraceText().Op("a", 0, 10).Op("b", 10, 10), "a b");
  }
  SUBCASE("N10") {
    Check(TraceText().Op("a", 0, 10).Op("z", 5, 0).Op("c", 5, 2), "a(c(z))");
  }
  SUBCASE("N11: a launch that sticks out stays below its op") {
    Check(TraceText().Op("a", 0, 10).Runtime("r", 8, 10, 1), "a(r)");
  }
  SUBCASE("N12") {
    Check(TraceText().Op("first", 0, 10).Op("second", 0, 10), "first(second)");
  }
}

TEST_CASE("equal intervals nest by kind, whatever the order in the file") {
  TraceText text;
  text.Runtime("launch", 0, 10, 1).Op("op", 0, 10).Python("frame", 0, 10).Annotation("note", 0, 10);
  Check(text.Driver("driver", 0, 10, 1), "note(frame(op(launch(driver))))");
}

TEST_CASE("the profiler's own running number orders equal events") {
  Check(TraceText().Op("inner", 0, 10, R"("Ev Idx":8)").Op("outer", 0, 10, R"("Ev Idx":7)"),
        "outer(inner)");
}

TEST_CASE("threads nest apart") {
  TraceText text;
  text.Thread(1, 1).Op("a", 0, 100).Thread(1, 2).Op("b", 10, 10).Thread(2, 1).Op("c", 20, 5);
  Check(text, "a b c");
  // A thread of the host filed under a GPU's pid and tid.
  Check(TraceText().Thread(0, 7).Python("frame", 0, 100).Op("op", 1, 2).Kernel("k", 5, 5, 1, 7),
        "frame(op)");
}

TEST_CASE("a child that sticks out bounds what it encloses") {
  // b runs past a; c lies in b but after a's end: it is not below a.
  Check(TraceText().Op("a", 0, 10).Op("b", 5, 20).Op("c", 12, 2), "a(b) c");
}

TEST_CASE("GPU work, arrows and the profiler's own events are no host events") {
  TraceText text;
  text.Op("a", 0, 10).Kernel("k", 2, 3, 1).Arrow(1);
  text.Raw(R"({"ph":"X","cat":"overhead","name":"o","pid":-1,"tid":0,"ts":1,"dur":2})");
  text.Raw(R"({"ph":"X","cat":"gpu_user_annotation","name":"g","pid":0,"tid":7,"ts":1,"dur":2})");
  text.Raw(
      R"({"ph":"X","cat":"Trace","name":"t","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":20})");
  Check(text, "a");
}

TEST_CASE("Enclosing and Subtree") {
  const Loaded loaded = Load(TraceText()
                                 .Annotation("step", 0, 100)
                                 .Python("f", 1, 90)
                                 .Op("outer", 2, 50)
                                 .Op("inner", 3, 20)
                                 .Runtime("launch", 4, 5, 1)
                                 .Op("next", 60, 5));
  const auto enclosing = [&](std::string_view name, trace::EventKind kind) {
    return loaded.NameOf(loaded.tree.Enclosing(loaded.events(), loaded.Find(name), kind));
  };
  CHECK(enclosing("launch", trace::EventKind::kCpuOp) == "inner");
  CHECK(enclosing("inner", trace::EventKind::kCpuOp) == "outer");
  CHECK(enclosing("outer", trace::EventKind::kCpuOp) == "-");
  CHECK(enclosing("launch", trace::EventKind::kUserAnnotation) == "step");
  CHECK(loaded.Names(loaded.tree.Subtree(loaded.Find("outer"))) == "outer inner launch");
  CHECK(loaded.Names(loaded.tree.Subtree(loaded.Find("next"))) == "next");
}

TEST_CASE("a hundred thousand levels") {
  TraceText text;
  constexpr int kLevels = 100000;
  for (int i = 0; i < kLevels; ++i) {
    text.Op(i == 0 ? "top" : i == kLevels - 1 ? "bottom" : "op", i, 3.0 * kLevels - 2.0 * i);
  }
  text.Runtime("launch", kLevels, 1, 1).Kernel("k", kLevels + 5, 5, 1);
  const Loaded loaded = Load(text);
  CHECK(loaded.ParentOf("launch") == "bottom");
  CHECK(loaded.tree.Subtree(loaded.Find("top")).size() == kLevels + 1);
  CHECK(loaded.tree.GpuBelow(loaded.Find("top")).size() == 1);
}

// The most events that stand around one of them, it counted.
std::size_t LevelsOf(const Loaded& loaded) {
  std::size_t most = 0;
  for (EventIndex e : loaded.tree.preorder()) {
    std::size_t levels = 0;
    for (; e != kNoEvent; e = loaded.tree.parent(e))
      ++levels;
    most = std::max(most, levels);
  }
  return most;
}

TEST_CASE("calls below the deepest level stand side by side, and none is lost") {
  const auto nested = [](std::size_t levels) {
    TraceText text;
    for (std::size_t i = 0; i < levels; ++i) {
      const std::string name = i + 1 == levels ? "bottom" : "op" + std::to_string(i);
      text.Op(name, static_cast<double>(i), static_cast<double>(3 * levels - 2 * i));
    }
    const auto end = static_cast<double>(levels);
    return text.Runtime("launch", end, 1, 1).Kernel("k", end + 5, 5, 1);
  };
  SUBCASE("as many as there are levels") {
    const Loaded loaded = Load(nested(kLevelsMax));
    CHECK(LevelsOf(loaded) == kLevelsMax + 1);  // the launch stands below the last
    CHECK(loaded.ParentOf("bottom") == "op" + std::to_string(kLevelsMax - 2));
    CHECK(loaded.ParentOf("launch") == "bottom");
  }
  SUBCASE("three more") {
    const Loaded loaded = Load(nested(kLevelsMax + 3));
    CHECK(LevelsOf(loaded) == kLevelsMax + 1);
    CHECK(loaded.ParentOf("bottom") == "op" + std::to_string(kLevelsMax - 2));
    CHECK(loaded.ParentOf("launch") == "bottom");
    CHECK(loaded.tree.preorder().size() == kLevelsMax + 4);
    CHECK(loaded.tree.Subtree(loaded.Find("op0")).size() == kLevelsMax + 4);
  }
}

}  // namespace
}  // namespace jarvis::tree
