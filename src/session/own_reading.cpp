#include "session/own_reading.h"

#include <algorithm>
#include <map>

#include "analysis/attribution/pseudo_ops.h"
#include "analysis/tables/family_table.h"
#include "session/trace_work.h"
#include "tree/recompute.h"

namespace jarvis::session {
namespace {

using analysis::WorkCall;

// Families that both directions of an op share one table of.
bool IsOneTable(std::string_view sheet) {
  return sheet == "GEMM" || sheet == "UnaryElementwise" || sheet == "BinaryElementwise" ||
         sheet == "Normalization";
}

// Each family that we know beyond the reference's has its name alone, without a direction.
std::string FamilyName(const WorkCall& call) {
  const std::string& sheet = call.model->sheet;
  const auto order = analysis::FamilyOrder();
  if (IsOneTable(sheet) || std::find(order.begin(), order.end(), sheet) == order.end()) {
    return sheet;
  }
  const bool backward = call.backward || call.model->category.ends_with("_bwd");
  return sheet + (backward ? "_bwd" : "_fwd");
}

// By the report's order, then by name; "_fwd" before "_bwd".
std::vector<std::pair<std::string, std::vector<const WorkCall*>>> FamiliesOf(
    const std::vector<WorkCall>& calls) {
  std::map<std::string, std::vector<const WorkCall*>> families;
  for (const WorkCall& call : calls) {
    if (call.work == nullptr || !call.work->flops ||
        call.work->failure != perf::OpWork::Failure::kNone) {
      continue;
    }
    families[FamilyName(call)].push_back(&call);
  }
  std::vector<std::pair<std::string, std::vector<const WorkCall*>>> out;
  const auto take = [&](const std::string& name) {
    const auto found = families.find(name);
    if (found == families.end()) return;
    out.emplace_back(name, std::move(found->second));
    families.erase(found);
  };
  for (const std::string_view sheet : analysis::FamilyOrder()) {
    for (const char* direction : {"", "_fwd", "_bwd"})
      take(std::string(sheet) + direction);
  }
  while (!families.empty())
    take(families.begin()->first);
  return out;
}

std::shared_ptr<const analysis::Attribution> AttributionOf(
    const LoadedTrace& trace, const analysis::ReadingOptions& options) {
  // The trace's own is shared without being owned.
  if (!options.pseudo_ops && options.models == nullptr)
    return {std::shared_ptr<const void>(), &trace.attribution()};
  return std::make_shared<const analysis::Attribution>(
      analysis::Attribute(trace.events(), trace.tree(),
                          options.pseudo_ops ? analysis::FindPseudoOps(trace.events(), trace.tree())
                                             : analysis::PseudoOps(),
                          options.models != nullptr ? *options.models : perf::BuiltinRows()));
}

// The op of GPU work, by event.
std::shared_ptr<const std::vector<trace::EventIndex>> OpsOf(
    const LoadedTrace& trace, const analysis::Attribution& attribution) {
  const auto op_of =
      std::make_shared<std::vector<trace::EventIndex>>(trace.events().size(), trace::kNoEvent);
  for (const analysis::KernelPlace& place : attribution.places)
    (*op_of)[place.kernel] = place.op;
  return op_of;
}

}  // namespace

analysis::ReportReading OwnReading(const LoadedTrace& trace,
                                   const analysis::ReadingOptions& options) {
  analysis::ReportReading reading;
  if (options.detect_recompute) {
    reading.recompute = std::make_shared<const std::vector<char>>(
        tree::MarkRecompute(trace.events(), trace.tree()));
  }
  reading.attribution = AttributionOf(trace, options);
  if (options.include_overlap_info) {
    reading.op_of = OpsOf(trace, *reading.attribution);
    reading.overlap.op_of = *reading.op_of;
  }
  // Backward work belongs to the module of its forward op.
  reading.parent = [&trace](trace::EventIndex e) {
    const trace::EventIndex forward = trace.tree().ForwardOf(e);
    return forward != trace::kNoEvent ? forward : trace.tree().parent(e);
  };
  reading.caller = [&trace](trace::EventIndex e) { return trace.tree().parent(e); };
  if (options.models != nullptr) reading.rules.models = options.models.get();
  reading.calls = [&trace, options, attribution = reading.attribution,
                   rows = reading.rules.models](const Job& job) -> Result<analysis::ReportCalls> {
    analysis::ReportCalls calls;
    if (options.pseudo_ops) {
      calls.works = std::make_unique<analysis::OpWorks>(trace.events(), *rows, &job);
      calls.unified = std::make_shared<const std::vector<WorkCall>>(
          analysis::CollectWorkCalls({trace.events(), trace.tree(), *attribution, *calls.works}));
      JV_TRY(job.Check());
    } else {
      // Shared with all others who ask for them.
      JV_ASSIGN(const auto known, WorkOf(trace, options.models, job));
      calls.unified = {known, &known->calls};
    }
    calls.families = FamiliesOf(*calls.unified);
    return calls;
  };
  return reading;
}

}  // namespace jarvis::session
