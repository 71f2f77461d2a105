// Inputs of ops as TensorFlow writes them.
#include "trace/import/xplane/tensor_text.h"

#include <string_view>

#include <doctest/doctest.h>

namespace jarvis::trace::xplane {
namespace {

TEST_CASE("inputs of TensorFlow's ops have dimensions and types") {
  const auto two = ReadTensorInputs("(half[4,384,1024];float[])");
  REQUIRE(two);
  CHECK(two->dims == "[[4,384,1024],[]]");
  CHECK(two->types == R"(["f16","f32"])");
  const auto unknown = ReadTensorInputs("(;int32[];resource[?])");
  REQUIRE(unknown);
  CHECK(unknown->dims == "[[],[],[]]");
  CHECK(unknown->types == R"(["","s32",""])");
}

TEST_CASE("what is no list of inputs is none") {
  for (const std::string_view text :
       {"", "()", "(", "[4,384]", "(half[4,384)", "half[4]", "(half)", "(ha\"lf[4])"}) {
    CAPTURE(text);
    CHECK_FALSE(ReadTensorInputs(text));
  }
  // No dimensions, but an input.
  CHECK(ReadTensorInputs("(half[4,,384])")->dims == "[[]]");
}

}  // namespace
}  // namespace jarvis::trace::xplane
