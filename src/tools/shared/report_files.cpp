#include "tools/shared/report_files.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "documents/chart.h"
#include "documents/report_analysis.h"
#include "documents/report_fair.h"
#include "documents/report_rough.h"
#include "formats/finding_choices.h"
#include "formats/finding_twins.h"
#include "io/output_folder.h"
#include "io/text_file.h"
#include "page/page_files.h"
#include "page/report_page.h"
#include "session/trace_simulation.h"
#include "tools/shared/chosen_findings.h"

namespace jarvis::tools {
namespace {

using documents::DocumentKind;

constexpr const char* kOptionsFile = "metadata/report_options.json";
constexpr const char* kLogFile = "run_log.jsonl";
constexpr std::size_t kReportBytesMax = std::size_t{16} << 20;
constexpr std::size_t kCorrectionBytesMax = 240;
constexpr const char* kReplayFiles[] = {"replay_package.zip", "replay_ir.json"};

constexpr const char* kSystemParts[] = {"cpu_idle", "multi_kernel", "kernel_fusion"};

// A file of the directory itself, which the caller was allowed to name; empty: not there.
std::optional<std::string> ReadOwn(const std::string& folder, const std::string& name) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder + "/" + name, error)) return std::nullopt;
  io::FileRules rules;
  rules.allow_roots = {folder};
  const Result<io::FilePolicy> policy = io::FilePolicy::Limit(rules);
  if (!policy) return std::nullopt;
  Result<std::string> text = io::ReadTextFile(*policy, folder + "/" + name, kReportBytesMax);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

bool IsThere(const std::string& folder, const std::string& name) {
  std::error_code error;
  return std::filesystem::is_regular_file(folder + "/" + name, error);
}

Json OptionsOf(const std::string& folder) {
  const auto text = ReadOwn(folder, kOptionsFile);
  if (!text) return Json::object();
  Result<Json> json = ParseJson(*text);
  return json && json->is_object() ? std::move(*json) : Json::object();
}

// As given now, or when the directory's files were made.
std::string OptionOf(const Json& arguments, const Json& stored, const char* name) {
  if (const auto given = TextArgument(arguments, name)) return *given;
  return TextArgument(stored, name).value_or("");
}

// Findings files, by category and tier.
struct FindingsFile {
  std::string key;
  std::string stem;  // "category_findings/gemm_findings"
};
std::vector<FindingsFile> FindingsFiles(const findings::Analysis& analysis) {
  std::vector<FindingsFile> files;
  for (const findings::CategoryAnalysis& category : analysis.categories)
    files.push_back({category.key, "category_findings/" + category.key + "_findings"});
  for (const char* key : kSystemParts) {
    // A recording without GPU work has only what is told of the CPU.
    const auto& all = analysis.findings;
    const bool told = std::any_of(all.begin(), all.end(), [&](const findings::Finding& finding) {
      return finding.category == key;
    });
    if (analysis.totals.has_gpu_work || told)
      files.push_back({key, std::string("system_findings/") + key + "_findings"});
  }
  return files;
}

std::string FindingsText(const documents::ReportSources& sources, const std::string& key) {
  const findings::CategoryAnalysis* category = sources.analysis.FindCategory(key);
  return category == nullptr ? documents::RenderSystemFindings(sources, key)
                             : documents::RenderCategoryFindings(sources, *category);
}

bool Wants(const std::vector<std::string>& reports, std::string_view report) {
  return std::find(reports.begin(), reports.end(), report) != reports.end();
}

}  // namespace

documents::ReportSources ReportCase::Sources(std::vector<documents::CallRecord> calls,
                                             std::vector<std::string> reports) const {
  documents::ReportSources sources{
      .analysis = *analysis,
      .platform = platform.platform ? &*platform.platform : nullptr,
      .edits = edits,
      .calls = calls.empty() ? log : std::move(calls),
      .replay_files = {},
      .reports = std::move(reports),
      .trace_name = std::filesystem::path(trace->path()).filename().string()};
  for (documents::CallRecord& call : sources.calls) {
    // Where files went is no finding, and the notes of two directories are the same.
    for (std::size_t at = call.answer.find(folder); at != std::string::npos;
         at = call.answer.find(folder, at + 1)) {
      call.answer.replace(at, folder.size(), ".");
    }
  }
  for (const char* file : kReplayFiles) {
    if (IsThere(folder, file)) sources.replay_files.emplace_back(file);
  }
  return sources;
}

