#include "rocprof/read/rocpd_groups.h"

#include <string_view>

namespace jarvis::rocprof {
namespace {

constexpr std::string_view kBases[] = {"metadata",           "string",          "info_node",
                                       "info_process",       "info_thread",     "info_agent",
                                       "info_queue",         "info_stream",     "info_pmc",
                                       "info_code_object",   "info_category",   "track",
                                       "info_kernel_symbol", "event",           "arg",
                                       "pmc_event",          "region",          "sample",
                                       "kernel_dispatch",    "memory_copy",     "graph_launch",
                                       "event_operation",    "memory_allocate", "hip_event"};

// Nothing, or groups of hexadecimal digits joined by "_", as in a GUID.
bool IsSuffix(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  return text.empty() ||
         (text.size() <= kBytesMax &&
          text.find_first_not_of("0123456789abcdefABCDEF_") == std::string_view::npos &&
          text.find_first_of("0123456789abcdefABCDEF") != std::string_view::npos);
}

}  // namespace

std::map<std::string, RocpdGroup> RocpdGroups(const io::SqliteFile& file) {
  std::map<std::string, RocpdGroup> groups;
  for (const auto& [table, columns] : file.tables()) {
    constexpr std::string_view kPrefix = "rocpd_";
    if (!table.starts_with(kPrefix)) continue;
    const std::string_view rest = std::string_view(table).substr(kPrefix.size());
    for (const std::string_view base : kBases) {
      if (rest.starts_with(base) && IsSuffix(rest.substr(base.size())))
        groups[std::string(rest.substr(base.size()))].emplace(base, table);
    }
  }
  std::erase_if(groups, [](const auto& one) {
    const RocpdGroup& group = one.second;
    return !group.contains("string") || !(group.contains("kernel_dispatch") ||
                                          group.contains("region") || group.contains("event"));
  });
  return groups;
}

}  // namespace jarvis::rocprof
