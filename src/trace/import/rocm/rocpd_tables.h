// What all tables of a rocpd database point to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/column.h"
#include "base/string_pool.h"
#include "io/sqlite_file.h"
#include "trace/import/rocm/rocm_events.h"
#include "trace/import/shared/text_table.h"

namespace jarvis::trace {

// rocpd_event, by id.
class RocpdEvents {
 public:
  struct Row {
    std::int64_t stack = kNoCell;
    std::int64_t parent = kNoCell;
    RocmWord word = RocmWord::kOther;
  };

  // A sentence where its reading ended early; else empty.
  std::string Read(io::SqliteFile& file, const std::string& table, const TextTable& categories);
  Row At(std::int64_t id) const;
  // What a range is called; empty: nothing else than its region.
  std::string_view MessageOf(std::int64_t id) const;
  bool has_hsa() const { return has_hsa_; }
  bool has_rccl() const { return has_rccl_; }
  // The ids of calls of HIP.
  void TellCalls(RocmCalls* calls) const;
  // From the calls below those of HIP up: what leads from `wanted` to one.
  void TellParents(std::vector<std::int64_t> wanted, RocmCalls* calls) const;
  std::uint64_t odd_cells() const { return odd_cells_; }

 private:
  template <typename Each>
  void EachRow(const Each& each) const;
  void Put(std::int64_t id, const Row& row);

  // Ids begin at 1 and leave nothing out. A row that does not fit lies among the sparse ones.
  struct Packed {
    std::uint32_t stack;
    std::uint32_t parent;
  };
  Column<Packed> dense_;
  Column<RocmWord> words_;
  std::unordered_map<std::int64_t, Row> sparse_;
  StringPool messages_;
  std::unordered_map<std::int64_t, StringId> message_of_;
  bool has_hsa_ = false;
  bool has_rccl_ = false;
  std::uint64_t odd_cells_ = 0;
};

}  // namespace jarvis::trace
