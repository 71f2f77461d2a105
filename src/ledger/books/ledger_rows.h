// The ledger as rows that a person can add up: what files, tables and queries show of the books.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/books/bounds.h"
#include "table/table.h"
#include "trace/event_store.h"

namespace jarvis::ledger {

struct LedgerRow {
  std::string_view book;  // "wall", "gpu", "host"
  std::string line;       // "product", "exposed communication transfer", "idle: input", "own: ops"
  // Of the wall and the GPU the kind of work, "idle" or "unrecorded"; of the host "own", "wait" or
  // "other".
  std::string kind;
  std::int64_t ns = 0;                     // in the base
  std::optional<std::int64_t> exposed_ns;  // of GPU work: nothing else runs on the GPU
  double share_percent = 0;                // of the base
  Bound bound;                             // of the base; of wall lines
};

// What the lines are called: "product", "exposed communication transfer"; "idle: input"; the kind
// of a host line.
std::string WallLineText(WorkKind kind);
std::string WallLineText(IdleCause cause);
inline constexpr std::string_view kUnrecordedLine = "unrecorded GPU work";
std::string_view HostKindText(HostLine line);

// Wall lines first, which add up to the base; then the GPU's kinds, then the host's threads; each
// book by time. Lines without time are left out.
std::vector<LedgerRow> LedgerRows(const trace::EventStore& events, const analysis::BaseOfTime& base,
                                  const Books& books, const Bounds& bounds);

// "ledger": book, line, kind, ns, exposed_ns, share_percent, bound_ms (of one unit), basis.
Table LedgerTable(const std::vector<LedgerRow>& rows, std::int64_t count);

}  // namespace jarvis::ledger
