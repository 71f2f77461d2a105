#include "rocprof/read/capture.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "io/sqlite_file.h"
#include "io/text_file.h"
#include "rocprof/read/agents.h"
#include "rocprof/read/find_files.h"
#include "rocprof/read/join_passes.h"
#include "rocprof/read/ranks.h"
#include "rocprof/read/read_results.h"
#include "rocprof/read/read_rocpd.h"

namespace jarvis::rocprof {
namespace {

// What was read of one process, before names have numbers of the whole.
struct Contents {
  std::vector<FileContent> files;
  std::vector<Warning> warnings;
  Status cancelled;
};

Warning About(const Process& process, const std::string& file, const char* code,
              std::string message) {
  return {process.config.name(), {}, file, code, std::move(message)};
}

bool IsWhole(const FileContent& content) {
  return content.damage.empty() && content.odd_rows == 0;
}

class ProcessReader {
 public:
  ProcessReader(const io::FilePolicy& files, const CaptureOptions& options,
                std::size_t dispatches_max, Job& job)
      : files_(files), options_(options), dispatches_max_(dispatches_max), job_(job) {}

  Contents Read(const ProcessFiles& of) const {
    Contents contents;
    bool agents = false;
    bool dispatches = false;
    bool whole = true;
    // A database has all of it.
    for (const auto& [kind, path] : of.files) {
      if (kind != FileKind::kDatabase || !ReadOne(of.process, kind, path, &contents)) continue;
      const FileContent& content = contents.files.back();
      if (!content.dispatches.empty() && IsWhole(content)) return contents;
    }
    if (!options_.prefer_json || !Has(of, FileKind::kResults)) {
      for (const auto& [kind, path] : of.files) {
        if (kind == FileKind::kResults || kind == FileKind::kDatabase) continue;
        if (!ReadOne(of.process, kind, path, &contents)) {
          whole = whole && kind == FileKind::kStats;
          continue;
        }
        const FileContent& content = contents.files.back();
        agents = agents || !content.agents.empty();
        dispatches = dispatches || !content.dispatches.empty();
        whole = whole && IsWhole(content);
      }
      if (agents && dispatches && whole) return contents;
    }
    // The document has what the tables lack.
    for (const auto& [kind, path] : of.files) {
      if (kind == FileKind::kResults) ReadOne(of.process, kind, path, &contents);
    }
    return contents;
  }

 private:
  static bool Has(const ProcessFiles& of, FileKind kind) {
    return std::any_of(of.files.begin(), of.files.end(),
                       [&](const auto& file) { return file.first == kind; });
  }

  Result<FileContent> ReadAs(FileKind kind, const std::string& path) const {
    if (kind == FileKind::kOther) {
      JV_ASSIGN(const std::string start, io::ReadStart(files_, path, 64));
      if (Trim(start).starts_with('{')) kind = FileKind::kResults;
      if (start.starts_with(io::kSqliteMagic)) kind = FileKind::kDatabase;
    }
    if (kind == FileKind::kDatabase) return ReadRocpdFile(files_, path, dispatches_max_, job_);
    return kind == FileKind::kResults ? ReadResultsFile(files_, path, dispatches_max_, job_)
                                      : ReadCsvFile(files_, path, dispatches_max_, job_);
  }

  bool ReadOne(const Process& process, FileKind kind, const std::string& path,
               Contents* contents) const {
    Result<FileContent> read = ReadAs(kind, path);
    if (!read && read.error().code == ErrorCode::kCancelled) {
      contents->cancelled = tl::make_unexpected(std::move(read.error()));
      return false;
    }
    if (!read) {
      // A results.csv need not be ours.
      const bool ours = kind != FileKind::kStats || read.error().code != ErrorCode::kNotATrace;
      if (ours) {
        contents->warnings.push_back(
            About(process, path, "TRACE_UNREADABLE", std::move(read.error().message)));
      }
      return false;
    }
    if (!read->damage.empty())
      contents->warnings.push_back(About(process, path, "TRACE_TRUNCATED", read->damage));
    if (read->odd_rows > 0) {
      contents->warnings.push_back(
          About(process, path, "ODD_ROWS",
                fmt::format("{} of {} rows cannot be used, the first is row {}", read->odd_rows,
                            read->odd_rows + read->rows, read->first_odd)));
    }
    contents->files.push_back(std::move(*read));
    return true;
  }

