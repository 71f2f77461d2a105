#include "session/grid_sizes.h"

#include <string_view>
#include <vector>

#include "trace/json_text.h"

namespace jarvis::session {
namespace {

using trace::EventIndex;

// FlashAttention has kernels for heads of 32, 64, 96 ... 256 elements; the sizes between are
// multiples of 8.
constexpr std::int64_t kHeadStep = 32, kHeadUnit = 8, kHeadSparse = 128, kHeadSparseStep = 64;

// What `blocks` of `tile` elements each hold, of which the last has one at least.
SizeRange RangeOf(std::int64_t blocks, std::int64_t tile) {
  return {static_cast<double>((blocks - 1) * tile + 1), static_cast<double>(blocks * tile)};
}

SizeRange HeadOf(const ledger::AttentionTile& tile) {
  const auto high = static_cast<double>(tile.head);
  if (tile.whole_head) return {high, high};
  const std::int64_t step = tile.head > kHeadSparse ? kHeadSparseStep : kHeadStep;
  return {static_cast<double>(std::max<std::int64_t>(0, tile.head - step) + kHeadUnit), high};
}

}  // namespace

std::optional<std::array<std::int64_t, 3>> GridOf(const trace::EventStore& events,
                                                  EventIndex kernel) {
  const std::vector<std::string_view> sizes =
      trace::ElementsOf(trace::MemberOf(events.text(events.args_of(kernel).other), "grid"));
  std::array<std::int64_t, 3> grid{};
  if (sizes.size() != grid.size()) return std::nullopt;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const auto number = trace::IntegerOf(sizes[i]);
    if (!number || *number <= 0 || *number > (std::int64_t{1} << 31)) return std::nullopt;
    grid[i] = *number;
  }
  return grid;
}

std::optional<ResultSizes> ResultOf(const trace::EventStore& events,
                                    const ledger::KindsOfWork& kinds, EventIndex kernel,
                                    bool no_batch) {
  const ledger::ResultTile& tile = kinds.Of(kernel).sizes.result;
  if (tile.columns <= 0 || tile.rows <= 0) return std::nullopt;
  const auto grid = GridOf(events, kernel);
  if (!grid || ((*grid)[2] != 1 && !no_batch)) return std::nullopt;
  const auto [x, y, z] = *grid;
  return tile.rows_first ? ResultSizes{RangeOf(x, tile.rows), RangeOf(y, tile.columns)}
                         : ResultSizes{RangeOf(y, tile.rows), RangeOf(x, tile.columns)};
}

std::optional<AttentionSizes> AttentionOf(const trace::EventStore& events,
                                          const ledger::KindsOfWork& kinds, EventIndex kernel) {
  const ledger::AttentionTile& tile = kinds.Of(kernel).sizes.attention;
  if (tile.head <= 0 || tile.queries <= 0) return std::nullopt;
  const auto grid = GridOf(events, kernel);
  if (!grid) return std::nullopt;
  const auto [x, y, z] = *grid;
  AttentionSizes sizes{static_cast<double>(y), static_cast<double>(z), RangeOf(x, tile.queries),
                       HeadOf(tile), tile.causal};
  if (tile.whole_blocks) sizes.queries.low = sizes.queries.high;
  return sizes;
}

}  // namespace jarvis::session
