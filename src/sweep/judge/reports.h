// The reports of a sweep: a workbook per rank, one of collectives per configuration, and the ranks
// of configurations that differ in the first axis alone side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/job.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

struct Book {
  std::string name;  // below the output: "256thread/individual_reports/perf_28ch_rank0.xlsx"
  std::span<const Table> tables;
};

struct Reports {
  std::vector<Book> books;
  // individual_<sheet>, collective_<sheet>, comparison_<sheet>: the same as one table per sheet,
  // with the axes and the rank as first columns. Sheets that the sweep's other tables are made
  // from.
  std::vector<Table> stacked;
  std::vector<std::vector<Table>> compared;                     // what books of comparisons hold
  std::size_t individual = 0, collective = 0, comparisons = 0;  // books
};

// `facts` must outlive the result. Names of directories come from the sweep's own.
Result<Reports> MakeReports(const SweepFacts& facts, bool comparisons, Job& job);

}  // namespace jarvis::sweep
