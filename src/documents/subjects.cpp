#include "documents/subjects.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "findings/one/shapes.h"

namespace jarvis::documents {

bool IsOfKernels(const findings::Finding& finding) {
  return finding.rule == findings::Pattern::kShortKernelChain ||
         finding.rule == findings::Pattern::kGraphInputCopies;
}

bool IsOfSeveral(const findings::Finding& finding) {
  return finding.members.size() > 1 && !IsOfKernels(finding);
}

std::string SizesText(std::string_view op, std::string_view args) {
  const std::string product = findings::ProductSizes(op, args);
  return product.empty() ? ArgsText(args) : product;
}

std::string SubjectSizes(const findings::Finding& finding) {
  constexpr std::size_t kSizesMax = 90;
  if (finding.subject_args.empty()) return "";
  const std::string text = SizesText(finding.subject, finding.subject_args);
  return text.size() <= kSizesMax ? text : "";
}

std::string SubjectsText(const findings::Analysis& analysis, const findings::Finding& finding,
                         bool sizes) {
  const std::string subject = SubjectText(finding);
  if (!IsOfSeveral(finding)) {
    const std::string one = sizes ? SubjectSizes(finding) : "";
    return one.empty() ? subject : subject + " " + one;
  }
  const std::size_t count = finding.members.size();
  if (finding.tier == findings::Tier::kSystem)
    return fmt::format("{} and {} more op{}", subject, count - 1, count == 2 ? "" : "s");
  const bool alike = std::ranges::all_of(finding.members, [&](const std::string& id) {
    const findings::Operation* one = analysis.FindOperation(id);
    return one != nullptr && one->name == finding.subject;
  });
  const bool kernels = finding.subject.find("::") == std::string::npos;
  if (kernels && !alike) return fmt::format("{} kernels such as {}", count, subject);
  return fmt::format("{} shapes of {}{}", count, subject, alike ? "" : " and other ops");
}

std::string SubjectsInProse(const findings::Analysis& analysis, const findings::Finding& finding,
                            bool sizes) {
  constexpr std::size_t kNamed = 3;
  std::string text = SubjectsText(analysis, finding, sizes);
  if (!IsOfSeveral(finding) || finding.tier == findings::Tier::kSystem) return text;
  const std::size_t count = finding.members.size();
  if (IsOfKernels(finding) || finding.subject.find("::") == std::string::npos) {
    const bool such = text.starts_with(fmt::format("{} kernels such as", count));
    return such ? fmt::format("{} kernels, the largest {},", count, SubjectText(finding)) : text;
  }
  std::vector<std::string> names;
  for (const std::string& id : finding.members) {
    const findings::Operation* one = analysis.FindOperation(id);
    if (one == nullptr) return text;
    std::string name = Code(one->name, 80);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (names.size() < 2) return text;
  const bool more = names.size() > kNamed;
  if (more) names.resize(kNamed - 1);
  if (more) names.emplace_back("others");
  return fmt::format("{} ({} shapes in all)", Enumerated(names), count);
}

std::string InDeviceWords(const findings::Analysis& analysis, std::string text) {
  constexpr std::string_view kUnits = "compute units", kNvidia = "SMs";
  if (analysis.context.amd || analysis.context.architecture == 0) return text;
  for (std::size_t at = text.find(kUnits); at != std::string::npos; at = text.find(kUnits, at))
    text.replace(at, kUnits.size(), kNvidia);
  return text;
}

}  // namespace jarvis::documents
