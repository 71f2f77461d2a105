#include "tools/trace/kind_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/attribution/collective_kernel.h"
#include "base/number_text.h"
#include "base/text.h"
#include "documents/frame_text.h"

namespace jarvis::tools {
namespace {

using ledger::GpuLine;
using ledger::KernelLine;

constexpr std::size_t kKernelsOfKind = 3;

struct KindRow {
  std::size_t kind;
  std::vector<const KernelLine*> kernels;  // longest first
};

std::vector<KindRow> KindsByTime(const ledger::GpuBook& book) {
  std::vector<KindRow> rows;
  for (std::size_t kind = 0; kind < ledger::kWorkKinds; ++kind) {
    if (book.kinds[kind].count > 0) rows.push_back({kind, {}});
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const KindRow& a, const KindRow& b) {
    return book.kinds[a.kind].ns > book.kinds[b.kind].ns;
  });
  for (KindRow& row : rows) {
    for (const KernelLine& kernel : book.kernels) {
      if (static_cast<std::size_t>(kernel.kind.kind) != row.kind) continue;
      row.kernels.push_back(&kernel);
      if (row.kernels.size() == kKernelsOfKind) break;
    }
  }
  return rows;
}

}  // namespace

void AddKindRows(const session::LoadedTrace& trace, const session::TraceFrames& frames,
                 const ledger::Bounds& bounds, const PhaseFilter& filter, std::uint64_t limit,
                 Answer* answer) {
  const analysis::BaseOfTime& base = frames.frames.base;
  const ledger::GpuBook& book = frames.books.gpu;
  const auto units = static_cast<double>(base.count);
  const auto ms = [&](std::int64_t ns) { return static_cast<double>(ns) / 1e6 / units; };
  const auto percent = [&](std::int64_t ns) {
    return Percent(static_cast<double>(ns), static_cast<double>(base.ns()));
  };
  answer->columns = {"row",        "kind",  "gpu_ms",   "percent", "wall_ms",
                     "exposed_ms", "count", "bound_ms", "longest"};
  std::vector<KindRow> shown;
  for (KindRow& row : KindsByTime(book)) {
    const auto text = WorkKindText(static_cast<ledger::WorkKind>(row.kind));
    if (!filter.text.empty() && !ContainsNoCase(text, filter.text)) continue;
    if (percent(book.kinds[row.kind].ns).value_or(0) >= filter.percent_min)
      shown.push_back(std::move(row));
  }
  for (std::size_t r = answer->offset; r < shown.size() && r < answer->offset + limit; ++r) {
    const GpuLine& line = book.kinds[shown[r].kind];
    std::string longest;
    for (const KernelLine* kernel : shown[r].kernels) {
      if (!longest.empty()) longest += "; ";
      longest +=
          fmt::format("{} {} ms", analysis::ShortKernelName(trace.events().text(kernel->name)),
                      ThreeDigits(ms(kernel->line.ns)));
    }
    const ledger::Bound& bound = bounds.work[shown[r].kind];
    answer->rows.push_back({fmt::format("kind{}", r + 1),
                            std::string(WorkKindText(static_cast<ledger::WorkKind>(shown[r].kind))),
                            ms(line.ns), CellOf(percent(line.ns)), ms(line.wall_ns),
                            ms(line.exposed_ns), static_cast<std::int64_t>(line.count),
                            bound.ns ? Cell(ms(*bound.ns)) : Cell(), std::move(longest)});
  }
  answer->total = shown.size();
  answer->summary =
      book.kernels.empty()
          ? "No GPU work in the base of time."
          : fmt::format("{} {} of {} kinds of work; the GPU is busy for {:.1f} % of the {}.",
                        documents::StepSentence(frames.frames), answer->rows.size(), shown.size(),
                        percent(book.busy_ns).value_or(0), base.unit_text());
  answer->notes.push_back(fmt::format(
      "by what kernels do, whoever launched them; milliseconds are of one {}, percent is of it; "
      "wall_ms adds up to the GPU's busy time, exposed_ms is time in which nothing else runs on "
      "the "
      "GPU, bound_ms the most that could be saved (empty: not assessed); count is of {} of them",
      base.unit_text(), base.count));
}

}  // namespace jarvis::tools
