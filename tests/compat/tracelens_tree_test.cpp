// The reference's tree, quirks included: the rows N1 to N12 and L1 to L7 that its own tests pin.
#include "compat/tracelens_tree.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::compat {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

// "child<parent" for each host event in the file's order; what has no parent stands alone.
std::string Shape(const TraceText& text, bool python_frames = false) {
  const Loaded loaded = Load(text);
  const TraceLensTree tree = BuildTraceLensTree(loaded.events(), python_frames);
  std::string shape;
  for (EventIndex e = 0; e < loaded.events().size(); ++e) {
    if (trace::IsGpuWork(loaded.events()[e].kind)) continue;
    if (!shape.empty()) shape += ' ';
    shape += loaded.NameOf(e);
    if (tree.parent[e] != kNoEvent) shape += "<" + loaded.NameOf(tree.parent[e]);
  }
  return shape;
}

TEST_CASE("nesting rows") {
  SUBCASE("N1") {
    CHECK(Shape(TraceText().Op("parent", 10, 20).Op("child", 10, 5)) == "parent child<parent");
  }
  SUBCASE("N2: the parent that stands later is discarded (T2)") {
    CHECK(Shape(TraceText().Op("child", 10, 5).Op("parent", 10, 20)) == "child parent");
  }
  SUBCASE("N3") {
    CHECK(Shape(TraceText().Op("child", 10, 5).Op("parent", 10, 20).Op("outer", 0, 100)) ==
          "child<outer parent outer");
  }
  SUBCASE("N4") {
    CHECK(Shape(TraceText().Op("child", 10, 0.5).Op("parent", 10, 20).Op("outer", 0, 100)) ==
          "child<outer parent<outer outer");
  }
  SUBCASE("N5: discarded at the top (T3)") {
    CHECK(Shape(TraceText().Op("a", 0, 10).Op("b", 9.5, 10).Op("c", 12, 2)) == "a b c");
  }
  SUBCASE("N6") {
    CHECK(Shape(TraceText().Op("o", 0, 100).Op("a", 0, 10).Op("b", 9.5, 10).Op("c", 12, 2)) ==
          "o a<o b<o c<b");
  }
  SUBCASE("N7: exactly a microsecond is discarded (T5)") {
    CHECK(Shape(TraceText().Op("o", 0, 100).Op("a", 0, 10).Op("b", 9, 10).Op("c", 12, 2)) ==
          "o a<o b c<o");
  }
  SUBCASE("N8: the next ancestor is not tested again (T4)") {
    CHECK(Shape(TraceText().Op("o", 0, 10.2).Op("a", 0, 10).Op("b", 9.5, 10)) == "o a<o b<o");
  }
  SUBCASE("N9") {
    CHECK(Shape(TraceText().Op("a", 0, 10).Op("b", 10, 10)) == "a b");
  }
  SUBCASE("N10") {
    CHECK(Shape(TraceText().Op("a", 0, 10).Op("z", 5, 0).Op("c", 5, 2)) == "a z<a c<a");
  }
  SUBCASE("N11") {
    CHECK(Shape(TraceText().Op("a", 0, 10).Runtime("r", 8, 10, 1)) == "a r");
  }
  SUBCASE("N12") {
    CHECK(Shape(TraceText().Op("a", 0, 10).Op("b", 0, 10)) == "a b<a");
  }
}

TEST_CASE("Python frames nest only when asked for; annotations never") {
  TraceText text;
  text.Annotation("note", 0, 100).Python("frame", 1, 90).Op("op", 2, 50).Op("inner", 3, 5);
  CHECK(Shape(text) == "note frame op inner<op");
  CHECK(Shape(text, true) == "note frame op<frame inner<op");
}

struct Linked {
  Loaded loaded;
  TraceLensTree tree;
  std::string Parent(std::string_view name, int n = 0) const {
    return loaded.NameOf(tree.parent[loaded.Find(name, n)]);
  }
  bool InTree(std::string_view name) const { return tree.in_tree[loaded.Find(name)] != 0; }
};

Linked Link(const TraceText& text) {
  Linked linked{Load(text), {}};
  linked.tree = BuildTraceLensTree(linked.loaded.events(), false);
  return linked;
}

TEST_CASE("L1 and L2: both ends of the arrow are needed") {
  TraceText text;
  text.Op("op", 0, 10).Runtime("cudaLaunchKernel", 2, 3, 1).Kernel("k", 20, 5, 1);
  CHECK(Link(text).Parent("k") == "-");
  CHECK_FALSE(Link(text).InTree("k"));
  CHECK(Link(TraceText(text).Start(1)).Parent("k") == "-");
  CHECK(Link(TraceText(text).Finish(1)).Parent("k") == "-");
  const Linked linked = Link(TraceText(text).Arrow(1));
  CHECK(linked.Parent("k") == "cudaLaunchKernel");
  CHECK(linked.InTree("k"));
  // The arrow says where the kernel is: on another stream there is none.
  CHECK(Link(TraceText(text).Arrow(1, 8)).Parent("k") == "-");
}

