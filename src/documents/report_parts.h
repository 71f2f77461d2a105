// What several documents share: names, tables, savings that overlap. Markdown throughout.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/report.h"

namespace jarvis::documents {

std::string ModelName(const findings::Analysis& analysis);  // "Workload" if the trace does not tell
// What the trace is of in one line, as a paragraph; empty if nothing is known.
std::string WorkloadParagraph(const findings::Analysis& analysis);
std::string PlatformName(
    const findings::Analysis& analysis);  // the device's name if no platform is known

// Red, yellow or green circle of the finding at that place; what saves next to nothing is green.
std::string_view Icon(const findings::Finding& finding, int number);
// The id of the place where a finding or a category is told in detail.
std::string Anchor(std::string_view id);
std::string AnchorTag(std::string_view id);  // "<a id=...></a>" and a line end

// Members of a finding that are operations, in order.
std::vector<const findings::Operation*> MembersOf(const findings::Analysis& analysis,
                                                  const findings::Finding& finding);

// Where an operation is launched from, in words: code, module, or whose library it is.
std::string LauncherText(const findings::Operation& operation);
std::string KernelText(const findings::Operation& operation);  // first names, in backticks
std::string EfficiencyText(const findings::Operation& op);     // "23.40% of 5.30 TB/s"
std::string AchievedText(
    const findings::Efficiency& efficiency);  // "1.20 TB/s" or "123.00 TFLOPS/s"

// Metric | Value: time, shares, efficiency, savings of one finding.
std::string NumbersTable(const findings::Analysis& analysis, const findings::Finding& finding,
                         const std::optional<findings::Range>& additional);
// Pattern | Evidence; empty: no patterns.
std::string PatternTable(const findings::Finding& finding);
// Target Efficiency | Time | Saved | E2E Improvement; empty: no efficiency.
std::string ProjectionTable(const findings::Finding& finding, const findings::Analysis& analysis);
// What the system findings rest on: Metric | Value.
std::string EvidenceTable(const findings::Finding& finding);
// Kernel | Calls | Time | Share: what is inside work of which nothing but its kernels is known;
// empty: more is known, or there is one kernel.
std::string InnerKernels(const findings::Analysis& analysis, const findings::Finding& finding);
// "- module at code" lines.
std::string CallSites(const findings::Analysis& analysis, const findings::Finding& finding);
// The ten columns that programs look for.
std::string DataTable(std::span<const findings::Operation* const> operations);
// The costliest operations of a category or of all: for people.
std::string OperationsTable(const findings::Analysis& analysis,
                            std::span<const findings::Operation* const> operations);
// One row: what a finding takes, reaches and saves of one step.
std::string FiguresTable(const findings::Analysis& analysis, const findings::Finding& finding);
// Host time, idle time and what of it nothing is recorded, of one step; empty: it is about the GPU.
std::string HostTable(const findings::Analysis& analysis, const findings::Finding& finding);
// What a finding about the host rests on: where its time is; empty: it is about the GPU.
std::string PlacesTable(const findings::Analysis& analysis, const findings::Finding& finding);

std::string TimeTable(const findings::Analysis& analysis);  // Part | Time | Share
// Wall time and how well its replay holds; empty: nothing is known of it.
std::string WallTable(const findings::Analysis& analysis);

// The costliest operations of the whole trace.
std::vector<const findings::Operation*> TopOperations(const findings::Analysis& analysis,
                                                      std::size_t count);
// That there is nothing to fix, or that it cannot be told, with the reasons.
std::string NothingText(const findings::Analysis& analysis);

}  // namespace jarvis::documents
