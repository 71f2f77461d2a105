// Masks of attention that are causal by their making, and those that only look so.
#include "findings/one/causal_mask.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

struct MaskOp {
  std::string name, dims;
  std::string value = {};  // of its second argument
};
using MaskOps = std::vector<MaskOp>;

constexpr const char* kMaskDims = "[128,128]";
constexpr const char* kScoreDims = "[8,8,128,128]";

// Ten layers of attention over 128 keys in 8 x 8 heads, the mask's ops before the softmax.
bool IsCausal(const MaskOps& mask, int keys = 128) {
  TraceText text;
  double at = 10, gpu = 10;
  int id = 0;
  const auto op = [&](const std::string& name, const std::string& dims, double us,
                      const std::string& value = {}) {
    gpu = std::max(gpu, at + 12);
    text.OpWithKernel(
        name, at, 10, name, gpu, us, ++id,
        fmt::format(
            R"("Input Dims":[{}],"Input type":["float","float"],"Concrete Inputs":["","{}"])", dims,
            value));
    gpu += us + 1;
    at += 20;
  };
  for (int layer = 0; layer < 10; ++layer) {
    op("aten::mm", "[1024,1024],[1024,1024]", 50);
    op("aten::bmm", fmt::format("[64,128,128],[64,128,{}]", keys), 50);
    op("aten::mul", fmt::format("[8,8,128,{}],[]", keys), 40);
    for (const MaskOp& one : mask)
      op(one.name, one.dims, 40, one.value);
    op("aten::_softmax", fmt::format("[8,8,128,{}],[]", keys), 60);
    op("aten::bmm", fmt::format("[64,128,{0}],[64,{0},128]", keys), 50);
    op("aten::mm", "[1024,1024],[1024,1024]", 50);
  }
  const Analyzed one = Analyze(text.Annotation("ProfilerStep#1", 0, gpu + 10), "A100");
  const Finding* finding = one.FindRule(Pattern::kUnfusedAttention);
  REQUIRE(finding != nullptr);
  const auto& facts = finding->patterns.front().facts;
  const auto masks = std::ranges::find(facts, "masks", &Fact::key);
  REQUIRE(masks != facts.end());
  return std::get<std::string>(masks->value).find("is_causal") != std::string::npos;
}

std::string OnBoth(const char* first, const char* second) {
  return fmt::format("{},{}", first, second);
}

const MaskOp kOnesMask = {"aten::fill_", fmt::format("{},[]", kMaskDims), "1"};
const MaskOp kLowerMask = {"aten::tril", fmt::format("{},[]", kMaskDims), "0"};
const MaskOp kUpperMask = {"aten::triu", fmt::format("{},[]", kMaskDims), "1"};
const MaskOp kNotMask = {"aten::bitwise_not", kMaskDims};
const MaskOp kFillScores = {"aten::masked_fill_", OnBoth(kScoreDims, "[1,1,128,128],[]"), ""};

TEST_CASE("a triangle of ones, the only mask of the scores, is causal") {
  CHECK(IsCausal({kOnesMask,
                  kLowerMask,
                  {"aten::copy_", OnBoth(kMaskDims, kMaskDims)},
                  kNotMask,
                  kFillScores}));
  CHECK(IsCausal(
      {kOnesMask, kLowerMask, {"aten::eq", fmt::format("{},[]", kMaskDims), "0"}, kFillScores}));
  CHECK(IsCausal({kOnesMask, kUpperMask, kFillScores}));
  CHECK(IsCausal({kOnesMask, kLowerMask, {"aten::where", "[128,128],[8,8,128,128],[]"}}));
  CHECK(IsCausal({{"aten::fill_", fmt::format("{},[]", kMaskDims), "-inf"},
                  kUpperMask,
                  {"aten::add", OnBoth(kScoreDims, kMaskDims)}}));
}

TEST_CASE("near: other masks, other triangles, several masks") {
  CHECK_FALSE(
      IsCausal({{"aten::masked_fill_", OnBoth(kScoreDims, "[8,1,1,128],[]"), ""}}));  // padding
  CHECK_FALSE(IsCausal({kOnesMask, kLowerMask, kFillScores}));                        // of the past
  CHECK_FALSE(IsCausal({kLowerMask, kNotMask, kFillScores}));  // of what is not known
  CHECK_FALSE(IsCausal(
      {kOnesMask, {"aten::tril", fmt::format("{},[]", kMaskDims), "4"}, kNotMask, kFillScores}));
  CHECK_FALSE(IsCausal({kOnesMask,
                        kLowerMask,
                        {"aten::bitwise_and", OnBoth(kMaskDims, "[8,1,1,128]")},
                        kNotMask,
                        kFillScores}));
  CHECK_FALSE(IsCausal({kOnesMask,
                        kLowerMask,
                        kNotMask,
                        kFillScores,
                        {"aten::masked_fill_", OnBoth(kScoreDims, "[8,1,1,128],[]"), ""}}));
  CHECK_FALSE(IsCausal({kOnesMask,
                        kLowerMask,
                        kNotMask,
                        kFillScores,
                        {"aten::add", OnBoth(kScoreDims, "[1,8,128,128]")}}));  // bias
  CHECK_FALSE(IsCausal(
      {kOnesMask, kUpperMask, {"aten::add", OnBoth(kScoreDims, kMaskDims)}}));  // of one, not less
}

TEST_CASE("near: more keys than queries") {
  const MaskOp ones = {"aten::fill_", "[128,256],[]", "1"};
  const MaskOp lower = {"aten::tril", "[128,256],[]", "0"};
  const MaskOp inverse = {"aten::bitwise_not", "[128,256]"};
  CHECK_FALSE(IsCausal(
      {ones, lower, inverse, {"aten::masked_fill_", "[8,8,128,256],[1,1,128,256],[]"}}, 256));
}

}  // namespace
}  // namespace jarvis::findings
