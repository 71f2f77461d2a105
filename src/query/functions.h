// The functions of SQL that questions may use: those whose cost a question's limits bound.
//
// SQLite asks whether to stop between steps, and one function is one step. A function that takes
// time in proportion to its arguments is bounded by the limit on a value's length; those that can
// take more than that are ours, with SQLite's results, and look at the time while they work.
#pragma once

#include <span>
#include <string_view>

#include "query/watch.h"

struct sqlite3;

namespace jarvis::query {

// Sorted. What is not listed is refused: what newer versions of SQLite add has to be looked at
// first.
std::span<const std::string_view> AllowedFunctions();
bool IsAllowedFunction(std::string_view name);

// Puts ours in place of SQLite's. `watch` must outlive `database`. Returns a code of SQLite.
int AddFunctions(sqlite3* database, const Watch* watch);

}  // namespace jarvis::query
