#include "ledger/books/ledger_rows.h"

#include <algorithm>

#include <fmt/format.h>

namespace jarvis::ledger {

std::string WallLineText(WorkKind kind) {
  const bool exposed = IsCommunication(kind) || kind == WorkKind::kHostCopy;
  return fmt::format("{}{}", exposed ? "exposed " : "", WorkKindText(kind));
}

std::string WallLineText(IdleCause cause) {
  return fmt::format("idle: {}", IdleCauseText(cause));
}

std::string_view HostKindText(HostLine line) {
  if (IsOwn(line)) return "own";
  return IsWait(line) ? "wait" : "other";
}

namespace {

class RowMaker {
 public:
  RowMaker(const trace::EventStore& events, const analysis::BaseOfTime& base, const Books& books,
           const Bounds& bounds)
      : events_(events), base_(base), books_(books), bounds_(bounds) {}

  std::vector<LedgerRow> Run() {
    for (std::size_t i = 0; i < kWorkKinds; ++i) {
      const auto kind = static_cast<WorkKind>(i);
      Add("wall", WallLineText(kind), WorkKindText(kind), books_.wall.work_ns[i], {},
          bounds_.work[i]);
    }
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      Add("wall", WallLineText(static_cast<IdleCause>(i)), "idle", books_.wall.idle_ns[i], {},
          bounds_.idle[i]);
    }
    Add("wall", std::string(kUnrecordedLine), "unrecorded", books_.wall.unrecorded_ns, {}, {});
    EndBook();
    for (std::size_t i = 0; i < kWorkKinds; ++i) {
      const GpuLine& line = books_.gpu.kinds[i];
      const std::string_view kind = WorkKindText(static_cast<WorkKind>(i));
      Add("gpu", std::string(kind), kind, line.ns, line.exposed_ns, {});
    }
    EndBook();
    for (const HostThreadBook& thread : books_.host.threads) {
      for (std::size_t i = 0; i < kHostLines; ++i) {
        const auto line = static_cast<HostLine>(i);
        Add("host",
            fmt::format("{} (thread {})", HostLineText(line), events_.tracks[thread.track].tid),
            HostKindText(line), thread.ns[i], {}, {});
      }
    }
    EndBook();
    return std::move(rows_);
  }

 private:
  void Add(std::string_view book, std::string line, std::string_view kind, std::int64_t ns,
           std::optional<std::int64_t> exposed_ns, const Bound& bound) {
    if (ns <= 0) return;
    const double share =
        base_.ns() > 0 ? static_cast<double>(ns) / static_cast<double>(base_.ns()) * 100 : 0;
    rows_.push_back({book, std::move(line), std::string(kind), ns, exposed_ns, share, bound});
  }
  void EndBook() {
    std::stable_sort(rows_.begin() + static_cast<std::ptrdiff_t>(begin_), rows_.end(),
                     [](const LedgerRow& a, const LedgerRow& b) {
                       return a.ns != b.ns ? a.ns > b.ns : a.line < b.line;
                     });
    begin_ = rows_.size();
  }

  const trace::EventStore& events_;
  const analysis::BaseOfTime& base_;
  const Books& books_;
  const Bounds& bounds_;
  std::vector<LedgerRow> rows_;
  std::size_t begin_ = 0;  // of the book at hand
};

}  // namespace

std::vector<LedgerRow> LedgerRows(const trace::EventStore& events, const analysis::BaseOfTime& base,
                                  const Books& books, const Bounds& bounds) {
  return RowMaker(events, base, books, bounds).Run();
}

Table LedgerTable(const std::vector<LedgerRow>& rows, std::int64_t count) {
  Table table{"ledger",
              {"book", "line", "kind", "ns", "exposed_ns", "share_percent", "bound_ms", "basis"},
              {}};
  for (const LedgerRow& row : rows) {
    table.rows.push_back({std::string(row.book), row.line, row.kind, row.ns,
                          row.exposed_ns ? Cell(*row.exposed_ns) : Cell(), row.share_percent,
                          row.bound.ns ? Cell(static_cast<double>(*row.bound.ns) / 1e6 /
                                              static_cast<double>(std::max<std::int64_t>(1, count)))
                                       : Cell(),
                          row.bound.basis.empty() ? Cell() : Cell(row.bound.basis)});
  }
  return table;
}

}  // namespace jarvis::ledger
