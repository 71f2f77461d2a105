// What several documents share: names, tables, savings that overlap. Markdown throughout.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workflow/report.h"

namespace jarvis::workflow {

std::string ModelName(const Analysis& analysis);     // "Workload" if the trace does not tell
std::string PlatformName(const Analysis& analysis);  // the device's name if no platform is known

// For findings that claim kernels of an earlier one: what they add to it. Absent for the others.
// By place in analysis.findings.
std::vector<std::optional<Range>> AdditionalSavings(const Analysis& analysis);

std::string_view Icon(int priority);  // red, yellow, green circle
// "\n**Label**: text"-like lines are written by hand; this is a blank-line separated paragraph.
std::string Paragraph(std::string_view text);
// The id of the place where a finding or a category is told in detail.
std::string Anchor(std::string_view id);
std::string AnchorTag(std::string_view id);  // "<a id=...></a>" and a line end

// Members of a finding that are operations, in order.
std::vector<const Operation*> MembersOf(const Analysis& analysis, const Finding& finding);

// Where an operation is launched from, in words: code, module, or whose library it is.
std::string LauncherText(const Operation& operation);
std::string KernelText(const Operation& operation);        // first names, in backticks
std::string EfficiencyText(const Efficiency& efficiency);  // "23.40% of 5.30 TB/s"
std::string AchievedText(const Efficiency& efficiency);    // "1.20 TB/s" or "123.00 TFLOPS/s"

// Metric | Value: time, shares, efficiency, savings of one finding.
std::string NumbersTable(const Finding& finding, const std::optional<Range>& additional);
// Pattern | Evidence; empty: no patterns.
std::string PatternTable(const Finding& finding);
// Target Efficiency | Time | Saved | E2E Improvement; empty: no efficiency.
std::string ProjectionTable(const Finding& finding, const Analysis& analysis);
// What the system findings rest on: Metric | Value.
std::string EvidenceTable(const Finding& finding);
// Kernel | Calls | Time | Share: what is inside work of which nothing but its kernels is known;
// empty: more is known, or there is one kernel.
std::string InnerKernels(const Analysis& analysis, const Finding& finding);
// "- module at code" lines.
std::string CallSites(const Analysis& analysis, const Finding& finding);
// The ten columns that programs look for.
std::string DataTable(std::span<const Operation* const> operations);
// The costliest operations of a category or of all: for people.
std::string OperationsTable(std::span<const Operation* const> operations);

std::string TimeTable(const Analysis& analysis);      // Part | Time | Share
std::string CategoryTable(const Analysis& analysis);  // all categories
std::string QualityTable(const Analysis& analysis);   // empty: nothing to say
std::string HardwareTable(const ReportSources& sources);
std::string ModelTable(const Analysis& analysis);
std::string IdleTables(const Analysis& analysis);
std::string MultiKernelTables(const Analysis& analysis);
std::string FusionTables(const Analysis& analysis, std::size_t candidates_max);

// The costliest operations of the whole trace.
std::vector<const Operation*> TopOperations(const Analysis& analysis, std::size_t count);
// That there is nothing to fix, or that it cannot be told, with the reasons.
std::string NothingText(const Analysis& analysis);

}  // namespace jarvis::workflow
