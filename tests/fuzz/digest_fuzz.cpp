// Any bytes as digests of ranks, through the report of a whole job. The first byte says how often
// they are given: twice is a rank in conflict with itself, unless each is another rank.
#include <cstdint>
#include <string>

#include "analysis/ranks/collective_report.h"
#include "analysis/ranks/fleet_tables.h"
#include "formats/digest_file.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jarvis;
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  auto read = formats::ReadDigest(text);
  if (!read) {
    testing::Require(!read.error().message.empty(), "an error has words");
    return 0;
  }
  std::vector<analysis::RankDigest> digests;
  for (const analysis::RankDigest& digest : *read) {
    const std::string written = formats::DigestText(digest);
    const auto again = formats::ReadDigest(written);
    testing::Require(again.has_value() && again->size() == 1, "a digest that is written is read");
    testing::Require(formats::DigestText(again->front()) == written, "and is the same");
    for (int i = 0; i < 1 + data[0] % 6; ++i) {
      digests.push_back(digest);
      if (data[0] >= 128) digests.back().rank = i;
    }
  }
  const analysis::RankSet set = analysis::ResolveRanks(std::move(digests));
  const analysis::JointTimeline joint = analysis::JoinCollectives(set);
  static_cast<void>(analysis::MakeCollectiveReport(set, &joint, {}, {}));
  const analysis::FleetFindings fleet = analysis::LookAtFleet(set, joint, 1 + data[0] % 4);
  testing::Require(fleet.ranks.size() == set.ranks.size(), "every rank is looked at");
  static_cast<void>(analysis::FleetTables(set, joint, fleet));
  return 0;
}
