#include <filesystem>

#include <fmt/format.h>

#include "engine/quality.h"
#include "tools/tools.h"

namespace jarvis::tools {

Result<TracePtr> OpenTrace(engine::Workspace& workspace, const Json& arguments, Job& job) {
  return workspace.Open(arguments.at("trace").get<std::string>(), job);
}

std::optional<std::string> TextArgument(const Json& arguments, const char* name) {
  const auto found = arguments.find(name);
  if (found == arguments.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::string OutputDirectory(const Json& arguments, const engine::LoadedTrace& trace) {
  const std::string given =
      TextArgument(arguments, "output_dir").value_or("jarvis_out/" + trace.id());
  std::error_code ignored;
  std::filesystem::path absolute = std::filesystem::absolute(given, ignored).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute.string();
}

std::optional<double> Percent(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return part / whole * 100;
}

std::vector<std::string> CoverageNotes(const engine::LoadedTrace& trace) {
  std::vector<std::string> notes;
  for (const engine::QualityItem& item : engine::AssessQuality(trace)) {
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
