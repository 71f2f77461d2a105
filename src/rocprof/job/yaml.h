// The file that tells rocprofv3 what to collect (rocprofv3 -i FILE), for given kernels.
//
// rocprofv3 searches the expression in a kernel's demangled name, parameters included, without
// ".kd". Each job of the file is an execution of the application of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace jarvis::rocprof {

enum class Match {
  kExact,      // ^(?:name1|name2)$; the parameters at a name's end may be absent
  kPrefix,     // ^(?:name1|name2)
  kSubstring,  // (?:name1|name2)
  kShort,      // the reference's: names without template arguments and namespace, no anchors, its
               // own four counters unless others are given, its file byte for byte
};

enum class Preset {
  kNone,
  kCuOnly,          // matrix products by (gemm|Cijk_.*), with counters
  kCuOnlyDocument,  // the same as the sweep's manual has it: timing statistics, no counters
};

struct YamlOptions {
  std::vector<std::string> kernels;  // empty: needs a preset
  Match match = Match::kExact;
  Preset preset = Preset::kNone;
  std::vector<std::string> counters;  // empty: SQ_BUSY_CU_CYCLES and three others
  std::string arch = "gfx942";
  std::string iteration_range;                         // "5-10"; empty: all
  std::vector<std::string> formats = {"json", "csv"};  // csv, json, pftrace, otf2, rocpd
  std::string source;                                  // where the kernels come from, for the head
};

struct YamlFile {
  std::string yaml;
  std::string kernel_list;  // empty for presets
  std::string regex;
  std::size_t patterns = 0;
  std::vector<std::vector<std::string>> passes;  // counters of each job
  std::vector<std::string> warnings;
};

// GRBM_GUI_ACTIVE is added to the first job (not for kShort): without it utilisation can only be
// estimated. A counter that the architecture's list lacks is a warning, not an error.
// Errors: kBadValue.
Result<YamlFile> MakeYaml(const YamlOptions& options);

// The reference's short form of a kernel's name.
std::string ShortPattern(std::string_view kernel);

}  // namespace jarvis::rocprof
