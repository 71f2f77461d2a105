#include <fmt/format.h>

#include "base/text.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/trace/finding_rows.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {

Result<Answer> FusionCandidates(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace, arguments, job));
  const findings::FusionAnalysis& fusion = one.analysis->fusion;
  const auto limit = arguments.at("limit").get<std::size_t>();
  Answer answer;
  answer.trace = one.analysis->trace_id;
  answer.summary = SystemHeadline(*one.analysis, "kernel_fusion");
  answer.columns = {"candidate", "kind",   "module",  "instances",  "kernels",    "gpu_ms",
                    "saves_ms",  "low_ms", "high_ms", "dependency", "confidence", "ops"};
  for (std::size_t i = 0; i < fusion.candidates.size() && i < limit; ++i) {
    const findings::FusionCandidate& c = fusion.candidates[i];
    std::string ops;
    for (const findings::FusionKernel& kernel : c.kernels)
      ops += (ops.empty() ? "" : " ") + kernel.op;
    const auto saving = [&](double findings::Range::*part) {
      return c.savings_ms ? Cell((*c.savings_ms).*part) : Cell();
    };
    answer.rows.push_back(
        {c.id, std::string(findings::FusionText(c.kind)),
         c.module_path.empty() ? Cell() : Cell(std::string(Utf8Prefix(c.module_path, 100))),
         static_cast<std::int64_t>(c.instances), static_cast<std::int64_t>(c.kernels.size()),
         c.total_us / 1000, saving(&findings::Range::mid), saving(&findings::Range::low),
         saving(&findings::Range::high), std::string(findings::DependencyText(c.dependency)),
         c.confidence, OneLine(Utf8Prefix(ops, 160))});
  }
  answer.total = fusion.candidates.size();
  for (const std::string& note : fusion.notes) {
    answer.notes.push_back(
        note == "no_ops" ? std::string("no ops in the trace: fusion cannot be judged")
                         : ReasonText(note) + ": chains rest on modules and neighbours alone");
  }
  answer.notes.emplace_back(
      "plausible: shapes and types fit, neighbours on one stream in one module");
  if (!one.platform.note.empty()) answer.notes.push_back(one.platform.note);
  return answer;
}

}  // namespace jarvis::tools
