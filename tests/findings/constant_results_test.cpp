// Results that each step makes anew of what stays: by a library's function that keeps them if it is
// asked to, and products of a tensor that no step makes. And what only looks like it.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "findings/one/library_result_rows.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::Shapes;
using testing::TraceText;

// Steps of ops of 30 us every 40, each with a kernel of 30 us.
class ConstantsScript {
 public:
  ConstantsScript& Op(const std::string& name, const std::string& dims,
                      const std::string& more = {}) {
    Host(name, dims, more);
    text_.Kernel("k", at_ - 30, 30, id_);
    return *this;
  }
  ConstantsScript& Upload(int bytes) {
    Host("aten::copy_", "[[1],[1]]", "");
    text_.Memcpy("Memcpy HtoD (Pageable -> Device)", at_ - 20, 3, id_, 7,
                 fmt::format("\"bytes\":{}", bytes));
    return *this;
  }
  ConstantsScript& Backward(const std::string& more) {
    text_.Op("autograd::engine::evaluate_function: MulBackward0", at_, 38, more);
    return Op("aten::mul", "[[900],[900]]");
  }
  ConstantsScript& Frame(const std::string& name, double from) {
    text_.Python(name, from, at_ - from);
    return *this;
  }
  ConstantsScript& EndStep() {
    text_.Annotation(fmt::format("ProfilerStep#{}", step_++), begin_, at_ - begin_);
    at_ += 10;
    begin_ = at_;
    return *this;
  }
  double now() const { return at_; }
  Analyzed Run() const { return Analyze(text_, "H100"); }

 private:
  void Host(const std::string& name, const std::string& dims, const std::string& more) {
    ++id_;
    text_.Op(name, at_, 30, Shapes(dims, "float") + more);
    text_.Runtime("cudaLaunchKernel", at_ + 5, 3, id_);
    at_ += 40;
  }

  TraceText text_;
  double begin_ = 10, at_ = 10;
  int step_ = 0;
  std::int64_t id_ = 0;
};

using ConstantsStep = std::function<void(ConstantsScript&, int step)>;

Analyzed RepeatedSteps(const ConstantsStep& one, int steps = 4) {
  ConstantsScript script;
  for (int step = 0; step < steps; ++step) {
    one(script, step);
    script.EndStep();
  }
  return script.Run();
}

const Finding* ConstantsFoundBy(const Analyzed& one, Pattern rule) {
  const auto& all = one.analysis.findings;
  const auto found =
      std::ranges::find_if(all, [&](const Finding& finding) { return finding.rule == rule; });
  return found == all.end() ? nullptr : &*found;
}

// ---- a library's function

// A layer of a graph network over so many edges.
void GraphLayer(ConstantsScript& script, int edges, const std::string& caller = "gcn_conv",
                const std::string& more = {}) {
  const double from = script.now();
  for (const char* op : {"aten::scatter_add_", "aten::pow_", "aten::mul"})
    script.Op(op, fmt::format("[[{0}],[{0}]]", edges), more);
  script.Frame("/usr/lib/torch_geometric/nn/conv/gcn_conv.py(45): gcn_norm", from);
  script.Op("aten::linear", "[[90,32],[32,32],[32]]");
  script.Frame(fmt::format("/usr/lib/torch_geometric/nn/conv/{}.py(227): forward", caller), from);
}

TEST_CASE("what a library makes of the same graph in each step can be kept") {
  const Analyzed one = RepeatedSteps([](ConstantsScript& script, int) {
    GraphLayer(script, 900);
    GraphLayer(script, 900);
  });
  const Finding* finding = ConstantsFoundBy(one, Pattern::kLibraryResults);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "the normalized edge weights");
  REQUIRE(finding->wall_a.has_value());
  // Twice three ops of 40 us in each of 4 steps.
  const double made_ms = 4 * 6 * 0.040;
  CHECK(finding->wall_a->ms.high <= 1.02 * made_ms);
  CHECK(finding->wall_a->ms.mid >= 0.65 * made_ms);
}

