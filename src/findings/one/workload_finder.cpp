#include "findings/one/workload_finder.h"

#include "findings/one/workload_facts.h"
#include "findings/one/workload_fragment.h"
#include "findings/one/workload_kernels.h"
#include "findings/one/workload_machine.h"
#include "findings/one/workload_model.h"
#include "findings/one/workload_phase.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

Workload FindWorkload(const session::LoadedTrace& trace,
                      const std::vector<CategoryAnalysis>& categories, std::size_t units) {
  WorkloadFacts facts = CollectWorkloadFacts(trace.WithCapture(), categories);
  facts.units = units;
  facts.main_replays = MainReplays(trace, facts.ComputeUs());
  WorkloadSizes sizes = FindWorkloadSizes(facts);
  Workload workload;
  TellModel(facts, &sizes, &workload);
  TellKernels(facts, &workload);
  TellFragment(facts, &workload);
  TellPhase(facts, sizes, &workload);
  TellMachine(facts, sizes, &workload);
  return workload;
}

std::string ModelClass(const session::LoadedTrace& trace) {
  const std::vector<CategoryAnalysis> none;
  const WorkloadFacts facts = CollectWorkloadFacts(trace, none);
  const ModulePlace* main = MainModule(facts);
  return main == nullptr ? std::string() : std::string(main->name);
}

}  // namespace jarvis::findings
