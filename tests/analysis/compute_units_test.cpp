#include "analysis/attribution/compute_units.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

std::optional<std::int64_t> UnitsOf(const std::vector<std::string>& args) {
  testing::TraceText text;
  for (std::size_t i = 0; i < args.size(); ++i)
    text.Kernel("k", 100.0 * static_cast<double>(i), 50, static_cast<std::int64_t>(i) + 1, 7,
                args[i]);
  const testing::Loaded loaded = testing::Load(text);
  std::vector<trace::EventIndex> gpu;
  for (trace::EventIndex e = 0; e < loaded.events().size(); ++e)
    gpu.push_back(e);
  return ComputeUnitsByGrids(loaded.events(), gpu);
}

std::string Kernel(int blocks, std::string_view per_unit) {
  return fmt::format("\"grid\":[{},2,1],\"block\":[128,1,1],\"blocks per SM\":{}", blocks / 2,
                     per_unit);
}

TEST_CASE("units are what blocks come to over blocks a unit, if kernels agree") {
  // 108 units; the quotients are written with few digits.
  const std::vector<std::string> kernels = {Kernel(216, "2"), Kernel(64, "0.592593"),
                                            Kernel(1000, "9.259259"), Kernel(2, "0.018519"),
                                            Kernel(4320, "40")};
  CHECK(UnitsOf(kernels) == 108);
  CHECK_FALSE(UnitsOf({kernels[0], kernels[1]}).has_value());  // too few say so
  std::vector<std::string> mixed = kernels;
  mixed.push_back(Kernel(264, "2"));  // 132
  CHECK_FALSE(UnitsOf(mixed).has_value());
  CHECK_FALSE(UnitsOf(std::vector<std::string>(8, "\"grid\":[108,1,1]")).has_value());
  CHECK_FALSE(UnitsOf(std::vector<std::string>(8, Kernel(216, "0"))).has_value());
  CHECK_FALSE(
      UnitsOf(std::vector<std::string>(8, "\"grid\":[0,1],\"blocks per SM\":1")).has_value());
}

}  // namespace
}  // namespace jarvis::analysis
