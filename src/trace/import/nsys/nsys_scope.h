// What the parts of the reader of an export share: its texts, whose rows are whose, what was seen.
//
// Threads: two parts may read at once, each with a connection and a writer of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "io/sqlite_file.h"
#include "trace/import/nsys/nsys_tables.h"
#include "trace/import/shared/event_writer.h"
#include "trace/import/shared/owners.h"
#include "trace/import/shared/table_reader.h"
#include "trace/import/shared/text_table.h"

namespace jarvis::trace {

// Rank and number of ranks of NCCL's largest communicator, by process.
struct NcclRank {
  std::uint64_t ranks = 0;
  std::uint64_t rank = 0;
};

struct NsysScope {
  TextTable texts;
  Owners owners;
  std::map<std::int64_t, std::string> process_names;  // by key
  std::map<std::int64_t, std::string> thread_names;   // by globalTid
  std::map<OwnerId, NcclRank> nccl_ranks;             // of the part that reads ranges

  // The key of the process that rows belong to which name none; asks once.
  std::int64_t OnlyProcess(io::SqliteFile& file);
  bool unnamed_among_several() const { return unnamed_among_several_; }

 private:
  std::mutex mutex_;
  std::optional<std::int64_t> only_;
  bool unnamed_among_several_ = false;
};

// A reader of some of the tables.
class NsysPart : public TableReader {
 public:
  NsysPart(io::SqliteFile& file, NsysScope& scope, EventWriter& writer, Job& job)
      : TableReader(file, writer, job), scope_(scope) {}

 protected:
  // By the name that the table has in most exports; see NsysTable.
  void EachRow(std::string_view table, const std::vector<std::string_view>& columns,
               std::size_t needed, const std::function<Status(io::SqliteRows&)>& row) {
    TableReader::EachRow(NsysTable(file_, table), columns, needed, row);
  }
  // Owner of rows with a globalPid or globalTid.
  OwnerId ProcessOf(std::int64_t global_id);
  // The event's correlation, unique in the recording once owners are settled.
  static std::int64_t Correlation(OwnerId process, std::int64_t id) {
    if (id == kNoCell || id == 0) return jarvis::trace::kAbsent;
    return static_cast<std::int64_t>(std::uint64_t{process} << 32 |
                                     (static_cast<std::uint64_t>(id) & 0xFFFFFFFFu));
  }
  // Of StringIds, as a name; kNoString: no such text.
  StringId NameOf(std::int64_t id);
  static std::int64_t TidOf(std::int64_t global_tid) {
    return global_tid == kNoCell ? 0 : global_tid & 0xFFFFFF;
  }

  NsysScope& scope_;

 private:
  std::vector<StringId> names_;  // by place in the texts
  std::int64_t last_key_ = kNoCell;
  OwnerId last_process_ = 0;
};

}  // namespace jarvis::trace
