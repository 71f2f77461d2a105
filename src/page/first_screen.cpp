#include "page/first_screen.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "documents/time_parts.h"
#include "findings/one/wall_plan.h"
#include "output/svg.h"

namespace jarvis::page {
namespace {

using output::SvgNumber;
using output::XmlText;

constexpr std::size_t kLeversShown = 3;
constexpr double kBarWidth = 1000;  // user units

std::string StepBar(const findings::Analysis& analysis) {
  const std::vector<documents::TimePart> parts = documents::TimeParts(analysis);
  double whole = 0;
  for (const documents::TimePart& part : parts)
    whole += part.ms;
  if (whole <= 0) return "";
  std::string bar, legend;
  double x = 0;
  for (const documents::TimePart& part : parts) {
    const double width = part.ms / whole * kBarWidth;
    const std::string its_class = fmt::format("part-{}", part.look);
    const std::string figures = fmt::format("{} ({})", documents::EachMs(analysis, part.ms),
                                            documents::BaseShare(analysis, part.ms));
    bar += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"0\" width=\"{}\" height=\"36\"><title>{}: {}</title>"
        "</rect>",
        its_class, SvgNumber(x), SvgNumber(width), XmlText(part.name), figures);
    legend += fmt::format(
        "<li><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{}\" "
        "width=\"10\" height=\"10\"/></svg>{} <b>{}</b></li>\n",
        its_class, XmlText(part.name), figures);
    x += width;
  }
  return fmt::format(
      "<h2>Where the time of the {} goes: {}</h2>\n<svg class=\"bar\" viewBox=\"0 0 {} 36\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"parts of the {}, listed below\">"
      "{}</svg>\n<ul class=\"legend\">\n{}</ul>\n",
      XmlText(analysis.base.unit), documents::Ms(analysis.base.unit_ms()), kBarWidth,
      XmlText(analysis.base.unit), bar, legend);
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

const findings::Finding* FindingOfRank(const findings::Analysis& analysis, std::string_view cell) {
  int rank = 0;  // of "[1](#detail-f1)"
  const std::size_t open = cell.find('[');
  if (open == std::string_view::npos) return nullptr;
  std::from_chars(cell.data() + open + 1, cell.data() + cell.size(), rank);
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.global_rank == rank) return &finding;
  }
  return nullptr;
}

// The rows of the report's table of levers, with what each leaves of the step as a bar.
std::string Levers(const findings::Analysis& analysis, std::string_view recommendations) {
  const std::size_t table = recommendations.find("| ");
  if (table == std::string_view::npos) return "";
  std::string_view lines = recommendations.substr(table);
  for (int heading = 0; heading < 2; ++heading)
    lines.remove_prefix(std::min(lines.size(), lines.find('\n') + 1));
  const double whole = analysis.wall.wall_ms + analysis.wall.first_calls_ms;
  // The first few cannot save more than all of them.
  const double floor =
      analysis.wall.together_ms ? std::max(0.0, whole - documents::TogetherMs(analysis).high) : 0;
  LeftOver left{whole, whole};
  std::string items;
  for (std::size_t i = 0; i < kLeversShown && lines.starts_with("| "); ++i) {
    const std::vector<std::string> cells = CellsOfLine(lines.substr(0, lines.find('\n')));
    lines.remove_prefix(std::min(lines.size(), lines.find('\n') + 1));
    const findings::Finding* finding = cells.empty() ? nullptr : FindingOfRank(analysis, cells[0]);
    if (finding == nullptr || cells.size() < 5) continue;
    const findings::WallSaving* best = findings::BestWall(*finding);
    std::string effect = cells[4] == documents::kAbsentText ? cells[3] : cells[4];
    if (effect != documents::kAbsentText) effect = "saves " + effect;
    items += fmt::format(
        "<li><a class=\"lever\" href=\"#card-{}\">{}</a><span class=\"saves\">{}</span>\n",
        XmlText(finding->id), InlineHtml(cells[1]), InlineHtml(effect));
    if (analysis.wall.known && best != nullptr && !finding->one_off && whole > 0) {
      const findings::Range saves = findings::AfterOthers(*best);
      const LeftOver before = left;
      left.low = std::max(floor, left.low - saves.high);
      left.high = std::max(left.low, left.high - saves.low);
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

// The summary's paragraphs without what is drawn below them: its table as the bar, the first things
// to do as levers.
std::string WithoutFigures(std::string_view summary) {
  std::string text(summary.substr(0, summary.find("\n|")));
  const std::size_t levers = text.find(" First: (");
  if (levers != std::string::npos) text.erase(levers, text.find('\n', levers) - levers);
  return text;
}

}  // namespace

const MarkdownPart* FindPart(const std::vector<MarkdownPart>& report, std::string_view title) {
  const auto found = std::find_if(report.begin(), report.end(),
                                  [&](const MarkdownPart& part) { return part.title == title; });
  return found == report.end() ? nullptr : &*found;
}

std::string FirstScreenHtml(const findings::Analysis& analysis,
                            const std::vector<MarkdownPart>& report) {
  std::string html = "<section id=\"now\" class=\"first\">\n";
  if (const MarkdownPart* summary = FindPart(report, "Executive Summary")) {
    html += MarkdownHtml(WithoutFigures(summary->body));
  }
  html += "<div class=\"halves\">\n<div>\n";
  if (const MarkdownPart* levers = FindPart(report, "Recommendations"))
    html += Levers(analysis, levers->body);
  html += "</div>\n<div>\n";
  if (analysis.totals.has_gpu_work) html += StepBar(analysis);
  html += "</div>\n</div>\n";
  if (const MarkdownPart* trust = FindPart(report, "How far to trust it"))
    html += "<h2>How far to trust it</h2>\n<div class=\"trust\">" + MarkdownHtml(trust->body) +
            "</div>\n";
  return html + "</section>\n";
}

}  // namespace jarvis::page
