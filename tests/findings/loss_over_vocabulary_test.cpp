// Losses over whole logits, and softmaxes that are none.
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

std::string LogitShape(int rows, int vocabulary) {
  return "[" + std::to_string(rows) + "," + std::to_string(vocabulary) + "]";
}

// Ops every 30 us on the host, whose kernels run one behind the other for 1 ms.
class LogitScript {
 public:
  explicit LogitScript(int rows = 4096, int vocabulary = 32000)
      : rows_(rows), vocabulary_(vocabulary), logits_(LogitShape(rows, vocabulary)) {}

  LogitScript& Op(std::string_view name, const std::string& dims, const std::string& types,
                  const std::string& values = {}, const char* kernel = "kernel") {
    std::string args = "\"Input Dims\":[" + dims + "],\"Input type\":[" + types + "]";
    if (!values.empty()) args += ",\"Concrete Inputs\":[" + values + "]";
    gpu_ += 1010;
    text_.OpWithKernel(name, at_, 20, kernel, gpu_, 1000, ++id_, args);
    at_ += 30;
    return *this;
  }
  LogitScript& Head() {
    return Op("aten::mm", LogitShape(rows_, 512) + "," + LogitShape(512, vocabulary_),
              R"("c10::BFloat16","c10::BFloat16")", {}, "gemm");
  }
  LogitScript& Cast(const std::string& types = R"("float","c10::BFloat16","Scalar")") {
    return Op("aten::copy_", logits_ + "," + logits_ + ",[]", types);
  }
  LogitScript& Softmax(const char* type = "float", const char* dimension = "-1") {
    return Op("aten::_log_softmax", logits_ + ",[],[]",
              "\"" + std::string(type) + R"(","Scalar","Scalar")",
              "\"\",\"" + std::string(dimension) + "\",\"False\"");
  }
  LogitScript& Pick() {
    return Op("aten::gather", logits_ + ",[],[" + std::to_string(rows_) + ",1],[]",
              R"("float","Scalar","long int","Scalar")");
  }
  LogitScript& Nll() {
    return Op("aten::nll_loss_forward", logits_ + ",[" + std::to_string(rows_) + "],[],[],[]",
              R"("float","long int","","Scalar","Scalar")");
  }
  LogitScript& Backward(bool of_picked = true, bool cast = true) {
    text_.Thread(100, 200).Op("autograd::engine::evaluate_function: NllLossBackward0", at_, 10000);
    Op("aten::fill_", logits_ + ",[]", R"("float","Scalar")");
    if (of_picked)
      Op("aten::nll_loss_backward",
         "[]," + logits_ + ",[" + std::to_string(rows_) + "],[],[],[],[]",
         R"("float","float","long int","","Scalar","Scalar","float")");
    Op("aten::_log_softmax_backward_data", logits_ + "," + logits_ + ",[],[]",
       R"("float","float","Scalar","Scalar")");
    return cast ? Cast(R"("c10::BFloat16","float","Scalar")") : *this;
  }
  Analyzed Run() const {
    TraceText text = text_;
    return Analyze(text.Thread(100, 100).Annotation("ProfilerStep#1", 0, gpu_ + 2000), "H100");
  }

 private:
  int rows_, vocabulary_;
  std::string logits_;
  TraceText text_;
  double at_ = 10, gpu_ = 20;
  std::int64_t id_ = 0;
};

const Finding* VocabularyLossOf(const Analyzed& one) {
  return one.FindRule(Pattern::kLossOverVocabulary);
}

std::int64_t LossCount(const Finding& finding, std::string_view key) {
  for (const Fact& fact : finding.patterns.front().facts) {
    if (fact.key == key) return std::get<std::int64_t>(fact.value);
  }
  return 0;
}

std::string LossWords(const Finding& finding, std::string_view key) {
  for (const Fact& fact : finding.patterns.front().facts) {
    if (fact.key == key) return std::get<std::string>(fact.value);
  }
  return {};
}

TEST_CASE("a loss that is scored on copies of its logits is computed in chunks") {
  LogitScript script;
  script.Head().Cast().Cast(R"("float","float","Scalar")").Softmax().Pick();
  const Analyzed one = script.Run();
  const Finding* finding = VocabularyLossOf(one);
  REQUIRE(finding != nullptr);
  CHECK(LossCount(*finding, "passes") == 4);
  CHECK(LossCount(*finding, "copies") == 2);
  CHECK(LossCount(*finding, "rows") == 4096);
  CHECK(LossCount(*finding, "vocabulary") == 32000);
  CHECK(LossWords(*finding, "how").find("cross_entropy") != std::string::npos);
  // Of 4 ms: the cast moves 6 bytes a number, the copy and the softmax 8 each; least 2, most 12.
  CHECK(finding->time_ms == doctest::Approx(4));
  CHECK(finding->savings_ms->low == doctest::Approx(4 * (1 - 12.0 / 22)));
  CHECK(finding->savings_ms->high == doctest::Approx(4 * (1 - 2.0 / 22)));
  for (const Finding& other : one.analysis.findings) {
    if (&other != finding && other.tier == Tier::kCompute) CHECK(other.subject != "aten::copy_");
  }
  CHECK(one.analysis.fusion.candidates.empty());
}

