#include "launch/driver.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "io/atomic_file.h"
#include "io/below.h"
#include "io/output_folder.h"
#include "io/text_file.h"
#include "launch/child.h"

namespace jarvis::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kLock = ".jarvis-sweep.lock";
constexpr const char* kEarlier = ".earlier_attempts";

std::tm LocalTime() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return parts;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

std::string HostName() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// What a later reader may ask of the machine; empty where there is no GPU.
std::vector<std::pair<std::string, std::string>> HostVersions() {
  std::vector<std::pair<std::string, std::string>> versions;
  for (const auto& [name, path] : {std::pair("rocm", "/opt/rocm/.info/version"),
                                   std::pair("nvidia_driver", "/proc/driver/nvidia/version")}) {
    const auto start = io::ReadStart(io::FilePolicy(), path, 4096);
    const std::string_view line =
        start ? std::string_view(*start).substr(0, start->find('\n')) : std::string_view();
    if (!line.empty()) versions.emplace_back(name, ValidUtf8(Utf8Prefix(line, 200)));
  }
  return versions;
}

Status Failed(std::string_view what, const std::string& path) {
  return Fail(ErrorCode::kIo,
              fmt::format("cannot {} \"{}\": {}", what, path, std::strerror(errno)));
}

class Driver {
 public:
  Driver(const io::FilePolicy& files, int folder, const Plan& plan, const DriveOptions& options,
         const SweepState& state, const SaveRecords& save, Job& job)
      : files_(files),
        folder_(folder),
        plan_(plan),
        options_(options),
        state_(state),
        save_(save),
        job_(job),
        host_(HostName()),
        versions_(HostVersions()) {}

  Result<Driven> Run() {
    JV_TRY(Lock());
    JV_TRY(OpenLog());
    driven_.statuses.resize(plan_.runs.size());
    for (const PlannedRun& run : plan_.runs) {
      const RunRecord* earlier = state_.Find(run.directory);
      driven_.records.push_back(earlier == nullptr ? RunRecord() : *earlier);
    }
    Say(fmt::format("=== NCCL Channel & Thread Sweep: {} runs ===", plan_.runs.size()));
    JV_TRY(save_(driven_.records));
    for (std::size_t number = 0; number < plan_.runs.size(); ++number) {
      if (job_.stopped() || driven_.gave_up) break;
      JV_TRY(One(number));
      JV_TRY(save_(driven_.records));
      if (number + 1 < plan_.runs.size() && driven_.statuses[number] != RunStatus::kSkipped)
        Pause();
    }
    driven_.interrupted = job_.stopped();
    if (options_.aggregate) JV_TRY(WriteSummary());
    Say(driven_.interrupted ? "Interrupted"
                            : fmt::format("All runs completed, {} failed", driven_.failed));
    return std::move(driven_);
  }

