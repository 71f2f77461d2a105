#include "bench/load.h"

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/byte_source.h"
#include "session/loaded_trace.h"
#include "trace/reader.h"

namespace jarvis::bench {
namespace {

struct Report {
  double read_seconds = 0;
  double total_seconds = 0;
  std::int64_t json_bytes = 0;
  std::int64_t events = 0;
  bool good = false;
};

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Report LoadHere(const std::string& path, bool read_only) {
  Report report;
  Job job;
  const auto start = std::chrono::steady_clock::now();
  if (read_only) {
    const auto bytes = io::OpenBytes(path);
    if (!bytes) return report;
    const auto trace = trace::ReadTrace(**bytes, {}, job);
    report.read_seconds = SecondsSince(start);
    report.good = trace.has_value();
    return report;
  }
  const auto loaded = session::LoadTrace(path, 0, job);
  report.total_seconds = SecondsSince(start);
  if (!loaded) return report;
  report.json_bytes = static_cast<std::int64_t>((*loaded)->events().text_bytes);
  report.events = static_cast<std::int64_t>((*loaded)->events().elements);
  report.good = true;
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
Report LoadInChild(const std::string& path, bool read_only, std::int64_t* peak_bytes) {
  FillPageCache(path);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    const Report report = LoadHere(path, read_only);
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
  for (int run = 0; run < runs; ++run) {
    std::int64_t peak = 0;
    const Report read = LoadInChild(path, true, &peak);
    const Report total = LoadInChild(path, false, &peak);
    if (run == 0 || read.read_seconds < load.read.seconds) load.read.seconds = read.read_seconds;
    if (run == 0 || total.total_seconds < load.total.seconds)
      load.total.seconds = total.total_seconds;
    load.peak_bytes = std::max(load.peak_bytes, peak);
    load.events = total.events;
    load.read.bytes = load.total.bytes = total.json_bytes;
  }
  return load;
}

}  // namespace jarvis::bench
