// Rows that say by a regular expression what kind of work a name stands for, or which sizes it
// gives.
//
// Errors: none; rows that cannot be read are left out, which only tests see (IsSound). Threads: any
// number may search.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "base/embedded_file.h"
#include "base/string_pool.h"
#include "ledger/kinds/literal_index.h"
#include "ledger/kinds/work_kind.h"

namespace jarvis::ledger {

class KindTable {
 public:
  // The members of a file that hold rows. Rows of sizes give no kind.
  static constexpr std::string_view kRows = "rows", kSizes = "sizes";

  explicit KindTable(std::span<const EmbeddedFile> files, std::string_view member = kRows);
  ~KindTable();
  KindTable(const KindTable&) = delete;
  KindTable& operator=(const KindTable&) = delete;

  // By the first row that matches; files by their "order", rows from top to bottom.
  KernelKind Find(std::string_view text) const;

  std::size_t size() const { return rows_.size(); }
  // The first row or file that cannot be read, and rows whose expression is none; empty if all can.
  std::string FirstFault() const;

 private:
  struct Row;
  void Read(const EmbeddedFile& file, std::string_view member, simdjson::dom::parser* parser);
  void Add(const simdjson::dom::object& members, const EmbeddedFile& file, int order,
           bool has_kind);
  void Fault(const EmbeddedFile& file, std::string_view what);

  StringPool texts_;
  std::vector<std::unique_ptr<Row>> rows_;
  LiteralIndex literals_;
  std::vector<std::vector<std::uint32_t>> rows_of_;  // by literal: rows to look at if it occurs
  std::vector<std::uint32_t> always_;                // rows without literals
  std::string fault_;
};

}  // namespace jarvis::ledger
