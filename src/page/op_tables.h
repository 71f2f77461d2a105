// The ops of an analysis as a table that sorts and filters, and as points below their roofs.
#pragma once

#include <string>

#include "findings/one/analysis.h"
#include "page/script_text.h"
#include "page/work_tree.h"
#include "perf/platform.h"

namespace jarvis::page {

std::string OpTableHtml(const WorkTree& tree, const findings::Analysis& analysis);
// Ops with a model and enough time to matter. Empty: there are none, or no platform is known.
std::string RooflineHtml(const WorkTree& tree, const findings::Analysis& analysis,
                         const perf::Platform* platform);

}  // namespace jarvis::page
