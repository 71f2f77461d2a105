#include "query/watched_memory.h"

#include <sqlite3.h>

namespace jarvis::query {
namespace {

sqlite3_mem_methods stock_memory;
thread_local const Watch* watch_of_thread = nullptr;
thread_local unsigned requests_of_thread = 0;

bool IsRefused(int bytes) {
  constexpr int kLarge = 16 << 10;  // filling it takes longer than a look at the clock
  constexpr unsigned kBetweenLooks = 64;
  if (watch_of_thread == nullptr) return false;
  return (bytes >= kLarge || ++requests_of_thread % kBetweenLooks == 0) && watch_of_thread->Over();
}

void* Allocate(int bytes) {
  return IsRefused(bytes) ? nullptr : stock_memory.xMalloc(bytes);
}

void* Reallocate(void* at, int bytes) {
  return IsRefused(bytes) ? nullptr : stock_memory.xRealloc(at, bytes);
}

bool Install() {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &stock_memory) != SQLITE_OK) return false;
  sqlite3_mem_methods methods = stock_memory;
  methods.xMalloc = &Allocate;
  methods.xRealloc = &Reallocate;
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
}

// When the program starts: SQLite takes other functions before its first use alone, and whoever
// reads a database may be the first.
[[maybe_unused]] const bool installed = Install();

}  // namespace

WatchedMemory::WatchedMemory(const Watch& watch) {
  watch_of_thread = &watch;
}

WatchedMemory::~WatchedMemory() {
  watch_of_thread = nullptr;
}

}  // namespace jarvis::query
