#include "findings/one/framework_fit.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace jarvis::findings {

namespace {

// The platform that texts have words of their own for; empty: none is known.
std::string_view PlatformOf(const Analysis& analysis) {
  if (analysis.context.amd) return "ROCm";
  for (const auto& [name, platform] :
       {std::pair<std::string_view, std::string_view>{"H100", "Hopper"},
        {"H200", "Hopper"},
        {"GH200", "Hopper"},
        {"B200", "Blackwell"},
        {"GB200", "Blackwell"},
        {"B300", "Blackwell"},
        {"GB300", "Blackwell"}}) {
    if (analysis.platform.starts_with(name)) return platform;
  }
  return "";
}

// All analyses share them.
std::shared_ptr<const levers::Fixes> ShippedFor(std::string_view platform) {
  static const auto made = [] {
    std::map<std::string_view, std::shared_ptr<const levers::Fixes>> fixes;
    for (const std::string_view one : {"ROCm", "Hopper", "Blackwell"})
      fixes[one] =
          std::make_shared<const levers::Fixes>(levers::ForPlatform(levers::Shipped(), one));
    return fixes;
  }();
  return made.at(platform);
}

}  // namespace

void FitToFramework(Analysis* analysis) {
  const std::string& framework = analysis->context.framework;
  const std::string_view platform = PlatformOf(*analysis);
  if (framework.empty() && !platform.empty()) {
    analysis->fixes = analysis->fixes == nullptr
                          ? ShippedFor(platform)
                          : std::make_shared<const levers::Fixes>(
                                levers::ForPlatform(*analysis->fixes, platform));
  }
  if (framework.empty()) return;
  analysis->fixes =
      std::make_shared<const levers::Fixes>(levers::ForFramework(analysis->Texts(), framework));
  for (Finding& finding : analysis->findings) {
    for (std::vector<Remedy>* path : {&finding.path_a, &finding.path_b}) {
      const std::size_t left = std::erase_if(*path, [&](const Remedy& remedy) {
        return !levers::IsKnownIn(remedy.advice, framework);
      });
      if (left > 0 && path->empty())
        path->push_back(NoWay(fmt::format("no way of {} is known", framework)));
    }
    const RuleRow* row = finding.rule ? analysis->Texts().RuleOf(*finding.rule) : nullptr;
    if (row == nullptr) continue;
    if (row->path_a.empty()) finding.change_a.reset();
    if (row->path_b.empty()) finding.change_b.reset();
  }
}

}  // namespace jarvis::findings
