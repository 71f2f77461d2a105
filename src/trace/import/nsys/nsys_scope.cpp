#include "trace/import/nsys/nsys_scope.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace jarvis::trace {

std::int64_t NsysScope::OnlyProcess(io::SqliteFile& file) {
  const std::lock_guard lock(mutex_);
  if (only_) return *only_;
  std::set<std::int64_t> told;
  const auto look = [&](std::string_view name, std::string_view column) {
    const std::string table = NsysTable(file, name);
    io::SqliteRows rows = file.Read(table, {column, "start", "end"});
    const bool ranges = name == "NVTX_EVENTS";
    while (rows.Next() && told.size() < 2) {
      const std::int64_t id = rows.Int(0);
      const std::int64_t start = rows.Time(1);
      const std::int64_t end = rows.Time(2);
      const bool timed = start != kNoCell && (end != kNoCell || ranges) && (start != 0 || end != 0);
      if (timed && id != kNoCell) told.insert(id >> 24);
    }
  };
  for (const char* table : {"KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"})
    look(fmt::format("CUPTI_ACTIVITY_KIND_{}", table), "globalPid");
  look("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid");
  look("NVTX_EVENTS", "globalTid");
  unnamed_among_several_ = told.size() > 1;
  only_ = told.size() == 1 ? *told.begin() : 0;
  return *only_;
}

OwnerId NsysPart::ProcessOf(std::int64_t global_id) {
  const std::int64_t key = global_id == kNoCell ? scope_.OnlyProcess(file_) : global_id >> 24;
  if (key == last_key_) return last_process_;
  last_key_ = key;
  last_process_ = scope_.owners.ProcessOf(key, key & 0xFFFFFF);
  return last_process_;
}

StringId NsysPart::NameOf(std::int64_t id) {
  if (id == kNoCell) return kNoString;
  const StringId place = scope_.texts.PlaceOf(id);
  if (place == kNoString) return kNoString;
  if (names_.empty()) names_.resize(scope_.texts.size(), kNoString);
  StringId& name = names_[place];
  if (name == kNoString) name = writer_.Name(scope_.texts[place]);
  return name;
}

}  // namespace jarvis::trace
