#include "session/merge_ranks.h"

#include <fmt/format.h>

#include "io/gzip_file.h"
#include "io/output_folder.h"
#include "tools/ranks/rank_tools.h"
#include "tools/shared/arguments.h"
#include "tools/shared/rank_files.h"

namespace jarvis::tools {
namespace {

constexpr const char* kName = "merged_ranks.json.gz";

}  // namespace

Result<Answer> MergeRanks(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, "merged"));
  JV_ASSIGN(const std::vector<std::string> paths, RankFilesOf(workspace, arguments, job));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  JV_TRY(folder->Claim({kName}, MayOverwrite(arguments)));
  JV_ASSIGN(const auto file, io::GzipFile::Create(*folder, kName));
  session::MergeOptions options;
  options.trace_bytes_max = workspace.options().trace_bytes_max;
  options.python_functions = arguments.at("python_functions").get<bool>();
  JV_ASSIGN(const session::Merged merged,
            session::MergeRanks(workspace.files(), paths, options, *file, job));
  const std::string& path = file->path();
  JV_TRY(folder->Commit());
  Answer answer;
  answer.summary = fmt::format("Merged {} ranks into {} ({} bytes); open it in ui.perfetto.dev.",
                               merged.ranks.size(), path, merged.file_bytes);
  answer.columns = {"rank", "events", "file"};
  for (const session::MergedRank& rank : merged.ranks) {
    answer.rows.push_back({rank.rank, static_cast<std::int64_t>(rank.events),
                           rank.source.substr(rank.source.rfind('/') + 1)});
  }
  answer.total = answer.rows.size();
  AddRankNotes(merged.warnings, &answer);
  answer.next = {{"collectives", {{"traces", {path}}}, "it can be read back, rank by rank"}};
  answer.files = {{path, "trace of all ranks", merged.ranks.size()}};
  return answer;
}

}  // namespace jarvis::tools