  const io::FilePolicy& files_;
  const CaptureOptions& options_;
  std::size_t dispatches_max_;
  Job& job_;
};

// Numbers names across the processes and joins the files of each.
class Assembler {
 public:
  void Add(Process process, Contents contents, Capture* capture) {
    // A file that is whole stands for what a damaged one lacks.
    const FileContent* document = nullptr;
    bool damaged = false;
    for (const FileContent& content : contents.files) {
      if (content.kind == FileKind::kResults) document = &content;
      damaged = damaged || (content.kind != FileKind::kResults && !IsWhole(content));
    }
    const bool replace = damaged && document != nullptr && IsWhole(*document);
    for (Warning& warning : contents.warnings) {
      if (replace) warning.message += "; the process's results.json is used in its place";
      capture->complete = capture->complete && replace;
      capture->warnings.push_back(std::move(warning));
    }
    for (const FileContent& content : contents.files) {
      if (!content.remark.empty())
        capture->warnings.push_back(About(process, content.path, "REMARK", content.remark));
      AddFacts(content, &process);
      if (process.agents.empty()) process.agents = content.agents;
    }
    NumberByType(&process.agents);
    for (FileContent& content : contents.files) {
      if (replace && content.kind != FileKind::kResults) continue;
      // The document's agents have handles, which its dispatches name.
      AddDispatches(content, &process, capture);
    }
    capture->processes.push_back(std::move(process));
  }

  void Finish(Capture* capture) const {
    for (StringId id = 0; id < kernels_.size(); ++id)
      capture->kernels.emplace_back(kernels_[id]);
    for (StringId id = 0; id < counters_.size(); ++id)
      capture->counters.emplace_back(counters_[id]);
  }

 private:
  static void AddFacts(const FileContent& content, Process* process) {
    process->files.push_back(content.path);
    if (content.pid && !process->pid) process->pid = content.pid;
    if (!content.command.empty()) process->command = content.command;
    if (!content.environment_rank.empty())
      process->command += " RANK=" + OneLine(content.environment_rank);
    if (process->host.empty()) process->host = content.host;
    if (content.init_ns) process->init_ns = content.init_ns;
    if (content.fini_ns) process->fini_ns = content.fini_ns;
    process->copies.insert(process->copies.end(), content.copies.begin(), content.copies.end());
    process->stats.insert(process->stats.end(), content.stats.begin(), content.stats.end());
  }

  // Dispatches of a further file of the process are found again by id, or by correlation.
  void AddDispatches(FileContent& content, Process* process, Capture* capture) {
    std::vector<std::int32_t> agents;
    std::vector<Agent> own = content.agents;  // handles are those of the same document
    NumberByType(&own);
    for (StringId id = 0; id < content.agent_texts.size(); ++id) {
      const std::string_view text = content.agent_texts[id];
      std::int32_t agent = FindAgent(process->agents, text);
      if (agent < 0) agent = Same(process->agents, own, FindAgent(own, text));
      agents.push_back(agent);
    }
    bool unknown = false;
    using Key = std::pair<std::int64_t, std::int32_t>;
    std::map<Key, std::size_t> by_id;
    std::map<Key, std::size_t> by_correlation;
    const std::size_t before = process->dispatches.size();
    for (std::size_t i = 0; i < before; ++i) {
      const Dispatch& one = process->dispatches[i];
      if (one.id != kUnknown) by_id.try_emplace({one.id, one.agent}, i);
      if (one.correlation != kUnknown) by_correlation.try_emplace({one.correlation, one.agent}, i);
    }
    for (Dispatch& dispatch : content.dispatches) {
      dispatch.agent = agents[static_cast<std::size_t>(dispatch.agent)];
      unknown = unknown || dispatch.agent < 0;
      dispatch.kernel = kernels_.Intern(content.kernels[dispatch.kernel]);
      for (CounterValue& value : dispatch.counters) {
        value.counter = counters_.Intern(content.counters[value.counter]);
        value.pass = process->pass;
      }
      const auto& by = dispatch.id != kUnknown ? by_id : by_correlation;
      const auto had =
          by.find({dispatch.id != kUnknown ? dispatch.id : dispatch.correlation, dispatch.agent});
      if (had != by.end() && process->dispatches[had->second].kernel == dispatch.kernel) {
        Complete(std::move(dispatch), &process->dispatches[had->second]);
      } else {
        process->dispatches.push_back(std::move(dispatch));
      }
    }
    if (unknown) {
      capture->warnings.push_back(About(
          *process, content.path, "AGENT_UNKNOWN",
          "no agent_info names the GPU of some dispatches: without its compute units there is "
          "no utilisation"));
    }
  }

