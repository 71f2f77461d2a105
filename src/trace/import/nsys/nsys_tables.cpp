#include "trace/import/nsys/nsys_tables.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace jarvis::trace {
namespace {

// The number of "NAME_V3"; absent: another table.
std::optional<std::int64_t> VersionOf(std::string_view table, std::string_view name) {
  if (table == name) return 0;
  if (!table.starts_with(name) || !table.substr(name.size()).starts_with("_V")) return std::nullopt;
  const std::string_view digits = table.substr(name.size() + 2);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return ParseInt(digits);
}

}  // namespace

bool IsNsysExport(const io::SqliteFile& file) {
  if (!file.Has("StringIds")) return false;
  return std::any_of(file.tables().begin(), file.tables().end(), [](const auto& one) {
    return IsOneOf(one.first,
                   {"META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME", "ANALYSIS_FILE"}) ||
           one.first.starts_with("CUPTI_ACTIVITY_KIND_") || VersionOf(one.first, "NVTX_EVENTS");
  });
}

std::string NsysTable(const io::SqliteFile& file, std::string_view name) {
  std::string best;
  std::int64_t newest = -1;
  for (auto at = file.tables().lower_bound(std::string(name)); at != file.tables().end(); ++at) {
    if (!at->first.starts_with(name)) break;
    const auto version = VersionOf(at->first, name);
    if (version == 0) return at->first;
    if (version && *version > newest) {
      newest = *version;
      best = at->first;
    }
  }
  return best;
}

}  // namespace jarvis::trace
