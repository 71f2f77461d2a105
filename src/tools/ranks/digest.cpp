#include <fmt/format.h>

#include "formats/digest_file.h"
#include "io/output_folder.h"
#include "tools/ranks/rank_tools.h"
#include "tools/shared/arguments.h"
#include "tools/shared/rank_files.h"

namespace jarvis::tools {
namespace {

// Told apart by content, so that jobs that write into one directory never meet.
std::string NameOf(const analysis::RankDigest& digest) {
  const std::string rank = digest.rank ? fmt::format("{:05}", *digest.rank) : "unknown";
  return fmt::format("rank_{}.{}.digest.json", rank, digest.trace_id);
}

}  // namespace

Result<Answer> Digest(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, "digests"));
  JV_ASSIGN(const session::RankDigests made, DigestsOf(workspace, arguments, job));
  std::vector<std::string> names;
  for (const analysis::RankDigest& digest : made.digests)
    names.push_back(NameOf(digest));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  JV_TRY(folder->Claim(names, MayOverwrite(arguments)));
  std::vector<analysis::RankWarning> warnings = made.warnings;
  Answer answer;
  answer.columns = {"rank", "world_size", "collectives", "file"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const analysis::RankDigest& digest = made.digests[i];
    JV_TRY(job.Check());
    JV_ASSIGN(std::string path, folder->Write(names[i], formats::DigestText(digest)));
    answer.rows.push_back({digest.rank ? Cell(*digest.rank) : Cell(),
                           digest.world_size ? Cell(*digest.world_size) : Cell(),
                           static_cast<std::int64_t>(digest.calls.size()), names[i]});
    answer.files.push_back({std::move(path), "digest of " + digest.source, digest.calls.size()});
    if (!digest.damage.empty())
      warnings.push_back({"TRACE_TRUNCATED", fmt::format("{}: {}", digest.source, digest.damage)});
  }
  JV_TRY(folder->Commit());
  AddRankNotes(warnings, &answer);
  answer.total = answer.rows.size();
  answer.summary = fmt::format("Wrote {} digests to {}.", names.size(), directory);
  answer.next = {{"collectives", {{"traces", {directory}}}, "the report about all ranks"}};
  return answer;
}

}  // namespace jarvis::tools
