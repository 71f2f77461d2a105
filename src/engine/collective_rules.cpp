#include "engine/collective_rules.h"

#include "compat/tracelens.h"

namespace jarvis::engine {

analysis::TableRules CollectiveRulesFor(Compat compat) {
  return compat == Compat::kTraceLens ? compat::TraceLensRules() : analysis::TableRules();
}

}  // namespace jarvis::engine
