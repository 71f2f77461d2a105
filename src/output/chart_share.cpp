#include "output/chart_share.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "output/chart_kinds.h"

namespace jarvis::output {
namespace {

using Names = std::vector<std::string>;

// All names of the charts of one title.
struct Shared {
  ChartExtents extents;
  Names across;  // groups, places on x, columns
  Names down;    // series, rows
};

void Add(const std::string& name, Names* names) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

// In the charts' own order where all have the same names.
void AddAll(const Names& names, Names* all) {
  if (all->empty()) *all = names;
  if (*all == names) return;
  for (const std::string& name : names)
    Add(name, all);
  std::stable_sort(all->begin(), all->end(), NaturallyBefore);
}

template <typename Named>
Names LabelsOf(const std::vector<Named>& all) {
  Names names;
  for (const Named& one : all)
    names.push_back(one.label);
  return names;
}

// Names that occur twice in one chart have no place of their own in another.
bool Distinct(Names names) {
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

struct AxisNames {
  Names across;
  Names down;
};

AxisNames NamesOf(const Chart& chart) {
  struct Visitor {
    AxisNames operator()(const BoxPlot& body) const { return {LabelsOf(body.groups), {}}; }
    AxisNames operator()(const ViolinPlot& body) const { return {LabelsOf(body.groups), {}}; }
    AxisNames operator()(const LineChart& body) const { return {body.x, LabelsOf(body.series)}; }
    AxisNames operator()(const BarChart& body) const {
      return {body.groups, LabelsOf(body.series)};
    }
    AxisNames operator()(const HeatMap& body) const { return {body.columns, body.rows}; }
    AxisNames operator()(const ScatterPlot& body) const { return {{}, LabelsOf(body.series)}; }
    AxisNames operator()(const TimelineStrip& body) const { return {{}, LabelsOf(body.rows)}; }
  };
  return std::visit(Visitor{}, chart.body);
}

// Puts what has a name at that name's place; what is missing is empty.
template <typename Named>
void Arrange(const Names& names, std::vector<Named>* all) {
  std::vector<Named> arranged(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = std::find_if(all->begin(), all->end(),
                                    [&](const Named& one) { return one.label == names[i]; });
    if (found != all->end()) arranged[i] = std::move(*found);
    arranged[i].label = names[i];
  }
  *all = std::move(arranged);
}

std::vector<std::optional<double>> ArrangedValues(
    const Names& from, const Names& to, const std::vector<std::optional<double>>& values) {
  std::vector<std::optional<double>> arranged(to.size());
  for (std::size_t i = 0; i < std::min(from.size(), values.size()); ++i) {
    const auto place = std::find(to.begin(), to.end(), from[i]);
    if (place != to.end()) arranged[static_cast<std::size_t>(place - to.begin())] = values[i];
  }
  return arranged;
}

struct Arranger {
  const Shared& shared;

  void operator()(BoxPlot& body) const { Arrange(shared.across, &body.groups); }
  void operator()(ViolinPlot& body) const { Arrange(shared.across, &body.groups); }
  void operator()(LineChart& body) const { Series(&body.x, &body.series); }
  void operator()(BarChart& body) const { Series(&body.groups, &body.series); }
  void operator()(ScatterPlot& body) const { Arrange(shared.down, &body.series); }
  void operator()(TimelineStrip& body) const { Arrange(shared.down, &body.rows); }
  void operator()(HeatMap& body) const {
    std::vector<std::optional<double>> values(shared.across.size() * shared.down.size());
    for (std::size_t row = 0; row < body.rows.size(); ++row) {
      const auto first =
          static_cast<std::ptrdiff_t>(std::min(row * body.columns.size(), body.values.size()));
      const auto last = static_cast<std::ptrdiff_t>(
          std::min((row + 1) * body.columns.size(), body.values.size()));
      const auto place = std::find(shared.down.begin(), shared.down.end(), body.rows[row]);
      const auto arranged = ArrangedValues(
          body.columns, shared.across, {body.values.begin() + first, body.values.begin() + last});
      std::copy(arranged.begin(), arranged.end(),
                values.begin() + (place - shared.down.begin()) *
                                     static_cast<std::ptrdiff_t>(shared.across.size()));
    }
    body.columns = shared.across;
    body.rows = shared.down;
    body.values = std::move(values);
  }

 private:
  void Series(Names* x, std::vector<ChartSeries>* series) const {
    for (ChartSeries& one : *series)
      one.y = ArrangedValues(*x, shared.across, one.y);
    *x = shared.across;
    Arrange(shared.down, series);
  }
};

}  // namespace

void ShareAxes(std::span<ChartSheet* const> sheets) {
  std::map<std::string, Shared> all;
  std::map<std::string, bool> arrange;  // false: some chart has a name twice
  for (const ChartSheet* sheet : sheets) {
    for (const Chart& chart : sheet->charts) {
      const ChartExtents extents = ExtentsOfChart(chart);
      Shared& shared = all[chart.title];
      shared.extents.x.Hold(extents.x.limits());
      shared.extents.y.Hold(extents.y.limits());
      shared.extents.x.Hold(chart.x.limits);
      shared.extents.y.Hold(chart.y.limits);
      shared.extents.colour.Hold(extents.colour.limits());
      const AxisNames names = NamesOf(chart);
      const bool distinct = Distinct(names.across) && Distinct(names.down);
      arrange.try_emplace(chart.title, true).first->second &= distinct;
      AddAll(names.across, &shared.across);
      AddAll(names.down, &shared.down);
    }
  }
  for (ChartSheet* sheet : sheets) {
    for (Chart& chart : sheet->charts) {
      const Shared& shared = all[chart.title];
      if (arrange[chart.title]) std::visit(Arranger{shared}, chart.body);
      if (const auto& limits = shared.extents.x.limits()) chart.x.limits = limits;
      if (const auto& limits = shared.extents.y.limits()) chart.y.limits = limits;
      if (auto* map = std::get_if<HeatMap>(&chart.body))
        map->range = shared.extents.colour.limits();
    }
  }
}

}  // namespace jarvis::output
