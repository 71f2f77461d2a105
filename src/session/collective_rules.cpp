#include "session/collective_rules.h"

#include "compat/tracelens.h"

namespace jarvis::session {

analysis::TableRules CollectiveRulesFor(Compat compat) {
  return compat == Compat::kTraceLens ? compat::TraceLensRules() : analysis::TableRules();
}

}  // namespace jarvis::session
