#include "sweep/draw/plot_grid.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/text.h"

namespace jarvis::sweep {
namespace {

template <typename Value>
std::optional<std::size_t> PlaceIn(const std::vector<Value>& values, const Value& value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - values.begin());
}

}  // namespace

PlotGrid::PlotGrid(const SweepPlotData& data) : data_(data), values_(data.axes.size()) {
  for (const PlotConfig& config : data.configs) {
    for (std::size_t axis = 0; axis < std::min(axes(), config.at.size()); ++axis) {
      if (!PlaceIn(values_[axis], config.at[axis])) values_[axis].push_back(config.at[axis]);
    }
  }
  for (std::vector<std::string>& values : values_)
    std::sort(values.begin(), values.end(), NaturallyBefore);
  for (std::size_t config = 0; config < data.configs.size(); ++config) {
    const std::vector<std::string> key = RowKey(config);
    if (Column(config) && !PlaceIn(row_keys_, key)) row_keys_.push_back(key);
  }
  std::sort(row_keys_.begin(), row_keys_.end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), NaturallyBefore);
  });
  for (const std::vector<std::string>& key : row_keys_) {
    std::vector<std::string> parts;
    for (std::size_t axis = 0; axis < key.size(); ++axis)
      parts.push_back(key[axis] + data.axes[axis].unit);
    row_names_.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
}

std::optional<std::size_t> PlotGrid::Place(std::size_t config, std::size_t axis) const {
  if (config >= data_.configs.size() || axis >= data_.configs[config].at.size()) {
    return std::nullopt;
  }
  return PlaceIn(values_[axis], data_.configs[config].at[axis]);
}

std::vector<std::string> PlotGrid::RowKey(std::size_t config) const {
  const std::vector<std::string>& at = data_.configs[config].at;
  const std::size_t size = std::min(at.size(), axes());
  return {at.begin(), at.begin() + static_cast<std::ptrdiff_t>(size == 0 ? 0 : size - 1)};
}

std::vector<std::string> PlotGrid::ColumnNames() const {
  std::vector<std::string> names;
  if (axes() == 0) return names;
  for (const std::string& value : values_.back())
    names.push_back(value + data_.axes.back().mark);
  return names;
}

std::optional<std::size_t> PlotGrid::Column(std::size_t config) const {
  return axes() == 0 ? std::nullopt : Place(config, axes() - 1);
}

std::optional<std::size_t> PlotGrid::Row(std::size_t config) const {
  return Column(config) ? PlaceIn(row_keys_, RowKey(config)) : std::nullopt;
}

std::string PlotGrid::ConfigName(std::size_t config) const {
  std::vector<std::string> parts;
  const std::vector<std::string>& at = data_.configs[config].at;
  for (std::size_t axis = 0; axis < std::min(axes(), at.size()); ++axis)
    parts.push_back(at[axis] + data_.axes[axis].unit);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string PlotGrid::ConfigMark(std::size_t config) const {
  return fmt::format("{}", fmt::join(data_.configs[config].at, "/"));
}

}  // namespace jarvis::sweep
