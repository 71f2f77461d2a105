// What a trace is of, and what somebody who knows it says it is.
#include "findings/one/workload.h"

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/shape_story.h"
#include "formats/analysis_json.h"
#include "io/output_folder.h"
#include "tools/shared/arguments.h"
#include "tools/shared/report_files.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

constexpr const char* kWorkloadFile = "metadata/model_info.json";

void ShowWorkload(const findings::Workload& workload, Answer* answer) {
  answer->columns = {"field", "value", "certainty", "evidence"};
  for (std::size_t i = 0; i < findings::kWorkloadParts; ++i) {
    const auto part = static_cast<findings::WorkloadPart>(i);
    const findings::WorkloadField& field = workload[part];
    if (!field.known()) continue;
    std::string evidence;
    for (const std::string& one : field.evidence)
      evidence += (evidence.empty() ? "" : "; ") + OneLine(one);
    answer->rows.push_back({std::string(findings::WorkloadKey(part)), OneLine(field.value),
                            std::string(findings::CertaintyText(field.certainty)),
                            std::string(Utf8Prefix(evidence, 160))});
  }
  answer->total = answer->rows.size();
}

void ShowShapes(const findings::ShapeStory& story, Answer* answer) {
  answer->columns = {"n", "op", "shapes", "calls", "gpu_us", "percent"};
  std::int64_t number = 0;
  for (const findings::StoryRow& row : story.rows) {
    answer->rows.push_back({++number, OneLine(Utf8Prefix(row.op, 90)),
                            row.args.empty() ? Cell() : Cell(OneLine(Utf8Prefix(row.args, 160))),
                            static_cast<std::int64_t>(row.calls), row.gpu_us,
                            CellOf(Percent(row.gpu_us, story.gpu_us))});
  }
  answer->total = story.rows.size();
  if (!story.why.empty()) {
    answer->notes.push_back(story.why);
  } else {
    answer->notes.push_back(story.repeats > 1 ? fmt::format("rows are {}, of {} in the trace",
                                                            story.block, story.repeats)
                                              : fmt::format("rows are {}", story.block));
  }
}

// The reports with the corrections, and the file that has them by field.
Status Store(session::Workspace& workspace, const Json& arguments, const ReportCase& one,
             const CallLog& log, Job& job, Answer* answer) {
  std::vector<std::string> reports = ReportsThere(one.folder);
  if (reports.empty()) reports = {"fair", "rough", "analysis"};
  const bool overwrite = MayOverwrite(arguments);
  JV_TRY(WriteReports(workspace, one, reports, log.Of(one.trace->id()), overwrite, job));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), one.folder, job));
  JV_TRY(folder->Claim({kWorkloadFile}, overwrite));
  const std::string text =
      formats::WorkloadJson(one.analysis->workload).dump(1, ' ', Json::BadUtf8::kReplace) + "\n";
  JV_ASSIGN(std::string path, folder->Write(kWorkloadFile, text));
  JV_TRY(folder->Commit());
  answer->files.push_back({std::move(path), "the workload", 1});
  answer->notes.push_back(fmt::format("{} reports are written anew", reports.size()));
  return {};
}

// "phase=decode": by key.
Result<Json> ReadCorrections(const Json& arguments) {
  Json corrections = Json::object();
  if (!arguments.contains("set")) return corrections;
  for (const auto& text : arguments.at("set").get<std::vector<std::string>>()) {
    const std::size_t equals = text.find('=');
    const std::string key(Trim(std::string_view(text).substr(0, equals)));
    if (equals == std::string::npos || !findings::WorkloadPartOf(key)) {
      std::string keys;
      for (std::size_t i = 0; i < findings::kWorkloadParts; ++i) {
        keys += (i == 0 ? "" : ", ") +
                std::string(findings::WorkloadKey(static_cast<findings::WorkloadPart>(i)));
      }
      return Fail(ErrorCode::kBadValue,
                  fmt::format("set: expected field=value, received \"{}\"; fields: {}",
                              Utf8Prefix(text, 40), keys));
    }
    corrections[key] = text.substr(equals + 1);
  }
  return corrections;
}

}  // namespace

Result<Answer> WorkloadTool(session::Workspace& workspace, const Json& arguments, Job& job,
                            const CallLog& log) {
  Answer answer;
  JV_ASSIGN(const Json corrections, ReadCorrections(arguments));
  const bool sets = !corrections.empty();
  std::shared_ptr<const findings::Analysis> analysis;
  TracePtr trace;
  if (sets || arguments.contains("output_dir")) {
    JV_ASSIGN(ReportCase one, OpenReportCase(workspace, arguments, job));
    if (sets) {
      JV_TRY(SetWorkload(corrections, &one, job));
      JV_TRY(Store(workspace, arguments, one, log, job, &answer));
    }
    analysis = one.analysis;
    trace = one.trace;
  } else {
    JV_ASSIGN(AnalysisCase one, AnalyzeTrace(workspace, arguments, job));
    analysis = one.analysis;
    trace = one.trace;
  }
  answer.trace = trace->id();
  const findings::Workload& workload = analysis->workload;
  answer.summary = findings::WorkloadLine(workload);
  if (answer.summary.empty())
    answer.summary = "Nothing that the trace records tells what it is of.";
  if (arguments.at("show").get<std::string>() == "shapes") {
    JV_ASSIGN(const findings::ShapeStory story,
              findings::TellShapes(*trace, analysis->categories, workload, job));
    ShowShapes(story, &answer);
  } else {
    ShowWorkload(workload, &answer);
    answer.next = {{"workload",
                    {{"trace", trace->id()}, {"show", "shapes"}},
                    "the ops of one layer with their shapes"}};
  }
  return answer;
}

}  // namespace jarvis::tools
