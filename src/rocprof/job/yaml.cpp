#include "rocprof/job/yaml.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "perf/tensile_name.h"
#include "rocprof/job/counter_names.h"
#include "rocprof/job/yaml_short.h"

namespace jarvis::rocprof {
namespace {

constexpr std::size_t kKernelsMax = 10'000;
constexpr std::size_t kNameBytesMax = 8192;
constexpr std::size_t kCountersMax = 200;
// Longer expressions overflow the matcher of some versions.
constexpr std::size_t kRegexBytesWarn = 32'000;
constexpr std::string_view kGemmRegex = "(gemm|Cijk_.*)";
constexpr std::string_view kCycles = "GRBM_GUI_ACTIVE";

// Where the parameter list at the end of a demangled name begins; npos: there is none.
std::size_t ParametersOf(std::string_view name) {
  if (!name.ends_with(')')) return std::string_view::npos;
  std::size_t depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? std::string_view::npos : i;
  }
  return std::string_view::npos;
}

std::string ExactPattern(std::string_view name) {
  const std::size_t parameters = ParametersOf(name);
  if (parameters == std::string_view::npos) return EscapeRegex(name);
  return EscapeRegex(name.substr(0, parameters)) + "(?:" + EscapeRegex(name.substr(parameters)) +
         ")?";
}

std::string RegexOf(const std::vector<std::string>& names, Match match) {
  std::vector<std::string> patterns;
  for (const std::string& name : names)
    patterns.push_back(match == Match::kExact ? ExactPattern(name) : EscapeRegex(name));
  const std::string any = fmt::format("(?:{})", fmt::join(patterns, "|"));
  if (match == Match::kExact) return "^" + any + "$";
  return match == Match::kPrefix ? "^" + any : any;
}

Result<std::vector<std::string>> NamesOf(const YamlOptions& options) {
  std::set<std::string> names;
  for (const std::string& given : options.kernels) {
    std::string name = OneLine(ValidUtf8(Trim(given)));
    if (name.ends_with(".kd")) name.resize(name.size() - 3);
    if (name.size() > kNameBytesMax) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("a kernel's name is longer than {} bytes", kNameBytesMax));
    }
    if (!name.empty()) names.insert(std::move(name));
  }
  if (names.empty()) {
    return Fail(ErrorCode::kBadValue, "no kernel is named: give kernels, csv or preset");
  }
  if (names.size() > kKernelsMax) {
    return Fail(ErrorCode::kBadValue, fmt::format("more than {} kernels", kKernelsMax));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::string> RangeOf(const std::string& given) {
  const std::string_view text = Trim(given);
  if (text.empty()) return std::string();
  const bool plain = text.find_first_not_of("0123456789-,[] ") == std::string_view::npos &&
                     text.find_first_of("0123456789") != std::string_view::npos &&
                     text.size() < 200;
  if (!plain ||
      std::count(text.begin(), text.end(), '[') != std::count(text.begin(), text.end(), ']')) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("iteration_range: expected iterations such as \"5-10\" or "
                            "\"[1],[5-10]\", received \"{}\"",
                            OneLine(Utf8Prefix(text, 40))));
  }
  return text.starts_with('[') ? std::string(text) : fmt::format("[{}]", text);
}

Status CheckFormats(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (IsOneOf(format, {"csv", "json", "pftrace", "otf2", "rocpd"})) continue;
    return Fail(ErrorCode::kBadValue,
                fmt::format("output_format: \"{}\" is none of csv, json, pftrace, otf2, rocpd",
                            OneLine(Utf8Prefix(format, 40))));
  }
  return {};
}

// The counters to collect, each once and checked.
Result<std::vector<std::string>> CountersOf(const YamlOptions& options, const CounterNames& names,
                                            std::vector<std::string>* warnings) {
  std::vector<std::string> counters;
  const auto add = [&](std::string_view counter) {
    if (std::find(counters.begin(), counters.end(), counter) == counters.end())
      counters.emplace_back(counter);
  };
  if (options.match != Match::kShort) add(kCycles);
  const bool given = !options.counters.empty();
  for (const std::string_view counter :
       given ? std::vector<std::string_view>(options.counters.begin(), options.counters.end())
             : std::vector<std::string_view>(std::begin(kCuCounters), std::end(kCuCounters))) {
    const auto good = [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '[' || c == ']';
    };
    if (counter.empty() || counter.size() > 100 ||
        !std::all_of(counter.begin(), counter.end(), good)) {
      return Fail(ErrorCode::kBadValue, fmt::format("counters: \"{}\" is no name of a counter",
                                                    OneLine(ValidUtf8(Utf8Prefix(counter, 40)))));
    }
    if (names.BasicsOf(counter).empty()) {
      const std::string close = names.ClosestTo(counter);
      warnings->push_back(fmt::format("{} is not in the list of {}{}", counter, options.arch,
                                      close.empty() ? "" : "; did you mean " + close + "?"));
    }
    add(counter);
  }
  if (counters.size() > kCountersMax) {
    return Fail(ErrorCode::kBadValue, fmt::format("more than {} counters", kCountersMax));
  }
  return counters;
}