TEST_CASE("a loss that is trained on is fused with the product before it") {
  LogitScript script;
  script.Head().Cast().Softmax().Nll().Backward();
  const Analyzed one = script.Run();
  const Finding* finding = VocabularyLossOf(one);
  REQUIRE(finding != nullptr);
  CHECK(LossCount(*finding, "passes") == 7);
  CHECK(LossCount(*finding, "backward") == 4);
  CHECK(LossWords(*finding, "how").find("LigerFusedLinearCrossEntropyLoss") != std::string::npos);
  // 6 + 8 forward, 4 + 12 + 6 backward; least 2 a pass, most 12.
  CHECK(finding->time_ms == doctest::Approx(7));
  CHECK(finding->savings_ms->low == doctest::Approx(7 * (1 - 24.0 / 36)));
  CHECK(finding->savings_ms->high == doctest::Approx(7 * (1 - 4.0 / 36)));
}

TEST_CASE("rows of logits that are chosen first are part of their loss") {
  LogitScript script;
  const std::string all = LogitShape(4096, 32000), some = LogitShape(3000, 32000);
  script.Head().Op("aten::index", all + ",[]", R"("c10::BFloat16","")");
  script.Op("aten::copy_", some + "," + some + ",[]", R"("float","c10::BFloat16","Scalar")");
  script.Op("aten::_log_softmax", some + ",[],[]", R"("float","Scalar","Scalar")");
  script.Op("aten::nll_loss_forward", some + ",[3000],[],[],[]",
            R"("float","long int","","Scalar","Scalar")");
  const Analyzed one = script.Run();
  const Finding* finding = VocabularyLossOf(one);
  REQUIRE(finding != nullptr);
  CHECK(LossCount(*finding, "passes") == 4);
  CHECK(LossCount(*finding, "copies") == 2);
  // All rows are read and written again, some cast and normalised.
  const double bytes = 4 * 4096.0 + (6 + 8) * 3000.0;
  CHECK(finding->savings_ms->low == doctest::Approx(4 * (1 - 12 * 3000.0 / bytes)));
}

TEST_CASE("softmaxes of few rows or classes, without a loss, or without copies are left alone") {
  CHECK(VocabularyLossOf(LogitScript(64).Head().Cast().Softmax().Pick().Run()) == nullptr);
  CHECK(VocabularyLossOf(LogitScript(4096, 1000).Head().Cast().Softmax().Nll().Backward().Run()) ==
        nullptr);
  CHECK(VocabularyLossOf(LogitScript().Head().Cast().Softmax().Run()) == nullptr);
  CHECK(VocabularyLossOf(LogitScript().Head().Cast().Softmax("float", "0").Pick().Run()) ==
        nullptr);
  // Trained on as they are: no pass is one too many.
  CHECK(VocabularyLossOf(LogitScript().Head().Softmax().Nll().Backward(true, false).Run()) ==
        nullptr);
  // As the way out does it.
  CHECK(VocabularyLossOf(LogitScript().Head().Softmax("c10::BFloat16").Nll().Run()) == nullptr);
  // A divergence: no word is picked.
  LogitScript divergence;
  divergence.Head().Cast().Softmax().Backward(false);
  CHECK(VocabularyLossOf(divergence.Run()) == nullptr);
  // Picked from after another product: of something else.
  CHECK(VocabularyLossOf(LogitScript().Head().Cast().Softmax().Head().Pick().Run()) == nullptr);
}

TEST_CASE("scores of attention, and copies beyond the loss, are none of its passes") {
  LogitScript attention;
  const std::string scores = "[1,2,8192,8192]";
  attention.Op("aten::copy_", scores + "," + scores, R"("float","c10::BFloat16")");
  attention.Op("aten::_log_softmax", scores + ",[],[]", R"("float","Scalar","Scalar")",
               R"("","-1","False")");
  attention.Op("aten::gather", scores + ",[],[1,2,8192,1],[]",
               R"("float","Scalar","long int","Scalar")");
  CHECK(VocabularyLossOf(attention.Run()) == nullptr);
  LogitScript script;
  script.Head().Cast().Softmax().Pick().Cast().Head().Cast();
  const Analyzed one = script.Run();
  const Finding* finding = VocabularyLossOf(one);
  REQUIRE(finding != nullptr);
  CHECK(finding->time_ms == doctest::Approx(3));
}

}  // namespace
}  // namespace jarvis::findings
