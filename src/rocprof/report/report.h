// The report about one process of a rocprofv3 run: its timeline and its kernels.
//
// Sheets and columns are those of reports of this kind for kernels alone: gpu_timeline,
// kernel_summary, kernel_summary_by_category, kernel_details, short_kernels_summary,
// short_kernel_histogram. Times are µs and ms as the columns say.
#pragma once

#include <string_view>
#include <vector>

#include "rocprof/read/records.h"
#include "table/table.h"

namespace jarvis::rocprof {

// What compatible mode does differently.
struct ReportRules {
  bool nanoseconds = false;       // columns hold ns where they say µs, and µs where they say ms
  bool cumulate_by_name = false;  // cumulative shares are added up before the rows are sorted
  bool tool_span = false;         // total_time is the tool's start to its end, not the GPU's
};

struct ReportOptions {
  ReportRules rules;
  double short_kernel_us = 50;  // kernels below it are short
  std::size_t histogram_bins = 100;
};

// REQUIRES: the kernels that `process` names are of `capture`.
std::vector<Table> MakeReport(const Capture& capture, const Process& process,
                              const ReportOptions& options);

// "GEMM", "Elementwise"... by words in the name, the first that is found.
std::string_view CategoryOfKernel(std::string_view kernel);

}  // namespace jarvis::rocprof