namespace {

// The options that the directory's files of this trace were made with.
Json StoredOptions(const std::string& folder, const session::LoadedTrace& trace) {
  Json stored = OptionsOf(folder);
  return stored.value("trace_id", Json()) == Json(trace.id()) ? stored : Json::object();
}

// Values by WorkloadKey, as the directory or a caller has them; others are left out.
Json CorrectionsOf(const Json& given) {
  Json kept = Json::object();
  for (std::size_t i = 0; i < findings::kWorkloadParts; ++i) {
    const std::string key(findings::WorkloadKey(static_cast<findings::WorkloadPart>(i)));
    const auto value = TextArgument(given, key.c_str());
    if (value && !Trim(*value).empty())
      kept[key] = OneLine(ValidUtf8(Utf8Prefix(Trim(*value), kCorrectionBytesMax)));
  }
  return kept;
}

std::shared_ptr<const findings::Analysis> WithWorkload(
    std::shared_ptr<const findings::Analysis> analysis, const Json& corrections) {
  if (corrections.empty()) return analysis;
  auto corrected = std::make_shared<findings::Analysis>(*analysis);
  for (std::size_t i = 0; i < findings::kWorkloadParts; ++i) {
    const auto part = static_cast<findings::WorkloadPart>(i);
    const auto value = TextArgument(corrections, std::string(findings::WorkloadKey(part)).c_str());
    if (!value) continue;
    corrected->workload[part] = {*value, {"given"}, findings::Certainty::kGiven};
  }
  return corrected;
}

// With the corrections and choices that were made.
Result<std::shared_ptr<const findings::Analysis>> Corrected(
    std::shared_ptr<const findings::Analysis> analysis, const session::LoadedTrace& trace,
    const Json& workload, const findings::FindingChoices& choices, Job& job) {
  analysis = WithWorkload(std::move(analysis), workload);
  if (choices.empty()) return analysis;
  std::shared_ptr<const analysis::Simulation> simulation;
  if (analysis->wall.known) {
    JV_ASSIGN(simulation, session::SimulationOf(trace, job));
  }
  return std::make_shared<const findings::Analysis>(
      findings::WithChoices(*analysis, simulation.get(), choices));
}

// `wanted`: arguments trace, platform and extension.
Result<ReportCase> CaseOf(session::Workspace& workspace, AnalysisCase analysed, std::string folder,
                          const Json& wanted, Job& job) {
  ReportCase one{.trace = std::move(analysed.trace),
                 .platform = std::move(analysed.platform),
                 .platform_wanted = TextArgument(wanted, "platform").value_or(""),
                 .extension = TextArgument(wanted, "extension").value_or(""),
                 .analysis = std::move(analysed.analysis),
                 .folder = std::move(folder),
                 .edits = {},
                 .dropped_edits = {},
                 .log = {},
                 .workload = Json::object(),
                 .choices = {},
                 .uncorrected = {}};
  one.uncorrected = one.analysis;
  for (const FindingsFile& file : FindingsFiles(*one.analysis)) {
    const auto text = ReadOwn(one.folder, file.stem + ".json");
    if (!text) continue;
    if (const Result<Json> twin = ParseJson(*text)) {
      formats::ReadTwin(*twin, *one.analysis, &one.edits, &one.dropped_edits);
    }
  }
  const Json stored = StoredOptions(one.folder, *one.trace);
  if (stored.empty()) return one;
  one.workload = CorrectionsOf(stored.value("workload", Json::object()));
  one.choices = formats::ReadChoices(stored.value("choices", Json::object()));
  JV_TRY(ReadChosen({workspace, *one.trace, *one.uncorrected, wanted}, &one.choices,
                    &one.dropped_edits, job));
  JV_ASSIGN(one.analysis, Corrected(one.uncorrected, *one.trace, one.workload, one.choices, job));
  if (const auto text = ReadOwn(one.folder, kLogFile)) one.log = ReadLog(*text);
  return one;
}

}  // namespace

