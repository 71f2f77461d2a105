#include "session/extension.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/model.h"
#include "session/mode.h"

namespace jarvis::session {
namespace {

// A family's table must not take the name of another table of the report.
bool IsTaken(std::string_view sheet) {
  constexpr std::string_view kTables[] = {
      "gpu_timeline",   "ops_summary", "ops_unique_args", "coll_analysis", "unified_perf_summary",
      "model_coverage", "coverage",    "kernel_summary",  "short_kernel"};
  const std::string lower = LowerAscii(sheet);
  return std::any_of(std::begin(kTables), std::end(kTables),
                     [&](std::string_view table) { return lower.starts_with(table); });
}

}  // namespace

Result<std::shared_ptr<const perf::ModelRows>> ModelsWithExtension(std::string_view file,
                                                                   std::string_view json,
                                                                   Compat compat) {
  const Mode& mode = ModeOf(compat);
  std::vector<std::pair<std::string_view, std::string_view>> overlays;
  for (const EmbeddedFile& overlay : mode.model_overlays())
    overlays.emplace_back(overlay.name, overlay.text);
  overlays.emplace_back(file, json);
  JV_ASSIGN(perf::ModelRows rows, perf::RowsWith(mode.has_models_of, overlays));
  auto shared = std::make_shared<const perf::ModelRows>(std::move(rows));
  perf::ModelSet models(*shared);
  for (const perf::ModelRow& row : shared->rows()) {
    if (row.file != file && row.changed_by != file) continue;
    if (IsTaken(row.sheet)) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{}, row {}, \"sheet\": the report has a table {} already", file,
                              row.model, row.sheet));
    }
    JV_TRY(models.Check(row));
  }
  return shared;
}

}  // namespace jarvis::session
