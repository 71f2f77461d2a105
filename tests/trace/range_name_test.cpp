// What ranges of a program and calls of a driver are called.
#include "trace/import/shared/range_name.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "json/json.h"
#include "trace/import/nsys/nsys_host.h"

namespace jarvis::trace {
namespace {

// Lines of JSON that are kept beside the larger traces.
template <typename Each>
std::size_t EachLine(const char* name, const Each& each) {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  if (data == nullptr) return 0;
  std::ifstream file(std::filesystem::path(data) / "expected/inputs/made" / name);
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto parsed = ParseJson(line);
    REQUIRE(parsed.has_value());
    each(*parsed);
  }
  return lines;
}

TEST_CASE("a range's text is taken apart from its end") {
  const RangeName all = ParseRangeName(
      "aten::add, seq = 12, op_id = 7, sizes = [[2, 3], []], input_op_ids = [(1,0), (2,1)]");
  CHECK(all.name == "aten::add");
  CHECK(all.sequence == 12);
  CHECK(all.op_id == 7);
  CHECK(all.sizes == "[[2, 3], []]");
  CHECK(all.is_op);
  const RangeName no_json = ParseRangeName("mine, sizes = [[2, 3]");
  CHECK(no_json.name == "mine, sizes = [[2, 3]");
  CHECK(no_json.sizes.empty());
  CHECK_FALSE(no_json.is_op);
}

TEST_CASE("ops are told from annotations") {
  for (const char* op : {"aten::mm", "aten::add.Tensor", "detach", "record_param_comms",
                         "Foo, seq = 3", "mine::op, op_id = 3", "triton_poi_0, op_id = 3",
                         "autograd::engine::evaluate_function: MmBackward0"})
    CHECK_MESSAGE(ParseRangeName(op).is_op, op);
  for (const char* range : {"", "iteration 5", "step", "FSDP::pre_forward (blocks.1), op_id = 4",
                            "FSDP::unshard, op_id = 4", "Optimizer.step#Adam.step, op_id = 2",
                            "mine::op", "aten::", "nccl:all_to_all", ", seq = "})
    CHECK_MESSAGE(!ParseRangeName(range).is_op, range);
}

TEST_CASE("names of ranges, as recorded") {
  EachLine("range-names.jsonl", [](const Json& want) {
    const std::string text = want.at("text").get<std::string>();
    const RangeName range = ParseRangeName(text);
    CHECK(range.name == want.at("name").get<std::string>());
    CHECK_MESSAGE(range.is_op == (want.at("kind").get<std::string>() == "cpu_op"), text);
    CHECK(range.sequence.has_value() == !want.at("seq").is_null());
    CHECK(range.op_id.has_value() == !want.at("op_id").is_null());
    CHECK_MESSAGE(range.sizes.empty() == want.at("sizes").is_null(), text);
  });
}

TEST_CASE("a call loses the version that the driver's table gives it") {
  CHECK(CallName("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
  CHECK(CallName("cudaMemsetAsync_v3020_ptsz") == "cudaMemsetAsync");
  CHECK(CallName("cuMemcpyHtoDAsync_v2") == "cuMemcpyHtoDAsync_v2");
  CHECK(CallName("cudaStreamGetCaptureInfo_v2_v11030") == "cudaStreamGetCaptureInfo_v2");
  CHECK(CallName("_v7000") == "");
  EachLine("api-names.jsonl", [](const Json& want) {
    CHECK(CallName(want.at("recorded").get<std::string>()) == want.at("name").get<std::string>());
  });
}

}  // namespace
}  // namespace jarvis::trace
