#include "analysis/collectives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "analysis/arg_text.h"
#include "analysis/stats.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

constexpr double kBytesPerMb = 1024.0 * 1024.0;

// The columns that keep rows apart, but for the rank.
enum Key {
  kGroup,
  kRanks,
  kCollective,
  kGroupSize,
  kDtype,
  kIn,
  kOut,
  kInSplit,
  kOutSplit,
  kStream
};
constexpr std::size_t kKeys = 10;
constexpr std::array<const char*, kKeys> kKeyNames = {
    "Process Group Name", "Process Group Ranks", "Collective name", "Group size",     "dtype",
    "In msg nelems",      "Out msg nelems",      "In split size",   "Out split size", "stream"};

struct Collective {
  EventIndex kernel;
  std::array<Cell, kKeys> keys;
};

// A raw JSON value as a cell.
Cell ValueCell(std::string_view raw) {
  if (raw.empty() || raw == "null") return {};
  if (raw.front() == '"') return trace::Unescape(trace::Unquoted(raw));
  if (raw.front() == '[' || raw.front() == '{') return TupleText(raw);
  if (const auto whole = ParseInt(raw)) return *whole;
  if (const auto number = ParseDouble(raw); number && std::isfinite(*number)) return *number;
  return std::string(raw);
}

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return ParseDouble(*text);
  return std::nullopt;
}

// The collective that a communication kernel is named after.
Cell CollectiveOf(std::string_view kernel, const CollectiveRules& rules) {
  if (ContainsNoCase(kernel, "cross_device_reduce")) return std::string("allreduce");
  if (!rules.name_from_kernel) return {};
  constexpr std::array<std::pair<const char*, const char*>, 8> kNames = {{
      {"allreduce", "allreduce"},
      {"allgather", "allgather"},
      {"reducescatter", "reduce_scatter"},
      {"alltoall", "all_to_all"},
      {"broadcast", "broadcast"},
      {"sendrecv", "send_recv"},
      {"reduce_", "reduce"},
      {"reducekernel", "reduce"},
  }};
  for (const auto& [part, name] : kNames) {
    if (ContainsNoCase(kernel, part)) return std::string(name);
  }
  return {};
}

std::vector<Collective> FindCollectives(const TableInput& input) {
  std::vector<Collective> found;
  for (const KernelPlace& place : input.attribution.places) {
    const EventIndex e = place.kernel;
    if (input.events[e].kind != trace::EventKind::kKernel) continue;
    if (!IsCollectiveName(input.events.name(e))) continue;
    const trace::Args& args = input.events.args_of(e);
    Collective collective{e, {}};
    for (std::size_t key = 0; key < kStream; ++key) {
      collective.keys[key] =
          ValueCell(trace::MemberOf(input.events.text(args.other), kKeyNames[key]));
    }
    if (args.stream != trace::kAbsent) collective.keys[kStream] = args.stream;
    Cell& name = collective.keys[kCollective];
    if (name == Cell()) name = CollectiveOf(input.events.name(e), input.rules.collectives);
    found.push_back(std::move(collective));
  }
  return found;
}

void NameMissingGroups(std::vector<Collective>* found) {
  const bool none = std::all_of(found->begin(), found->end(),
                                [](const Collective& c) { return c.keys[kGroup] == Cell(); });
  std::set<Cell> streams;
  for (const Collective& collective : *found) {
    if (collective.keys[kStream] != Cell()) streams.insert(collective.keys[kStream]);
  }
  const char* name = none && streams.size() <= 1 ? "all" : "Unknown_Group";
  for (Collective& collective : *found) {
    if (collective.keys[kGroup] == Cell()) collective.keys[kGroup] = std::string(name);
  }
}

Cell MegabytesOf(const Collective& collective, Key elements, const CollectiveRules& rules) {
  const auto* dtype = std::get_if<std::string>(&collective.keys[kDtype]);
  const auto count = NumberOf(collective.keys[elements]);
  const auto bytes = dtype == nullptr ? std::nullopt : rules.element_bytes(*dtype);
  if (!count || !bytes) return {};
  return *count * static_cast<double>(*bytes) / kBytesPerMb;
}

}  // namespace

std::optional<std::int64_t> CollectiveElementBytes(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 23> kBytes = {{
      {"BFloat16", 2},
      {"Bool", 1},
      {"Byte", 1},
      {"Char", 1},
      {"ComplexDouble", 16},
      {"ComplexFloat", 8},
      {"ComplexHalf", 4},
      {"Double", 8},
      {"Float", 4},
      {"Float8_e4m3fn", 1},
      {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2", 1},
      {"Float8_e5m2fnuz", 1},
      {"Half", 2},
      {"Int", 4},
      {"Long", 8},
      {"QInt32", 4},
      {"QInt8", 1},
      {"QUInt8", 1},
      {"Short", 2},
      {"UInt16", 2},
      {"UInt32", 4},
      {"UInt64", 8},
  }};
  for (const auto& [name, bytes] : kBytes) {
    if (name == dtype) return bytes;
  }
  return std::nullopt;
}

Table CollAnalysis(const TableInput& input, std::optional<std::int64_t> rank) {
  const CollectiveRules& rules = input.rules.collectives;
  std::vector<Collective> found = FindCollectives(input);
  if (rules.name_missing_groups) NameMissingGroups(&found);
  std::map<std::array<Cell, kKeys>, std::vector<std::size_t>> groups;  // by key, as rows stand
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& keys = found[i].keys;
    if (input.rules.drop_null_keys && std::find(keys.begin(), keys.end(), Cell()) != keys.end())
      continue;
    groups[keys].push_back(i);
  }
  if (rules.rank) rank = rules.rank;
  Table table{"coll_analysis", {"rank"}, {}};
  table.columns.insert(table.columns.end(), kKeyNames.begin(), kKeyNames.end());
  table.columns.insert(table.columns.end(), {"In msg size (MB)_first", "Out msg size (MB)_first"});
  const std::size_t sum_column = table.columns.size();
  table.columns.insert(table.columns.end(),
                       {"dur_sum", "dur_mean", "dur_std", "dur_min", "dur_max", "operation_count"});
  std::vector<std::vector<Cell>> rows;
  std::vector<double> sums;
  for (const auto& [keys, members] : groups) {
    std::vector<double> durations;
    for (const std::size_t i : members)
      durations.push_back(DurationUs(input.events, found[i].kernel, input.rules.clock));
    const Moments moments = GroupMoments(durations);
    std::vector<Cell> cells = {rank ? Cell(*rank) : Cell()};
    cells.insert(cells.end(), keys.begin(), keys.end());
    cells.push_back(MegabytesOf(found[members[0]], kIn, rules));
    cells.push_back(MegabytesOf(found[members[0]], kOut, rules));
    cells.insert(cells.end(), {moments.sum, moments.mean, CellOf(moments.std), moments.min,
                               moments.max, static_cast<std::int64_t>(members.size())});
    sums.push_back(std::get<double>(cells[sum_column]));
    rows.push_back(std::move(cells));
  }
  for (const std::size_t row : input.rules.descending(sums))
    table.rows.push_back(std::move(rows[row]));
  return table;
}

}  // namespace jarvis::analysis
