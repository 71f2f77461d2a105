#include "engine/extension.h"

#include <utility>
#include <vector>

#include "compat/tracelens_models.h"
#include "perf/model.h"

namespace jarvis::engine {

Result<std::shared_ptr<const perf::ModelRows>> ModelsWithExtension(std::string_view file,
                                                                   std::string_view json,
                                                                   bool compatible) {
  std::vector<std::pair<std::string_view, std::string_view>> overlays;
  if (compatible) {
    for (const EmbeddedFile& overlay : compat::OverlayFiles()) {
      overlays.emplace_back(overlay.name, overlay.text);
    }
  }
  overlays.emplace_back(file, json);
  JV_ASSIGN(perf::ModelRows rows,
            perf::RowsWith(compatible ? &compat::InTheReference : nullptr, overlays));
  auto shared = std::make_shared<const perf::ModelRows>(std::move(rows));
  perf::ModelSet models(*shared);
  for (const perf::ModelRow& row : shared->rows()) {
    if (row.file == file || row.changed_by == file) JV_TRY(models.Check(row));
  }
  return shared;
}

}  // namespace jarvis::engine
