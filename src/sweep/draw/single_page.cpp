#include "sweep/draw/single_page.h"

#include <cmath>

#include <fmt/format.h>

#include "output/html_page.h"
#include "sweep/draw/page_parts.h"
#include "sweep/draw/single_parts.h"
#include "sweep/draw/single_plots.h"

namespace jarvis::sweep {
namespace {

using output::HtmlSection;
using output::HtmlTable;

// Nothing is known of noise here: the threshold alone decides.
PageVerdict VerdictOf(const std::optional<double>& change, double threshold, bool lower_is_better) {
  if (!change || std::abs(*change) < threshold) return PageVerdict::kUnknown;
  return (*change < 0) == lower_is_better ? PageVerdict::kBetter : PageVerdict::kWorse;
}

class Table {
 public:
  Table(const SinglePage& page, std::string caption, std::string first, std::string unit)
      : page_(page), table_{.caption = std::move(caption), .columns = {{std::move(first)}}} {
    for (std::size_t i = 0; i < page.runs.size(); ++i) {
      table_.columns.push_back({page.runs[i].label, true, i == 0 ? unit + ", baseline" : unit});
      if (i > 0) table_.columns.push_back({"Change", true, page.runs[i].label});
    }
  }

  template <typename ValueOf>
  void Row(const std::string& name, bool lower_is_better, ValueOf&& value_of) {
    std::vector<output::HtmlCell> row = {{.text = name}};
    const std::optional<double> base = value_of(page_.runs.front());
    for (std::size_t i = 0; i < page_.runs.size(); ++i) {
      const std::optional<double> value = value_of(page_.runs[i]);
      row.push_back(NumberCell(value));
      if (i == 0) continue;
      const std::optional<double> change = ChangePercent(base, value);
      row.push_back(
          ChangeCell(change, VerdictOf(change, page_.threshold_pct, lower_is_better), ""));
    }
    table_.rows.push_back(std::move(row));
  }
  HtmlTable Take() { return std::move(table_); }

 private:
  const SinglePage& page_;
  HtmlTable table_;
};

HtmlTable Times(const SinglePage& page, const SingleNames& names) {
  Table table(page, "GPU time by type", "Type", "ms, mean over ranks");
  for (const std::string& type : names.types) {
    // All rows of a timeline are time: less is better.
    table.Row(type, true, [&](const SingleRun& run) { return MeanTime(run, type); });
  }
  return table.Take();
}

HtmlTable CollectiveTable(const SinglePage& page, const SingleNames& names, std::string caption,
                          std::string unit, std::optional<double> SingleCollective::*value,
                          bool lower_is_better) {
  Table table(page, std::move(caption), "Collective, elements", std::move(unit));
  const std::vector<std::string> labels = names.CollectiveNames();
  for (std::size_t i = 0; i < names.collectives.size(); ++i) {
    table.Row(labels[i], lower_is_better, [&](const SingleRun& run) {
      return CollectiveValue(run, names.collectives[i], value);
    });
  }
  HtmlTable done = table.Take();
  done.empty = "No collective was found.";
  return done;
}

HtmlSection Runs(const SinglePage& page) {
  HtmlTable table{.columns = {{"Run"}, {"Path"}, {"Ranks", true}}};
  for (std::size_t i = 0; i < page.runs.size(); ++i) {
    const SingleRun& run = page.runs[i];
    const auto ranks = SingleNames({&run, 1}).ranks.size();
    table.rows.push_back({{.text = run.label, .detail = i == 0 ? "baseline" : ""},
                          {.text = run.path, .code = true},
                          {.text = std::to_string(ranks), .value = static_cast<double>(ranks)}});
  }
  return {"Runs", {std::move(table)}};
}

}  // namespace

std::string RenderSinglePage(const SinglePage& page) {
  const SingleNames names(page.runs);
  output::HtmlPage html{page.title, {}, {}};
  if (!page.runs.empty()) {
    html.subtitle = fmt::format(
        "{} runs, compared with {}. Change = (test - baseline) / baseline, coloured from {} % on.",
        page.runs.size(), page.runs.front().label, page.threshold_pct);
    HtmlSection overall{"Overall", {Times(page, names)}};
    HtmlSection ranks{"By rank", {}};
    HtmlSection collectives{
        "Collectives",
        {CollectiveTable(page, names, "Latency", "us, mean", &SingleCollective::latency_us, true),
         CollectiveTable(page, names, "Bus bandwidth", "GB/s", &SingleCollective::bus_gbps,
                         false)}};
    const std::vector<SweepPlot> plots = MakeSinglePlots(page.runs);
    std::vector<const SweepPlot*> of_overall, of_ranks, of_collectives;
    for (const SweepPlot& plot : plots) {
      const bool first = plot.name == "improvement_chart" || plot.name == "abs_time_comparison";
      (first                            ? of_overall
       : plot.name.starts_with("NCCL_") ? of_collectives
                                        : of_ranks)
          .push_back(&plot);
    }
    overall.blocks.emplace_back(AllFigures(of_overall));
    ranks.blocks.emplace_back(AllFigures(of_ranks));
    collectives.blocks.emplace_back(AllFigures(of_collectives));
    html.sections = {Runs(page), std::move(overall), std::move(ranks), std::move(collectives)};
  }
  if (!page.method.empty()) {
    html.sections.push_back({"Method", {output::HtmlList{page.method}}});
  }
  return output::RenderHtml(html);
}

}  // namespace jarvis::sweep
