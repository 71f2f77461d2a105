#include "session/trace_simulation.h"

#include <utility>

#include "session/loaded_trace.h"

namespace jarvis::session {
namespace {

struct SimulationKey {
  using Value = analysis::Simulation;
  bool operator==(const SimulationKey&) const = default;
};

}  // namespace

Result<std::shared_ptr<const analysis::Simulation>> SimulationOf(const LoadedTrace& trace,
                                                                 const Job& job) {
  using analysis::Simulation;
  using Made = DerivedCache::Made<Simulation>;
  return trace.derived().Get(SimulationKey{}, job, [&]() -> Result<Made> {
    JV_ASSIGN(Simulation made, Simulation::Make(trace.events(), trace.tree(), job));
    auto simulation = std::make_shared<const Simulation>(std::move(made));
    const std::size_t bytes = simulation->MemoryBytes();
    return Made{std::move(simulation), bytes};
  });
}

}  // namespace jarvis::session
