// How the tables about collectives are read.
#pragma once

#include "analysis/attribution/table_rules.h"
#include "session/report.h"

namespace jarvis::session {

analysis::TableRules CollectiveRulesFor(Compat compat);

}  // namespace jarvis::session
