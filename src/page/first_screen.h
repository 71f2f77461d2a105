// What somebody sees who looks for ten seconds: what it is, where the step's time goes, what to do
// first and what that leaves of the step, how far to trust it.
#pragma once

#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "page/markdown_html.h"

namespace jarvis::page {

// `report`: the parts of the report for stakeholders.
std::string FirstScreenHtml(const findings::Analysis& analysis,
                            const std::vector<MarkdownPart>& report);

// The part of that title; null: the report has none.
const MarkdownPart* FindPart(const std::vector<MarkdownPart>& report, std::string_view title);

}  // namespace jarvis::page
