#include "findings/one/predicates.h"

#include <algorithm>
#include <iterator>

namespace jarvis::findings {
namespace {

template <typename Facts>
struct Predicate {
  std::string_view name;
  bool (*holds)(const Facts&);
};

bool HasRate(const TraceFacts& facts, std::string_view spec) {
  return facts.platform != nullptr && perf::PeakFor(*facts.platform, spec).has_value();
}

bool IsHopperOrNewer(const TraceFacts& facts) {
  constexpr int kHopper = 90;
  return !facts.context.amd && facts.architecture >= kHopper;
}

constexpr Predicate<TraceFacts> kOfTrace[] = {
    {"amd", [](const TraceFacts& f) { return f.context.amd; }},
    {"autotuned", [](const TraceFacts& f) { return f.context.autotuned; }},
    {"before torch 2", [](const TraceFacts& f) { return f.context.before_torch2; }},
    {"can compile", [](const TraceFacts& f) { return f.context.CanCompile(); }},
    {"coded exchange", [](const TraceFacts& f) { return f.context.coded_exchange; }},
    {"compiled", [](const TraceFacts& f) { return f.context.compiled; }},
    {"fp8 units", [](const TraceFacts& f) { return HasRate(f, "matrix_fp8"); }},
    {"hopper or newer", IsHopperOrNewer},
    {"server", [](const TraceFacts& f) { return f.context.IsServer(); }},
    {"training", [](const TraceFacts& f) { return f.context.training; }},
    {"transformer engine", [](const TraceFacts& f) { return f.context.transformer_engine; }},
};

constexpr Predicate<KernelFacts> kOfKernel[] = {
    {"adds gradient", [](const KernelFacts& f) { return f.adds_gradient; }},
    {"beside attention", [](const KernelFacts& f) { return f.beside_attention; }},
    {"few blocks", [](const KernelFacts& f) { return f.few_blocks; }},
    {"generated", [](const KernelFacts& f) { return f.generated; }},
    {"of convolution", [](const KernelFacts& f) { return f.of_convolution; }},
    {"rated", [](const KernelFacts& f) { return f.rated; }},
    {"replayed", [](const KernelFacts& f) { return f.replayed; }},
};

template <typename Facts, std::size_t kCount>
bool Holds(std::string_view name, const Facts& facts, const Predicate<Facts> (&table)[kCount]) {
  const bool denied = name.starts_with('!');
  if (denied) name.remove_prefix(1);
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const auto& one) { return one.name == name; });
  return found != std::end(table) && found->holds(facts) != denied;
}

template <typename Facts, std::size_t kCount>
std::vector<std::string_view> NamesOf(const Predicate<Facts> (&table)[kCount]) {
  std::vector<std::string_view> names;
  for (const auto& one : table)
    names.push_back(one.name);
  return names;
}

}  // namespace

bool AllHold(const std::vector<std::string>& names, const TraceFacts& facts) {
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return Holds(name, facts, kOfTrace); });
}

bool AllHold(const std::vector<std::string>& names, const KernelFacts& facts) {
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return Holds(name, facts, kOfKernel); });
}

std::vector<std::string_view> TracePredicates() {
  return NamesOf(kOfTrace);
}

std::vector<std::string_view> KernelPredicates() {
  return NamesOf(kOfKernel);
}

}  // namespace jarvis::findings
