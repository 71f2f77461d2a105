#include "session/grid_floors.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "perf/gemm.h"
#include "perf/roofline.h"
#include "session/grid_sizes.h"
#include "session/layer_sizes.h"
#include "session/trained_products.h"

namespace jarvis::session {
namespace {

using trace::EventIndex;

// What a recorded duration may be too short by: clocks tick, and boost above what a data sheet has.
constexpr double kTimerNs = 1000, kAbovePeak = 1.05;

class GridFloorMaker {
 public:
  GridFloorMaker(const trace::EventStore& events, const tree::CallTree& tree,
                 const ledger::KindsOfWork& kinds, const perf::Platform& platform)
      : events_(events),
        kinds_(kinds),
        platform_(platform),
        layers_(events, kinds),
        trained_(events, tree, kinds) {}

  std::unordered_map<EventIndex, GridFloor> Run() {
    std::unordered_map<EventIndex, GridFloor> floors;
    std::set<Launch> refuted;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (events_[e].kind != trace::EventKind::kKernel || events_[e].dur_ns <= 0) continue;
      const auto floor = FloorOf(e);
      if (!floor || floor->ns <= 0) continue;
      floors.emplace(e, *floor);
      if (floor->ns > kAbovePeak * static_cast<double>(events_[e].dur_ns) + kTimerNs)
        refuted.insert(LaunchOf(e));
    }
    std::erase_if(floors, [&](const auto& one) {
      const auto written = layers_.Normalised(one.first);
      return refuted.contains(LaunchOf(one.first)) ||
             (written && refuted.contains(LaunchOf(written->product)));
    });
    return floors;
  }

 private:
  using Launch = std::pair<StringId, std::array<std::int64_t, 3>>;

  Launch LaunchOf(EventIndex e) const {
    return {events_[e].name, GridOf(events_, e).value_or(std::array<std::int64_t, 3>{})};
  }

  std::optional<GridFloor> FloorOf(EventIndex e) const {
    switch (kinds_.Of(e).kind) {
      case ledger::WorkKind::kProduct: return OfProduct(e);
      case ledger::WorkKind::kAttention: return OfAttention(e);
      case ledger::WorkKind::kNormalisation: return OfNorm(e);
      default: return std::nullopt;
    }
  }

  std::optional<GridFloor> OfProduct(EventIndex e) const {
    // Sizes that are seen twice before those that the order of kernels tells.
    auto sizes = trained_.Product(e);
    if (!sizes) sizes = layers_.Product(e);
    if (!sizes) return std::nullopt;
    const auto& [rows, columns] = sizes->result;
    const SizeRange& depth = sizes->depth;
    auto floor = Roof(kinds_.Of(e).precision, 2 * rows.low * columns.low * depth.low,
                      rows.low * depth.low + depth.low * columns.low + rows.low * columns.low);
    const auto most =
        Roof(kinds_.Of(e).precision, 2 * rows.high * columns.high * depth.high,
             rows.high * depth.high + depth.high * columns.high + rows.high * columns.high);
    if (floor && most) floor->most_ns = most->ns;
    return floor;
  }

  std::optional<GridFloor> OfAttention(EventIndex e) const {
    if (const auto layer = layers_.Attention(e)) {
      // Of sequences of several lengths the squares are not below those of their mean.
      return OfScores(e, layer->sizes, layer->tokens.low / layer->sizes.batch, "");
    }
    const auto sizes = AttentionOf(events_, kinds_, e);
    const bool alike = sizes && (sizes->batch == 1 || sizes->queries.low == sizes->queries.high);
    return alike ? OfScores(e, *sizes, sizes->queries.low, "own_keys") : std::nullopt;
  }

  // As many keys as queries.
  std::optional<GridFloor> OfScores(EventIndex e, const AttentionSizes& sizes, double tokens,
                                    std::string_view assumption) const {
    const double heads = sizes.batch * sizes.heads;
    const double flops = 4 * heads * tokens * tokens * sizes.head.low / (sizes.causal ? 2 : 1);
    // Queries and results; keys and values may be of fewer heads.
    auto floor = Roof(kinds_.Of(e).precision, flops, 2 * heads * tokens * sizes.head.low);
    if (floor) floor->assumption = assumption;
    return floor;
  }

  // Reads what it writes, in elements that are not narrower.
  std::optional<GridFloor> OfNorm(EventIndex e) const {
    const auto written = layers_.Normalised(e);
    if (!written || !platform_.mem_bw_gbps) return std::nullopt;
    const perf::Precision* precision = perf::FindPrecision(kinds_.Of(written->product).precision);
    if (precision == nullptr) return std::nullopt;
    return GridFloor{2 * written->elements * precision->bytes / *platform_.mem_bw_gbps};
  }

  std::optional<GridFloor> Roof(std::string_view precision, double flops, double elements) const {
    const perf::Precision* format = perf::FindPrecision(precision);
    if (format == nullptr) return std::nullopt;
    const std::string spec =
        fmt::format("{}_{}", precision == "fp32" ? "vector" : "matrix", precision);
    const auto roof =
        perf::RooflineOf({flops, elements * format->bytes, spec}, platform_, perf::RoofRule::kPeak)
            .roof_us;
    return roof ? std::optional(GridFloor{*roof * 1000}) : std::nullopt;
  }

  const trace::EventStore& events_;
  const ledger::KindsOfWork& kinds_;
  const perf::Platform& platform_;
  const LayerSizes layers_;
  const TrainedProducts trained_;
};

}  // namespace

std::unordered_map<EventIndex, GridFloor> GridFloorsOf(const trace::EventStore& events,
                                                       const tree::CallTree& tree,
                                                       const ledger::KindsOfWork& kinds,
                                                       const perf::Platform& platform) {
  return GridFloorMaker(events, tree, kinds, platform).Run();
}

}  // namespace jarvis::session
