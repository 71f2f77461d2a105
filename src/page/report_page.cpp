#include "page/report_page.h"

#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "documents/base_text.h"
#include "documents/report_fair.h"
#include "documents/report_parts.h"
#include "documents/report_tables.h"
#include "output/html_page.h"
#include "output/svg.h"
#include "page/first_screen.h"
#include "page/markdown_html.h"
#include "page/op_tables.h"
#include "page/page_files.h"
#include "page/script_text.h"
#include "page/timeline_lanes.h"
#include "page/work_tree.h"

namespace jarvis::page {
namespace {

using output::XmlText;

std::string Section(std::string_view id, std::string_view title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, title, body);
}

// The finding that a part "... Priority 2: ..." is the card of; null: it is none.
const findings::Finding* CardOf(const findings::Analysis& analysis, const MarkdownPart& part) {
  if (part.level != 3) return nullptr;
  for (const findings::Finding& finding : analysis.findings) {
    if (part.title.find(fmt::format(" Priority {}: ", finding.global_rank)) !=
        std::string_view::npos)
      return &finding;
  }
  return nullptr;
}

std::string Cards(const findings::Analysis& analysis, const std::vector<MarkdownPart>& report) {
  std::string html;
  for (const MarkdownPart& part : report) {
    const findings::Finding* finding = CardOf(analysis, part);
    if (finding == nullptr) continue;
    const std::size_t title = part.title.find(": ");
    html += fmt::format(
        "<article class=\"card\" id=\"card-{0}\" data-rank=\"{1}\">\n<h3><span "
        "class=\"rank\">{1}</span>{2}</h3>\n{3}<p class=\"jump\" data-finding=\"{0}\"></p>"
        "</article>\n",
        XmlText(finding->id), finding->global_rank, InlineHtml(part.title.substr(title + 2)),
        MarkdownHtml(part.body));
  }
  return html.empty() ? "" : "<div class=\"cards\">\n" + html + "</div>\n";
}

// All that stands nowhere else on the page, as the report has it.
std::string Details(const findings::Analysis& analysis, const std::vector<MarkdownPart>& report) {
  std::string html;
  for (const MarkdownPart& part : report) {
    const bool elsewhere = part.level < 3 || CardOf(analysis, part) != nullptr ||
                           part.title == "How far to trust it" || part.title == "Files";
    if (elsewhere) continue;
    html += fmt::format("<h{0}>{1}</h{0}>\n{2}", part.level, InlineHtml(part.title),
                        MarkdownHtml(part.body));
  }
  return html;
}

// The ids of the operations that a finding is about; of a chain, those that lose kernels to it.
std::unordered_set<std::string_view> OperationsOf(const findings::Analysis& analysis,
                                                  const findings::Finding& finding) {
  std::unordered_set<std::string_view> ids(finding.members.begin(), finding.members.end());
  for (const findings::FusionCandidate& candidate : analysis.fusion.candidates) {
    if (ids.count(candidate.id) > 0)
      ids.insert(candidate.operations.begin(), candidate.operations.end());
  }
  return ids;
}

// Which ops each finding is about, so that a viewer can show them.
std::string FindingsJson(const findings::Analysis& analysis, const WorkTree& tree) {
  std::string json = "[";
  for (const findings::Finding& finding : analysis.findings) {
    const auto ids = OperationsOf(analysis, finding);
    std::string ops = "[";
    for (std::size_t op = 0; op < tree.ops.size(); ++op) {
      if (ids.count(tree.ops[op]->id) > 0) AppendNumber(static_cast<std::int64_t>(op), &ops);
    }
    json += fmt::format("{}{{\"id\":{},\"ops\":{}]}}", json.size() > 1 ? "," : "",
                        ScriptString(finding.id), ops);
  }
  return json + "]";
}

std::string KindsJson() {
  std::string json = "[";
  for (const std::string& name : KindNames())
    json += (json.size() > 1 ? "," : "") + ScriptString(name);
  return json + "]";
}

// A place for a canvas; without scripts it says that the tables tell the same.
std::string View(std::string_view id, std::string_view label, std::string_view help) {
  return fmt::format(
      "<div class=\"view\" id=\"{0}-view\" role=\"group\" aria-label=\"{1}\"><noscript><p "
      "class=\"noise\">This picture needs "
      "scripts; what it shows stands in the tables below, too.</p></noscript></div>\n"
      "<p class=\"noise help\">{2}</p>\n",
      id, label, help);
}

std::string TimelineSection(const Timeline& timeline) {
  if (timeline.lanes.empty()) return "";
  std::string html = View("timeline", "Timeline",
                          "Drag to move, hold Ctrl and turn the wheel to zoom; with the keyboard: "
                          "arrows move, + and - zoom, Home shows all.");
  std::string left;
  if (timeline.streams_left_out > 0)
    left += fmt::format("{} streams with less work are left out. ", timeline.streams_left_out);
  if (timeline.threads_left_out > 0)
    left += fmt::format("{} threads with less work are left out.", timeline.threads_left_out);
  if (!left.empty()) html += "<p class=\"noise\">" + left + "</p>\n";
  return html;
}

Result<PageViews> MakeViews(const findings::Analysis& analysis, const perf::Platform* platform,
                            const session::LoadedTrace& trace, const Job& job) {
  PageViews views;
  ScriptNames names;
  JV_ASSIGN(const WorkTree tree, MakeWorkTree(trace, analysis, &names, job));
  JV_ASSIGN(const Timeline timeline, MakeTimeline(trace, analysis, tree, {}, &names, job));
  // What these show decides which names there are.
  const std::string of_tree = WorkTreeJson(tree, &names);
  const std::string of_timeline = TimelineJson(timeline, &names);
  views.timeline = TimelineSection(timeline);
  views.has_tree = !tree.nodes.empty();
  ParallelFor(3, 0, [&](std::size_t part) {
    switch (part) {
      case 0:
        views.json = fmt::format(
            "{{\"kinds\":{},\"names\":{},\"ops\":{},\"findings\":{},\"tree\":{},\"each\":{},"
            "\"unit\":{},\n\"timeline\":{}}}",
            KindsJson(), names.Json(), OpsJson(tree, analysis), FindingsJson(analysis, tree),
            of_tree, analysis.base.count, ScriptString(documents::UnitPhrase(analysis)),
            of_timeline);
        break;
      case 1:
        if (views.has_tree)
          views.ops = "<div class=\"tall\">\n" + OpTableHtml(tree, analysis) + "</div>\n";
        break;
      default: views.roofline = RooflineHtml(tree, analysis, platform);
    }
  });
  return views;
}

struct ViewsKey {
  using Value = PageViews;
  std::shared_ptr<const findings::Analysis> analysis;
  bool operator==(const ViewsKey&) const = default;
};

std::string Navigation(const std::vector<std::pair<std::string_view, std::string_view>>& places) {
  std::string html = "<nav aria-label=\"Sections\">\n";
  for (const auto& [id, title] : places)
    html += fmt::format("<a href=\"#{}\">{}</a>\n", id, title);
  return html + "</nav>\n";
}

}  // namespace

