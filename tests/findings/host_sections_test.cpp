// What the host does while the GPU is idle, and what of it the GPU can do.
#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/advice_rules.h"
#include "findings/one/wall_classes.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

const Finding& SectionOf(const Analyzed& one, std::string_view subject) {
  const Finding* finding = one.Find("cpu_idle", subject);
  REQUIRE(finding != nullptr);
  return *finding;
}

bool MovesToGpu(const Analyzed& one) {
  return std::ranges::any_of(SectionOf(one, "host_section").path_a, [](const Remedy& remedy) {
    return remedy.advice == Advice::kHostOpsToDevice;
  });
}

// Ten steps: 1 ms of GPU work, its result copied back, then 2 ms of `work` on the host.
TraceText AfterCopyBack(std::string_view work, bool copied) {
  TraceText text;
  int id = 0;
  for (int step = 0; step < 10; ++step) {
    const double at = 4000.0 * step;
    text.Annotation(fmt::format("ProfilerStep#{}", step), at, 3990);
    text.OpWithKernel("aten::mm", at + 1, 10, "k", at + 12, 988, ++id);
    if (copied) {
      text.Runtime("cudaMemcpyAsync", at + 20, 1020, ++id);
      text.Memcpy("Memcpy DtoH (Device -> Pageable)", at + 1001, 30, id);
    }
    text.Python(work, at + 1100, 2000);
  }
  return text;
}

TEST_CASE("array work on results that were copied back can stay on the GPU") {
  constexpr std::string_view kArgmax = "<built-in method argmax of numpy.ndarray object at 0x7f01>";
  const Analyzed one = Analyze(AfterCopyBack(kArgmax, true));
  CHECK(MovesToGpu(one));
  const auto& way = SectionOf(one, "host_section").path_a.front();
  const auto ops = std::ranges::find(way.facts, "ops", &Fact::key);
  REQUIRE(ops != way.facts.end());
  CHECK(std::get<std::string>(ops->value) == "NumPy's `argmax`");
  // The program's own code, and arrays that never were on the GPU, are not moved there.
  const Analyzed own = Analyze(AfterCopyBack("env.py(12): step", true));
  CHECK_FALSE(MovesToGpu(own));
  const Analyzed apart = Analyze(AfterCopyBack(kArgmax, false));
  CHECK_FALSE(MovesToGpu(apart));
}

TEST_CASE("ops that the GPU has as well are named, whatever stands between them") {
  const auto place = [](std::string_view name) {
    HostPlace one;
    one.name = name;
    return one;
  };
  CHECK(HostOpsNamed({place("aten::div"), place("a.py(3): f"), place("aten::div"),
                      place("aten::sub"), place("aten::mul")}) == "`aten::div` and `aten::sub`");
  CHECK(HostOpsNamed({place("<built-in method sum of numpy.ndarray object at 0x7f01>")}) ==
        "NumPy's `sum`");
  // A name is data: what could end the code that it stands in is none.
  CHECK(HostOpsNamed({place("aten::x` | y")}) == "these ops");
}

// Ten batches that the main process makes by torch's ops, or by code of its own.
TraceText LoadedBatches(bool ops) {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    const double at = 3000.0 * i;
    text.OpWithKernel("aten::mm", at, 10, "k", at + 12, 988, i + 1);
    text.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 1001, 1990);
    text.Python("torch/utils/data/_utils/fetch.py(49): fetch", at + 1002, 1980);
    if (ops) text.Op("aten::normal_", at + 1100, 1500);
  }
  return text;
}

TEST_CASE("transforms by torch's ops in the loader can run on the GPU") {
  const auto tells = [](const Analyzed& one) {
    const Finding& finding = SectionOf(one, "data_loading");
    // It is about the line of input data, as no other section is.
    CHECK(std::ranges::count(finding.lines.idle, ledger::IdleCause::kInput) == 1);
    return std::ranges::any_of(finding.path_b, [](const Remedy& remedy) {
      return std::ranges::any_of(remedy.facts,
                                 [](const Fact& fact) { return fact.key == "transforms"; });
    });
  };
  CHECK_FALSE(tells(Analyze(LoadedBatches(false))));
  TraceText text = LoadedBatches(true);
  text.Annotation("Optimizer.step#SGD.step", 1, 5);
  CHECK(tells(Analyze(text)));
}

// Ten steps of 1 ms of GPU work, after which the host prints for so long and loads for 3 ms.
Analyzed PrintedAndLoaded(double print_us, double load_us = 3000) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 10; ++i) {
    text.Annotation(fmt::format("ProfilerStep#{}", i), at, 1090 + load_us + print_us);
    text.OpWithKernel("aten::mm", at + 1, 10, "k", at + 13, 987, i + 1);
    text.Python("train.py(12): report", at + 1001, print_us);
    text.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                    at + 1005 + print_us, load_us);
    at += 1100 + load_us + print_us;
  }
  return Analyze(text);
}

