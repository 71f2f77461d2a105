#include "tools/catalog/argument_aliases.h"

namespace jarvis::tools {
namespace {

struct FormerName {
  std::string_view tool;
  mcp::ArgumentAlias alias;
};

// A name stays here for good: scripts and saved calls of users have it.
constexpr FormerName kFormerNames[] = {
    {"compare", {"primary", "candidate"}},
    {"compare", {"comparison", "baseline"}},
    {"compare", {"comparison_platform", "baseline_platform"}},
    {"trace_diff", {"primary", "candidate"}},
    {"trace_diff", {"comparison", "baseline"}},
    {"perf_report", {"comparison", "baseline"}},
    {"perf_report", {"comparison_capture", "baseline_capture"}},
};

}  // namespace

std::vector<mcp::ArgumentAlias> ArgumentAliases(std::string_view tool) {
  std::vector<mcp::ArgumentAlias> aliases;
  for (const FormerName& former : kFormerNames) {
    if (former.tool == tool) aliases.push_back(former.alias);
  }
  return aliases;
}

}  // namespace jarvis::tools
