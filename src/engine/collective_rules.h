// How the tables about collectives are read.
#pragma once

#include "analysis/table_rules.h"
#include "engine/report.h"

namespace jarvis::engine {

analysis::TableRules CollectiveRulesFor(Compat compat);

}  // namespace jarvis::engine
