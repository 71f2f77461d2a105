// SQL over a trace: SQLite reads the relations through virtual tables, so that nothing is copied.
//
// Read-only by construction: an authorizer lets nothing through but reading and functions, nothing
// is attached, no file is opened, no extension is loaded. Time, length of texts and memory are
// bounded. A question is data: it is never put together with another.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "query/catalogue.h"

namespace jarvis::query {

struct Limits {
  std::chrono::milliseconds time{10'000};
  std::uint64_t rows = 1'000'000;  // of the answer
};

struct Outcome {
  std::vector<std::string> columns;
  std::uint64_t rows = 0;
  bool complete = true;  // false: there are more rows than Limits::rows
};

// Called for each row; the values live until it returns.
using RowSink = std::function<void(std::span<const Value> row)>;

// One SELECT, WITH ... SELECT or EXPLAIN. Errors: kBadValue (what SQLite says, with the names that
// were probably meant), kTimeout, kCancelled, kTooLarge, kOutOfMemory.
Result<Outcome> Run(Catalogue& catalogue, const std::string& sql, const Limits& limits,
                    const RowSink& sink, const Job& job);

// All relations as a database file of SQLite, with indices where Schema() has them.
Result<std::string> Export(Catalogue& catalogue, const Job& job);

}  // namespace jarvis::query
