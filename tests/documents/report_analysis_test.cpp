// What the cards of the analysis say, and what they leave out where there is nothing to say.
#include "documents/report_analysis.h"

#include <string>

#include <doctest/doctest.h>

#include "documents/validate.h"
#include "findings/one/analysis.h"

namespace jarvis::documents {
namespace {

findings::Finding ComputeFinding(int rank) {
  findings::Finding finding;
  finding.id = "f" + std::to_string(rank);
  finding.tier = findings::Tier::kCompute;
  finding.subject = "topk_kernel";
  finding.category = "other";
  finding.time_ms = 5;
  finding.global_rank = rank;
  return finding;
}

findings::Analysis OfFindings(std::vector<findings::Finding> all) {
  findings::Analysis analysis;
  analysis.base.total_ms = 100;
  analysis.totals.has_gpu_work = false;
  analysis.findings = std::move(all);
  return analysis;
}

std::string TextOfReport(const findings::Analysis& analysis) {
  return RenderAnalysis({analysis, nullptr, {}, {}, {}, {}, {}});
}

bool Tells(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

findings::Finding Tuned(int rank) {
  findings::Finding finding = ComputeFinding(rank);
  finding.path_b = {findings::Remedy{findings::Advice::kTuneMissing, {}, {}}};
  return finding;
}

TEST_CASE(
    "a path that nothing is known of is left out beside the other, and so is an unknown library") {
  const findings::Analysis none = OfFindings({ComputeFinding(1)});
  const std::string without = TextOfReport(none);
  CHECK(!Tells(without, "**Path A**"));
  CHECK(Tells(without, "**Path B**: None known"));
  CHECK(!Tells(without, "(Unknown)"));
  CHECK(Tells(without, "**Action**: The trace alone suggests no fix."));
  const findings::Analysis known = OfFindings({Tuned(1)});
  const std::string with = TextOfReport(known);
  CHECK(!Tells(with, "**Path A**"));
  CHECK(Tells(with, "**Path B**: The action above."));
  DocumentCheck check{
      DocumentKind::kAnalysis, "analysis.md", with, with, nullptr, &known, [](const std::string&) {
        return true;
      }};
  const auto paths = [&] {
    std::size_t count = 0;
    for (const Fault& fault : ValidateDocument(check))
      count += fault.code == "paths" ? 1U : 0U;
    return count;
  };
  CHECK(paths() == 0);
  // The card is whole without the one, and not without both.
  std::string neither = with;
  neither.erase(neither.find("**Path B**"), std::string_view("**Path B**").size());
  check.text = neither;
  CHECK(paths() == 2);
}

TEST_CASE("the second finding of one setting says that it is the first one's") {
  CHECK(Tells(TextOfReport(OfFindings({Tuned(1), Tuned(2)})), "**Action**: As for priority 1: "));
  // Nothing to do is no setting.
  CHECK(
      !Tells(TextOfReport(OfFindings({ComputeFinding(1), ComputeFinding(2)})), "As for priority"));
}

TEST_CASE("what other sections fuse is not denied by the section of fusion") {
  findings::Finding chain = ComputeFinding(1);
  CHECK(Tells(TextOfReport(OfFindings({chain})), "\nNo kernel fusion opportunities detected."));
  chain.patterns.push_back({findings::Pattern::kShortKernelChain, {}});
  CHECK(Tells(TextOfReport(OfFindings({chain})),
              "No further kernel fusion opportunities detected; see priority 1."));
  // The same of kernels that another section makes faster.
  chain.tier = findings::Tier::kFusion;
  CHECK(Tells(TextOfReport(OfFindings({chain})),
              "\nNo compute kernel optimization opportunities identified."));
  chain.lines.work = {ledger::WorkKind::kElementwise};
  CHECK(Tells(TextOfReport(OfFindings({chain})),
              "No further compute kernel optimization opportunities identified; see priority 1."));
}

}  // namespace
}  // namespace jarvis::documents
