// What the metadata of a recording says of the model that ran.
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::TraceText;

TEST_CASE("the metadata of who recorded it may name the model") {
  const auto model = [](std::string_view members) {
    TraceText text;
    text.Module("TinyModel_0", 0, 100).OpWithKernel("aten::mm", 1, 20, "gemm", 30, 60, 1);
    return Analyze(text, "H100", members).analysis.workload[WorkloadPart::kModel].value;
  };
  const std::string plain = model("");
  CHECK(model(R"("metadata":{"experiment":{"repo_id":"owner/tiny-model_1.5"}})") ==
        fmt::format("owner/tiny-model_1.5 ({})", plain));
  CHECK(model(R"("model_name":"owner/tiny")").starts_with("owner/tiny ("));
  // Paths of a machine, words and markup are no such name.
  for (const std::string_view other : {"/data/models/tiny", "../tiny/model", "tiny", "a/b/c",
                                       "owner/ti ny", "owner/<b>", "https://hub/x", "./tiny"}) {
    CAPTURE(other);
    CHECK(model(fmt::format(R"("metadata":{{"repo_id":"{}"}})", other)) == plain);
  }
}

}  // namespace
}  // namespace jarvis::findings
