#include "launch/yaml_check.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::launch {
namespace {

// Counters of one block that one pass can hold on CDNA; a job that needs more fails.
constexpr std::size_t kSqCountersMax = 8;

struct YamlJob {
  std::set<std::string, std::less<>> sq_counters;
  std::string formats;  // the words of output_format
};

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = std::string_view::npos;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    const bool part =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (part && begin == std::string_view::npos) begin = i;
    if (part || begin == std::string_view::npos) continue;
    words.push_back(line.substr(begin, i - begin));
    begin = std::string_view::npos;
  }
  return words;
}

// A job begins with the items of the list below "jobs:", which have the least indentation.
std::vector<YamlJob> JobsOf(std::string_view text) {
  std::vector<YamlJob> jobs;
  std::size_t indent = std::string_view::npos;
  bool in_formats = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find(" #"));
    const std::string_view content = Trim(line);
    if (content.empty() || content.starts_with('#')) continue;
    const std::size_t at = line.find_first_not_of(' ');
    if (content.starts_with("- ") && (indent == std::string_view::npos || at <= indent)) {
      indent = at;
      jobs.emplace_back();
    }
    if (jobs.empty()) continue;
    const bool item = content.starts_with("- ") && content.find(':') == std::string_view::npos;
    if (!item) in_formats = content.find("output_format:") != std::string_view::npos;
    for (const std::string_view word : WordsOf(content)) {
      if (word.starts_with("SQ_")) jobs.back().sq_counters.emplace(word);
      if (in_formats && word != "output_format") jobs.back().formats += fmt::format(" {}", word);
    }
  }
  return jobs;
}

}  // namespace

std::vector<std::string> DoubtsAboutRocprofYaml(std::string_view text) {
  std::vector<std::string> doubts;
  const std::vector<YamlJob> jobs = JobsOf(text);
  if (jobs.empty()) doubts.emplace_back("rocprof_input has no jobs");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const YamlJob& job = jobs[i];
    if (job.sq_counters.size() > kSqCountersMax) {
      doubts.push_back(fmt::format(
          "job {} of rocprof_input asks for {} SQ counters; a pass has {} on CDNA and the job "
          "fails: split it",
          i + 1, job.sq_counters.size(), kSqCountersMax));
    }
    if (job.formats == " csv") {
      doubts.push_back(fmt::format(
          "job {} of rocprof_input writes csv alone; tools that read *_results.json need json too",
          i + 1));
    }
    if (job.formats.find("perfetto") != std::string::npos) {
      doubts.push_back(fmt::format(
          "job {} of rocprof_input: perfetto is no format of today's rocprofv3; it is pftrace",
          i + 1));
    }
  }
  return doubts;
}

}  // namespace jarvis::launch
