// Which communication kernels of different ranks are one collective: the one answer that every
// table, tool and page takes. (The rule of the reference is its own; see collective_match.h.)
//
// A collective goes by what it does and not by its name, so kernels of every library count, and a
// grouped send_recv is the all_to_all of another rank. Sends and receives are paired by their link.
// Calls of one group are matched by their running number where every rank recorded it, else by
// their order, which is shifted where the ranks recorded different stretches, so that what was
// called and how the ends lie to each other agree best; where records are missing between, by who
// overlaps with whom. Clocks may be apart by any constant: a difference of clocks that all calls
// share decides nothing but between shifts that nothing else tells apart.
//
// Times are nanoseconds. A pure function of the digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/ranks/rank_set.h"

namespace jarvis::analysis {

// Ends of one collective agree so well on ranks of one clock; better is luck.
inline constexpr std::int64_t kEndsAgreeNs = 20'000;
// So many calls that cannot be what they were taken for make an order, or clocks, doubtful.
inline constexpr double kDoubtfulShare = 0.05;
// Longer calls are no calls, and nobody is later than that: sums of as many as a digest holds stay
// within the type.
inline constexpr std::int64_t kCallMaxNs = 3'600'000'000'000;

struct CollectiveGroup {
  std::string name;                // as recorded; "" if it was not
  std::string id;                  // what tells it from all others, for people
  std::vector<std::size_t> ranks;  // RankSet::ranks that have calls of it, ascending
  bool link = false;               // from one rank to another
  bool known = true;               // whose calls belong together; else they are of no collective
};

struct CollectivePart {
  std::size_t rank = 0;  // RankSet::ranks
  std::size_t call = 0;  // RankDigest::calls
};

struct OneCollective {
  std::size_t group = 0;              // CollectiveIdentity::groups
  std::int64_t index = 0;             // its running number, or its place in the group
  std::vector<CollectivePart> parts;  // by rank; one or more
  // Two ranks or more have it, and all that recorded this stretch of the group do.
  bool whole = false;
};

// Calls of one kind of a rank.
struct KindGroup {
  std::optional<std::size_t> group;  // absent: no call of the kind counts
  std::string label;                 // what tables call the group
};

struct CollectiveIdentity {
  std::vector<CollectiveGroup> groups;
  std::vector<OneCollective> collectives;     // by group, then index
  std::vector<std::vector<KindGroup>> kinds;  // by rank and RankDigest::kinds
  std::vector<RankWarning> warnings;
  std::int64_t base_ns = 0;    // the earliest instant that a trace's clock counts from
  std::int64_t origin_ns = 0;  // the earliest call, counted from base_ns

  std::string IdOf(const OneCollective& one) const;
};

CollectiveIdentity IdentifyCollectives(const RankSet& set);

// Whether two kinds may be calls of one collective: what one rank did not record contradicts
// nobody, and ranks of an exchange send different amounts.
bool MayBeOne(const CollectiveKind& a, const CollectiveKind& b);

// An instant of a rank's trace counted from `base_ns`, whatever the file says. A trace that does
// not say what its clock counts from is taken to count from where the others do.
std::int64_t OnSharedBase(const RankDigest& digest, std::int64_t base_ns, std::int64_t ns);

// The place of an instant of a rank's trace, counted from the origin; cut where it is years away.
std::int64_t FromOrigin(const RankDigest& digest, std::int64_t base_ns, std::int64_t origin_ns,
                        std::int64_t ns);

}  // namespace jarvis::analysis
