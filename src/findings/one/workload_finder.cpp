#include "findings/one/workload_finder.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "findings/one/workload_facts.h"
#include "findings/one/workload_fragment.h"
#include "findings/one/workload_kernels.h"
#include "findings/one/workload_machine.h"
#include "findings/one/workload_model.h"
#include "findings/one/workload_phase.h"
#include "findings/one/workload_scopes.h"
#include "findings/one/workload_sizes.h"
#include "trace/recorded_setting.h"

namespace jarvis::findings {
namespace {

// "owner/name", as models are called on Hugging Face's hub; no path of a machine.
bool IsHubName(std::string_view text) {
  const auto plain = [](std::string_view part) {
    return !part.empty() && part.front() != '.' && std::ranges::all_of(part, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
  };
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && plain(text.substr(0, slash)) &&
         plain(text.substr(slash + 1));
}

// Some who record say in the metadata which weights they ran: that names the model better than its
// class does.
void TellRecordedName(const trace::Metadata& metadata, Workload* out) {
  constexpr std::string_view kKeys[] = {"repo_id", "model_id", "model_name_or_path", "model_name"};
  for (const std::string_view key : kKeys) {
    const auto name = trace::RecordedSetting(metadata, key);
    if (!name || !IsHubName(*name)) continue;
    WorkloadField& model = (*out)[WorkloadPart::kModel];
    model.value = model.known() ? fmt::format("{} ({})", *name, model.value) : *name;
    model.certainty = Certainty::kRecorded;
    model.evidence.push_back(fmt::format("`{}` in the trace's metadata", key));
    return;
  }
}

}  // namespace

Workload FindWorkload(const session::LoadedTrace& trace,
                      const std::vector<CategoryAnalysis>& categories, std::size_t units) {
  WorkloadFacts facts = CollectWorkloadFacts(trace.WithCapture(), categories);
  facts.units = units;
  facts.main_replays = MainReplays(trace, facts.ComputeUs());
  WorkloadSizes sizes = FindWorkloadSizes(facts);
  Workload workload;
  TellModel(facts, &sizes, &workload);
  TellScopes(facts, &workload);
  TellKernels(facts, &workload);
  TellFragment(facts, &workload);
  TellPhase(facts, sizes, &workload);
  TellMachine(facts, sizes, &workload);
  TellRecordedName(trace.trace().metadata, &workload);
  return workload;
}

std::string ModelClass(const session::LoadedTrace& trace) {
  const std::vector<CategoryAnalysis> none;
  const WorkloadFacts facts = CollectWorkloadFacts(trace, none);
  const ModulePlace* main = MainModule(facts);
  return main == nullptr ? std::string() : std::string(main->name);
}

}  // namespace jarvis::findings
