// What somebody sees who looks for ten seconds: what it is, where the step's time goes, what to do
// first and what that leaves of the step, how far to trust it.
#pragma once

#include <string>

#include "documents/front.h"
#include "findings/one/analysis.h"

namespace jarvis::page {

std::string FirstScreenHtml(const findings::Analysis& analysis, const documents::Front& front);

}  // namespace jarvis::page
