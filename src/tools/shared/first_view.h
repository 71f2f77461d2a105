// What the view beside an answer shows of an analysis before the answer itself.
#pragma once

#include "findings/one/analysis.h"
#include "json/json.h"

namespace jarvis::tools {

// The first screen as the view beside an answer shows it: `title`, `run`, `base`, `parts` (`name`,
// `share`, `percent`, `look`), `fixes` (`number`, `path`, `saves`, `action`, `finding`), `trust`:
// plain lines in which code stands between backquotes. Without what people wrote.
Json FirstScreen(const findings::Analysis& analysis);

}  // namespace jarvis::tools
