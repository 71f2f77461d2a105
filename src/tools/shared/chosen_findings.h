// What was decided about findings, for the trace at hand: the changes of findings that were added,
// and the figures that were worked out, as they come out now.
#pragma once

#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "findings/one/choices.h"
#include "json/json.h"
#include "session/workspace.h"

namespace jarvis::tools {

struct ChosenQuestion {
  session::Workspace& workspace;
  const session::LoadedTrace& trace;
  const findings::Analysis& analysis;
  const Json& arguments;  // trace, platform and extension
};

// Reads the addition's changes; none where wall times are not known. Errors: those of ReadChanges;
// a change that is a finding.
Status ReadAddedChange(const ChosenQuestion& question, findings::Addition* addition, Job& job);
// Works the figure out. Errors: kBadValue for a question that has not one number for an answer or
// asks no table; those of query::Run.
Status WorkOut(const ChosenQuestion& question, findings::DerivedFigure* figure, Job& job);

// Both, of all choices; what no longer can be read is kept without its figures and described in
// `dropped`. Errors: kCancelled.
Status ReadChosen(const ChosenQuestion& question, findings::FindingChoices* choices,
                  std::vector<std::string>* dropped, Job& job);

}  // namespace jarvis::tools
