// What the sizes in the names of kernels prove of their time. The device moves 1000 bytes
// per ns.
#include "session/name_floors.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

struct TimedKernel {
  double us;
  std::string_view launch = {};  // "grid" and "block"
};

// By kernel, in ns; all have the one name.
std::vector<std::optional<std::int64_t>> FloorsOf(std::string_view name,
                                                  const std::vector<TimedKernel>& kernels,
                                                  std::optional<double> bandwidth = 1e3) {
  testing::TraceText text;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    text.Kernel(name, 1000 * static_cast<double>(i), kernels[i].us, 1, 7, kernels[i].launch);
  const testing::Loaded loaded = testing::Load(text);
  const ledger::KindsOfWork kinds(loaded.events(), loaded.tree);
  perf::Platform platform;
  platform.mem_bw_gbps = bandwidth;
  const NameFloors floors(loaded.events(), loaded.tree, kinds, platform);
  std::vector<std::optional<std::int64_t>> out;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const NameFloor* floor = floors.Of(loaded.Find(name, static_cast<int>(i)));
    out.push_back(floor == nullptr ? std::nullopt : std::optional(floor->ns));
  }
  return out;
}

// 25.6 MB a group: 25.6 us.
std::string Gemm(int groups, int type) {
  return fmt::format(
      "void deep_gemm::fp8_gemm_kernel<6400u, 4000u, 64u, 160u, 128u, {}u, 4u, 128u, "
      "128u, 1u, true, (deep_gemm::GemmType){}>(float*)",
      groups, type);
}

using Floors = std::vector<std::optional<std::int64_t>>;

TEST_CASE("a GEMM reads the matrix that its name gives") {
  CHECK(FloorsOf(Gemm(1, 0), {{50}, {100}}) == Floors{25'600, 25'600});
  // From a cache, perhaps; in no case more than its own time.
  CHECK(FloorsOf(Gemm(1, 0), {{50}, {20}}) == Floors{25'600, 20'000});
  // Most of its time it does something else.
  CHECK(FloorsOf(Gemm(1, 0), {{500}, {20}}) == Floors{std::nullopt, std::nullopt});
  CHECK(FloorsOf(Gemm(1, 0), {{50}}, std::nullopt) == Floors{std::nullopt});
}

TEST_CASE("a call that is faster than all groups allow shows that some have no rows") {
  CHECK(FloorsOf(Gemm(4, 2), {{150}, {120}}) == Floors{102'400, 102'400});
  CHECK(FloorsOf(Gemm(4, 2), {{150}, {90}}) == Floors{90'000, 90'000});
  // One without any rows says nothing of the others, and leaves nothing to say.
  CHECK(FloorsOf(Gemm(4, 2), {{150}, {3}}) == Floors{std::nullopt, std::nullopt});
}

TEST_CASE("an element-wise kernel moves its arrays, as many elements as its grid has") {
  constexpr std::string_view kAdd =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
      "at::detail::Array<char*, 3> >(int)";
  // 100 full blocks of 128 threads, 48 bytes each: 614,400 bytes.
  CHECK(FloorsOf(kAdd, {{1, R"("grid":[101,1,1],"block":[128,1,1])"}}) == Floors{614});
  CHECK(FloorsOf(kAdd, {{1, R"("grid":[1,1,1],"block":[128,1,1])"}}) == Floors{std::nullopt});
  CHECK(FloorsOf(kAdd, {{1}}) == Floors{std::nullopt});
  CHECK(FloorsOf("elementwise", {{1, R"("grid":[101,1,1],"block":[128,1,1])"}}) ==
        Floors{std::nullopt});
}

}  // namespace
}  // namespace jarvis::session
