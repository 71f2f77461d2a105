#include "tools/shared/arguments.h"

#include <fmt/format.h>

#include "findings/one/quality.h"

namespace jarvis::tools {
namespace {

// The call that waits further for what is still loading.
std::string LoadAgain(const std::string& path, const session::PartRequest& part) {
  Json arguments = {{"trace", path}};
  const trace::WindowRequest& window = part.window;
  if (!window.steps.empty()) arguments["steps"] = window.steps;
  if (window.from_ms) arguments["from_ms"] = *window.from_ms;
  if (window.to_ms) arguments["to_ms"] = *window.to_ms;
  if (part.rank) arguments["rank"] = *part.rank;
  return "load_trace " + DumpLine(arguments);
}

}  // namespace

Result<session::Opened> OpenTraceFully(session::Workspace& workspace, const Json& arguments,
                                       Job& job, const session::PartRequest& part) {
  session::OpenOptions options;
  if (!job.patient()) options.patience = workspace.options().patience;
  options.capture = TextArgument(arguments, "capture");
  options.part = part;
  JV_ASSIGN(session::Opened opened,
            workspace.Open(arguments.at("trace").get<std::string>(), job, options));
  if (opened.trace != nullptr) return opened;
  Error loading{ErrorCode::kLoading, fmt::format("\"{}\" is still loading", opened.path),
                LoadAgain(opened.path, opened.part), opened.percent};
  return tl::make_unexpected(std::move(loading));
}

Result<TracePtr> OpenTrace(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(session::Opened opened, OpenTraceFully(workspace, arguments, job));
  return std::move(opened.trace);
}

std::optional<std::string> TextArgument(const Json& arguments, const char* name) {
  const auto found = arguments.find(name);
  if (found == arguments.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

Result<std::string> OutputDirectory(const session::Workspace& workspace, const Json& arguments,
                                    const session::LoadedTrace& trace) {
  const io::FilePolicy& files = workspace.files();
  return files.ResolveOutput(
      TextArgument(arguments, "output_dir").value_or(files.DefaultOutput(trace.id())));
}

Result<std::string> FileName(const Json& arguments, std::string_view name) {
  const auto given = TextArgument(arguments, "file_name");
  if (!given) return std::string(name);
  const std::string_view ending = name.substr(name.rfind('.'));
  constexpr std::size_t kBytesMax = 200;
  const bool fits = given->size() > ending.size() && given->size() <= kBytesMax &&
                    given->ends_with(ending) && given->front() != '.' &&
                    given->find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (fits) return *given;
  return Fail(ErrorCode::kBadValue,
              fmt::format("file_name: expected a name without directories that ends in {}", ending),
              "output_dir says where it goes");
}

bool MayOverwrite(const Json& arguments) {
  return arguments.value("overwrite", false);
}

std::string ShownName(const analysis::SummaryRow& row) {
  using analysis::GroupBy;
  // Unlinked work goes by its kernel's name.
  constexpr std::string_view kUnlinked = "(unlinked) ";
  const bool unlinked = row.name.starts_with(kUnlinked);
  const auto rank = std::string_view(row.id).find_first_of("0123456789");
  const bool kernel =
      std::string_view(row.id).substr(0, rank) == analysis::IdPrefix(GroupBy::kKernel);
  if (!unlinked && !kernel) return row.name;
  const std::string_view name = std::string_view(row.name).substr(unlinked ? kUnlinked.size() : 0);
  return std::string(unlinked ? kUnlinked : "") + analysis::ShortKernelName(name);
}

std::optional<double> Percent(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return part / whole * 100;
}

std::vector<std::string> CoverageNotes(const session::LoadedTrace& trace) {
  std::vector<std::string> notes;
  // Nobody can stop this one, so that it cannot fail.
  for (const findings::Quality& item : *findings::QualityOf(trace, Job()).value()) {
    const bool about_time = item.gpu_percent.has_value() || item.remedy == "partial" ||
                            item.remedy == "left_out" || item.remedy == "clipped";
    if (!about_time || notes.size() == 3) continue;
    std::string note = fmt::format("[{}] {}", item.code, item.text);
    if (item.gpu_percent) note += fmt::format(" ({:.1f} % of GPU time)", *item.gpu_percent);
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace jarvis::tools
