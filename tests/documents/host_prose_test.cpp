// Idle time of the GPU in a sentence: what the host does in it, as far as that is known.
#include "documents/host_prose.h"

#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace jarvis::documents {
namespace {

using findings::HostCauseKind;

// A recording of 100 ms, of which the GPU is idle for 40 in one section of the host's.
std::string InsightOf(findings::HostCause cause) {
  findings::Analysis analysis;
  analysis.base.unit = "recording";
  analysis.base.total_ms = 100;
  cause.total_ms = cause.idle_ms = 40;
  cause.count = 1;
  findings::Finding finding;
  finding.tier = findings::Tier::kSystem;
  finding.category = "cpu_idle";
  finding.host = std::make_shared<findings::HostCause>(std::move(cause));
  return HostInsight(analysis, finding);
}

findings::HostPlace Place(std::string name, double ms) {
  findings::HostPlace place;
  place.name = std::move(name);
  place.ms = ms;
  return place;
}

TEST_CASE("calls that cover next to none of the idle time are not named for it") {
  findings::HostCause cause;
  cause.kind = HostCauseKind::kSection;
  cause.places = {Place("cudaMemcpyAsync", 0.3), Place("cudaMalloc", 0.1)};
  const std::string little = InsightOf(cause);
  // That they are short does not say that nothing is recorded.
  CHECK(little.find("nothing") == std::string::npos);
  CHECK(little.find("cudaMemcpyAsync") == std::string::npos);
  // A part worth naming.
  cause.places.front().ms = 6;
  const std::string part = InsightOf(cause);
  CHECK(part.find("The host is then in `cudaMemcpyAsync` (6.00 ms)") != std::string::npos);
  // How much nothing is recorded of is said with its figure, and once.
  cause.places.front().ms = 0.3;
  cause.nothing_ms = 39;
  const std::string silent = InsightOf(cause);
  CHECK(silent.find("No host event is recorded for 39.0 ms of this") != std::string::npos);
  CHECK(silent.find("almost nothing") == std::string::npos);
}

TEST_CASE(
    "late launches are told by their place, with its part of the idle time unless it is all") {
  findings::HostCause cause;
  cause.kind = HostCauseKind::kLaunchBound;
  findings::HostPlace place = Place("nn.Module: Block", 90);
  place.count = 48;
  place.launch_us = 58.2;
  place.kernel_us = 5.73;
  place.idle_ms = 39.5;
  cause.places = {place};
  const std::string all = InsightOf(cause);
  CHECK(
      all.find(" in `nn.Module: Block` (48 launches, one every 58.2 µs; median kernel 5.73 µs).") !=
      std::string::npos);
  CHECK(all.find(" of it in ") == std::string::npos);
  cause.places.front().idle_ms = 30;
  CHECK(InsightOf(cause).find(": 30.0 ms of it in `nn.Module: Block` (48 launches") !=
        std::string::npos);
  // Of several places each has its launches beside it.
  cause.places.push_back(place);
  cause.places.back().name = "nn.Module: Head";
  CHECK(InsightOf(cause).find("in `nn.Module: Head` (48 launches, one every") != std::string::npos);
}

}  // namespace
}  // namespace jarvis::documents
