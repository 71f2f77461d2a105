#include "page/pair_page.h"

#include <fmt/format.h>

#include "documents/base_text.h"
#include "documents/markdown_text.h"
#include "output/html_page.h"
#include "page/markdown_html.h"
#include "page/page_files.h"
#include "page/script_text.h"
#include "page/work_tree.h"

namespace jarvis::page {
namespace {

// A side's tree with its title: "candidate: 29.7 ms of GPU time a step".
Result<std::string> SideJson(const PairSide& side, ScriptNames* names, const Job& job) {
  JV_ASSIGN(const WorkTree tree, MakeWorkTree(side.trace, side.analysis, names, job));
  const std::string unit = documents::UnitPhrase(side.analysis);
  const std::string title = fmt::format("{}: {} of GPU time {}", side.name,
                                        documents::EachMs(side.analysis, tree.total_ms), unit);
  return fmt::format("{{\"title\":{},\"unit\":{},\"each\":{},\"ops\":{},\"tree\":{}}}",
                     ScriptString(title), ScriptString(unit), side.analysis.base.count,
                     OpsJson(tree, side.analysis), WorkTreeJson(tree, names));
}

constexpr std::string_view kIcicles =
    "<section id=\"modules\">\n<h2>GPU time by module, op and kernel, side by side</h2>\n"
    "<div class=\"view\" id=\"candidate-view\" role=\"group\" "
    "aria-label=\"candidate\"><noscript><p "
    "class=\"noise\">This picture needs scripts; what it shows stands in the tables below, too.</p>"
    "</noscript></div>\n<div class=\"view\" id=\"baseline-view\" role=\"group\" "
    "aria-label=\"baseline\"></div>\n<p class=\"noise help\">Width is GPU time on one scale, "
    "colour how far from its roof. Click to look closer on both sides; with the keyboard: arrows "
    "choose, Enter looks closer, Escape goes back.</p>\n</section>\n";

}  // namespace

Result<std::string> RenderPairPage(std::string_view report, const PairSide& candidate,
                                   const PairSide& baseline, const Job& job) {
  ScriptNames names;
  JV_ASSIGN(const std::string of_candidate, SideJson(candidate, &names, job));
  JV_ASSIGN(const std::string of_baseline, SideJson(baseline, &names, job));
  const std::size_t details = report.find("\n---\n");
  std::string body = "<main>\n<section class=\"first\">\n" +
                     MarkdownHtml(report.substr(0, details)) + "</section>\n";
  body += kIcicles;
  if (details != std::string_view::npos)
    body += "<section>\n" + MarkdownHtml(report.substr(details)) + "</section>\n";
  body += fmt::format(
      "</main>\n<script type=\"application/json\" id=\"view-data\">{{\"names\":{},\"sides\":[{},"
      "{}]}}</script>\n",
      names.Json(), of_candidate, of_baseline);
  return output::RenderShell({"Two traces compared", BrowserText({"parts_style", "report_style"}),
                              BrowserText({"view", "icicle", "report"}), std::move(body)});
}

}  // namespace jarvis::page
