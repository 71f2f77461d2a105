#include "page/ranks_page.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/markdown_text.h"
#include "output/chart.h"
#include "output/html_page.h"
#include "page/markdown_html.h"
#include "page/page_files.h"

namespace jarvis::page {
namespace {

using analysis::JointCollective;
using analysis::JointTimeline;

constexpr std::size_t kColumnsShown = 36;
constexpr std::size_t kRanksShown = 128;
constexpr double kRowHeight = 24;

// Where the first of a column's collectives had all its ranks, from the first of all of them.
std::string ColumnName(const JointTimeline& joint, std::size_t first) {
  const auto begin = [](const JointCollective& one) { return one.parts[one.last].start_ns; };
  return documents::Ms(MillisOf(begin(joint.collectives[first]) - begin(joint.collectives[0])));
}

// Each column is as many collectives in a row as the others, the last perhaps fewer.
output::HeatMap WaitMap(const analysis::RankSet& set, const JointTimeline& joint) {
  const std::size_t count = joint.collectives.size();
  const std::size_t each = (count + kColumnsShown - 1) / kColumnsShown;
  const std::size_t columns = (count + each - 1) / each;
  const std::size_t ranks = std::min(set.ranks.size(), kRanksShown);
  output::HeatMap map;
  map.unit = "ms of waiting";
  map.values.resize(ranks * columns);
  map.range = output::Limits{0, 0};
  for (std::size_t rank = 0; rank < ranks; ++rank)
    map.rows.push_back(fmt::format("rank {}", set.ranks[rank].rank.value_or(0)));
  for (std::size_t column = 0; column < columns; ++column)
    map.columns.push_back(ColumnName(joint, column * each));
  for (std::size_t i = 0; i < count; ++i) {
    for (const analysis::JointPart& part : joint.collectives[i].parts) {
      if (part.rank >= ranks) continue;
      std::optional<double>& value = map.values[part.rank * columns + i / each];
      value = value.value_or(0) + MillisOf(part.wait_ns);
    }
  }
  return map;
}

std::string WaitsHtml(const analysis::RankSet& set, const JointTimeline& joint) {
  if (set.ranks.size() < 2 || joint.collectives.empty()) return "";
  output::Chart chart;
  chart.title = "How long each rank waited, by collective";
  chart.subtitle = fmt::format(
      "{} matched collectives in the order of time; a column begins at the time below it",
      joint.collectives.size());
  chart.body = WaitMap(set, joint);
  const double rows = static_cast<double>(std::min(set.ranks.size(), kRanksShown));
  output::ChartSheet sheet;
  sheet.charts.push_back(std::move(chart));
  sheet.width = 1160;
  sheet.height = 190 + kRowHeight * rows;
  const std::string picture = output::RenderSheet(sheet, output::ChartTheme::kPage);
  return "<section id=\"waits\">\n<h2>Who waits, and when</h2>\n" +
         output::RenderBlocks({output::HtmlFigures{{}, {{"", picture, true}}}}) + "</section>\n";
}

}  // namespace

std::string RenderRanksPage(std::string_view report, const analysis::RankSet& set,
                            const JointTimeline& joint) {
  const std::size_t verdict_end = report.find("\n## ");
  std::string body = "<main>\n<section class=\"first\">\n" +
                     MarkdownHtml(report.substr(0, verdict_end)) + "</section>\n" +
                     WaitsHtml(set, joint);
  if (verdict_end != std::string_view::npos)
    body += "<section>\n" + MarkdownHtml(report.substr(verdict_end)) + "</section>\n";
  return output::RenderShell({"What the ranks wait for",
                              BrowserText({"parts_style", "report_style"}),
                              BrowserText({"view", "report"}), body + "</main>\n"});
}

}  // namespace jarvis::page
