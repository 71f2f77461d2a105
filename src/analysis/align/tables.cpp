#include "analysis/align/tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/align/view.h"
#include "analysis/attribution/module_paths.h"
#include "analysis/attribution/stats.h"
#include "analysis/tables/table_parts.h"
#include "base/text.h"
#include "table/py_text.h"

namespace jarvis::analysis {
namespace {

Cell TextCell(std::string text) {
  return text.empty() ? Cell() : Cell(std::move(text));
}

double ThreeDecimals(double value) {
  return ParseDouble(fmt::format("{:.3f}", value)).value_or(value);
}

std::string Joined(const std::vector<std::string>& parts, std::string_view by) {
  std::string out;
  for (const std::string& part : parts)
    out += (out.empty() ? "" : std::string(by)) + part;
  return out;
}

class StatsTable {
 public:
  StatsTable(const TraceDiff& diff, const DiffStatsOptions& options)
      : diff_(diff),
        options_(options),
        texts_{ArgumentTexts(*diff.sides[0].events), ArgumentTexts(*diff.sides[1].events)} {}

  Table Make() {
    Table table{
        "diff_stats",
        {"name", "cpu_op_name", "cpu_op_uid", "source", "Input Dims", "Input Strides", "Input type",
         "Concrete Inputs", "kernel_time", "busy_time", "lowest_common_ancestor_name",
         "lowest_common_ancestor_id", "gpu_op_uid", "nn_module_stack", "nn_module_parent"},
        {}};
    for (const DiffGroup& group : diff_.groups) {
      for (const int side : {0, 1}) {
        for (const EventIndex gpu : group.gpu[side])
          AddRow(group, side, gpu, &table);
      }
    }
    return table;
  }

 private:
  void AddRow(const DiffGroup& group, int side, EventIndex gpu, Table* table) {
    const DiffSide& from = diff_.sides[side];
    const EventStore& events = *from.events;
    const EventIndex op = from.op_of(gpu);
    if (op == kNoEvent && options_.only_with_op) return;
    const trace::Args args = op == kNoEvent ? trace::Args() : events.args_of(op);
    ArgumentTexts& texts = texts_[side];
    const double busy = group.busy_us[side];
    const bool has_lca = group.lca != kNoMerged;
    const auto [modules, added] = modules_[side].try_emplace(op);
    if (added) modules->second = DiffModules(from, op);
    // The reference shows a thread's top level as a module of that name.
    const bool root = modules->second.empty() && options_.only_with_op;
    const std::string stack = root ? "root" : Joined(modules->second, ";");
    const std::string parent = root                      ? "root"
                               : modules->second.empty() ? ""
                                                         : modules->second.back();
    table->rows.push_back(
        {std::string(events.name(gpu)),
         op == kNoEvent ? Cell() : Cell(std::string(events.name(op))),
         op == kNoEvent ? Cell() : Cell(static_cast<std::int64_t>(events[op].uid)),
         std::string(side == 0 ? "trace1" : "trace2"), texts.CellOf(texts.Of(args.dims)),
         texts.CellOf(texts.Of(args.strides)), texts.CellOf(texts.Of(args.types)),
         texts.CellOf(texts.Of(args.concrete)), DurationUs(events, gpu, diff_.clock),
         options_.rounded ? ThreeDecimals(busy) : busy,
         has_lca || !options_.only_with_op ? TextCell(diff_.LcaName(group)) : Cell(),
         has_lca ? Cell(static_cast<std::int64_t>(group.lca)) : Cell(),
         static_cast<std::int64_t>(events[gpu].uid), TextCell(stack), TextCell(parent)});
  }

