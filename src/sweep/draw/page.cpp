#include "sweep/draw/page.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "output/chart.h"
#include "output/html_page.h"
#include "sweep/draw/page_parts.h"

namespace jarvis::sweep {
namespace {

using output::HtmlCell;
using output::HtmlColumn;
using output::HtmlSection;
using output::HtmlTable;
using output::HtmlText;
using output::HtmlTone;

std::vector<HtmlColumn> SweepColumns(const ComparisonPage& page, std::string first) {
  std::vector<HtmlColumn> columns = {{std::move(first)}};
  for (std::size_t i = 0; i < page.sweeps.size(); ++i) {
    columns.push_back({page.sweeps[i].label, false, i == page.baseline ? "baseline" : ""});
  }
  return columns;
}

void AddWarnings(const ComparisonPage& page, HtmlSection* section) {
  HtmlTable table{
      .caption = "Warnings",
      .columns = {{"Sweep"}, {"Code"}, {"Configuration"}, {"Rank"}, {"Message"}, {"File"}}};
  for (const PageSweep& sweep : page.sweeps) {
    for (const PageWarning& warning : sweep.warnings) {
      table.rows.push_back({{.text = sweep.label},
                            {.text = warning.code, .tone = HtmlTone::kWarning},
                            {.text = warning.config},
                            {.text = warning.rank},
                            {.text = warning.message},
                            {.text = warning.file, .code = !warning.file.empty()}});
    }
  }
  if (!table.rows.empty()) section->blocks.emplace_back(std::move(table));
}

HtmlSection Sweeps(const ComparisonPage& page) {
  HtmlSection section{"Sweeps", {}};
  HtmlTable table{.columns = SweepColumns(page, "")};
  std::vector<std::string> names;
  for (const PageSweep& sweep : page.sweeps) {
    for (const auto& [name, what] : sweep.provenance) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::vector<HtmlCell> paths = {{.text = "Path"}};
  std::vector<HtmlCell> complete = {{.text = "Complete"}};
  for (const PageSweep& sweep : page.sweeps) {
    paths.push_back({.text = sweep.path, .code = true});
    HtmlCell cell{.text = sweep.complete ? "yes" : "no"};
    if (!sweep.complete) cell.tone = HtmlTone::kWarning;
    if (!sweep.warnings.empty()) {
      cell.detail =
          fmt::format("{} warning{}", sweep.warnings.size(), sweep.warnings.size() == 1 ? "" : "s");
    }
    complete.push_back(std::move(cell));
  }
  table.rows.push_back(std::move(paths));
  for (const std::string& name : names) {
    std::vector<HtmlCell> row = {{.text = name}};
    for (const PageSweep& sweep : page.sweeps) {
      const auto found = std::find_if(sweep.provenance.begin(), sweep.provenance.end(),
                                      [&](const auto& fact) { return fact.first == name; });
      row.push_back({.text = found == sweep.provenance.end() ? "–" : found->second});
    }
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back(std::move(complete));
  section.blocks.emplace_back(std::move(table));
  AddWarnings(page, &section);
  return section;
}

HtmlSection Best(const ComparisonPage& page) {
  HtmlSection section{"Best configurations", {}};
  HtmlTable table{.columns = SweepColumns(page, "By"), .empty = "No configuration was measured."};
  std::vector<std::string> objectives;
  bool pareto = false;
  for (const PageSweep& sweep : page.sweeps) {
    pareto = pareto || !sweep.pareto.empty();
    for (const PageBest& best : sweep.best) {
      if (std::find(objectives.begin(), objectives.end(), best.objective) == objectives.end()) {
        objectives.push_back(best.objective);
      }
    }
  }
  for (const std::string& objective : objectives) {
    std::vector<HtmlCell> row = {{.text = objective}};
    for (const PageSweep& sweep : page.sweeps) {
      const auto found =
          std::find_if(sweep.best.begin(), sweep.best.end(),
                       [&](const PageBest& best) { return best.objective == objective; });
      if (found == sweep.best.end() || found->config.empty()) {
        row.push_back({.text = "–"});
        continue;
      }
      std::string detail = found->value;
      if (!found->note.empty()) detail += (detail.empty() ? "" : "; ") + found->note;
      row.push_back({.text = found->config, .detail = std::move(detail)});
    }
    table.rows.push_back(std::move(row));
  }
  if (pareto) {
    std::vector<HtmlCell> row = {{.text = "Pareto set", .detail = "nothing is better in all"}};
    for (const PageSweep& sweep : page.sweeps)
      row.push_back({.text = fmt::format("{}", fmt::join(sweep.pareto, "; "))});
    table.rows.push_back(std::move(row));
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

// A configuration's mean in a sweep, then its change against the baseline's.
void AddMetricCells(const PageValue& value, bool baseline, std::vector<HtmlCell>* row) {
  HtmlCell mean = NumberCell(value.mean);
  if (value.worst && value.mean) {
    mean.detail = "worst rank " + NumberCell(value.worst).text;
  }
  if (value.behind_best_pct && value.mean) {
    if (!mean.detail.empty()) mean.detail += "; ";
    mean.detail +=
        *value.behind_best_pct == 0 ? "best" : ChangeText(*value.behind_best_pct) + " to the best";
  }
  row->push_back(std::move(mean));
  if (!baseline) row->push_back(ChangeCell(value.change_pct, value.verdict, value.why));
}

HtmlTable MetricTable(const ComparisonPage& page, const PageMetric& metric) {
  HtmlTable table{.caption = metric.unit.empty() ? metric.name
                                                 : fmt::format("{} ({})", metric.name, metric.unit),
                  .columns = {{"Configuration"}}};
  for (std::size_t i = 0; i < page.sweeps.size(); ++i) {
    const bool baseline = i == page.baseline;
    table.columns.push_back({page.sweeps[i].label, true, baseline ? "baseline" : ""});
    if (!baseline) table.columns.push_back({"Change", true, page.sweeps[i].label});
  }
  for (const PageMetric::Row& config : metric.rows) {
    std::vector<HtmlCell> row = {{.text = config.config}};
    for (std::size_t i = 0; i < page.sweeps.size(); ++i) {
      AddMetricCells(i < config.sweeps.size() ? config.sweeps[i] : PageValue{}, i == page.baseline,
                     &row);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

HtmlSection Metrics(const ComparisonPage& page) {
  HtmlSection section{"Metrics by configuration", {}};
  if (page.sweeps.size() > 1) {
    section.blocks.emplace_back(HtmlText{
        "Change = (test - baseline) / baseline. Coloured where it is beyond noise and threshold."});
  }
  for (const PageMetric& metric : page.metrics)
    section.blocks.emplace_back(MetricTable(page, metric));
  if (!page.missing.empty()) {
    section.blocks.emplace_back(HtmlText{"Left out of comparisons, as not every sweep has them:"});
    section.blocks.emplace_back(output::HtmlList{page.missing});
  }
  return section;
}

HtmlSection Collectives(const ComparisonPage& page) {
  HtmlSection section{"Collectives", {}};
  HtmlTable table{.columns = {{"Operation"}}, .empty = "No collective was found."};
  for (std::size_t i = 0; i < page.sweeps.size(); ++i) {
    const std::string& label = page.sweeps[i].label;
    table.columns.push_back({"Latency", true, "us, " + label});
    if (i != page.baseline) table.columns.push_back({"Change", true, label});
    table.columns.push_back({"Bus bandwidth", true, "GB/s, " + label});
  }
  for (const PageCollective& collective : page.collectives) {
    std::vector<HtmlCell> row = {{.text = collective.operation, .detail = collective.message}};
    for (std::size_t i = 0; i < page.sweeps.size(); ++i) {
      const PageCollective::Side side =
          i < collective.sweeps.size() ? collective.sweeps[i] : PageCollective::Side{};
      HtmlCell latency = NumberCell(side.latency_us);
      if (side.count) latency.detail = fmt::format("{} calls", *side.count);
      row.push_back(std::move(latency));
      if (i != page.baseline) row.push_back(ChangeCell(side.latency_change_pct, side.verdict, ""));
      row.push_back(NumberCell(side.bus_gbps));
    }
    table.rows.push_back(std::move(row));
  }
  section.blocks.emplace_back(std::move(table));
  if (page.more_collectives > 0) {
    section.blocks.emplace_back(HtmlText{
        fmt::format("{} more are in the files.", page.more_collectives), HtmlTone::kNoise});
  }
  return section;
}

// Plots of the same name beside each other, with the same axes.
HtmlSection Plots(const ComparisonPage& page) {
  HtmlSection section{"Plots", {}};
  std::vector<std::vector<SweepPlot>> plots;
  std::vector<std::string> names;
  for (const PageSweep& sweep : page.sweeps) {
    plots.push_back(MakeSweepPlots(sweep.plots));
    for (const SweepPlot& plot : plots.back()) {
      if (std::find(names.begin(), names.end(), plot.name) == names.end()) {
        names.push_back(plot.name);
      }
    }
  }
  if (plots.size() == 1) {
    std::vector<const SweepPlot*> all;
    for (const SweepPlot& plot : plots.front())
      all.push_back(&plot);
    section.blocks.emplace_back(AllFigures(all));
    return section;
  }
  for (const std::string& name : names) {
    std::vector<output::ChartSheet*> same;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < plots.size(); ++i) {
      for (SweepPlot& plot : plots[i]) {
        if (plot.name != name || !output::HasData(plot.sheet)) continue;
        same.push_back(&plot.sheet);
        labels.push_back(page.sweeps[i].label);
      }
    }
    if (!same.empty()) section.blocks.emplace_back(SharedFigures(same, labels));
  }
  return section;
}

}  // namespace

std::string RenderComparisonPage(const ComparisonPage& page) {
  output::HtmlPage html{page.title, {}, {}};
  if (page.baseline < page.sweeps.size()) {
    html.subtitle = page.sweeps.size() == 1
                        ? page.sweeps.front().label
                        : fmt::format("{} sweeps, compared with {}", page.sweeps.size(),
                                      page.sweeps[page.baseline].label);
  }
  html.sections.push_back(Sweeps(page));
  html.sections.push_back(Best(page));
  html.sections.push_back(Metrics(page));
  if (!page.kernels.empty()) html.sections.push_back(KernelSection(page));
  html.sections.push_back(Collectives(page));
  html.sections.push_back(Plots(page));
  if (!page.method.empty()) {
    html.sections.push_back({"Method", {output::HtmlList{page.method}}});
  }
  return output::RenderHtml(html);
}

}  // namespace jarvis::sweep