Result<std::shared_ptr<const findings::Analysis>> CorrectedAnalysis(session::Workspace& workspace,
                                                                    const AnalysisCase& one,
                                                                    const Json& arguments,
                                                                    const std::string& folder,
                                                                    Job& job) {
  const Json stored = StoredOptions(folder, *one.trace);
  findings::FindingChoices choices = formats::ReadChoices(stored.value("choices", Json::object()));
  std::vector<std::string> dropped;  // whoever opens the reports is told
  JV_TRY(ReadChosen({workspace, *one.trace, *one.analysis, arguments}, &choices, &dropped, job));
  return Corrected(one.analysis, *one.trace,
                   CorrectionsOf(stored.value("workload", Json::object())), choices, job);
}

Status SetWorkload(const Json& corrections, ReportCase* one, Job& job) {
  Json all = one->workload;
  all.update(corrections);
  one->workload = CorrectionsOf(all);
  JV_ASSIGN(one->analysis,
            Corrected(one->uncorrected, *one->trace, one->workload, one->choices, job));
  return {};
}

Status SetChoices(findings::FindingChoices choices, ReportCase* one, Job& job) {
  one->choices = std::move(choices);
  JV_ASSIGN(one->analysis,
            Corrected(one->uncorrected, *one->trace, one->workload, one->choices, job));
  return {};
}

Result<ReportCase> OpenReportCase(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(std::string folder, OutputDirectory(workspace, arguments, *trace));
  const Json stored = StoredOptions(folder, *trace);
  Json question = {{"trace", trace->id()}};
  for (const char* name : {"platform", "extension"}) {
    if (std::string value = OptionOf(arguments, stored, name); !value.empty())
      question[name] = std::move(value);
  }
  JV_ASSIGN(AnalysisCase analysed, AnalyzeTrace(workspace, question, job));
  return CaseOf(workspace, std::move(analysed), std::move(folder), question, job);
}

Status WriteDrafts(session::Workspace& workspace, AnalysisCase analysed, const Json& arguments,
                   const std::string& folder, Job& job) {
  JV_ASSIGN(const ReportCase one, CaseOf(workspace, std::move(analysed), folder, arguments, job));
  std::vector<std::string> reports = ReportsThere(folder);
  if (reports.empty()) reports = {"fair", "rough", "analysis"};
  JV_TRY(WriteReports(workspace, one, reports, {}, MayOverwrite(arguments), job));
  return {};
}

std::vector<Document> Documents(const ReportCase& one, const documents::ReportSources& sources,
                                const std::vector<std::string>& reports) {
  std::vector<Document> documents;
  std::vector<std::function<std::string()>> make;  // by document
  const auto add = [&](DocumentKind kind, std::string file, std::function<std::string()> text) {
    documents.push_back({kind, std::move(file), {}});
    make.push_back(std::move(text));
  };
  for (const FindingsFile& file : FindingsFiles(*one.analysis)) {
    add(DocumentKind::kFindings, file.stem + ".md",
        [&sources, key = file.key] { return FindingsText(sources, key); });
  }
  if (Wants(reports, "analysis")) {
    add(DocumentKind::kAnalysis, std::string(documents::kAnalysisFile),
        [&] { return documents::RenderAnalysis(sources); });
  }
  if (Wants(reports, "fair")) {
    add(DocumentKind::kFair, std::string(documents::kFairFile),
        [&] { return documents::RenderFair(sources); });
  }
  if (Wants(reports, "rough")) {
    add(DocumentKind::kRough, std::string(documents::kRoughFile),
        [&] { return documents::RenderRough(sources); });
  }
  ParallelFor(documents.size(), 0, [&](std::size_t i) { documents[i].text = make[i](); });
  return documents;
}

