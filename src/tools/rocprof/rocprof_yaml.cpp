#include <algorithm>

#include <fmt/format.h>

#include "io/output_folder.h"
#include "rocprof/job/yaml.h"
#include "rocprof/read/read_results.h"
#include "table/csv_reader.h"
#include "tools/rocprof/rocprof_tools.h"
#include "tools/shared/arguments.h"
#include "tools/shared/rank_files.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kCsvBytesMax = std::size_t{64} << 20;

// The names in the column kernel_name of a table.
Result<std::vector<std::string>> KernelsOfCsv(const io::FilePolicy& files, const std::string& path,
                                              Job& job) {
  JV_ASSIGN(const std::string text, rocprof::ReadWhole(files, path, kCsvBytesMax, job));
  JV_ASSIGN(const Table table, ParseCsv(path, text));
  for (const char* name : {"kernel_name", "Kernel_Name", "name", "Name"}) {
    const auto column = std::find(table.columns.begin(), table.columns.end(), name);
    if (column == table.columns.end()) continue;
    const auto place = static_cast<std::size_t>(column - table.columns.begin());
    std::vector<std::string> kernels;
    for (const auto& row : table.rows) {
      if (const auto* kernel = std::get_if<std::string>(&row[place])) kernels.push_back(*kernel);
    }
    return kernels;
  }
  return Fail(ErrorCode::kBadValue, fmt::format("\"{}\" has no column kernel_name", path),
              "give the table of varying kernels of a sweep, or kernels");
}

std::vector<std::string> Texts(const Json& arguments, const char* name) {
  return arguments.value(name, std::vector<std::string>());
}

rocprof::Match MatchOf(const std::string& text) {
  if (text == "prefix") return rocprof::Match::kPrefix;
  if (text == "substring") return rocprof::Match::kSubstring;
  return text == "short" ? rocprof::Match::kShort : rocprof::Match::kExact;
}

Result<rocprof::YamlOptions> OptionsOf(const io::FilePolicy& files, const Json& arguments,
                                       Job& job) {
  rocprof::YamlOptions options;
  options.kernels = Texts(arguments, "kernels");
  const auto csv = TextArgument(arguments, "csv");
  const auto preset = TextArgument(arguments, "preset");
  if (int{csv.has_value()} + int{preset.has_value()} + int{!options.kernels.empty()} != 1) {
    return Fail(ErrorCode::kBadValue, "give one of kernels, csv and preset",
                "rocprof_yaml {\"preset\":\"cu_only\"}");
  }
  if (csv) {
    JV_ASSIGN(options.kernels, KernelsOfCsv(files, *csv, job));
    options.source = *csv;
  }
  if (preset) {
    options.preset =
        *preset == "cu_only" ? rocprof::Preset::kCuOnly : rocprof::Preset::kCuOnlyDocument;
  }
  options.match = MatchOf(arguments.at("match").get<std::string>());
  options.counters = Texts(arguments, "counters");
  options.arch = arguments.at("arch").get<std::string>();
  options.iteration_range = TextArgument(arguments, "iteration_range").value_or("");
  if (arguments.contains("output_format")) options.formats = Texts(arguments, "output_format");
  if (options.formats.empty()) {
    return Fail(ErrorCode::kBadValue, "output_format: name at least one of csv, json, pftrace");
  }
  return options;
}

}  // namespace

Result<Answer> RocprofYaml(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, "rocprof"));
  JV_ASSIGN(const rocprof::YamlOptions options, OptionsOf(workspace.files(), arguments, job));
  JV_ASSIGN(const rocprof::YamlFile file, rocprof::MakeYaml(options));
  const std::string usual = options.preset != rocprof::Preset::kNone  ? "rocprof_cu_only"
                            : options.match == rocprof::Match::kShort ? "rocprof_top5_kernels"
                                                                      : "rocprof_kernels";
  JV_ASSIGN(const std::string file_name, FileName(arguments, usual + ".yaml"));
  const std::string name = file_name.substr(0, file_name.rfind('.'));
  std::vector<std::string> names = {name + ".yaml"};
  if (!file.kernel_list.empty()) names.push_back(name + "_kernel_list.txt");
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  JV_TRY(folder->Claim(names, MayOverwrite(arguments)));
  Answer answer;
  JV_ASSIGN(std::string path, folder->Write(names[0], file.yaml));
  answer.files.push_back({path, "configuration: rocprofv3 -i FILE", file.passes.size()});
  if (names.size() > 1) {
    JV_ASSIGN(std::string list, folder->Write(names[1], file.kernel_list));
    answer.files.push_back({std::move(list), "kernels", file.patterns});
  }
  JV_TRY(folder->Commit());
  answer.summary = fmt::format("Wrote {}: {} in {} {}.", path,
                               file.patterns > 0 ? fmt::format("{} patterns", file.patterns)
                                                 : std::string("matrix products by name"),
                               file.passes.size(), file.passes.size() == 1 ? "pass" : "passes");
  answer.facts = Json::object();
  answer.facts["passes"] = file.passes;
  answer.facts["patterns"] = file.patterns;
  answer.facts["regex_bytes"] = file.regex.size();
  answer.facts["warnings"] = file.warnings;
  for (const std::string& warning : file.warnings)
    answer.notes.push_back(warning);
  if (answer.notes.size() > 8) answer.notes.resize(8);
  return answer;
}

}  // namespace jarvis::tools