  const TraceDiff& diff_;
  const DiffStatsOptions& options_;
  ArgumentTexts texts_[2];
  std::unordered_map<EventIndex, std::vector<std::string>> modules_[2];  // by op
};

std::string SortText(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return PyFloat(*number);
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return {};
}

std::size_t ColumnOf(const Table& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

struct Difference {
  double us[2] = {0, 0};
  std::int64_t kernels[2] = {0, 0};
  std::int64_t lcas = 0;
  double delta() const { return us[1] - us[0]; }

  std::string Words() const {
    return DifferenceInWords(us[0], us[1], kernels[0] > 0, kernels[1] > 0, "µs");
  }
};

}  // namespace

Table DiffStats(const TraceDiff& diff, const DiffStatsOptions& options) {
  return StatsTable(diff, options).Make();
}

bool DiffIsEmpty(const Table& diff_stats) {
  const std::size_t source = ColumnOf(diff_stats, "source");
  std::vector<std::vector<Cell>> rows[2];
  for (const std::vector<Cell>& row : diff_stats.rows) {
    std::vector<Cell> rest = row;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(source));
    rows[row[source] == Cell(std::string("trace1")) ? 0 : 1].push_back(std::move(rest));
  }
  return rows[0] == rows[1];
}

Table DiffStatsSummary(const Table& diff_stats, const std::vector<std::string>& left_out) {
  const std::size_t time = ColumnOf(diff_stats, "kernel_time");
  std::vector<std::size_t> keys;
  Table table{"diff_stats_unique_args_summary", {"name", "operation_count"}, {}};
  for (std::size_t c = 0; c < diff_stats.columns.size(); ++c) {
    const std::string& name = diff_stats.columns[c];
    if (c == time || std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
    keys.push_back(c);
    if (name != "name") table.columns.push_back(name);
  }
  table.columns.insert(table.columns.end(), {"kernel_time_mean", "kernel_time_sum"});
  struct Group {
    std::vector<Cell> key;
    std::vector<double> times;
  };
  std::map<std::vector<std::string>, Group> groups;  // in the order of ties
  for (const std::vector<Cell>& row : diff_stats.rows) {
    std::vector<std::string> texts;
    std::vector<Cell> key;
    for (const std::size_t c : keys) {
      texts.push_back(SortText(row[c]));
      key.push_back(row[c]);
    }
    Group& group = groups[std::move(texts)];
    if (group.times.empty()) group.key = std::move(key);
    group.times.push_back(std::get<double>(row[time]));
  }
  for (auto& [texts, group] : groups) {
    std::vector<Cell> row = {group.key[0], static_cast<std::int64_t>(group.times.size())};
    row.insert(row.end(), group.key.begin() + 1, group.key.end());
    const Moments moments = GroupMoments(group.times);
    row.insert(row.end(), {moments.mean, moments.sum});
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<double>(a.back()) > std::get<double>(b.back());
  });
  return table;
}

Table DiffSummary(const TraceDiff& diff) {
  std::map<std::pair<std::string, std::string>, Difference> places;
  for (const DiffGroup& group : diff.groups) {
    std::string name = FoldedName(diff.PlaceName(group));
    std::string module;
    if (group.lca != kNoMerged) {
      const MergedNode& node = diff.merged.nodes[diff.PlaceOf(group)];
      const int side = node.a != kNoDiffNode ? 0 : 1;
      const DiffIndex at = side == 0 ? node.a : node.b;
      module = Joined(DiffModules(diff.sides[side], diff.sides[side].tree.nodes[at].event), ";");
    }
    Difference& difference = places[{std::move(name), std::move(module)}];
    ++difference.lcas;
    for (const int side : {0, 1}) {
      difference.us[side] += group.busy_us[side];
      difference.kernels[side] += static_cast<std::int64_t>(group.gpu[side].size());
    }
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Difference>> sorted(places.begin(),
                                                                                 places.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::abs(a.second.delta()) > std::abs(b.second.delta());
  });
  Table table{"diff_summary",
              {"lca_name", "nn_module_stack", "lca_count", "kernels_trace1", "kernels_trace2",
               "time_trace1_us", "time_trace2_us", "delta_us (trace2 - trace1)",
               "time_ratio (trace2/trace1)", "difference"},
              {}};
  for (const auto& [place, d] : sorted) {
    table.rows.push_back({place.first, TextCell(place.second), d.lcas, d.kernels[0], d.kernels[1],
                          d.us[0], d.us[1], d.delta(),
                          d.us[0] > 0 ? Cell(d.us[1] / d.us[0]) : Cell(), d.Words()});
  }
  return table;
}

std::string MergedTreeText(const TraceDiff& diff, std::size_t lines_max) {
  constexpr std::size_t kBytesMax = std::size_t{64} << 20;
  const std::vector<MergedNode>& nodes = diff.merged.nodes;
  struct Waiting {
    std::uint32_t node;
    std::size_t depth;
    bool last;
  };
  std::vector<Waiting> waiting;
  const auto push = [&](const std::vector<std::uint32_t>& siblings, std::size_t depth) {
    for (std::size_t i = siblings.size(); i-- > 0;)
      waiting.push_back({siblings[i], depth, i + 1 == siblings.size()});
  };
  std::vector<std::uint32_t> roots;
  for (std::uint32_t n = 0; n < nodes.size(); n = nodes[n].end)
    roots.push_back(n);
  push(roots, 0);
  std::string text;
  std::vector<bool> last_at;  // by depth: is the open node there the last of its siblings?
  std::size_t lines = 0;
  while (!waiting.empty() && lines < lines_max && text.size() < kBytesMax) {
    const Waiting next = waiting.back();
    waiting.pop_back();
    last_at.resize(next.depth);
    for (const bool last : last_at)
      text += last ? "    " : "│   ";
    last_at.push_back(next.last);
    text += next.last ? "└── " : "├── ";
    const MergedNode& node = nodes[next.node];
    std::string name;
    if (node.combined()) {
      const std::string a = diff.NameOf(0, node.a);
      const std::string b = diff.NameOf(1, node.b);
      name = a == b ? a : "combined: " + a + " | " + b;
    } else {
      name = node.a != kNoDiffNode ? ">> trace1: " + diff.NameOf(0, node.a)
                                   : "<< trace2: " + diff.NameOf(1, node.b);
    }
    text += OneLine(name) + "\n";
    ++lines;
    std::vector<std::uint32_t> children;
    for (std::uint32_t n = next.node + 1; n < node.end; n = nodes[n].end)
      children.push_back(n);
    std::stable_sort(children.begin(), children.end(), [&](std::uint32_t x, std::uint32_t y) {
      const auto rank = [&](std::uint32_t n) {
        return nodes[n].combined() ? 0 : nodes[n].a != kNoDiffNode ? 1 : 2;
      };
      return rank(x) < rank(y);
    });
    push(children, next.depth + 1);
  }
  if (lines < nodes.size()) text += fmt::format("... {} more nodes\n", nodes.size() - lines);
  return text;
}

ExtraColumns LcaColumns(const TraceDiff& diff) {
  struct Known {
    std::unordered_map<EventIndex, std::uint32_t> group_of;  // by GPU event of the primary trace
    std::vector<std::int64_t> total_ns;                      // of the primary trace, by group
  };
  auto known = std::make_shared<Known>();
  for (std::uint32_t g = 0; g < diff.groups.size(); ++g) {
    std::int64_t ns = 0;
    for (const EventIndex gpu : diff.groups[g].gpu[0])
      ns += (*diff.sides[0].events)[gpu].dur_ns;
    known->total_ns.push_back(ns);
    if (diff.groups[g].lca == kNoMerged) continue;  // unlinked work has no row of its own to meet
    for (const EventIndex gpu : diff.groups[g].gpu[0])
      known->group_of[gpu] = g;
  }
  constexpr std::size_t kIdsMax = 50;  // a row of a long trace has as many LCAs as calls
  ExtraColumns columns;
  columns.names = {"time_ratio (trace2/trace1)",
                   "delta_us (trace2 - trace1)",
                   "lca_count_trace2",
                   "lca_id",
                   "lca_name",
                   "lca_total_kernel_time_trace1_us",
                   "lca_total_kernel_time_trace2_us",
                   "lca_shared"};
  columns.cells = [&diff, known](std::span<const EventIndex> kernels, double) {
    struct Part {
      std::int64_t ns = 0;
      std::size_t count = 0;
    };
    std::map<std::uint32_t, Part> parts;  // by group
    for (const EventIndex gpu : kernels) {
      const auto found = known->group_of.find(gpu);
      if (found == known->group_of.end()) continue;
      Part& part = parts[found->second];
      part.ns += (*diff.sides[0].events)[gpu].dur_ns;
      ++part.count;
    }
    if (parts.empty()) return std::vector<Cell>(8);
    std::vector<double> us[2];
    std::vector<std::string> ids;
    std::set<std::string> names;
    std::int64_t in_both = 0;
    std::int64_t shared = 0;
    for (const auto& [g, part] : parts) {
      const DiffGroup& group = diff.groups[g];
      const bool whole = part.count == group.gpu[0].size();
      double share = 1;
      if (!whole) {
        const std::int64_t total = known->total_ns[g];
        share = total > 0
                    ? static_cast<double>(part.ns) / static_cast<double>(total)
                    : static_cast<double>(part.count) / static_cast<double>(group.gpu[0].size());
      }
      for (const int side : {0, 1})
        us[side].push_back(share * group.busy_us[side]);
      in_both += group.gpu[1].empty() ? 0 : 1;
      shared += whole ? 0 : 1;
      if (ids.size() < kIdsMax) ids.push_back(std::to_string(group.lca));
      names.insert(diff.PlaceName(group));
    }
    if (parts.size() > kIdsMax) ids.push_back(fmt::format("{} more", parts.size() - kIdsMax));
    const double t1 = KahanSum(us[0]);
    const double t2 = KahanSum(us[1]);
    return std::vector<Cell>{t1 > 0 ? Cell(t2 / t1) : Cell(),
                             t2 - t1,
                             in_both,
                             Joined(ids, "; "),
                             Joined({names.begin(), names.end()}, "; "),
                             t1,
                             t2,
                             fmt::format("{} of {}", shared, parts.size())};
  };
  return columns;
}

}  // namespace jarvis::analysis