TEST_CASE("a gap in which the host prints and then loads is of both, each as long as it takes") {
  const Analyzed both = PrintedAndLoaded(1500);
  // All but the last gap, which no work ends, lie between steps.
  CHECK(SectionOf(both, "data_loading").host->each_ms == doctest::Approx(3.1).epsilon(0.02));
  const Finding& print = SectionOf(both, "host_section");
  CHECK(std::ranges::count(print.lines.idle, ledger::IdleCause::kInput) == 0);
  CHECK(std::ranges::count(print.lines.idle, ledger::IdleCause::kPython) == 1);
  REQUIRE_FALSE(print.host->places.empty());
  CHECK(print.host->places.front().name == "train.py(12): report");
  CHECK(print.host->each_ms == doctest::Approx(1.5).epsilon(0.02));
  // A little of something else beside a loader's time is no part of its own.
  const Analyzed little = PrintedAndLoaded(200);
  CHECK(little.Find("cpu_idle", "host_section") == nullptr);
  CHECK(SectionOf(little, "data_loading").host->each_ms == doctest::Approx(3.3).epsilon(0.02));
}

TEST_CASE("of a short gap that is mostly loading, the loader's own time is the least that goes") {
  const auto saving = [](const Analyzed& one) {
    const WallSaving* best = BestWall(SectionOf(one, "data_loading"));
    REQUIRE(best != nullptr);
    return best->ms;
  };
  const Range part = saving(PrintedAndLoaded(450, 800));
  CHECK(part.low <= 10 * 0.8);
  CHECK(part.low > 9 * 0.7);
  CHECK(part.high > 9 * 1.2);
  // What the loader takes nearly all of goes as a whole.
  CHECK(saving(PrintedAndLoaded(50, 1200)).low > 9 * 1.1);
}

// Ten steps of 1 ms of GPU work, between which one function prepares for 4 ms: for `tokenize_us` of
// that in `tokenizer`.
Analyzed PreparedWithText(std::string_view tokenizer, double tokenize_us) {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    const double at = 5100.0 * i;
    text.Annotation(fmt::format("ProfilerStep#{}", i), at, 5090);
    text.OpWithKernel("aten::mm", at + 1, 10, "k", at + 13, 987, i + 1);
    text.Python("pipeline.py(12): preprocess", at + 1001, 4000);
    text.Python(tokenizer, at + 1002, tokenize_us);
    text.Python("image.py(3): resize", at + 1003 + tokenize_us, 3990 - tokenize_us);
  }
  return Analyze(text);
}

TEST_CASE("a tokenizer in a function that prepares more is a finding of its own") {
  const auto tokenizer = [](const Analyzed& one) -> const Finding* {
    for (const Finding& finding : one.analysis.findings)
      if (Advises(finding.path_a, Advice::kFastTokenizer) ||
          Advises(finding.path_b, Advice::kFastTokenizer))
        return &finding;
    return nullptr;
  };
  constexpr std::string_view kPython =
      "transformers/models/bert/tokenization_bert.py(355): tokenize";
  const Analyzed both = PreparedWithText(kPython, 1500);
  const Finding* finding = tokenizer(both);
  REQUIRE(finding != nullptr);
  REQUIRE(BestWall(*finding) != nullptr);
  CHECK(BestWall(*finding)->ms.high < 10 * 1.6);
  CHECK(BestWall(*finding)->ms.mid > 9 * 1.4);
  // Little of it is no part of its own, and a fast one is a library.
  CHECK(tokenizer(PreparedWithText(kPython, 200)) == nullptr);
  CHECK(tokenizer(PreparedWithText("transformers/tokenization_utils_fast.py(10): encode", 1500)) ==
        nullptr);
}

// Ten steps of 20 kernels that are shorter than their launches and one of 3 ms, which the host then
// waits for to read back in `op`, and 1.5 ms of host work behind it. `around`: a function that
// holds both; empty: none.
Analyzed ReadAndLogged(std::string_view op, std::string_view around) {
  TraceText text;
  int id = 0;
  for (int step = 0; step < 10; ++step) {
    const double at = 5200.0 * step;
    text.Annotation(fmt::format("ProfilerStep#{}", step), at, 5190);
    for (int i = 0; i < 20; ++i)
      text.OpWithKernel("aten::add", at + 30 * i, 20, "small", at + 30 * i + 12, 5, ++id);
    text.OpWithKernel("aten::mm", at + 600, 20, "large", at + 615, 3000, ++id);
    if (!around.empty()) text.Python(around, at + 628, 4500);
    text.Op(op, at + 630, 2999);
    text.Runtime("cudaMemcpyAsync", at + 632, 5, ++id);
    text.Memcpy("Memcpy DtoH (Device -> Pageable)", at + 3617, 3, id);
    text.Runtime("cudaStreamSynchronize", at + 640, 2985, ++id);
    text.Python("train.py(9): log", at + 3630, 1490);
  }
  return Analyze(text);
}