namespace {

// The analysis without what somebody wrote about findings.
std::shared_ptr<const findings::Analysis> WithoutWords(const findings::Analysis& given) {
  auto analysis = std::make_shared<findings::Analysis>(given);
  for (findings::Finding& finding : analysis->findings) {
    if (finding.by_hand == nullptr) continue;
    finding.by_hand = std::make_shared<const findings::ByHand>(
        findings::ByHand{finding.by_hand->change, {{"title", "Added"}}});
  }
  for (findings::DismissedFinding& dismissed : analysis->dismissed)
    dismissed.reason.clear();
  return analysis;
}

}  // namespace

namespace {

documents::Evidence EvidenceIn(const std::vector<Document>& documents) {
  std::string all;
  for (const Document& document : documents)
    all += document.text + "\n";
  return documents::Evidence(documents::ScanMarkdown(all));
}

// The documents as they are if no call was made on the way.
std::vector<Document> WithoutCalls(ReportCase one, std::vector<Document> documents) {
  one.log.clear();
  for (Document& document : documents) {
    if (document.kind == DocumentKind::kRough)
      document.text = documents::RenderRough(one.Sources({}, {}));
  }
  return documents;
}

const std::vector<std::string> kAllReports = {"fair", "rough", "analysis"};

// Without a word of somebody else's all documents but the one with the calls are their own.
bool SpeakForThemselves(const ReportCase& one, const std::vector<std::string>& reports) {
  return one.edits.empty() && one.choices.empty() && reports.size() == kAllReports.size();
}

// The report for stakeholders, whether it is among the documents or not.
std::string FairOf(const std::vector<Document>& documents,
                   const documents::ReportSources& sources) {
  const auto found = std::find_if(documents.begin(), documents.end(), [](const Document& document) {
    return document.kind == DocumentKind::kFair;
  });
  return found == documents.end() ? documents::RenderFair(sources) : found->text;
}

Result<FileLink> Write(const std::pair<std::string, std::string>& file, io::OutputFolder& folder,
                       const Job& job) {
  const auto& [name, text] = file;
  JV_TRY(job.Check());
  JV_ASSIGN(std::string path, folder.Write(name, text));
  // Nobody reads a page by its lines.
  const bool is_page = name == page::kPageFile;
  const auto lines =
      is_page ? 0 : static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return FileLink{std::move(path), name, lines};
}

}  // namespace

documents::Evidence EvidenceOf(const ReportCase& one) {
  // What somebody wrote is evidence of nothing: neither titles in tables, nor what was answered to
  // calls, refusals of a figure among it.
  ReportCase own = one;
  own.edits.clear();
  own.log.clear();
  if (!one.choices.empty()) own.analysis = WithoutWords(*one.analysis);
  return EvidenceIn(Documents(own, own.Sources({}, {}), kAllReports));
}

