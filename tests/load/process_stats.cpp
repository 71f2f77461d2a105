#include "load/process_stats.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace jarvis::load {
namespace {

std::size_t StatusNumber(const std::string& status, const std::string& name) {
  const std::size_t at = status.find("\n" + name + ":");
  if (at == std::string::npos) throw std::runtime_error("no " + name + " in /proc");
  return std::stoul(status.substr(at + name.size() + 2));
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

ProcessStats ReadProcessStats(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  const std::string status = ReadAll(folder + "status");
  ProcessStats stats;
  stats.rss_bytes = StatusNumber(status, "VmRSS") * 1024;
  stats.threads = StatusNumber(status, "Threads");
  const std::filesystem::directory_iterator descriptors(folder + "fd");
  stats.descriptors = static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors)));
  const std::string times = ReadAll(folder + "stat");
  std::istringstream fields(times.substr(times.rfind(')') + 2));  // the name may hold anything
  std::string skipped;
  for (int i = 0; i < 11; ++i)
    fields >> skipped;
  double user = 0;
  double kernel = 0;
  fields >> user >> kernel;
  stats.cpu_s = (user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return stats;
}

}  // namespace jarvis::load