TEST_CASE("L3: a graph launch takes all, without arrows") {
  TraceText text;
  text.Runtime("hipGraphLaunch", 0, 5, 1)
      .Kernel("a", 10, 5, 1, 7)
      .Kernel("b", 20, 5, 1, 8)
      .Memcpy("c", 30, 5, 1);
  const Linked linked = Link(text);
  for (const char* name : {"a", "b", "c"})
    CHECK(linked.Parent(name) == "hipGraphLaunch");
}

TEST_CASE("L4: of two kernels with one correlation the later in the file (T6)") {
  const Linked linked = Link(TraceText()
                                 .Runtime("cudaLaunchKernel", 0, 3, 1)
                                 .Kernel("a", 10, 5, 1)
                                 .Kernel("b", 5, 5, 1)
                                 .Arrow(1));
  CHECK(linked.Parent("a") == "-");
  CHECK(linked.Parent("b") == "cudaLaunchKernel");
}

TEST_CASE("L5: two calls with one correlation both have the kernel, the later is its parent (T7)") {
  const Linked linked = Link(TraceText()
                                 .Runtime("launch1", 0, 3, 1)
                                 .Runtime("launch2", 10, 3, 1)
                                 .Kernel("k", 20, 5, 1)
                                 .Arrow(1));
  CHECK(linked.Parent("k") == "launch2");
  CHECK(linked.tree.links.size() == 2);
}

TEST_CASE("L6 and L7") {
  const Linked nested = Link(TraceText()
                                 .Op("op", 0, 20)
                                 .Runtime("cudaLaunchKernelExC", 2, 10, 1)
                                 .Driver("cuLaunchKernelEx", 4, 3, 2)
                                 .Kernel("k", 30, 5, 2)
                                 .Arrow(2));
  CHECK(nested.Parent("k") == "cuLaunchKernelEx");
  CHECK(nested.Parent("cuLaunchKernelEx") == "cudaLaunchKernelExC");
  CHECK(nested.Parent("cudaLaunchKernelExC") == "op");
  const Linked bare =
      Link(TraceText().Runtime("cudaLaunchKernel", 2, 10, 1).Kernel("k", 30, 5, 1).Arrow(1));
  CHECK(bare.Parent("k") == "cudaLaunchKernel");
  CHECK(bare.Parent("cudaLaunchKernel") == "-");
}

TEST_CASE("E1 and E2: by correlation if the first launch call has one, else by External id") {
  TraceText by_id;
  by_id.Runtime("cudaMemcpyAsync", 0, 3, -1, R"("External id":9)");
  by_id.Memcpy("m", 10, 5, 4).Kernel("k", 20, 5, 5, 7, R"("External id":9)").Arrow(9);
  CHECK(Link(by_id).Parent("k") == "cudaMemcpyAsync");
  TraceText by_correlation;
  by_correlation.Runtime("hipLaunchKernel", 0, 3, 4, R"("External id":9)");
  by_correlation.Kernel("other", 10, 5, 9, 7, R"("External id":4)").Kernel("k", 20, 5, 4).Arrow(4);
  CHECK(Link(by_correlation).Parent("k") == "hipLaunchKernel");
  CHECK(Link(by_correlation).Parent("other") == "-");
}

TEST_CASE("synchronisation that an arrow points to is no GPU work") {
  TraceText text;
  text.Runtime("cudaLaunchKernel", 0, 1, 1).Runtime("cudaStreamSynchronize", 2, 9, 2);
  text.Raw(
      R"({"ph":"X","cat":"cuda_sync","name":"sync","pid":0,"tid":7,"ts":3,"dur":5,"args":{"correlation":2,"stream":7}})");
  const Linked linked = Link(text.Kernel("k", 20, 5, 1).Arrow(1).Arrow(2));
  CHECK(linked.tree.links.size() == 1);
  CHECK(linked.Parent("k") == "cudaLaunchKernel");
}

TEST_CASE("categories of other eras are not known there") {
  TraceText text;
  text.Raw(R"({"ph":"X","cat":"Operator","name":"op","pid":1,"tid":1,"ts":0,"dur":10})");
  text.Raw(
      R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1,"args":{"correlation":1}})");
  const Loaded loaded = Load(text);
  CHECK(TraceLensKind(loaded.events(), 0) == trace::EventKind::kOther);
  CHECK(TraceLensKind(loaded.events(), 1) == trace::EventKind::kOther);
  CHECK(loaded.events()[1].kind == trace::EventKind::kKernel);
}

}  // namespace
}  // namespace jarvis::compat
