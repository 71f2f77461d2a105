#include <fmt/format.h>

#include "formats/perfetto_tracks.h"
#include "io/gzip_file.h"
#include "io/output_folder.h"
#include "session/annotated_trace.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

constexpr const char* kDefaultName = "perfetto.json.gz";

// Where the file goes: the folder and the name in it.
struct Place {
  std::string folder;
  std::string name;
};
Result<Place> PlaceOf(const session::Workspace& workspace, const Json& arguments,
                      const session::LoadedTrace& trace) {
  const auto output = TextArgument(arguments, "output");
  if (!output) {
    JV_ASSIGN(std::string folder, OutputDirectory(workspace, arguments, trace));
    return Place{std::move(folder), kDefaultName};
  }
  const std::size_t slash = output->rfind('/');
  const std::string name = slash == std::string::npos ? *output : output->substr(slash + 1);
  if (!name.ends_with(".json.gz")) {
    return Fail(ErrorCode::kBadValue, "output: the file's name has to end in .json.gz",
                "viewers of traces know what is in it by that");
  }
  Json folder = arguments;
  folder["output_dir"] = slash == std::string::npos ? std::string(".") : output->substr(0, slash);
  JV_ASSIGN(std::string path, OutputDirectory(workspace, folder, trace));
  return Place{std::move(path), name};
}

}  // namespace

Result<Answer> Perfetto(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace, arguments, job));
  JV_ASSIGN(const Place place, PlaceOf(workspace, arguments, *one.trace));
  JV_ASSIGN(const std::string events, formats::PerfettoTracks(*one.trace, *one.analysis, job));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), place.folder, job));
  JV_TRY(folder->Claim({place.name}, MayOverwrite(arguments)));
  JV_ASSIGN(const auto file, io::GzipFile::Create(*folder, place.name));
  JV_TRY(session::WriteAnnotated(workspace.files(), one.trace->path(),
                                 workspace.options().trace_bytes_max, events, *file, job));
  JV_TRY(folder->Commit());
  Answer answer;
  answer.trace = one.trace->id();
  answer.summary = fmt::format(
      "{} ({} bytes): the trace with tracks of steps, phases, idle causes, the critical path and "
      "findings, and counters; open it in ui.perfetto.dev.",
      file->path(), file->bytes());
  answer.files = {{file->path(), "trace with what was found on it", 0}};
  return answer;
}

}  // namespace jarvis::tools
