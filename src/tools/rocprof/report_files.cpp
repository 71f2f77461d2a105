#include "tools/rocprof/report_files.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "io/output_folder.h"
#include "output/xlsx_writer.h"
#include "rocprof/read/capture.h"
#include "session/rocprof_report.h"

namespace jarvis::tools {
namespace {

// "perf_28ch_rank3", with what tells configs apart that a number of channels does not.
std::string BookName(const rocprof::Process& process, std::size_t number) {
  const std::string rank =
      process.rank ? fmt::format("rank{}", *process.rank) : fmt::format("process{}", number);
  if (process.config.channels) return fmt::format("perf_{}ch_{}", *process.config.channels, rank);
  return "perf_" + rank;
}

}  // namespace

Status WriteRocprofReports(const io::FilePolicy& files, const rocprof::Capture& capture,
                           const std::string& directory, bool compatible, bool overwrite, Job& job,
                           Answer* answer) {
  std::map<std::string, std::vector<const rocprof::Process*>> folders;
  for (const rocprof::Process& process : capture.processes) {
    const auto& threads = process.config.threads;
    folders[threads ? fmt::format("{}thread", *threads) : std::string()].push_back(&process);
  }
  for (const auto& [name, processes] : folders) {
    const std::string place = directory + (name.empty() ? "" : "/" + name) + "/individual_reports";
    JV_ASSIGN(const auto folder, io::OutputFolder::Open(files, place, job));
    std::vector<std::string> names;
    for (const rocprof::Process* process : processes) {
      std::string book = BookName(*process, names.size());
      // Two runs of one number: the later is told apart by its place.
      while (std::find(names.begin(), names.end(), book + ".xlsx") != names.end())
        book += fmt::format("_{}", names.size());
      names.push_back(book + ".xlsx");
    }
    JV_TRY(folder->Claim(names, overwrite));
    for (std::size_t i = 0; i < processes.size(); ++i) {
      JV_TRY(job.Check());
      const std::vector<Table> tables =
          session::RocprofReport(capture, *processes[i],
                                 compatible ? session::Compat::kTraceLens : session::Compat::kNone);
      JV_ASSIGN(const output::XlsxFile made, output::WriteXlsx(tables, *folder, names[i]));
      answer->files.push_back({made.path, "kernels of a process", made.sheets.size()});
    }
    JV_TRY(folder->Commit());
  }
  return {};
}

}  // namespace jarvis::tools