 private:
  // Two calls in one directory would take each other's runs for their own.
  Status Lock() {
    lock_ = FileDescriptor(
        ::openat(folder_, kLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
    if (!lock_.valid()) return Failed("write", plan_.sweep_dir + "/" + kLock);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
    return Fail(ErrorCode::kBusy,
                fmt::format("another call runs the sweep in \"{}\"", plan_.sweep_dir),
                "wait for it, or give another output_dir");
  }

  Status OpenLog() {
    stamp_ = Stamp();
    for (int again = 2; again < 100; ++again) {
      const std::string name = fmt::format("nccl_thread_sweep_{}.log", stamp_);
      log_ = FileDescriptor(::openat(folder_, name.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
      if (log_.valid()) {
        driven_.files.push_back(plan_.sweep_dir + "/" + name);
        return {};
      }
      if (errno != EEXIST) return Failed("write", plan_.sweep_dir + "/" + name);
      stamp_ = fmt::format("{}_{}", stamp_.substr(0, 15), again);
    }
    return Failed("find a name for the log in", plan_.sweep_dir);
  }

  void Say(const std::string& text) {
    const std::string line = fmt::format("[{:%Y-%m-%d %H:%M:%S}] {}\n", LocalTime(), OneLine(text));
    static_cast<void>(!::write(log_.get(), line.data(), line.size()));
  }

  Status One(std::size_t number) {
    const PlannedRun& run = plan_.runs[number];
    RunRecord& record = driven_.records[number];
    const std::string title = RunTitle(plan_, run);
    Progress(number, run);
    const FileDescriptor there = io::OpenFolderBelow(folder_, run.directory, io::Missing::kFail);
    if (options_.skip != Skip::kNone && there.valid()) {
      const Completion found =
          options_.skip == Skip::kComplete ? state_.Check(run, plan_.nproc) : Completion();
      if (found.complete || options_.skip == Skip::kExisting) {
        Say(fmt::format("Skipping {} ({})", title,
                        found.complete ? "complete" : "directory exists"));
        if (found.complete) {
          record.state = RunState::kSuccess;
          record.exit_code = 0;
          record.traces = found.traces.files;
        }
        driven_.statuses[number] = RunStatus::kSkipped;
        return {};
      }
      Say(fmt::format("Again {}: {}", title, found.why));
    }
    if (there.valid()) JV_TRY(KeepEarlier(run));
    const FileDescriptor folder = io::OpenFolderBelow(folder_, run.directory, io::Missing::kMake);
    if (!folder.valid()) return Failed("make", plan_.sweep_dir + "/" + run.directory);
    Say(fmt::format("Running {}", title));
    Say(fmt::format("Output directory: {}/{}", plan_.sweep_dir, run.directory));
    record = RunRecord();
    record.state = RunState::kRunning;
    record.started = UtcNow();
    record.host = host_;
    record.versions = versions_;
    JV_TRY(save_(driven_.records));
    JV_TRY(Execute(number, folder.get(), &record));
    return Judge(number, folder.get(), title, &record);
  }

  Status Execute(std::size_t number, int run_folder, RunRecord* record) {
    const PlannedRun& run = plan_.runs[number];
    const std::string log_path = plan_.sweep_dir + "/" + run.directory + "/run_output.log";
    const FileDescriptor log(::openat(run_folder, "run_output.log",
                                      O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    if (!log.valid()) return Failed("write", log_path);
    ChildRequest child;
    child.command = run.command;
    child.env = run.env;
    child.workdir = options_.workdir;
    child.log = log.get();
    child.timeout_s = options_.timeout_s;
    const auto began = Clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(Clock::now() - began).count();
    };
    const auto ended = RunChild(child, job_, [&] { Progress(number, run); });
    record->ended = UtcNow();
    record->duration_s = seconds();
    if (!ended) {
      record->exit_code = 127;
      record->note = ended.error().message;
      return {};
    }
    record->exit_code = ended->exit_code;
    record->timed_out = ended->timed_out;
    if (ended->cancelled) record->state = RunState::kInterrupted;
    const auto add = [&](const std::string& note) {
      record->note += (record->note.empty() ? "" : "; ") + note;
    };
    if (ended->timed_out) add(fmt::format("ended after {} s", *options_.timeout_s));
    if (ended->left_behind > 0)
      add(fmt::format("{} processes that it left behind were ended", ended->left_behind));
    if (ended->log_left_out > 0)
      add(fmt::format("{} bytes of output are not in run_output.log", ended->log_left_out));
    return {};
  }

  Status Judge(std::size_t number, int run_folder, const std::string& title, RunRecord* record) {
    const PlannedRun& run = plan_.runs[number];
    const auto seconds = static_cast<std::int64_t>(*record->duration_s);
    const bool success =
        record->exit_code == 0 && !record->timed_out && record->state != RunState::kInterrupted;
    if (success) record->state = RunState::kSuccess;
    if (record->state == RunState::kRunning) record->state = RunState::kFailed;
    driven_.statuses[number] = success ? RunStatus::kSuccess : RunStatus::kFailed;
    RunTraces traces = FindTraces(run_folder, plan_.nproc, {});
    record->traces = std::move(traces.files);
    record->missing_ranks = std::move(traces.missing);
    const std::string path = plan_.sweep_dir + "/" + run.directory;
    // What our scripts leave too, so that either goes on where the other stopped.
    const std::int64_t code = success || record->exit_code != 0 ? *record->exit_code : 1;
    JV_TRY(io::WriteFileAt(run_folder, "exit_code", fmt::format("{}\n", code), path));
    JV_TRY(io::WriteFileAt(run_folder, "duration_s", fmt::format("{}\n", seconds), path));
    if (success) {
      Say(fmt::format("[OK] Completed {} (duration: {}s)", title, seconds));
      if (!record->missing_ranks.empty()) {
        Say(fmt::format("[WARNING] {} of {} ranks left no whole trace",
                        record->missing_ranks.size(), plan_.nproc));
      }
      return {};
    }
    Say(fmt::format("[ERROR] Failed {} (exit code: {}, duration: {}s){}{}", title,
                    *record->exit_code, seconds, record->note.empty() ? "" : ": ", record->note));
    if (record->state == RunState::kInterrupted) return {};
    ++driven_.failed;
    driven_.gave_up =
        options_.max_failures && driven_.failed >= static_cast<std::size_t>(*options_.max_failures);
    if (driven_.gave_up) Say(fmt::format("Giving up after {} failed runs", driven_.failed));
    return {};
  }

  // An earlier attempt moves aside, so that its traces and the new ones are never taken for one.
  Status KeepEarlier(const PlannedRun& run) {
    const std::size_t slash = run.directory.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : run.directory.substr(0, slash);
    const std::string name =
        slash == std::string::npos ? run.directory : run.directory.substr(slash + 1);
    const FileDescriptor from = io::OpenFolderBelow(folder_, parent, io::Missing::kFail);
    const FileDescriptor to =
        io::OpenFolderBelow(folder_, fmt::format("{}/{}", kEarlier, parent), io::Missing::kMake);
    for (int number = 1; from.valid() && to.valid() && number < 10'000; ++number) {
      const std::string kept = fmt::format("{}.{}", name, number);
      if (::renameat2(from.get(), name.c_str(), to.get(), kept.c_str(), RENAME_NOREPLACE) == 0) {
        Say(fmt::format("Moved the earlier attempt to {}/{}.{}", kEarlier, run.directory, number));
        return {};
      }
      if (errno != EEXIST) break;
    }
    return Failed("move aside", plan_.sweep_dir + "/" + run.directory);
  }

  // In seconds, as nobody knows how long a run takes; every few, which keeps clients waiting.
  void Progress(std::size_t number, const PlannedRun& run) {
    constexpr std::int64_t kEvery = 5;
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began_).count();
    job_.Report(static_cast<std::uint64_t>(seconds / kEvery * kEvery), 0,
                fmt::format("run {} of {}, {}; seconds so far", number + 1, plan_.runs.size(),
                            run.directory));
  }

  void Pause() {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.pause_s);
    while (Clock::now() < end && !job_.stopped())
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  Status WriteSummary() {
    std::vector<SummaryRow> rows;
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
      SummaryRow row{driven_.statuses[i], std::nullopt};
      const bool ran = row.status == RunStatus::kSuccess || row.status == RunStatus::kFailed;
      if (ran) row.duration_s = static_cast<std::int64_t>(*driven_.records[i].duration_s);
      rows.push_back(row);
    }
    const std::string name = fmt::format("nccl_thread_sweep_summary_{}.txt", stamp_);
    Job unstoppable;
    JV_ASSIGN(const auto folder, io::OutputFolder::Open(files_, plan_.sweep_dir, unstoppable));
    JV_TRY(folder->Claim({name}, false));
    JV_ASSIGN(
        std::string path,
        folder->Write(name, SummaryText(plan_, rows,
                                        fmt::format("{:%a %b %e %H:%M:%S %Z %Y}", LocalTime()))));
    JV_TRY(folder->Commit());
    Say(fmt::format("Summary saved to: {}", path));
    driven_.files.push_back(std::move(path));
    return {};
  }

  const io::FilePolicy& files_;
  const int folder_;
  const Plan& plan_;
  const DriveOptions& options_;
  const SweepState& state_;
  const SaveRecords& save_;
  Job& job_;
  const Clock::time_point began_ = Clock::now();
  const std::string host_;
  const std::vector<std::pair<std::string, std::string>> versions_;
  std::string stamp_;
  FileDescriptor lock_;
  FileDescriptor log_;
  Driven driven_;
};

}  // namespace

Result<Driven> DriveSweep(const io::FilePolicy& files, int folder, const Plan& plan,
                          const DriveOptions& options, const SweepState& state,
                          const SaveRecords& save, Job& job) {
  return Driver(files, folder, plan, options, state, save, job).Run();
}

std::string Stamp() {
  return fmt::format("{:%Y%m%d_%H%M%S}", LocalTime());
}

}  // namespace jarvis::launch