// Kept with the trace where the analysis is: a report is written again and again while somebody
// works on its texts.
Result<std::shared_ptr<const PageViews>> ViewsOf(const documents::ReportSources& sources,
                                                 const session::LoadedTrace& trace,
                                                 const KeptAnalysis& kept, const Job& job) {
  using Made = session::DerivedCache::Made<PageViews>;
  const auto make = [&]() -> Result<Made> {
    JV_ASSIGN(PageViews views, MakeViews(sources.analysis, sources.platform, trace, job));
    const std::size_t bytes = sizeof(views) + views.timeline.size() + views.ops.size() +
                              views.roofline.size() + views.json.size();
    return Made{std::make_shared<const PageViews>(std::move(views)), bytes};
  };
  if (kept != nullptr) return trace.derived().Get(ViewsKey{kept}, job, make);
  JV_ASSIGN(Made made, make());
  return std::move(made.value);
}

std::string RenderReportPage(const documents::ReportSources& sources, const PageViews& views,
                             const std::string& fair) {
  const findings::Analysis& analysis = sources.analysis;
  const std::vector<MarkdownPart> report = PartsOfMarkdown(fair);
  const std::string title =
      documents::ModelName(analysis) + " on " + documents::PlatformName(analysis);
  struct PageSection {
    std::string_view id, title;
    std::string body;
  };
  std::vector<PageSection> sections;
  sections.push_back({"timeline", "Timeline", views.timeline});
  sections.push_back({"findings", "Findings", Cards(analysis, report)});
  if (views.has_tree) {
    sections.push_back({"modules", "GPU time by module, op and kernel",
                        View("icicle", "GPU time by module, op and kernel",
                             "Width is GPU time, colour how far from its roof. Click to look "
                             "closer; with the keyboard: arrows choose, Enter looks closer, "
                             "Escape goes back.")});
    sections.push_back({"ops", "Ops", views.ops});
  }
  sections.push_back({"roofline", "Roofline", views.roofline});
  sections.push_back(
      {"idle", "Idle time of the GPU, by cause", MarkdownHtml(documents::IdleTables(analysis))});
  sections.push_back({"details", "Details", Details(analysis, report)});
  std::vector<std::pair<std::string_view, std::string_view>> places;
  std::string body;
  for (const PageSection& section : sections) {
    if (section.body.empty()) continue;
    places.emplace_back(section.id, section.title);
    body += Section(section.id, section.title, section.body);
  }
  body = fmt::format(
      "<header>\n<h1>{}</h1>\n<p class=\"under\">{}</p>\n</header>\n{}<main>\n{}{}</main>\n<script "
      "type=\"application/json\" id=\"view-data\">{}</script>\n",
      InlineHtml(title), XmlText(sources.trace_name), Navigation(places),
      FirstScreenHtml(analysis, documents::FrontOf(analysis, sources.edits)), body, views.json);
  return output::RenderShell(
      {documents::ModelName(analysis), BrowserText({"parts_style", "report_style"}),
       BrowserText({"view", "timeline", "icicle", "report"}), std::move(body)});
}

}  // namespace jarvis::page
