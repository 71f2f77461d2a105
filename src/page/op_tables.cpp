#include "page/op_tables.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "documents/report_parts.h"
#include "output/html_page.h"
#include "output/roofline_chart.h"

namespace jarvis::page {
namespace {

using documents::OwnMs;
using findings::Operation;

constexpr std::size_t kRowsMax = 400;
constexpr std::size_t kPointsMax = 400;
constexpr std::size_t kPointsNamed = 14;
constexpr double kPointShare = 0.02;  // percent of the base: what is less only widens the axes
constexpr std::ptrdiff_t kModuleColumn = 2;

output::HtmlCell CellOf(std::string text, std::optional<double> value = {}) {
  return {.text = std::move(text), .value = value};
}

// What stands in markdown as data, for a page that escapes by itself.
std::string Plain(std::string_view text) {
  return OneLine(ValidUtf8(text));
}

std::vector<output::HtmlCell> OpRow(const Operation& operation,
                                    const findings::Analysis& analysis) {
  const double ms = OwnMs(operation);
  const findings::Efficiency& efficiency = operation.efficiency;
  const std::string kernel = operation.kernels.empty() ? "" : operation.kernels.front().name;
  std::string args = Plain(operation.args);
  for (std::size_t at = args.find("<br>"); at != std::string::npos; at = args.find("<br>"))
    args.replace(at, 4, " x ");
  return {{.text = Plain(operation.name), .detail = Shortened(args, 160), .code = true},
          CellOf(Plain(operation.category)),
          {.text = Plain(operation.module_path), .code = !operation.module_path.empty()},
          CellOf(documents::EachMs(analysis, ms), ms),
          CellOf(documents::BaseShare(analysis, ms), ms),
          CellOf(documents::EachCalls(analysis, operation.count, operation.foreign_calls),
                 static_cast<double>(operation.count) - operation.foreign_calls),
          CellOf(efficiency.percent ? documents::Pct(*efficiency.percent) : "", efficiency.percent),
          CellOf(std::string(findings::BoundText(efficiency.bound))),
          {.text = Shortened(Plain(kernel), 200), .code = true}};
}

struct RoofTime {
  std::string specs;  // those that have this rate
  double ms = 0;
};
using Roofs = std::map<double, RoofTime>;  // by rate

void AddRoof(const findings::Efficiency& efficiency, double ms, Roofs* roofs) {
  if (!efficiency.peak_tflops) return;
  RoofTime& roof = (*roofs)[*efficiency.peak_tflops];
  roof.ms += ms;
  if (roof.specs.find(efficiency.spec) == std::string::npos)
    roof.specs += (roof.specs.empty() ? "" : ", ") + efficiency.spec;
}

// The roof of the most time is the one drawn thick.
std::vector<output::ChartRoof> ChartRoofs(const Roofs& roofs) {
  double most = 0;
  for (const auto& [tflops, roof] : roofs)
    most = std::max(most, roof.ms);
  std::vector<output::ChartRoof> chart;
  for (const auto& [tflops, roof] : roofs) {
    chart.push_back({fmt::format("{} {} TFLOPS/s", roof.specs, documents::Digits(tflops)), tflops,
                     roof.ms == most});
  }
  return chart;
}

}  // namespace

std::string OpTableHtml(const WorkTree& tree, const findings::Analysis& analysis) {
  output::HtmlTable table;
  table.columns = {{"Op"},
                   {"Category"},
                   {"Module"},
                   {"Time", true, documents::UnitPhrase(analysis)},
                   {"Share", true},
                   {documents::CallsTitle(analysis), true},
                   {"Of its roof", true},
                   {"Bound"},
                   {"Longest kernel"}};
  bool modules = false;
  for (const Operation* operation : tree.ops) {
    if (table.rows.size() == kRowsMax || OwnMs(*operation) <= 0) break;
    table.rows.push_back(OpRow(*operation, analysis));
    modules = modules || !operation->module_path.empty();
  }
  if (!modules) {
    table.columns.erase(table.columns.begin() + kModuleColumn);
    for (std::vector<output::HtmlCell>& row : table.rows)
      row.erase(row.begin() + kModuleColumn);
  }
  std::vector<output::HtmlBlock> blocks = {std::move(table)};
  if (tree.ops.size() > kRowsMax) {
    blocks.push_back(output::HtmlText{
        fmt::format("The {} ops with the most time; all stand in the tables beside.", kRowsMax),
        output::HtmlTone::kNoise});
  }
  return output::RenderBlocks(blocks);
}

std::string RooflineHtml(const WorkTree& tree, const findings::Analysis& analysis,
                         const perf::Platform* platform) {
  if (platform == nullptr || !platform->mem_bw_gbps) return "";
  output::RooflineChart chart;
  chart.title = "Each op below its roof, on " + platform->name;
  chart.subtitle = "area: its time; point at one for its name";
  chart.mem_bw_gbps = *platform->mem_bw_gbps;
  Roofs roofs;
  for (const Operation* operation : tree.ops) {
    const findings::Efficiency& efficiency = operation->efficiency;
    const double ms = OwnMs(*operation);
    if (chart.points.size() == kPointsMax || analysis.base.Percent(ms) < kPointShare) break;
    if (!efficiency.flops_per_byte || !efficiency.tflops_per_s || efficiency.impossible) continue;
    AddRoof(efficiency, ms, &roofs);
    const std::string name = Plain(operation->name);
    chart.points.push_back(
        {.label = chart.points.size() < kPointsNamed ? name : "",
         .tooltip = fmt::format("{} {}\n{} {}, {}", name,
                                Shortened(documents::ArgsText(operation->args), 120),
                                documents::EachMs(analysis, ms), documents::UnitPhrase(analysis),
                                documents::EfficiencyText(*operation)),
         .intensity = *efficiency.flops_per_byte,
         .tflops = *efficiency.tflops_per_s,
         .weight = ms});
  }
  if (chart.points.empty() || roofs.empty()) return "";
  chart.roofs = ChartRoofs(roofs);
  return output::RenderBlocks({output::HtmlFigures{
      {}, {{"", output::RenderRoofline(chart, output::ChartTheme::kPage), true}}}});
}

}  // namespace jarvis::page
