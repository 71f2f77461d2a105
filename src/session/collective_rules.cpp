#include "session/collective_rules.h"

#include "session/mode.h"

namespace jarvis::session {

analysis::TableRules CollectiveRulesFor(Compat compat) {
  return ModeOf(compat).collective_rules();
}

}  // namespace jarvis::session
