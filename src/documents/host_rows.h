// The figures that a finding about the host rests on, as rows of its tables.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "documents/markdown_text.h"
#include "findings/one/analysis.h"
#include "findings/one/host_cause.h"

namespace jarvis::documents {

// Where most of the idle time lies that no pace of launching explains: name, milliseconds into the
// step.
std::vector<std::pair<std::string, double>> PlaceInStep(const findings::HostCause& cause);

// How long one of several stretches or pieces is: name, milliseconds.
std::vector<std::pair<std::string, double>> StretchRows(const findings::HostCause& cause);

// Metric | Value, of the recording and, where it has several steps, of one.
void AddHostRows(const findings::Analysis& analysis, const findings::HostCause& cause,
                 MarkdownTable* table);

// Whether what it could save is the host's time, or time in which the GPU is idle.
bool OfHostTime(const findings::Analysis& analysis, const findings::Finding& finding);

}  // namespace jarvis::documents
