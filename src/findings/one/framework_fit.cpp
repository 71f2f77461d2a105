#include "findings/one/framework_fit.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace jarvis::findings {

void FitToFramework(Analysis* analysis) {
  const std::string& framework = analysis->context.framework;
  if (framework.empty() && analysis->context.amd) {
    static const auto shipped =
        std::make_shared<const levers::Fixes>(levers::ForPlatform(levers::Shipped(), "ROCm"));
    analysis->fixes =
        analysis->fixes == nullptr
            ? shipped
            : std::make_shared<const levers::Fixes>(levers::ForPlatform(*analysis->fixes, "ROCm"));
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