Result<WrittenReports> WriteReports(session::Workspace& workspace, const ReportCase& one,
                                    const std::vector<std::string>& reports,
                                    const std::vector<documents::CallRecord>& calls, bool overwrite,
                                    Job& job) {
  const documents::ReportSources sources = one.Sources(calls, reports);
  std::vector<std::pair<std::string, std::string>> files;  // name, text
  RenderedDocuments rendered;
  Result<std::shared_ptr<const page::PageViews>> views;
  // What the page shows of the trace takes as long as all the rest.
  ParallelFor(2, 0, [&](std::size_t part) {
    if (part == 0) {
      const bool kept = one.analysis == one.uncorrected;
      views = page::ViewsOf(sources, *one.trace, kept ? one.analysis : nullptr, job);
    } else {
      rendered.documents = Documents(one, sources, reports);
    }
  });
  JV_TRY(views);
  std::string page;
  ParallelFor(2, 0, [&](std::size_t part) {
    if (part == 0)
      page = page::RenderReportPage(sources, **views, FairOf(rendered.documents, sources));
    else if (SpeakForThemselves(one, reports))
      rendered.evidence = EvidenceIn(WithoutCalls(one, rendered.documents));
  });
  for (const Document& document : rendered.documents)
    files.emplace_back(document.file, document.text);
  for (const FindingsFile& file : FindingsFiles(*one.analysis)) {
    files.emplace_back(
        file.stem + ".json",
        formats::TwinOf(*one.analysis, file.key, one.edits).dump(1, ' ', Json::BadUtf8::kReplace) +
            "\n");
  }
  files.emplace_back(documents::kChartFile, documents::RenderChart(sources));
  files.emplace_back(page::kPageFile, std::move(page));
  files.emplace_back(kLogFile, LogText(sources.calls));
  Json options = {{"trace_id", one.trace->id()}, {"platform", one.platform_wanted}};
  if (!one.extension.empty()) options["extension"] = one.extension;
  if (!one.workload.empty()) options["workload"] = one.workload;
  if (!one.choices.empty()) options["choices"] = formats::ChoicesJson(one.choices);
  files.emplace_back(kOptionsFile, options.dump(1) + "\n");
  JV_TRY(job.Check());
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), one.folder, job));
  std::vector<std::string> names;
  for (const auto& [name, text] : files)
    names.push_back(name);
  JV_TRY(folder->Claim(names, overwrite));
  std::vector<Result<FileLink>> written(files.size());
  ParallelFor(files.size(), 0, [&](std::size_t i) { written[i] = Write(files[i], *folder, job); });
  std::vector<FileLink> links;
  for (Result<FileLink>& file : written) {
    JV_ASSIGN(FileLink link, std::move(file));
    links.push_back(std::move(link));
  }
  JV_TRY(folder->Commit());
  // What a reader opens first.
  std::stable_partition(links.begin(), links.end(), [](const FileLink& link) {
    const bool of_folder = link.what.find('/') == std::string::npos;
    return (of_folder && link.what.ends_with(".md")) || link.what == page::kPageFile;
  });
  return WrittenReports{std::move(links), std::move(rendered)};
}

std::vector<std::string> ReportsThere(const std::string& folder) {
  std::vector<std::string> there;
  for (const auto& [report, file] :
       {std::pair{"fair", documents::kFairFile}, std::pair{"rough", documents::kRoughFile},
        std::pair{"analysis", documents::kAnalysisFile}}) {
    if (IsThere(folder, std::string(file))) there.emplace_back(report);
  }
  return there;
}

Result<std::vector<documents::Fault>> ValidateReports(
    const ReportCase& one, const std::vector<documents::CallRecord>& calls,
    RenderedDocuments written, std::size_t* checked, Job& job) {
  std::vector<documents::Fault> faults;
  *checked = 0;
  const std::vector<std::string> reports = ReportsThere(one.folder);
  if (reports.empty()) {
    faults.push_back({"missing", "", 0, "no report is in the directory", "render_report"});
  }
  std::vector<Document> documents = std::move(written.documents);
  std::optional<documents::Evidence> evidence = std::move(written.evidence);
  const bool own = SpeakForThemselves(one, reports);
  ParallelFor(own || evidence ? 1 : 2, 0, [&](std::size_t part) {
    if (part == 1)
      evidence = EvidenceOf(one);
    else if (documents.empty())
      documents = Documents(one, one.Sources(calls, reports), reports);
  });
  if (!evidence) evidence = EvidenceIn(WithoutCalls(one, documents));
  struct Checked {
    bool there = false;
    std::vector<documents::Fault> faults;
  };
  std::vector<Checked> all(documents.size());
  ParallelFor(documents.size(), 0, [&](std::size_t i) {
    const Document& document = documents[i];
    const auto text = ReadOwn(one.folder, document.file);
    all[i].there = text.has_value();
    if (!text) return;
    all[i].faults = documents::ValidateDocument(
        {document.kind, document.file, *text, document.text, &*evidence, one.analysis.get(),
         [&](const std::string& file) { return IsThere(one.folder, file); }});
  });
  JV_TRY(job.Check());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].there)
      ++*checked;
    else
      faults.push_back({"missing", documents[i].file, 0, "the file is missing", "render_report"});
    std::move(all[i].faults.begin(), all[i].faults.end(), std::back_inserter(faults));
  }
  for (const std::string& dropped : one.dropped_edits)
    faults.push_back({"stale", "", 0, dropped, "write_findings again"});
  return faults;
}

}  // namespace jarvis::tools
