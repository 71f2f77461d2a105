#include "page/first_screen.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "documents/saving_base.h"
#include "findings/one/wall_plan.h"
#include "output/svg.h"
#include "page/markdown_html.h"

namespace jarvis::page {
namespace {

using output::SvgNumber;
using output::XmlText;

constexpr std::size_t kLeversShown = 3;
constexpr double kBarWidth = 1000;  // user units

std::string StepBar(const documents::Front& front) {
  double whole = 0;
  for (const documents::FrontPart& part : front.parts)
    whole += part.percent;
  if (whole <= 0) return "";
  std::string bar, legend;
  double x = 0;
  for (const documents::FrontPart& part : front.parts) {
    const double width = part.percent / whole * kBarWidth;
    const std::string its_class = fmt::format("part-{}", part.look);
    const std::string figures = fmt::format("{} ({})", part.time, part.share);
    bar += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"0\" width=\"{}\" height=\"36\"><title>{}: {}</title>"
        "</rect>",
        its_class, SvgNumber(x), SvgNumber(width), XmlText(part.name), figures);
    legend += fmt::format(
        "<li><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{}\" "
        "width=\"10\" height=\"10\"/></svg>{} <b>{}</b>{}</li>\n",
        its_class, InlineHtml(part.name), figures,
        part.fixes.empty() ? "" : ", " + XmlText(part.fixes));
    x += width;
  }
  return fmt::format(
      "<h2>Where the time goes ({0})</h2>\n<svg class=\"bar\" viewBox=\"0 0 {1} 36\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"parts of the time, listed below\">"
      "{2}</svg>\n<ul class=\"legend\">\n{3}</ul>\n",
      XmlText(front.parts_of), kBarWidth, bar, legend);
}

// What is left of the step once a lever and those above it are pulled.
struct LeftOver {
  double low = 0;
  double high = 0;
};

std::string LeverBar(double whole, const LeftOver& before, const LeftOver& after) {
  const auto width = [&](double ms) {
    return SvgNumber(std::clamp(ms / whole, 0.0, 1.0) * kBarWidth);
  };
  return fmt::format(
      "<svg class=\"bar thin\" viewBox=\"0 0 {0} 12\" preserveAspectRatio=\"none\" "
      "aria-hidden=\"true\"><rect class=\"bar-before\" width=\"{1}\" height=\"12\"/>"
      "<rect class=\"bar-maybe\" width=\"{2}\" height=\"12\"/><rect class=\"bar-after\" "
      "width=\"{3}\" height=\"12\"/></svg>\n",
      kBarWidth, width(before.high), width(after.high), width(after.low));
}

// The first fixes, with what each leaves of the step as a bar.
std::string Levers(const findings::Analysis& analysis,
                   const std::vector<documents::FixRow>& fixes) {
  const findings::WallBase& wall = analysis.wall;
  const double once = wall.first_calls_ms;
  // Each end of what savings are of has its own: what is saved at least goes off the shortest unit.
  const bool ends = wall.of_unrecorded;
  const double whole = (ends ? wall.unrecorded_ms->high : wall.wall_ms) + once;
  // The first few cannot save more than all of them.
  const double floor =
      wall.together_ms && !ends ? std::max(0.0, whole - documents::TogetherMs(analysis).high) : 0;
  LeftOver left{ends ? wall.unrecorded_ms->low + once : whole, whole};
  std::string items;
  std::size_t told = 0;
  for (const documents::FixRow& row : fixes) {
    if (row.findings.empty() || row.number == documents::kAbsentText || told == kLeversShown)
      continue;
    ++told;
    const findings::Finding* finding = row.findings.front();
    const findings::WallSaving* best = findings::BestWall(*finding);
    items += fmt::format(
        "<li><a class=\"lever\" href=\"#card-{}\">{}</a><span class=\"saves\">{}</span>\n",
        XmlText(finding->id), InlineHtml(row.ways.front().action),
        InlineHtml(documents::SavesSentence(row) + documents::WaySaves(row, row.ways.front())));
    if (analysis.wall.known && best != nullptr && !finding->one_off && whole > 0) {
      const findings::Range saves =
          row.findings.size() > 1 ? documents::AfterOf(row.findings) : findings::AfterOthers(*best);
      const LeftOver before = left;
      left.low = std::max(floor, left.low - (ends ? saves.low : saves.high));
      left.high = std::max(left.low, left.high - (ends ? saves.high : saves.low));
      items += LeverBar(whole, before, left);
      items += fmt::format(
          "<span class=\"then\">{} then takes {}</span>", XmlText(analysis.base.unit),
          documents::EachRange(analysis, {left.low, (left.low + left.high) / 2, left.high}));
    }
    items += "</li>\n";
  }
  if (items.empty()) return "";
  return "<h2>What to do first</h2>\n<ol class=\"levers\">\n" + items + "</ol>\n";
}

}  // namespace

std::string FirstScreenHtml(const findings::Analysis& analysis, const documents::Front& front) {
  std::string html = "<section id=\"now\" class=\"first\">\n";
  if (!front.workload.empty())
    html += fmt::format("<p><strong>Workload</strong>: {}</p>\n", InlineHtml(front.workload));
  html += fmt::format("<p>{}</p>\n", InlineHtml(fmt::format("{}", fmt::join(front.summary, " "))));
  html += "<div class=\"halves\">\n<div>\n" + Levers(analysis, front.fixes) + "</div>\n<div>\n" +
          StepBar(front) + "</div>\n</div>\n";
  if (!front.trust.empty()) {
    html += "<h2>How far to trust it</h2>\n<div class=\"trust\"><ul>\n";
    for (const std::string& line : front.trust)
      html += "<li>" + InlineHtml(line) + "</li>\n";
    html += "</ul></div>\n";
  }
  return html + "</section>\n";
}

}  // namespace jarvis::page
