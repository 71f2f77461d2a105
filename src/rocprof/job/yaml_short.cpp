#include "rocprof/job/yaml_short.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/text.h"

namespace jarvis::rocprof {
namespace {

std::string_view RemarkOn(std::string_view counter) {
  if (counter == "SQ_BUSY_CU_CYCLES") return "CU utilization (most important)";
  if (counter == "SQ_WAVES") return "Active waves (occupancy indicator)";
  if (counter == "SQ_WAVE_CYCLES") return "Total wave cycles";
  if (counter == "SQ_INSTS_MFMA") return "Matrix ops (GEMM-specific)";
  return {};
}

}  // namespace

std::string EscapeRegex(std::string_view text) {
  static constexpr std::string_view kSpecial = "\\.[]{}()*+?^$|";
  std::string escaped;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) escaped.push_back('\\');
    escaped.push_back(c);
  }
  return escaped;
}

std::string ShortPattern(std::string_view kernel) {
  constexpr std::string_view kVoid = "void ";
  kernel = Trim(kernel);
  if (kernel.starts_with(kVoid)) kernel.remove_prefix(kVoid.size());
  kernel = kernel.substr(0, kernel.find('<'));
  kernel = kernel.substr(0, kernel.find('('));
  const std::size_t scope = kernel.rfind("::");
  if (scope != std::string_view::npos) kernel.remove_prefix(scope + 2);
  return std::string(Trim(kernel));
}

void WriteShort(const std::vector<std::string>& names, const std::string& source,
                const std::string& range, const std::vector<std::string>& formats, YamlFile* file) {
  JV_CHECK(!file->passes.empty());
  std::map<std::string, std::vector<std::string>> originals;  // by pattern
  for (const std::string& name : names) {
    const std::string pattern = ShortPattern(name);
    if (!pattern.empty()) originals[pattern].push_back(name);
  }
  std::vector<std::string> escaped;
  for (const auto& [pattern, own] : originals)
    escaped.push_back(EscapeRegex(pattern));
  file->patterns = originals.size();
  file->regex = fmt::format("({})", fmt::join(escaped, "|"));
  file->yaml = fmt::format(
      "# Auto-generated rocprof configuration for top GEMM kernels\n"
      "# Generated from: {}\n"
      "# Number of unique kernel patterns: {}\n"
      "#\n"
      "# This configuration profiles only the specific kernels identified in the variance "
      "analysis.\n"
      "# Kernel names are matched as substrings (no anchors) to allow flexible matching.\n"
      "# Note: Kernel names are extracted using delimiters (::, <, space) for brevity.\n"
      "# Use this with rocprofv3 for targeted profiling of high-variance GEMM kernels.\n"
      "\n"
      "jobs:\n",
      source, originals.size());
  std::string quoted;
  for (const char c : file->regex)
    quoted += c == '\'' ? "''" : std::string(1, c);
  for (const std::vector<std::string>& pass : file->passes) {
    file->yaml += fmt::format("  - kernel_include_regex: '{}'\n", quoted);
    if (!range.empty()) file->yaml += fmt::format("    kernel_iteration_range: '{}'\n", range);
    file->yaml += fmt::format("    kernel_trace: true\n    output_format: [{}]\n    pmc:\n",
                              fmt::join(formats, ", "));
    for (const std::string& counter : pass) {
      const std::string_view remark = RemarkOn(counter);
      file->yaml += remark.empty() ? fmt::format("      - {}\n", counter)
                                   : fmt::format("      - {:<22}# {}\n", counter, remark);
    }
  }
  file->kernel_list = "List of kernel patterns included in rocprof configuration:\n" +
                      std::string(80, '=') +
                      "\n"
                      "Note: Kernel names are matched as substrings (no regex anchors).\n"
                      "Note: Names extracted using delimiters (::, <, (), 'void' prefix).\n"
                      "\n";
  std::size_t number = 0;
  for (const auto& [pattern, own] : originals) {
    file->kernel_list += fmt::format("{}. {}\n", ++number, pattern);
    if (own.front() != pattern) {
      file->kernel_list += fmt::format("   Original: {}\n", Utf8Characters(own.front(), 100));
    }
    if (own.size() > 1) {
      file->warnings.push_back(fmt::format(
          "{} kernels become the one pattern \"{}\", which takes every instance of the template",
          own.size(), OneLine(pattern)));
    }
  }
}

}  // namespace jarvis::rocprof
