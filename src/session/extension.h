// A user's performance models over ours.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "perf/model_rows.h"

namespace jarvis::session {

// The rule set's rows with those of an extension (docs/models.md) over them. Every expression of
// the extension is compiled: a mistake is refused with the file, the row, the key and what was
// expected. `compatible`: over the reference's rows.
Result<std::shared_ptr<const perf::ModelRows>> ModelsWithExtension(std::string_view file,
                                                                   std::string_view json,
                                                                   bool compatible);

}  // namespace jarvis::session
