#include "tools/shared/rank_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/digest_file.h"

namespace jarvis::tools {

Result<std::vector<std::string>> RankFilesOf(const session::Workspace& workspace,
                                             const Json& arguments, const Job& job,
                                             std::vector<analysis::RankWarning>* left_out) {
  std::vector<std::string> given;
  const auto known = workspace.Known();
  for (const Json& one : arguments.at("traces")) {
    const auto text = one.get<std::string>();
    const auto loaded = std::find_if(known.begin(), known.end(),
                                     [&](const auto& pair) { return pair.first == text; });
    given.push_back(loaded == known.end() ? text : loaded->second);
  }
  return session::FindRankFiles(workspace.files(), given, job, left_out);
}

Result<session::RankDigests> DigestsOf(const session::Workspace& workspace, const Json& arguments,
                                       Job& job) {
  std::vector<analysis::RankWarning> left_out;
  JV_ASSIGN(const std::vector<std::string> paths,
            RankFilesOf(workspace, arguments, job, &left_out));
  session::RankDigestOptions options;
  options.threads = workspace.options().threads;
  options.trace_bytes_max = workspace.options().trace_bytes_max;
  options.read_digest = &formats::ReadDigest;
  options.is_digest = &formats::IsDigest;
  JV_ASSIGN(session::RankDigests digests,
            session::DigestFiles(workspace.files(), paths, options, job));
  std::move(left_out.begin(), left_out.end(), std::back_inserter(digests.warnings));
  return digests;
}

void AddRankNotes(const std::vector<analysis::RankWarning>& warnings, Answer* answer) {
  constexpr std::size_t kNotesMax = 8;
  constexpr std::size_t kNoteCharactersMax = 250;
  for (std::size_t i = 0; i < std::min(warnings.size(), kNotesMax); ++i) {
    const std::string text = OneLine(warnings[i].text);
    const std::string_view shown = Utf8Characters(text, kNoteCharactersMax);
    answer->notes.push_back(
        fmt::format("[{}] {}{}", warnings[i].code, shown, shown.size() < text.size() ? "..." : ""));
  }
  if (warnings.size() > kNotesMax)
    answer->notes.push_back(fmt::format("{} further warnings", warnings.size() - kNotesMax));
}

Result<std::string> OutputDirectory(const session::Workspace& workspace, const Json& arguments,
                                    const char* tool) {
  const io::FilePolicy& files = workspace.files();
  return files.ResolveOutput(
      TextArgument(arguments, "output_dir").value_or(files.DefaultOutput(tool)));
}

}  // namespace jarvis::tools
