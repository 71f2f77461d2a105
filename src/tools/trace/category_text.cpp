#include "tools/trace/category_text.h"

#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/report_analysis.h"
#include "documents/report_parts.h"
#include "io/text_file.h"
#include "session/category_names.h"
#include "tools/shared/report_files.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kManifestBytesMax = std::size_t{4} << 20;
constexpr const char* kManifest = "category_data/category_manifest.json";

struct SystemWords {
  std::string_view key;
  std::array<std::string_view, 4> names;
};
constexpr std::array<SystemWords, 3> kSystemWords = {
    {{"cpu_idle", {"cpu_idle", "idle", "cpu", "gaps"}},
     {"multi_kernel", {"multi_kernel", "communication", "memcpy", "overlap"}},
     {"kernel_fusion", {"kernel_fusion", "fusion", "", ""}}}};

// The path of the trace that the manifest names.
Result<std::string> TraceOf(const session::Workspace& workspace, const std::string& folder) {
  const std::string place = folder + "/" + kManifest;
  std::error_code error;
  if (!std::filesystem::is_regular_file(place, error)) {
    return Fail(ErrorCode::kTraceNotFound, fmt::format("\"{}\" has no {}", folder, kManifest),
                "jarvis analyze TRACE --output-dir DIR writes it");
  }
  JV_ASSIGN(const std::string text, io::ReadTextFile(workspace.files(), place, kManifestBytesMax));
  JV_ASSIGN(const Json manifest, ParseJson(text));
  const auto path = TextArgument(manifest, "trace_path");
  if (!path) {
    return Fail(ErrorCode::kBadValue, fmt::format("{} does not name its trace", kManifest),
                "category_filter writes it again");
  }
  return (std::filesystem::path(folder) / "category_data" / *path).lexically_normal().string();
}

std::string OneCategory(const ReportCase& one, const documents::ReportSources& sources,
                        const findings::CategoryAnalysis& category) {
  std::vector<const findings::Operation*> operations;
  for (const findings::Operation& operation : category.operations) {
    if (operations.size() == 20) break;
    operations.push_back(&operation);
  }
  std::string text = "## Operations Breakdown\n\n" +
                     documents::OperationsTable(sources.analysis, operations) + "\n";
  const std::string whole = documents::RenderCategoryFindings(sources, category);
  // What the findings file says before its parts for programs.
  const std::size_t end = whole.find("## Operations\n");
  return whole.substr(0, end) + text +
         fmt::format("Findings: {}/category_findings/{}_findings.md\n", one.folder, category.key);
}

}  // namespace

Result<std::string> CategoryText(session::Workspace& workspace, const std::string& folder,
                                 const std::string& category, Job& job) {
  JV_ASSIGN(const std::string absolute, workspace.files().ResolveOutput(folder));
  JV_ASSIGN(const std::string trace, TraceOf(workspace, absolute));
  JV_ASSIGN(const ReportCase one,
            OpenReportCase(workspace, {{"trace", trace}, {"output_dir", absolute}}, job));
  const documents::ReportSources sources = one.Sources({}, {});
  std::string text;
  for (const findings::CategoryAnalysis& candidate : one.analysis->categories) {
    if (!session::CategoryMatches(category, candidate.display_name) &&
        !EqualsNoCase(category, candidate.key))
      continue;
    text += (text.empty() ? "" : "\n") + OneCategory(one, sources, candidate);
  }
  for (const SystemWords& system : kSystemWords) {
    for (const std::string_view name : system.names) {
      if (text.empty() && !name.empty() && EqualsNoCase(category, name)) {
        text = documents::RenderSystemFindings(sources, system.key);
      }
    }
  }
  if (!text.empty()) return text;
  std::string known;
  for (const findings::CategoryAnalysis& candidate : one.analysis->categories)
    known += (known.empty() ? "" : ", ") + candidate.key;
  return Fail(ErrorCode::kBadValue,
              fmt::format("the trace has no category \"{}\"; it has: {}, idle, communication, "
                          "fusion",
                          Utf8Prefix(category, 40), known));
}

}  // namespace jarvis::tools
