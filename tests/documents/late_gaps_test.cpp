// Idle time of a GPU whose host is ahead as a rule: where it lies, and no pace of launching.
#include "findings/one/late_gaps.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "documents/prose.h"
#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

// Kernels without ops that touch each other, and twelve gaps of 20 us where backward begins; it is
// launched by a thread of its own or by the same.
TraceText Gaps(bool second_thread) {
  TraceText text;
  int correlation = 0;
  // No kernel comes again and again: the work of one pass.
  const auto launch = [&](const std::string& kernel, double call, double at) {
    ++correlation;
    text.Runtime("hipLaunchKernel", call, 4, correlation);
    text.Kernel(kernel, at, 20, correlation);
  };
  for (int i = 0; i < 60; ++i)
    launch(fmt::format("forward_kernel_{}", i % 7), 16.0 * i, 100 + 20.0 * i);
  const auto backward = [](int i) { return fmt::format("batch_norm_backward_kernel_{}", i % 11); };
  if (second_thread) text.Thread(100, 200);
  for (int i = 0; i < 12; ++i)
    launch(backward(i), 1312 + 40.0 * i, 1320 + 40.0 * i);
  for (int i = 0; i < 48; ++i)
    launch(backward(12 + i), 1784 + 10.0 * i, 1800 + 20.0 * i);
  return text;
}

std::string TitleOfIdle(const Analyzed& one) {
  const auto found = std::find_if(one.analysis.findings.begin(), one.analysis.findings.end(),
                                  [](const Finding& finding) { return finding.host != nullptr; });
  if (found == one.analysis.findings.end()) return {};
  return documents::DraftText(one.analysis, *found).title;
}

TEST_CASE("idle time of a host that is ahead is told by its place, not as a pace of launching") {
  CHECK(TitleOfIdle(Analyze(Gaps(true))).ends_with("mostly where backward starts"));
  const std::string one_thread = TitleOfIdle(Analyze(Gaps(false)));
  CHECK(one_thread.find("mostly from 1.3") != std::string::npos);
  CHECK(one_thread.find("Launch-bound") == std::string::npos);
}

}  // namespace
}  // namespace jarvis::findings
