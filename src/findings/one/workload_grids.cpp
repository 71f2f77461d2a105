#include "findings/one/workload_grids.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/kernel_categories.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

struct Launch3 {
  std::int64_t x = 0, y = 0, z = 0;
};

std::optional<Launch3> SizesAt(const trace::EventStore& events, EventIndex kernel,
                               std::string_view key) {
  const std::vector<std::int64_t> sizes = LaunchSizesOf(events, kernel, key);
  if (sizes.size() != 3) return std::nullopt;
  return Launch3{sizes[0], sizes[1], sizes[2]};
}

std::vector<EventIndex> ByStart(const session::LoadedTrace& trace) {
  const auto& timeline = trace.attribution().timeline;
  std::vector<EventIndex> work(timeline.begin(), timeline.end());
  const trace::EventStore& events = trace.events();
  std::stable_sort(work.begin(), work.end(),
                   [&](EventIndex a, EventIndex b) { return events[a].ts_ns < events[b].ts_ns; });
  return work;
}

// "vectorized_elementwise_kernel<8, ...": elements of a thread; 0: another kernel. With 4 a thread
// may have more.
std::int64_t VectorOf(std::string_view name) {
  constexpr std::string_view kName = "vectorized_elementwise_kernel<";
  const std::size_t at = name.find(kName);
  if (at == name.npos) return 0;
  const std::string_view rest = name.substr(at + kName.size());
  const auto width = ParseInt(rest.substr(0, rest.find(',')));
  return width && *width == 8 ? *width : 0;
}

// The only whole side whose square lies above `low`, at most `high`; 0: none, or several.
std::int64_t OnlySide(double low, double high) {
  const auto side = static_cast<std::int64_t>(std::floor(std::sqrt(high) + 1e-9));
  const auto square = [](std::int64_t n) {
    return static_cast<double>(n) * static_cast<double>(n);
  };
  return side > 0 && square(side) > low && square(side - 1) <= low ? side : 0;
}

// PyTorch's grid has a row for each image, unless there are more of them than this.
bool RowsAreImages(const Launch3& grid, const Launch3& block) {
  constexpr std::int64_t kRowsMax = 256 * 1024;
  return block.y == 1 && grid.z == 1 && grid.y < std::max<std::int64_t>(1, kRowsMax / grid.x);
}

}  // namespace

std::optional<MapSizes> MapSizesOf(const session::LoadedTrace& trace) {
  constexpr std::size_t kLayersMin = 4;
  const trace::EventStore& events = trace.events();
  const std::vector<EventIndex> work = ByStart(trace);
  MapSizes out;
  for (std::size_t i = 0; i + 1 < work.size(); ++i) {
    const std::string_view name = events.name(work[i]);
    if (name.find("batch_norm_transform_input_kernel") == name.npos) continue;
    const auto grid = SizesAt(events, work[i], "grid"), block = SizesAt(events, work[i], "block");
    if (!grid || !block || !RowsAreImages(*grid, *block)) return std::nullopt;
    if (out.batch != 0 && grid->y != out.batch) return std::nullopt;
    out.batch = grid->y;
    const std::int64_t width = VectorOf(events.name(work[i + 1]));
    const auto next = SizesAt(events, work[i + 1], "grid");
    const auto threads = SizesAt(events, work[i + 1], "block");
    if (width == 0 || !next || !threads) continue;
    const auto maps = static_cast<double>(grid->x * grid->y);
    const auto per_block = static_cast<double>(width * threads->x);
    const std::int64_t side = OnlySide(static_cast<double>(next->x - 1) * per_block / maps,
                                       static_cast<double>(next->x) * per_block / maps);
    if (side == 0) return std::nullopt;
    out.sides.push_back(side);
  }
  const bool falls = std::is_sorted(out.sides.rbegin(), out.sides.rend());
  const bool several = !out.sides.empty() && out.sides.front() > out.sides.back();
  if (out.sides.size() < kLayersMin || !falls || !several) return std::nullopt;
  return out;
}

ForwardCounts CountForward(const session::LoadedTrace& trace) {
  const trace::EventStore& events = trace.events();
  ForwardCounts counts;
  bool behind_norm = false;
  for (const EventIndex e : ByStart(trace)) {
    const std::string_view name = events.name(e);
    const std::string_view category = CategoryByName(name);
    if (category == kConvForward) ++counts.convolutions;
    if (behind_norm && IsSumOfTensors(name)) ++counts.sums;
    behind_norm = category == kBatchNormForward;
  }
  return counts;
}

}  // namespace jarvis::findings
