#include "perf/device_match.h"

#include <fmt/format.h>

namespace jarvis::perf {
namespace {

struct Row {
  std::string_view platform;
  std::int64_t units, major, minor;
  double memory_low, memory_high;  // 10^9 bytes: reported memory is a little off the nominal
};
// Full devices, from the vendors' specifications. Left out are those that another device equals
// (MI210 and a die of an MI250; A100 and H200 as module and card; L40 and L40S).
constexpr Row kRows[] = {
    {"MI100", 120, 9, 0, 30, 36},     {"MI250X-GCD", 110, 9, 0, 60, 72},
    {"MI300A", 228, 9, 4, 120, 140},  {"MI300X", 304, 9, 4, 186, 210},
    {"MI325X", 304, 9, 4, 250, 280},  {"H100-SXM", 132, 9, 0, 79, 87},
    {"H100-PCIE", 114, 9, 0, 79, 87}, {"B200", 148, 10, 0, 178, 198},
    {"T4", 40, 7, 5, 14, 17},         {"A10", 72, 8, 6, 22, 25},
    {"L4", 58, 8, 9, 22, 25},
};

}  // namespace

const Platform* MatchProperties(const DeviceProperties& properties) {
  if (!properties.units || !properties.memory_bytes || !properties.compute_major ||
      !properties.compute_minor) {
    return nullptr;
  }
  const double memory = static_cast<double>(*properties.memory_bytes) / 1e9;
  for (const Row& row : kRows) {
    if (row.units == *properties.units && row.major == *properties.compute_major &&
        row.minor == *properties.compute_minor && memory >= row.memory_low &&
        memory <= row.memory_high) {
      return FindPlatform(row.platform);
    }
  }
  return nullptr;
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
