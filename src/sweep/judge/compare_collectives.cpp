#include "sweep/judge/compare_collectives.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/join/report_compare.h"
#include "analysis/ranks/collective_sync.h"

namespace jarvis::sweep {
namespace {

// What makes an operation of collectives: name, type, elements, group size.
using OperationKey = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
struct OperationValues {
  std::int64_t count = 0;
  double latency_us = 0;  // sum over collectives
  double bandwidth = 0;   // sum of those that have one
  std::int64_t with_bandwidth = 0;
  RankValues latencies;  // of each collective
};

std::map<OperationKey, OperationValues> OperationsOf(const ComparedSweeps& compared,
                                                     std::size_t s) {
  std::map<OperationKey, OperationValues> operations;
  const auto whole = [](const Cell& cell) {
    const auto number = analysis::NumberOf(cell);
    return number ? static_cast<std::int64_t>(*number) : std::int64_t{-1};
  };
  const auto text = [](const Cell& cell) {
    const auto* value = std::get_if<std::string>(&cell);
    return value != nullptr ? *value : std::string();
  };
  for (const ConfigFacts* config : compared.Compared(s)) {
    if (!config->with_collectives) continue;
    const auto& calls = config->collectives.matching.calls;
    for (const analysis::SyncedCollective& one : config->collectives.synced) {
      if (one.ranks.empty()) continue;
      const analysis::CollectiveKeys& keys = calls[one.ranks.front().call].keys();
      OperationValues& values =
          operations[{text(keys[analysis::kCollective]), text(keys[analysis::kDtype]),
                      whole(keys[analysis::kIn]), whole(keys[analysis::kGroupSize])}];
      ++values.count;
      values.latency_us += one.latency;
      values.latencies.push_back(one.latency);
      if (one.bus_gb_s) {
        values.bandwidth += *one.bus_gb_s;
        ++values.with_bandwidth;
      }
    }
  }
  return operations;
}

}  // namespace

ComparedCollectives CompareCollectives(const ComparedSweeps& compared) {
  ComparedCollectives made;
  std::vector<std::map<OperationKey, OperationValues>> all;
  std::map<OperationKey, double> time;  // in the baseline, else in any
  for (std::size_t s = 0; s < compared.sweeps.size(); ++s) {
    all.push_back(OperationsOf(compared, s));
    for (const auto& [key, values] : all.back())
      time[key] = std::max(time[key], values.latency_us);
  }
  std::vector<OperationKey> order;
  for (const auto& [key, us] : time)
    order.push_back(key);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return time[a] > time[b]; });
  if (order.size() > compared.options.collectives_max) {
    made.more = order.size() - compared.options.collectives_max;
    order.resize(compared.options.collectives_max);
  }
  for (const OperationKey& key : order) {
    const auto& [name, dtype, elements, ranks] = key;
    PageCollective shown{
        name,
        fmt::format("{} elements {}{}", elements < 0 ? "?" : std::to_string(elements), dtype,
                    ranks < 0 ? "" : fmt::format(", {} ranks", ranks)),
        {}};
    const auto base = all[compared.options.baseline].find(key);
    for (std::size_t s = 0; s < compared.sweeps.size(); ++s) {
      PageCollective::Side side;
      const auto found = all[s].find(key);
      if (found != all[s].end()) {
        const OperationValues& values = found->second;
        side.count = values.count;
        side.latency_us = values.latency_us / static_cast<double>(values.count);
        if (values.with_bandwidth > 0)
          side.bus_gbps = values.bandwidth / static_cast<double>(values.with_bandwidth);
        if (s == compared.options.baseline) {
          side.verdict = PageVerdict::kBaseline;
        } else if (base != all[compared.options.baseline].end()) {
          const double before = base->second.latency_us / static_cast<double>(base->second.count);
          if (before > 0) side.latency_change_pct = 100 * (*side.latency_us / before - 1);
          side.verdict = VerdictOf(ChangeOf(base->second.latencies, values.latencies),
                                   compared.options.threshold_pct);
        }
      }
      shown.sweeps.push_back(side);
    }
    made.collectives.push_back(std::move(shown));
  }
  return made;
}

}  // namespace jarvis::sweep
