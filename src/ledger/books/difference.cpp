#include "ledger/books/difference.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "ledger/books/ledger_rows.h"
#include "ledger/kinds/kernel_name.h"

namespace jarvis::ledger {
namespace {

// One unit of each of these: whole numbers that add up to one unit of their sum.
std::vector<std::int64_t> OneUnitOf(const std::vector<std::int64_t>& all, std::int64_t count) {
  std::vector<std::int64_t> each(all.size());
  std::vector<std::int64_t> left(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    left[i] = (all[i] % count + count) % count;
    each[i] = (all[i] - left[i]) / count;
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return left[a] > left[b]; });
  const std::int64_t more = std::accumulate(left.begin(), left.end(), std::int64_t{0}) / count;
  for (std::int64_t i = 0; i < more; ++i)
    ++each[order[static_cast<std::size_t>(i)]];
  return each;
}

// The name of a kernel whatever number its compiler gave it.
std::string KernelKey(std::string_view name) {
  std::string key = NormalisedKernelName(name);
  if (!key.starts_with("triton_")) return key;
  const std::size_t end = key.find_last_not_of("0123456789");
  if (end != std::string::npos && end > 0 && end + 1 < key.size() && key[end] == '_')
    key.resize(end);
  return key;
}

class Subtractor {
 public:
  Subtractor(const LedgerSide& candidate, const LedgerSide& baseline)
      : sides_{&candidate, &baseline} {}

  LedgerDifference Run() {
    for (int side = 0; side < 2; ++side) {
      const analysis::BaseOfTime& base = sides_[side]->base;
      out_.unit[side] = base.unit;
      // The other side may have no such groups: both are held against each other step by step.
      out_.count[side] = base.parts();
      out_.unit_ns[side] = base.part_ns();
    }
    Wall();
    Kernels();
    Host();
    return std::move(out_);
  }

 private:
  // What both sides have of each of these lines.
  template <typename AllOf>
  void FillNs(const AllOf& all_of, std::int64_t (DifferenceLine::*ns)[2],
              std::vector<DifferenceLine>* lines) {
    for (int side = 0; side < 2; ++side) {
      const std::vector<std::int64_t> each =
          OneUnitOf(all_of(sides_[side]->books), out_.count[side]);
      for (std::size_t i = 0; i < lines->size(); ++i)
        ((*lines)[i].*ns)[side] = each[i];
    }
  }

  double EachCalls(int side, std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(out_.count[side]);
  }

  static void Sort(std::vector<DifferenceLine>* lines) {
    std::erase_if(*lines, [](const DifferenceLine& line) {
      return line.ns[0] == 0 && line.ns[1] == 0 && line.gpu_ns[0] == 0 && line.gpu_ns[1] == 0 &&
             line.calls[0] == 0 && line.calls[1] == 0;
    });
    std::stable_sort(lines->begin(), lines->end(),
                     [](const DifferenceLine& a, const DifferenceLine& b) {
                       const std::int64_t x = std::abs(a.delta_ns());
                       const std::int64_t y = std::abs(b.delta_ns());
                       return x != y ? x > y : std::tie(a.line, a.kind) < std::tie(b.line, b.kind);
                     });
  }

  void Wall() {
    std::vector<DifferenceLine> lines(kWorkKinds + kIdleCauses + 1);
    for (DifferenceLine& line : lines)
      line.book = "wall";
    for (std::size_t i = 0; i < kWorkKinds; ++i) {
      const auto kind = static_cast<WorkKind>(i);
      lines[i].line = WallLineText(kind);
      lines[i].kind = WorkKindText(kind);
      lines[i].work = kind;
      for (int side = 0; side < 2; ++side)
        lines[i].calls[side] = EachCalls(side, sides_[side]->books.gpu.kinds[i].count);
    }
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      DifferenceLine& line = lines[kWorkKinds + i];
      line.line = WallLineText(static_cast<IdleCause>(i));
      line.kind = "idle";
      line.idle = static_cast<IdleCause>(i);
    }
    lines.back().line = kUnrecordedLine;
    lines.back().kind = "unrecorded";
    FillNs(
        [](const Books& books) {
          std::vector<std::int64_t> all(books.wall.work_ns.begin(), books.wall.work_ns.end());
          all.insert(all.end(), books.wall.idle_ns.begin(), books.wall.idle_ns.end());
          all.push_back(books.wall.unrecorded_ns);
          return all;
        },
        &DifferenceLine::ns, &lines);
    const auto of_kinds = [&](std::int64_t GpuLine::*ns, std::size_t size) {
      return [ns, size](const Books& books) {
        std::vector<std::int64_t> all(size);
        for (std::size_t i = 0; i < kWorkKinds; ++i)
          all[i] = books.gpu.kinds[i].*ns;
        return all;
      };
    };
    FillNs(of_kinds(&GpuLine::ns, lines.size()), &DifferenceLine::gpu_ns, &lines);
    FillNs(of_kinds(&GpuLine::exposed_ns, lines.size()), &DifferenceLine::exposed_ns, &lines);
    Sort(&lines);
    out_.wall = std::move(lines);
  }

