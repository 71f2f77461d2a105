#include "bench/load.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file_policy.h"
#include "session/loaded_trace.h"
#include "session/trace_cache.h"
#include "trace/import/trace_file.h"

namespace jarvis::bench {
namespace {

enum class What { kRead, kReadWarm, kLoad, kKeep, kReopen };

struct Report {
  double seconds = 0;
  double cpu_seconds = 0;
  std::int64_t json_bytes = 0;
  std::int64_t events = 0;
  bool good = false;
};

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of the process.
double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void Fill(const session::LoadedTrace& trace, Report* report) {
  report->json_bytes = static_cast<std::int64_t>(trace.events().text_bytes);
  report->events = static_cast<std::int64_t>(trace.events().elements);
  report->good = true;
}

Report ReadHere(const std::string& path, int threads) {
  Report report;
  Job job;
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = CpuSeconds();
  auto file = io::FilePolicy().OpenInput(path);
  if (!file) return report;
  const auto opened = trace::TraceFile::Open(std::move(*file), job);
  if (!opened) return report;
  const auto read = opened->Read({.threads = threads}, job);
  report.seconds = SecondsSince(start);
  report.cpu_seconds = CpuSeconds() - cpu_start;
  report.good = read.has_value();
  if (read) report.events = static_cast<std::int64_t>(read->trace.events.size());
  return report;
}

// The best but the first, by a process that keeps what is freed.
Report ReadWarm(const std::string& path) {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  constexpr int kReads = 5;
  Report best = ReadHere(path, 1);
  for (int i = 1; i < kReads && best.good; ++i) {
    const Report again = ReadHere(path, 1);
    if (i == 1 || again.cpu_seconds < best.cpu_seconds) best = again;
  }
  return best;
}

Report LoadHere(const std::string& path, What what, const std::string& cache_folder) {
  if (what == What::kRead) return ReadHere(path, 0);
  if (what == What::kReadWarm) return ReadWarm(path);
  Report report;
  Job job;
  const auto start = std::chrono::steady_clock::now();
  session::TraceCache cache({.folder = what == What::kLoad ? std::string() : cache_folder,
                             .bytes_max = std::uint64_t{1} << 40,
                             .text_bytes_min = 0,
                             .settled_after = std::chrono::nanoseconds(0)});
  auto file = io::FilePolicy().OpenInput(path);
  if (!file) return report;
  session::FileStamp stamp(*file);
  if (what == What::kReopen) {
    const auto known = cache.Find(*file, std::uint64_t{1} << 62, session::ShortId);
    report.seconds = SecondsSince(start);
    if (known != nullptr) Fill(*known, &report);
    return report;
  }
  const auto loaded = session::LoadTrace(std::move(*file), {}, job);
  report.seconds = SecondsSince(start);
  if (!loaded) return report;
  Fill(**loaded, &report);
  cache.Keep(*loaded, std::move(stamp));
  return report;
}

// Reads the file once, so that no load waits for the disk: the floor is measured from memory too.
void FillPageCache(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(std::size_t{1} << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size()))) {
  }
}

// In a child, so that each load finds fresh memory and the kernel counts its peak.
Report LoadInChild(const std::string& path, What what, const std::string& cache_folder,
                   std::int64_t* peak_bytes) {
  FillPageCache(path);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    const Report report = LoadHere(path, what, cache_folder);
    const ssize_t written = ::write(ends[1], &report, sizeof(report));
    ::_exit(written == sizeof(report) ? 0 : 1);
  }
  ::close(ends[1]);
  Report report;
  const ssize_t got = ::read(ends[0], &report, sizeof(report));
  ::close(ends[0]);
  rusage usage{};
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  if (got != sizeof(report) || !report.good)
    throw std::runtime_error("loading " + path + " failed");
  *peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  return report;
}

}  // namespace

Load MeasureLoad(const std::string& path, int runs) {
  Load load;
  std::string folder = (std::filesystem::temp_directory_path() / "jarvis_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for kept traces");
  const std::string cache = folder + "/cache";
  const auto best = [&](int run, double seconds, Pass* pass) {
    if (run == 0 || seconds < pass->seconds) pass->seconds = seconds;
  };
  std::int64_t ignored = 0;
  LoadInChild(path, What::kKeep, cache, &ignored);
  for (int run = 0; run < runs; ++run) {
    std::int64_t peak = 0;
    const Report read = LoadInChild(path, What::kRead, cache, &ignored);
    best(run, read.seconds, &load.read);
    if (run == 0 || read.cpu_seconds < load.read_cpu_seconds)
      load.read_cpu_seconds = read.cpu_seconds;
    best(run, LoadInChild(path, What::kReopen, cache, &ignored).seconds, &load.reopened);
    const Report total = LoadInChild(path, What::kLoad, cache, &peak);
    best(run, total.seconds, &load.total);
    load.peak_bytes = std::max(load.peak_bytes, peak);
    load.events = total.events;
    load.read.bytes = load.total.bytes = load.reopened.bytes = total.json_bytes;
  }
  std::filesystem::remove_all(folder);
  return load;
}

double WarmReadSeconds(const std::string& path) {
  std::int64_t ignored = 0;
  return LoadInChild(path, What::kReadWarm, "", &ignored).cpu_seconds;
}

}  // namespace jarvis::bench
