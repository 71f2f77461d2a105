#include "support/analyzed.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <unistd.h>

namespace jarvis::testing {

const findings::Operation& Analyzed::First(std::string_view category) const {
  const findings::CategoryAnalysis* found = analysis.FindCategory(category);
  REQUIRE(found != nullptr);
  REQUIRE(!found->operations.empty());
  return found->operations.front();
}

bool Analyzed::Has(const findings::Operation& operation, findings::Pattern pattern) const {
  return std::any_of(operation.patterns.begin(), operation.patterns.end(),
                     [&](const findings::PatternHit& hit) { return hit.pattern == pattern; });
}

const findings::Finding* Analyzed::Find(std::string_view category, std::string_view subject) const {
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.category == category && finding.subject == subject) return &finding;
  }
  return nullptr;
}

const findings::Finding* Analyzed::FindRule(findings::Pattern rule) const {
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

const findings::Quality* Analyzed::Quality(std::string_view code) const {
  for (const findings::Quality& one : analysis.quality) {
    if (one.code == code) return &one;
  }
  return nullptr;
}

const findings::GapGroup* Analyzed::Gap(std::string_view name) const {
  for (const findings::GapGroup& group : analysis.idle.by_class) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

Analyzed Analyze(const TraceText& text, std::string_view platform, std::string_view members) {
  static int number = 0;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("workflow_test." + std::to_string(getpid()) + "." + std::to_string(++number) + ".json");
  std::string json = text.Json();
  if (!members.empty()) json.insert(json.find('{') + 1, std::string(members) + ",");
  std::ofstream(path) << json;
  Job job;
  auto trace = session::LoadTrace(path.string(), 1, job);
  std::filesystem::remove(path);
  REQUIRE_MESSAGE(trace.has_value(), (trace ? "" : trace.error().message));
  const perf::Platform* known = platform.empty() ? nullptr : perf::FindPlatform(platform);
  auto analysis = findings::Analyze(**trace, known, {}, job);
  REQUIRE(analysis.has_value());
  return {*trace, std::move(*analysis)};
}

std::string Shapes(std::string_view dims, std::string_view type, int operands) {
  std::string types;
  for (int i = 0; i < operands; ++i)
    types += std::string(i == 0 ? "\"" : ",\"") + std::string(type) + "\"";
  return "\"Input Dims\":" + std::string(dims) + ",\"Input type\":[" + types + "]";
}

}  // namespace jarvis::testing
