// The ranks of a job as arguments of tools: directories, traces, digests.
#pragma once

#include "session/rank_digests.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

// The digests that the argument `traces` names; ids of loaded traces are taken too.
Result<session::RankDigests> DigestsOf(const session::Workspace& workspace, const Json& arguments,
                                       Job& job);
// The files that it names. `left_out`, if given: what else lies beside them.
Result<std::vector<std::string>> RankFilesOf(
    const session::Workspace& workspace, const Json& arguments, const Job& job,
    std::vector<analysis::RankWarning>* left_out = nullptr);

// Notes of an answer about what is wrong with the ranks, the first few of them.
void AddRankNotes(const std::vector<analysis::RankWarning>& warnings, Answer* answer);

// The argument output_dir, else a directory named after the tool: absolute, and allowed.
Result<std::string> OutputDirectory(const session::Workspace& workspace, const Json& arguments,
                                    const char* tool);

}  // namespace jarvis::tools
