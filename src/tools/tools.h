// One function a tool, one file each. Arguments fit the tool's schema and have its defaults.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/job.h"
#include "engine/workspace.h"
#include "tools/answer.h"

namespace jarvis::tools {

Result<Answer> LoadTrace(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GpuTimeline(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> OpsSummary(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> ParentChain(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GemmRoofline(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> CategoryFilter(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Compare(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> PerfReport(engine::Workspace& workspace, const Json& arguments, Job& job);

// Shared by them.
using TracePtr = std::shared_ptr<const engine::LoadedTrace>;
Result<TracePtr> OpenTrace(engine::Workspace& workspace, const Json& arguments, Job& job);

// The argument, or nothing if it was not given.
std::optional<std::string> TextArgument(const Json& arguments, const char* name);

// output_dir as given, else jarvis_out/<trace id> below the working directory; absolute.
std::string OutputDirectory(const Json& arguments, const engine::LoadedTrace& trace);

// Shares of a whole in percent; absent if the whole is 0.
std::optional<double> Percent(double part, double whole);

// A note for every quality item that bears on totals of GPU time.
std::vector<std::string> CoverageNotes(const engine::LoadedTrace& trace);

}  // namespace jarvis::tools
