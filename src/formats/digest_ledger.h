// What a rank's ledger says, as a member of its digest.
#pragma once

#include "analysis/ranks/rank_ledger.h"
#include "base/result.h"
#include "json/json.h"

namespace jarvis::formats {

Json LedgerJson(const analysis::RankLedger& ledger);

// kBadValue says what is wrong and where.
Result<analysis::RankLedger> LedgerFrom(const Json& json);

}  // namespace jarvis::formats