  // The agent of `agents` that is the same piece of hardware as one of another file.
  static std::int32_t Same(const std::vector<Agent>& agents, const std::vector<Agent>& own,
                           std::int32_t found) {
    if (found < 0) return -1;
    const Agent& wanted = own[static_cast<std::size_t>(found)];
    const auto at = std::find_if(agents.begin(), agents.end(), [&](const Agent& one) {
      return one.gpu == wanted.gpu && one.type_index == wanted.type_index;
    });
    return at == agents.end() ? -1 : static_cast<std::int32_t>(at - agents.begin());
  }

  // What another file knows of the same dispatch.
  static void Complete(Dispatch from, Dispatch* to) {
    for (const auto field :
         {&Dispatch::id, &Dispatch::correlation, &Dispatch::grid, &Dispatch::workgroup,
          &Dispatch::lds, &Dispatch::scratch, &Dispatch::vgpr, &Dispatch::agpr, &Dispatch::sgpr,
          &Dispatch::stream, &Dispatch::thread}) {
      if (to->*field == kUnknown) to->*field = from.*field;
    }
    if (!to->duration_ns()) {
      to->start_ns = from.start_ns;
      to->end_ns = from.end_ns;
    }
    if (to->grid_xyz[0] == kUnknown) to->grid_xyz = from.grid_xyz;
    if (to->workgroup_xyz[0] == kUnknown) to->workgroup_xyz = from.workgroup_xyz;
    for (const CounterValue& value : from.counters) {
      if (to->Find(value.counter) == nullptr) to->counters.push_back(value);
    }
  }

  StringPool kernels_;
  StringPool counters_;
};

// Files whose reading says nothing about kernels are normal: launchers, workers that load data.
void DropIdle(Capture* capture) {
  std::erase_if(capture->processes, [](const Process& process) {
    return process.dispatches.empty() && process.stats.empty();
  });
}

}  // namespace

Result<Capture> ReadCapture(const io::FilePolicy& files, const std::string& given,
                            const CaptureOptions& options, Job& job) {
  JV_ASSIGN(FoundFiles found, FindFiles(files, given));
  std::vector<Contents> contents(found.processes.size());
  // Shared by the processes, so that what is left out does not depend on who comes first.
  const std::size_t share = kDispatchesMax / std::max<std::size_t>(found.processes.size(), 1);
  const ProcessReader reader(files, options, share, job);
  ParallelFor(found.processes.size(), options.threads,
              [&](std::size_t i) { contents[i] = reader.Read(found.processes[i]); });
  JV_TRY(job.Check());
  Capture capture;
  Assembler assembler;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    JV_TRY(contents[i].cancelled);
    assembler.Add(std::move(found.processes[i].process), std::move(contents[i]), &capture);
    contents[i] = {};
  }
  assembler.Finish(&capture);
  for (const std::string& path : found.unreadable) {
    const bool alone = std::none_of(
        capture.processes.begin(), capture.processes.end(), [&](const Process& process) {
          return path.starts_with(process.folder + "/") && !process.dispatches.empty();
        });
    if (!alone) continue;
    capture.complete = false;
    capture.warnings.push_back({"",
                                {},
                                path,
                                "TRACE_UNREADABLE",
                                "binary traces are not read: run rocprofv3 with "
                                "--output-format csv json rocpd"});
  }
  DropIdle(&capture);
  if (capture.processes.empty() && capture.complete) {
    capture.warnings.push_back({"", {}, given, "TRACE_EMPTY", "no file has a kernel"});
  }
  AssignRanks(&capture);
  JoinPasses(&capture);
  for (Warning& warning : capture.warnings) {
    for (const Process& process : capture.processes) {
      const auto& own = process.files;
      if (!warning.rank && std::find(own.begin(), own.end(), warning.file) != own.end())
        warning.rank = process.rank;
    }
  }
  return capture;
}

}  // namespace jarvis::rocprof