  // Of all kernels that one line stands for.
  struct KernelSum {
    std::string name;
    bool one_name = true;
    GpuLine sides[2];
  };

  void Kernels() {
    std::map<std::pair<std::string, WorkKind>, KernelSum> sums;
    for (int side = 0; side < 2; ++side) {
      for (const KernelLine& kernel : sides_[side]->books.gpu.kernels) {
        const std::string_view name = sides_[side]->events.strings[kernel.name];
        KernelSum& sum = sums[{KernelKey(name), kernel.kind.kind}];
        sum.one_name = sum.one_name && (sum.name.empty() || sum.name == name);
        sum.name = name;
        sum.sides[side].ns += kernel.line.ns;
        sum.sides[side].exposed_ns += kernel.line.exposed_ns;
        sum.sides[side].count += kernel.line.count;
      }
    }
    std::vector<DifferenceLine> lines;
    for (const auto& [key, sum] : sums) {
      DifferenceLine line;
      line.book = "gpu";
      line.line = sum.one_name && !key.first.starts_with("triton_") ? sum.name : key.first;
      line.work = key.second;
      line.kind = WorkKindText(key.second);
      for (int side = 0; side < 2; ++side)
        line.calls[side] = EachCalls(side, sum.sides[side].count);
      lines.push_back(std::move(line));
    }
    for (const auto& [from, to] : {std::pair(&GpuLine::ns, &DifferenceLine::ns),
                                   std::pair(&GpuLine::exposed_ns, &DifferenceLine::exposed_ns)}) {
      for (int side = 0; side < 2; ++side) {
        std::vector<std::int64_t> all;
        for (const auto& [key, sum] : sums)
          all.push_back(sum.sides[side].*from);
        const std::vector<std::int64_t> each = OneUnitOf(all, out_.count[side]);
        for (std::size_t i = 0; i < lines.size(); ++i)
          (lines[i].*to)[side] = each[i];
      }
    }
    Sort(&lines);
    out_.kernels = std::move(lines);
  }

  void Host() {
    std::vector<DifferenceLine> lines(kHostLines);
    for (std::size_t i = 0; i < kHostLines; ++i) {
      lines[i].book = "host";
      lines[i].line = HostLineText(static_cast<HostLine>(i));
      lines[i].kind = HostKindText(static_cast<HostLine>(i));
    }
    FillNs(
        [](const Books& books) {
          std::vector<std::int64_t> all(kHostLines);
          for (const HostThreadBook& thread : books.host.threads) {
            for (std::size_t i = 0; i < kHostLines; ++i)
              all[i] += thread.ns[i];
          }
          return all;
        },
        &DifferenceLine::ns, &lines);
    Sort(&lines);
    out_.host = std::move(lines);
  }

  const LedgerSide* sides_[2];
  LedgerDifference out_;
};

Cell MsCell(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

}  // namespace

LedgerDifference DifferenceOf(const LedgerSide& candidate, const LedgerSide& baseline) {
  return Subtractor(candidate, baseline).Run();
}

Table DifferenceTable(const LedgerDifference& difference) {
  Table table{"ledger",
              {"book", "line", "kind", "candidate_ms", "baseline_ms", "delta_ms",
               "candidate_gpu_ms", "baseline_gpu_ms", "candidate_exposed_ms", "baseline_exposed_ms",
               "candidate_calls", "baseline_calls"},
              {}};
  const auto add = [&](const DifferenceLine& line) {
    std::vector<Cell> row = {std::string(line.book), line.line,          line.kind,
                             MsCell(line.ns[0]),     MsCell(line.ns[1]), MsCell(line.delta_ns())};
    row.resize(table.columns.size());
    if (line.work) {
      for (int side = 0; side < 2; ++side) {
        const auto at = static_cast<std::size_t>(side);
        if (line.book == "wall") row[6 + at] = MsCell(line.gpu_ns[side]);
        row[8 + at] = MsCell(line.exposed_ns[side]);
        row[10 + at] = line.calls[side];
      }
    }
    table.rows.push_back(std::move(row));
  };
  DifferenceLine unit;
  unit.book = "unit";
  unit.line = analysis::TimeUnitText(difference.unit[0]);
  unit.kind = analysis::TimeUnitText(difference.unit[1]);
  for (int side = 0; side < 2; ++side)
    unit.ns[side] = difference.unit_ns[side];
  if (unit.kind == unit.line) unit.kind.clear();
  add(unit);
  for (const auto* lines : {&difference.wall, &difference.kernels, &difference.host}) {
    for (const DifferenceLine& line : *lines)
      add(line);
  }
  return table;
}

}  // namespace jarvis::ledger
