#include "bench/recording_floor.h"

#include <ctime>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include <sqlite3.h>

namespace jarvis::bench {
namespace {

constexpr std::string_view kDatabase = "SQLite format 3";
constexpr char kFirstMessage = '\x0A';  // field 1, of bytes

struct Message {
  const unsigned char* at;
  const unsigned char* end;
};

bool ReadNumber(Message* from, std::uint64_t* number) {
  *number = 0;
  for (int shift = 0; shift < 70 && from->at != from->end; shift += 7) {
    const std::uint64_t byte = *from->at++;
    *number |= (byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Messages lie four deep in both formats: what is below is bytes.
void Walk(Message message, int depth, std::int64_t* visited) {
  constexpr int kDepth = 3;
  while (message.at != message.end) {
    std::uint64_t tag = 0, size = 0;
    if (!ReadNumber(&message, &tag)) return;
    ++*visited;
    const auto left = static_cast<std::uint64_t>(message.end - message.at);
    switch (tag & 7) {
      case 0:
        if (!ReadNumber(&message, &size)) return;
        break;
      case 1:
      case 5:
        size = (tag & 7) == 1 ? 8 : 4;
        if (size > left) return;
        message.at += size;
        break;
      case 2: {
        if (!ReadNumber(&message, &size)) return;
        if (size > static_cast<std::uint64_t>(message.end - message.at)) return;
        // Planes, lines, events and stats; packets, events of tracks, annotations.
        const std::uint64_t field = tag >> 3;
        const bool down = depth == 0   ? field == 1
                          : depth == 1 ? field == 3 || field == 11 || field == 12
                                       : depth <= kDepth && field == 4;
        if (down) Walk({message.at, message.at + size}, depth + 1, visited);
        message.at += size;
        break;
      }
      default: return;
    }
  }
}

RecordingPass WalkFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  RecordingPass pass;
  pass.bytes = static_cast<std::int64_t>(bytes.size());
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::clock_t start = std::clock();
  Walk({data, data + bytes.size()}, 0, &pass.visited);
  pass.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return pass;
}

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// Each cell of what a query gives; texts are asked for their bytes.
template <typename Row>
void Ask(sqlite3* database, const std::string& sql, const Row& row) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &made, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(database));
  const std::unique_ptr<sqlite3_stmt, Close> statement(made);
  const int columns = sqlite3_column_count(made);
  while (sqlite3_step(made) == SQLITE_ROW)
    row(made, columns);
}

RecordingPass ScanDatabase(const std::string& path) {
  sqlite3* opened = nullptr;
  if (sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK)
    throw std::runtime_error(path + ": cannot be opened");
  const std::unique_ptr<sqlite3, Close> database(opened);
  RecordingPass pass;
  const std::clock_t start = std::clock();
  std::vector<std::string> tables;
  Ask(opened, "SELECT name FROM sqlite_master WHERE type='table'",
      [&](sqlite3_stmt* statement, int) {
        tables.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
      });
  for (const std::string& table : tables) {
    Ask(opened, "SELECT * FROM \"" + table + "\"", [&](sqlite3_stmt* statement, int columns) {
      ++pass.visited;
      for (int i = 0; i < columns; ++i) {
        pass.sum += sqlite3_column_type(statement, i) == SQLITE_INTEGER
                        ? sqlite3_column_int64(statement, i)
                        : sqlite3_column_bytes(statement, i);
      }
    });
  }
  pass.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  pass.bytes = static_cast<std::int64_t>(std::ifstream(path, std::ios::ate).tellg());
  return pass;
}

}  // namespace

bool IsRecording(std::string_view head) {
  return head.starts_with(kDatabase) || head.starts_with(kFirstMessage);
}

RecordingPass PassOver(const std::string& path) {
  std::string head(kDatabase.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kDatabase ? ScanDatabase(path) : WalkFile(path);
}

}  // namespace jarvis::bench
