#include "sweep/draw/single_parts.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::sweep {

SingleNames::SingleNames(std::span<const SingleRun> runs) {
  std::set<std::int64_t> all_ranks;
  std::set<CollectiveKey> keys;
  for (const SingleRun& run : runs) {
    for (const SingleTime& time : run.times) {
      if (std::find(types.begin(), types.end(), time.type) == types.end()) {
        types.push_back(time.type);
      }
      for (const auto& [rank, ms] : time.ms)
        all_ranks.insert(rank);
    }
    for (const SingleCollective& collective : run.collectives)
      keys.insert({collective.operation, collective.elements});
  }
  ranks.assign(all_ranks.begin(), all_ranks.end());
  collectives.assign(keys.begin(), keys.end());
}

std::vector<std::string> SingleNames::RankNames() const {
  std::vector<std::string> names;
  for (const std::int64_t rank : ranks)
    names.push_back(std::to_string(rank));
  return names;
}

std::vector<std::string> SingleNames::CollectiveNames() const {
  std::vector<std::string> names;
  for (const auto& [operation, elements] : collectives)
    names.push_back(fmt::format("{} {}", operation, elements));
  return names;
}

std::optional<double> TimeOf(const SingleRun& run, std::string_view type, std::int64_t rank) {
  for (const SingleTime& time : run.times) {
    if (time.type != type) continue;
    for (const auto& [of, ms] : time.ms) {
      if (of == rank) return ms;
    }
  }
  return std::nullopt;
}

std::optional<double> MeanTime(const SingleRun& run, std::string_view type) {
  for (const SingleTime& time : run.times) {
    if (time.type != type || time.ms.empty()) continue;
    double sum = 0;
    for (const auto& [rank, ms] : time.ms)
      sum += ms;
    return sum / static_cast<double>(time.ms.size());
  }
  return std::nullopt;
}

std::optional<double> CollectiveValue(const SingleRun& run, const SingleNames::CollectiveKey& key,
                                      std::optional<double> SingleCollective::*value) {
  for (const SingleCollective& collective : run.collectives) {
    if (collective.operation == key.first && collective.elements == key.second) {
      return collective.*value;
    }
  }
  return std::nullopt;
}

std::optional<double> ChangePercent(const std::optional<double>& base,
                                    const std::optional<double>& test) {
  if (!base || !test || *base == 0) return std::nullopt;
  return (*test - *base) / *base * 100;
}

std::string PlotFileName(std::string_view type) {
  std::string name;
  for (const char c : Utf8Prefix(type, 80)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    name += kept ? c : '_';
  }
  return name.empty() ? "_" : name;
}

}  // namespace jarvis::sweep
