#include <fmt/format.h>

#include "io/output_folder.h"
#include "tools/shared/arguments.h"
#include "tools/sweep/request.h"
#include "tools/sweep/sweep_tools.h"

namespace jarvis::tools {
namespace {

std::string Missing(const std::vector<std::int64_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < 16; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " ", ranks[i]);
  return text + (ranks.size() > 16 ? " ..." : "");
}

Answer AnswerOf(const launch::Plan& plan, const launch::Driven& driven) {
  Answer answer;
  for (const launch::Axis& axis : plan.axes)
    answer.columns.push_back(axis.name);
  answer.columns.insert(answer.columns.end(),
                        {"status", "exit_code", "seconds", "traces", "missing_ranks", "note"});
  std::size_t done = 0;
  std::size_t skipped = 0;
  bool complete = true;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const launch::RunRecord& record = driven.records[i];
    const launch::RunStatus status = driven.statuses[i];
    std::vector<Cell> row(plan.runs[i].values.begin(), plan.runs[i].values.end());
    row.emplace_back(std::string(launch::StatusText(status)));
    row.push_back(record.exit_code ? Cell(*record.exit_code) : Cell());
    row.push_back(record.duration_s ? Cell(*record.duration_s) : Cell());
    row.emplace_back(static_cast<std::int64_t>(record.traces.size()));
    row.emplace_back(Missing(record.missing_ranks));
    row.emplace_back(record.note);
    answer.rows.push_back(std::move(row));
    done += status == launch::RunStatus::kSuccess ? 1 : 0;
    skipped += status == launch::RunStatus::kSkipped ? 1 : 0;
    complete =
        complete && record.state == launch::RunState::kSuccess && record.missing_ranks.empty();
  }
  answer.total = answer.rows.size();
  answer.summary = fmt::format("{} runs in {}: {} done, {} failed, {} skipped{}.", plan.runs.size(),
                               plan.sweep_dir, done, driven.failed, skipped,
                               driven.gave_up ? "; gave up after so many failures" : "");
  answer.facts = {{"complete", complete}, {"sweep_dir", plan.sweep_dir}, {"failed", driven.failed}};
  for (const std::string& file : driven.files)
    answer.files.push_back({file, file.ends_with(".log") ? "log" : "summary", plan.runs.size()});
  return answer;
}

}  // namespace

Result<Answer> SweepRun(session::Workspace& workspace, const Json& arguments, Job& job) {
  if (!workspace.options().may_execute) {
    return Fail(ErrorCode::kExecDisabled, "this server starts no programs",
                "sweep_plan with format sh writes a script to run by hand; or a person starts "
                "jarvis sweep run --yes, or the server with --allow-exec");
  }
  const std::string fallback = "experiments/sweep_" + launch::Stamp();
  JV_ASSIGN(const SweepRequest request, ReadSweepRequest(workspace, arguments, fallback));
  JV_ASSIGN(PlannedSweep planned, PlanSweep(workspace, request, job));
  if (!arguments.value("confirm", false)) {
    Answer answer = PlanAnswer(planned, request);
    answer.summary += " This is the plan; confirm: true runs it.";
    return answer;
  }
  const std::string& directory = planned.plan.sweep_dir;
  if (!planned.folder.valid()) {
    JV_ASSIGN(planned.folder, workspace.files().OpenOutputFolder(directory));
  }
  bool overwrite = MayOverwrite(arguments);
  const auto save = [&](const std::vector<launch::RunRecord>& records) -> Status {
    Job unstoppable;  // what was done is recorded, cancelled or not
    JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, unstoppable));
    JV_TRY(folder->Claim({formats::kSweepFile}, overwrite));
    JV_TRY(folder->Write(formats::kSweepFile,
                         formats::SweepFileText(planned.plan, records, arguments, planned.file)));
    JV_TRY(folder->Commit());
    overwrite = true;  // it is ours from here on
    return {};
  };
  JV_ASSIGN(const launch::Driven driven,
            launch::DriveSweep(workspace.files(), planned.folder.get(), planned.plan, request.drive,
                               *planned.state, save, job));
  Answer answer = AnswerOf(planned.plan, driven);
  if (driven.interrupted) {
    return Fail(ErrorCode::kCancelled, "interrupted; " + answer.summary,
                "the same call with the same output_dir goes on where it stopped");
  }
  answer.files.push_back(
      {directory + "/" + formats::kSweepFile, "record", planned.plan.runs.size()});
  answer.notes = planned.plan.warnings;
  answer.next = {{"sweep_pipeline", {{"sweep_dir", directory}}, "what the runs show"}};
  return answer;
}

}  // namespace jarvis::tools
