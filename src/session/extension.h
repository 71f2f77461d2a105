// A user's performance models over ours.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "perf/model_rows.h"
#include "session/report.h"

namespace jarvis::session {

// The rule set's rows with those of an extension (docs/models.md) over them. Every expression of
// the extension is compiled: a mistake is refused with the file, the row, the key and what was
// expected.
Result<std::shared_ptr<const perf::ModelRows>> ModelsWithExtension(std::string_view file,
                                                                   std::string_view json,
                                                                   Compat compat);

}  // namespace jarvis::session