// Text in single quotes: YAML takes everything in them as it is, a quote doubled.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted.push_back('\'');
    quoted.push_back(c);
  }
  return quoted + "'";
}

std::string JobsText(const YamlFile& file, const YamlOptions& options, const std::string& range) {
  std::string text = "jobs:\n";
  for (const std::vector<std::string>& pass : file.passes) {
    text += fmt::format("  - kernel_include_regex: {}\n", Quoted(file.regex));
    if (!range.empty()) text += fmt::format("    kernel_iteration_range: {}\n", Quoted(range));
    text += fmt::format("    kernel_trace: true\n    output_format: [{}]\n",
                        fmt::join(options.formats, ", "));
    text += "    pmc:\n";
    for (const std::string& counter : pass)
      text += fmt::format("      - {}\n", counter);
  }
  return text;
}

std::string Head(const YamlFile& file, const YamlOptions& options) {
  std::string text = "# Written by jarvis for rocprofv3 -i.\n";
  if (!options.source.empty()) text += fmt::format("# Kernels from: {}\n", options.source);
  if (file.patterns > 0) text += fmt::format("# Kernels: {}\n", file.patterns);
  if (file.passes.size() > 1) {
    text += fmt::format(
        "# {} jobs: the counters do not fit in one pass, so the application runs {} "
        "times.\n",
        file.passes.size(), file.passes.size());
  }
  return text + "# Counters are collected one kernel at a time: no overlap is left to measure.\n\n";
}

std::string ListText(const std::vector<std::string>& names, const YamlOptions& options) {
  constexpr const char* kMatches[] = {"whole names", "beginnings of names", "parts of names", ""};
  std::string text = fmt::format("Kernels of the rocprofv3 configuration, matched as {}\n\n",
                                 kMatches[static_cast<std::size_t>(options.match)]);
  std::size_t number = 0;
  for (const std::string& name : names) {
    text += fmt::format("{}. {}\n", ++number, name);
    if (const auto tensile = perf::ParseTensileName(name))
      text += fmt::format("   {}\n", tensile->label());
  }
  return text;
}

// As the sweep's manual has it.
YamlFile DocumentPreset() {
  YamlFile file;
  file.regex = kGemmRegex;
  file.passes.emplace_back();
  file.yaml =
      "jobs:\n"
      "  - kernel_include_regex: \"(gemm|Cijk_.*)\"  # pattern for kernels to trace\n"
      "    kernel_trace: true                      # enable kernel tracing\n"
      "    stats: true                             # timing statistics only (not CU utilization)\n"
      "    output_format: [json, csv]              # add pftrace for a Perfetto trace\n"
      "    sys_trace: false\n"
      "    advanced_thread_trace: false            # leave false unless ATT decoder is installed\n";
  file.warnings.emplace_back("stats collects timing only: no counter is in this configuration");
  return file;
}

}  // namespace

Result<YamlFile> MakeYaml(const YamlOptions& options) {
  if (options.preset == Preset::kCuOnlyDocument) return DocumentPreset();
  JV_ASSIGN(const CounterNames counters, CounterNames::For(options.arch));
  JV_ASSIGN(const std::string range, RangeOf(options.iteration_range));
  JV_TRY(CheckFormats(options.formats));
  YamlFile file;
  JV_ASSIGN(const std::vector<std::string> wanted, CountersOf(options, counters, &file.warnings));
  file.passes = SplitIntoPasses(counters, wanted);
  if (options.preset == Preset::kCuOnly) {
    file.regex = kGemmRegex;
  } else {
    JV_ASSIGN(const std::vector<std::string> names, NamesOf(options));
    if (options.match == Match::kShort) {
      WriteShort(names, options.source, range, options.formats, &file);
    } else {
      file.regex = RegexOf(names, options.match);
      file.patterns = names.size();
      file.kernel_list = ListText(names, options);
    }
  }
  if (file.yaml.empty()) file.yaml = Head(file, options) + JobsText(file, options, range);
  if (file.passes.size() > 1) {
    file.warnings.push_back(fmt::format(
        "the counters need {} passes: the application runs {} times, and passes are joined by "
        "kernel and occurrence",
        file.passes.size(), file.passes.size()));
  }
  if (file.regex.size() > kRegexBytesWarn) {
    file.warnings.push_back(
        fmt::format("the expression has {} characters; beyond about 32000 rocprofv3 may refuse it: "
                    "name fewer kernels, or match by prefix",
                    file.regex.size()));
  }
  return file;
}

}  // namespace jarvis::rocprof
