#include "perf/device_match.h"

#include <cstddef>

#include <fmt/format.h>

namespace jarvis::perf {
namespace {

struct Row {
  std::string_view name;
  std::int64_t units, major, minor;
  double memory_low, memory_high;  // 10^9 bytes: reported memory is a little off the nominal
  std::string_view slowest = {};   // platform of a class
};
// Whole devices, by the vendors' specifications.
constexpr Row kPlatformRows[] = {
    {"MI100", 120, 9, 0, 30, 36},     {"MI250X-GCD", 110, 9, 0, 60, 72},
    {"MI300A", 228, 9, 4, 120, 140},  {"MI300X", 304, 9, 4, 186, 210},
    {"MI325X", 304, 9, 4, 250, 280},  {"H100-SXM", 132, 9, 0, 79, 87},
    {"H100-PCIE", 114, 9, 0, 79, 87}, {"B200", 148, 10, 0, 178, 198},
    {"T4", 40, 7, 5, 14, 17},         {"A10", 72, 8, 6, 22, 25},
    {"L4", 58, 8, 9, 22, 25},
};
// Devices that another one equals in all of these, with the slowest of them.
constexpr Row kClassRows[] = {
    {"V100 16 GB", 80, 7, 0, 15, 18, "V100-SXM2-16GB"},
    {"V100 32 GB", 80, 7, 0, 31, 36, "V100-SXM2-32GB"},
    {"A100 40 GB", 108, 8, 0, 39, 44, "A100-PCIE-40GB"},
    {"A100 80 GB", 108, 8, 0, 79, 87, "A100-PCIE-80GB"},
    {"H200 141 GB", 132, 9, 0, 139, 152, "H200-NVL"},
    {"L40 or L40S", 142, 8, 9, 44, 52, "L40"},
    {"MI350X or MI355X", 256, 9, 5, 280, 320, "MI350X"},
    {"MI210 or one die of an MI250", 104, 9, 0, 60, 72, "MI210"},
};

template <std::size_t N>
const Row* RowIn(const Row (&rows)[N], const DeviceProperties& properties) {
  if (!properties.units || !properties.memory_bytes || !properties.compute_major ||
      !properties.compute_minor) {
    return nullptr;
  }
  const double memory = static_cast<double>(*properties.memory_bytes) / 1e9;
  for (const Row& row : rows) {
    if (row.units == *properties.units && row.major == *properties.compute_major &&
        row.minor == *properties.compute_minor && memory >= row.memory_low &&
        memory <= row.memory_high) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

const Platform* MatchProperties(const DeviceProperties& properties) {
  const Row* row = RowIn(kPlatformRows, properties);
  return row == nullptr ? nullptr : FindPlatform(row->name);
}

std::optional<UnitsMatch> MatchUnits(std::int64_t units, bool volta) {
  struct UnitsRow {
    std::int64_t units;
    bool volta;
    std::string_view family, slowest;
  };
  constexpr UnitsRow kRows[] = {{80, true, "V100", "V100-SXM2-16GB"},
                                {108, false, "A100", "A100-SXM4-40GB"},
                                {114, false, "H100 PCIe", "H100-PCIE"},
                                {132, false, "H100 or H200", "H100-SXM"},
                                {148, false, "B200", "B200"}};
  for (const UnitsRow& row : kRows) {
    if (row.units != units || (row.volta && !volta)) continue;
    if (const Platform* platform = FindPlatform(row.slowest))
      return UnitsMatch{platform, row.family};
  }
  return std::nullopt;
}

std::string_view ClassOfProperties(const DeviceProperties& properties) {
  const Row* row = RowIn(kClassRows, properties);
  return row == nullptr ? std::string_view() : row->name;
}

std::optional<UnitsMatch> MatchClass(const DeviceProperties& properties) {
  const Row* row = RowIn(kClassRows, properties);
  const Platform* slowest = row == nullptr ? nullptr : FindPlatform(row->slowest);
  if (slowest == nullptr) return std::nullopt;
  return UnitsMatch{slowest, row->name};
}

std::string PropertiesText(const DeviceProperties& properties) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + part; };
  if (properties.units) add(fmt::format("{} compute units", *properties.units));
  if (properties.memory_bytes)
    add(fmt::format("{:.0f} GB", static_cast<double>(*properties.memory_bytes) / 1e9));
  if (properties.compute_major && properties.compute_minor)
    add(fmt::format("compute {}.{}", *properties.compute_major, *properties.compute_minor));
  return text;
}

}  // namespace jarvis::perf