TEST_CASE("work on a value that was read may take the wait for it along") {
  const auto saving = [](std::string_view op, std::string_view around) {
    const Analyzed one = ReadAndLogged(op, around);
    const WallSaving* best = BestWall(SectionOf(one, "host_section"));
    REQUIRE(best != nullptr);
    return best->ms;
  };
  // With the lead that the wait costs the small kernels' launches do not show.
  const Range value = saving("aten::item", "");
  CHECK(value.low < 10 * 1.7);
  CHECK(value.mid < 10 * 1.7);
  CHECK(value.high > 9 * 1.8);
  CHECK(saving("aten::copy_", "train.py(5): report").high > 9 * 1.8);
  // What is read in bulk outside of the work may be needed elsewhere.
  CHECK(saving("aten::copy_", "").high < 10 * 1.7);
}

// Ten steps of 1 ms of GPU work and 3 ms without, in which one function takes `prepare_us` and the
// host records nothing else.
Analyzed PreparedIn(double prepare_us) {
  TraceText text;
  for (int i = 0; i < 10; ++i) {
    const double at = 4100.0 * i;
    text.Annotation(fmt::format("ProfilerStep#{}", i), at, 4090);
    text.OpWithKernel("aten::mm", at + 1, 10, "k", at + 13, 987, i + 1);
    text.Python("a.py(3): prepare", at + 1001, prepare_us);
  }
  return Analyze(text);
}

TEST_CASE("of a gap that one function takes in part, its own time is the least that goes") {
  const Analyzed part = PreparedIn(1900);
  const Finding& finding = SectionOf(part, "host_section");
  CHECK(finding.host->work == "a.py(3): prepare");
  CHECK(finding.host->work_ms == doctest::Approx(10 * 1.9).epsilon(0.02));
  REQUIRE(BestWall(finding) != nullptr);
  CHECK(BestWall(finding)->ms.low == doctest::Approx(10 * 1.9).epsilon(0.12));
  CHECK(BestWall(finding)->ms.high > 9 * 2.9);
  // What takes nearly all of it goes as a whole.
  const Analyzed whole = PreparedIn(3050);
  REQUIRE(BestWall(SectionOf(whole, "host_section")) != nullptr);
  CHECK(BestWall(SectionOf(whole, "host_section"))->ms.low > 9 * 2.6);
}

// One step of five inputs, which the host prepares for 4 ms before the 1 ms that the GPU takes for
// each; `entered`: the frame that makes the first and the others, called by `next`.
Analyzed Prepared(std::string_view first, std::string_view others) {
  TraceText text;
  text.OpWithKernel("aten::ones", 1, 5, "k", 10, 20, 100);
  for (int i = 0; i < 5; ++i) {
    const double at = 50 + 5100.0 * i;
    text.Python("<built-in function next>", at, 4000);
    text.Python(i == 0 ? first : others, at + 1, 3998);
    text.Python("image_processing.py(368): resize", at + 2, 3990);
    text.OpWithKernel("aten::mm", at + 4010, 20, "k", at + 4040, 1000, i + 1);
  }
  return Analyze(text.Annotation("ProfilerStep#1", 0, 25'600));
}

TEST_CASE("one worker prepares what one generator makes, several what is asked for by index") {
  const auto most = [](const Analyzed& one) {
    const Finding& finding = SectionOf(one, "host_section");
    REQUIRE(finding.wall_b.has_value());
    return finding.wall_b->ms.high;
  };
  // Each of four inputs hides behind 1 ms of GPU work.
  const Analyzed resumed = Prepared("pipeline.py(164): preprocess", "pipeline.py(176): preprocess");
  CHECK(most(resumed) == doctest::Approx(4).epsilon(0.05));
  // A function that is called again, iterators' own methods, and other functions.
  CHECK(most(Prepared("data.py(20): load", "data.py(20): load")) > 10);
  CHECK(most(Prepared("data.py(20): __next__", "data.py(60): __next__")) > 10);
  CHECK(most(Prepared("data.py(20): first", "data.py(60): others")) > 10);
}

TEST_CASE("code on images goes to the GPU, room for a tensor is no image") {
  const auto preprocesses = [](std::string_view name) {
    const std::vector<Advice> advice =
        AdviceForHostSection(WorkContext(), {{std::string(name)}, false, false, false});
    return std::ranges::find(advice, Advice::kPreprocessOnGpu) != advice.end();
  };
  CHECK(preprocesses("image_transforms.py(312): resize"));
  CHECK(preprocesses("<built-in method resize of ImagingCore object>"));
  CHECK_FALSE(preprocesses("aten::resize_"));
  CHECK_FALSE(preprocesses("nn.Module: NormalizeEmbedding_0"));
}

}  // namespace
}  // namespace jarvis::findings
