#include "documents/claims.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

namespace jarvis::documents {
namespace {

// The ids of the rules that a text breaks, in order.
std::string Broken(std::string_view text) {
  std::string ids;
  for (const documents::ClaimFault& fault : documents::CheckClaims(text))
    ids += (ids.empty() ? "" : " ") + std::string(fault.rule->id);
  return ids;
}

TEST_CASE("what a trace cannot show is found") {
  const struct {
    std::string_view text;
    std::string_view broken;
  } kCases[] = {
      {"The kernel takes 3 ms at 20 % of its roof.", ""},
      {"Low occupancy limits the kernel.", "occupancy"},
      {"LOW OCCUPANCY limits it.", "occupancy"},
      {"It suffers from bank conflicts.", "bank_conflicts"},
      {"Accesses are not coalesced.", "coalescing"},
      {"The cache hit rate is poor.", "cache"},
      {"L2 misses dominate.", "cache"},
      {"Large working set may exceed cache.", ""},
      {"Profile the reproducer with a counter tool to see the occupancy.", ""},
      // The excuse counts in its own sentence only.
      {"Use rocprof on the replay. The occupancy is low.", "occupancy"},
      // "In this profile" is no counter tool.
      {"In this profile the occupancy is low.", "occupancy"},
      {"The kernel `occupancy_kernel` takes 3 ms.", ""},
      {"See [details](#bank-conflicts).", ""},
      {"The root cause is a bad tile size.", "tile_choice root_cause"},
      {"The kernel uses the wrong tile.", "tile_choice"},
      {"Register spills slow it down.", "registers"},
      {"Warp divergence and memory stalls.", "divergence stalls"},
      {"The GPU is throttled.", "clocks"},
      {"Rank 3 is a straggler.", "straggler"},
      {"Compare all ranks before speaking of a straggler.", ""},
      {"MI300X is the winner.", "winner"},
      {"The target outperforms the reference.", "winner"},
      {"This will definitely save time.", "certain_gain"},
      {"It reaches 138 % of the roof.", "over_roof"},
      {"It reaches 138% of peak, an excellent result.", "over_roof"},
      {"Anomaly: 138 % of the roof; verify the platform.", ""},
      {"Time grew by +138 % at the same efficiency.", ""},
      {"It reaches 100 % of the roof.", ""},
      {"Coalescing writes to the log.", "coalescing"},
      {"A microwave is no wave.", ""},
  };
  for (const auto& one : kCases) {
    CAPTURE(one.text);
    CHECK(Broken(one.text) == one.broken);
  }
}

TEST_CASE("every rule has what a writer needs") {
  std::set<std::string_view> ids;
  for (const documents::ClaimRule& rule : documents::ClaimRules()) {
    CAPTURE(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK(!rule.what.empty());
    CHECK(!rule.why.empty());
    // What is to be said instead breaks no rule.
    CHECK(Broken(rule.instead) == "");
  }
  CHECK(ids.size() > 10);
}

}  // namespace
}  // namespace jarvis::documents
