// What a profiler trace shows and what it cannot show: one table. Clients read it as a resource,
// the reports quote it, and every text of a report is held against it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::documents {

// What may be claimed, and where the figure comes from.
struct Observable {
  std::string_view what;
  std::string_view source;
};
std::span<const Observable> Observables();

// What may not be claimed of a trace alone.
struct ClaimRule {
  std::string_view id;       // stable: "occupancy"
  std::string_view what;     // "Occupancy"
  std::string_view why;      // why a trace does not show it
  std::string_view instead;  // the wording to use
  // Phrases that make the claim, lower case, divided by '|'. They match whole words; a '*' at the
  // end stands for any ending.
  std::string_view phrases;
  // Phrases that take the claim back when they stand in the same sentence, in the same form:
  // "profile with a counter tool to see the occupancy" claims nothing.
  std::string_view excuses;
};
std::span<const ClaimRule> ClaimRules();

struct ClaimFault {
  const ClaimRule* rule = nullptr;  // never null
  std::string sentence;             // at most 160 bytes of it
};
// Every forbidden claim in a text of sentences, in order. What stands in `code` or in a link's
// target is data, not a claim.
std::vector<ClaimFault> CheckClaims(std::string_view prose);

}  // namespace jarvis::documents
