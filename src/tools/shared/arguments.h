// What the arguments of most tools mean: the trace, where files go, and how shares are told.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/job.h"
#include "session/workspace.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

using TracePtr = std::shared_ptr<const session::LoadedTrace>;
// The trace that the argument `trace` names. kLoading when it is not there within the workspace's
// patience: handed on, it becomes the answer "still loading".
Result<TracePtr> OpenTrace(session::Workspace& workspace, const Json& arguments, Job& job);
// The same with all that the workspace says of it; `trace` is never null. `part`: of the file,
// which is meant.
Result<session::Opened> OpenTraceFully(session::Workspace& workspace, const Json& arguments,
                                       Job& job, const session::PartRequest& part = {});

// The argument, or nothing if it was not given.
std::optional<std::string> TextArgument(const Json& arguments, const char* name);

// Where files go: output_dir as given, else a directory named after the trace; absolute, and
// allowed. For io::OutputFolder::Open.
Result<std::string> OutputDirectory(const session::Workspace& workspace, const Json& arguments,
                                    const session::LoadedTrace& trace);
// The argument `file_name`, else `name`. Errors: kBadValue for a path, a hidden name, another
// ending than `name` has.
Result<std::string> FileName(const Json& arguments, std::string_view name);
// The argument `overwrite`; false if the tool has none.
bool MayOverwrite(const Json& arguments);

// The row's name in an answer: kernels' are shortened by rule (analysis::ShortKernelName). The
// whole name is in the files and in parent_chain of the row.
std::string ShownName(const analysis::SummaryRow& row);

// Shares of a whole in percent; absent if the whole is 0.
std::optional<double> Percent(double part, double whole);

// A note for every quality item that bears on totals of GPU time.
std::vector<std::string> CoverageNotes(const session::LoadedTrace& trace);

}  // namespace jarvis::tools