TEST_CASE("what a library makes of other inputs in each step cannot be kept") {
  const std::pair<std::string, ConstantsStep> others[] = {
      {"sampled graphs", [](ConstantsScript& script, int step) { GraphLayer(script, 900 + step); }},
      {"a graph of the same sizes that is uploaded",
       [](ConstantsScript& script, int) {
         script.Upload(2 * 8 * 900);
         GraphLayer(script, 900);
       }},
      {"edge weights that are learned",
       [](ConstantsScript& script, int step) {
         const std::string number = fmt::format("\"Sequence number\":{}", step + 1);
         GraphLayer(script, 900, "gcn_conv", "," + number);
         script.Backward(number + ",\"Fwd thread id\":1");
       }},
      {"a layer that has no such switch",
       [](ConstantsScript& script, int) { GraphLayer(script, 900, "other_conv"); }},
  };
  for (const auto& [name, step] : others) {
    CAPTURE(name);
    CHECK(ConstantsFoundBy(RepeatedSteps(step), Pattern::kLibraryResults) == nullptr);
  }
  // One step shows nothing that stays.
  CHECK(ConstantsFoundBy(
            RepeatedSteps([](ConstantsScript& script, int) { GraphLayer(script, 900); }, 1),
            Pattern::kLibraryResults) == nullptr);
}

TEST_CASE("the table of functions is whole") {
  CHECK(LibraryResults().size() >= 3);
  for (const LibraryResult& result : LibraryResults()) {
    CHECK(result.file.ends_with(".py"));
    CHECK(result.action.size() <= 110);
    CHECK(result.action.find(". ") == std::string::npos);
  }
}

// ---- products of a tensor that no step makes

// A step of a denoiser: so many layers with cross attention over 77 tokens of 768.
void Denoise(ConstantsScript& script, int layers = 4) {
  for (int layer = 0; layer < layers; ++layer) {
    script.Op("aten::layer_norm", "[[1,256,320],[],[320],[320]]");
    script.Op("aten::linear", "[[1,256,320],[320,320],[320]]");
    script.Op("aten::linear", "[[1,77,768],[320,768],[]]");
    script.Op("aten::linear", "[[1,77,768],[320,768],[]]");
    script.Op("aten::bmm", "[[8,256,40],[8,40,77]]");
  }
}

TEST_CASE("products of a prompt are made once for all steps") {
  const Analyzed one = RepeatedSteps([](ConstantsScript& script, int) { Denoise(script); }, 5);
  const Finding* finding = ConstantsFoundBy(one, Pattern::kConstantProjections);
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "products of (77,768)");
  REQUIRE(finding->wall_a.has_value());
  // Eight ops of 40 us in each step but the first.
  const double made_ms = 4 * 8 * 0.040;
  CHECK(finding->wall_a->ms.high <= 1.02 * made_ms);
  CHECK(finding->wall_a->ms.mid >= 0.65 * made_ms);
}

TEST_CASE("products of what a step may have made are left alone") {
  const auto with = [](const std::string& op, const std::string& dims) {
    return ConstantsStep([=](ConstantsScript& script, int) {
      script.Op(op, dims);
      Denoise(script);
    });
  };
  const std::pair<std::string, ConstantsStep> others[] = {
      {"text that is normalized in the step",
       with("aten::layer_norm", "[[1,77,768],[],[768],[768]]")},
      {"a tensor that an op takes in another form", with("aten::gelu", "[[59136]]")},
      {"text that a product makes", with("aten::linear", "[[1,77,512],[768,512],[]]")},
      {"a part of a larger tensor", with("aten::linear", "[[2,77,512],[768,512],[]]")},
      {"text that is embedded", with("aten::embedding", "[[9000,768],[1,77],[],[],[]]")},
      {"text that is put together", with("aten::cat", "[[[1,40,768],[1,37,768]],[]]")},
      {"pixels of a convolution", with("aten::conv2d", "[[1,3,7,11],[768,3,1,1],[768]]")},
      {"pixels of a pool", with("aten::adaptive_avg_pool2d", "[[1,768,14,22],[]]")},
      {"rows and columns that are added", with("aten::add", "[[77,1],[1,768],[]]")},
      {"a product in batches", with("aten::bmm", "[[1,77,50],[1,50,768]]")},
      {"text that is uploaded",
       [](ConstantsScript& script, int) {
         script.Upload(4 * 77 * 768);
         Denoise(script);
       }},
      {"other products in each step",
       [](ConstantsScript& script, int step) { Denoise(script, 4 + step); }},
      {"few products", [](ConstantsScript& script, int) { Denoise(script, 1); }},
      {"training",
       [](ConstantsScript& script, int) {
         Denoise(script);
         script.Op("aten::convolution_backward", "[[1,4,32,32],[1,64,32,32]]");
       }},
  };
  for (const auto& [name, step] : others) {
    CAPTURE(name);
    CHECK(ConstantsFoundBy(RepeatedSteps(step, 5), Pattern::kConstantProjections) == nullptr);
  }
}

}  // namespace
}  // namespace jarvis::findings
