// The CSV files of one process, of whichever version: columns are found by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "base/string_pool.h"
#include "io/byte_source.h"
#include "io/file_policy.h"
#include "rocprof/read/records.h"

namespace jarvis::rocprof {

enum class FileKind { kOther, kAgents, kCounters, kKernelTrace, kStats, kResults, kDatabase };

// By the name that rocprofv3 gives, without .gz.
FileKind KindOfName(std::string_view path);
// By the first line of a CSV file.
FileKind KindOfHeader(const std::vector<std::string>& header);

inline constexpr std::size_t kDispatchesMax = 4'000'000;  // of all files; 300 bytes each
inline constexpr std::size_t kNameBytesMax = 4096;        // of a kernel; longer ones are cut

// What one file holds. Kernels and counters are numbered by their pools; agents of dispatches are
// given by their text until the agents of the process are known.
struct FileContent {
  FileKind kind = FileKind::kOther;
  std::string path;
  StringPool kernels;
  StringPool counters;
  StringPool agent_texts;  // "Agent 4", "GPU 0", "2"
  std::vector<Agent> agents;
  std::vector<Dispatch> dispatches;  // Dispatch::agent: an id of agent_texts
  std::vector<KernelStats> stats;
  std::vector<Interval<std::int64_t>> copies;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> init_ns;
  std::optional<std::int64_t> fini_ns;
  std::string host;
  std::string command;
  std::string environment_rank;  // what a recorded RANK or LOCAL_RANK says
  std::uint64_t rows = 0;        // that became something
  std::uint64_t odd_rows = 0;    // left out: too few columns, numbers that are none
  std::uint64_t first_odd = 0;   // row of the first of them
  std::string damage;            // reading ended early; a sentence
  std::size_t dispatches_max = kDispatchesMax;
  std::string remark;  // worth saying, nothing is lost
};

// Errors: kNotATrace for a file of another kind, those of opening it, kCancelled.
// Dispatches beyond `dispatches_max` are left out, and said.
Result<FileContent> ReadCsvFile(const io::FilePolicy& files, const std::string& path,
                                std::size_t dispatches_max, Job& job);
Result<FileContent> ReadCsvSource(io::ByteSource& source, const std::string& path,
                                  std::size_t dispatches_max, Job& job);

// The product of three sizes; kUnknown: one of them is not known.
std::int64_t ProductOf(const std::array<std::int64_t, 3>& sizes);

// A kernel's name as all files have it: valid UTF-8, one line, without ".kd".
std::string KernelName(std::string_view text);

}  // namespace jarvis::rocprof
