#include "analysis/align/roles.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <deque>
#include <map>
#include <unordered_map>

#include "analysis/align/role_rules.h"
#include "analysis/align/view.h"
#include "analysis/attribution/module_paths.h"
#include "base/check.h"
#include "base/text.h"

namespace jarvis::analysis {
namespace {

// Which rules find what they look for, by the rule's place: in the names around a piece of work
// (`has`), and in the modules that it must be within. What holds for a caller holds for all below.
constexpr std::size_t kRulesMax = 256;
struct RuleHits {
  std::bitset<kRulesMax> has;
  std::bitset<kRulesMax> within;
  friend bool operator==(const RuleHits&, const RuleHits&) = default;
};

RuleHits HitsOf(RoleLevel level, std::string_view name) {
  const std::span<const RoleRule> rules = RoleRules();
  JV_CHECK(rules.size() <= kRulesMax);
  RuleHits hits;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    hits.has[i] = rules[i].level == level && ContainsNoCase(name, rules[i].pattern);
    hits.within[i] = level == RoleLevel::kModule && !rules[i].within.empty() &&
                     ContainsNoCase(name, rules[i].within);
  }
  return hits;
}

bool Fits(std::size_t rule, const RuleHits& hits) {
  return hits.has[rule] && (RoleRules()[rule].within.empty() || hits.within[rule]);
}

std::string_view RoleOfHits(const RuleHits& hits) {
  const std::span<const RoleRule> rules = RoleRules();
  bool product = false;
  for (std::size_t i = 0; i < rules.size(); ++i)
    product = product || (rules[i].role == kProductRole && Fits(i, hits));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (Fits(i, hits) && (!rules[i].products_only || product)) return rules[i].role;
  }
  return kOtherRole;
}

RuleHits Together(const RuleHits& a, const RuleHits& b) {
  return {a.has | b.has, a.within | b.within};
}

using RoledWork = std::vector<std::pair<EventIndex, std::string_view>>;  // by start

// The role of the nearest work on the same stream that says something; empty: none is near.
std::string_view Neighbour(const EventStore& events, const RoledWork& work, std::size_t at,
                           bool after, bool past_norms) {
  constexpr std::size_t kReach = 8;
  for (std::size_t far = 1; far <= kReach; ++far) {
    if (after ? at + far >= work.size() : far > at) return {};
    const auto& [e, role] = work[after ? at + far : at - far];
    // Copies between two parts of a layer say nothing about them.
    const bool silent = role == kOtherRole || role == "copies and fills" ||
                        role == "communication" || (past_norms && role == "norm");
    if (!silent && events[e].track == events[work[at].first].track) return role;
  }
  return {};
}

// First by what stands beside a product; then past norms too, which some models have between a
// projection and what uses it.
void PlaceProducts(const EventStore& events, RoledWork* work) {
  const RoledWork as_named = *work;
  for (const bool past_norms : {false, true}) {
    for (std::size_t i = 0; i < work->size(); ++i) {
      if ((*work)[i].second != kProductRole) continue;
      for (const RoleNeighbour& rule : RoleNeighbours()) {
        if (Neighbour(events, as_named, i, rule.after, past_norms) != rule.neighbour) continue;
        (*work)[i].second = rule.role;
        break;
      }
    }
  }
}

class Classifier {
 public:
  Classifier(const DiffSide& side, const ProductShape& shape) : side_(side), shape_(shape) {}

  // By start, so that neighbours stand beside each other.
  std::vector<std::pair<EventIndex, std::string_view>> Run() {
    std::vector<std::pair<EventIndex, std::string_view>> out;
    for (const DiffIndex leaf : side_.tree.gpu)
      out.emplace_back(side_.tree.nodes[leaf].event, std::string_view());
    for (const EventIndex e : side_.unlinked)
      out.emplace_back(e, std::string_view());
    const EventStore& events = *side_.events;
    std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
      return std::pair(events[a.first].ts_ns, a.first) < std::pair(events[b.first].ts_ns, b.first);
    });
    for (auto& [e, role] : out)
      role = RoleOfEvent(e);
    PlaceProducts(events, &out);
    return out;
  }

 private:
  std::string_view RoleOfEvent(EventIndex e) {
    const auto [known, added] =
        known_.try_emplace({(*side_.events)[e].name, PlaceOf(side_.caller(e))}, std::string_view());
    if (added) {
      const RuleHits& kernel = HitsOfName(RoleLevel::kKernel, (*side_.events)[e].name);
      known->second = RoleOfHits(Together(kernel, places_[known->first.second]));
    }
    if (known->second != "mlp" || !shape_) return known->second;
    const EventIndex op = side_.op_of(e);
    const auto shape = op == kNoEvent ? std::nullopt : shape_(op);
    if (!shape || shape->first == shape->second) return known->second;
    return shape->first > shape->second ? "mlp up" : "mlp down";
  }

  // The place in places_ of what an event and its callers say. Each is asked once, so that deep
  // calls cost no more than flat ones.
  std::uint32_t PlaceOf(EventIndex e) {
    std::vector<EventIndex> unknown;
    for (; e != kNoEvent && place_of_.count(e) == 0; e = side_.caller(e))
      unknown.push_back(e);
    std::uint32_t place = e == kNoEvent ? 0 : place_of_.at(e);
    for (auto inward = unknown.rbegin(); inward != unknown.rend(); ++inward) {
      place = Inward(place, HitsOfCall(*inward));
      place_of_.emplace(*inward, place);
    }
    return place;
  }

  // The place of a call that says `hits`, whose caller is at `place`: one for all instances.
  std::uint32_t Inward(std::uint32_t place, const RuleHits& hits) {
    const auto [known, added] = inward_.try_emplace({place, &hits}, place);
    if (!added) return known->second;
    const RuleHits together = Together(places_[place], hits);
    if (together == places_[place]) return place;
    places_.push_back(together);
    known->second = static_cast<std::uint32_t>(places_.size() - 1);
    return known->second;
  }

  const RuleHits& HitsOfCall(EventIndex e) {
    const trace::Event& event = (*side_.events)[e];
    if (side_.events->name(e).starts_with("nn.Module:"))
      return HitsOfName(RoleLevel::kModule, event.name);
    const bool op =
        event.kind == trace::EventKind::kCpuOp || event.kind == trace::EventKind::kUserAnnotation;
    return op ? HitsOfName(RoleLevel::kOp, event.name) : places_.front();
  }

  // A module's name without its instance.
  const RuleHits& HitsOfName(RoleLevel level, StringId id) {
    const auto [known, added] = hits_.try_emplace({level, id});
    if (added) {
      const std::string_view name = side_.events->strings[id];
      known->second =
          level == RoleLevel::kModule ? HitsOf(level, FoldedName(name)) : HitsOf(level, name);
    }
    return known->second;
  }

  const DiffSide& side_;
  const ProductShape& shape_;
  std::deque<RuleHits> places_ = {RuleHits()};  // the first: nothing is said
  std::unordered_map<EventIndex, std::uint32_t> place_of_;
  std::map<std::pair<std::uint32_t, const RuleHits*>, std::uint32_t> inward_;
  std::map<std::pair<RoleLevel, StringId>, RuleHits> hits_;
  std::map<std::pair<StringId, std::uint32_t>, std::string_view> known_;  // by kernel and place
};

}  // namespace

std::string_view RoleOf(const RoleNames& names) {
  RuleHits hits = HitsOf(RoleLevel::kKernel, names.kernel);
  for (const std::string_view name : names.ops)
    hits = Together(hits, HitsOf(RoleLevel::kOp, name));
  for (const std::string_view name : names.modules)
    hits = Together(hits, HitsOf(RoleLevel::kModule, name));
  return RoleOfHits(hits);
}

NamedRoles::NamedRoles(const EventStore& events)
    : events_(events), by_name_(events, [](std::string_view name) {
        return RoleOf({name, {}, {}});
      }) {}

std::vector<std::string_view> NamedRoles::Of(std::span<const EventIndex> gpu) {
  RoledWork work;
  for (const EventIndex e : gpu)
    work.emplace_back(e, by_name_.Of(e));
  PlaceProducts(events_, &work);
  std::vector<std::string_view> out;
  for (const auto& [e, role] : work)
    out.push_back(role);
  return out;
}

std::vector<RoleTime> RolesOf(const DiffSide& side, Clock clock, const ProductShape& shape) {
  std::vector<RoleTime> out;
  for (const RoleRule& rule : RoleRules()) {
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const RoleTime& time) { return time.role == rule.role; });
    if (!known) out.push_back({rule.role});
  }
  out.push_back({kOtherRole});
  std::unordered_map<std::string_view, std::size_t> at;
  for (std::size_t i = 0; i < out.size(); ++i)
    at[out[i].role] = i;
  for (const auto& [e, role] : Classifier(side, shape).Run()) {
    RoleTime& time = out[at.at(role)];
    time.us += DurationUs(*side.events, e, clock);
    ++time.count;
  }
  return out;
}

Table DiffRoles(const TraceDiff& diff, const ProductShape& first, const ProductShape& second) {
  const std::vector<RoleTime> a = RolesOf(diff.sides[0], diff.clock, first);
  const std::vector<RoleTime> b = RolesOf(diff.sides[1], diff.clock, second);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].count > 0 || b[i].count > 0) order.push_back(i);
  }
  const auto apart = [&](std::size_t i) { return std::abs(b[i].us - a[i].us); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return apart(x) > apart(y); });
  Table table{"diff_roles",
              {"role", "kernels_trace1", "kernels_trace2", "time_trace1_us", "time_trace2_us",
               "delta_us (trace2 - trace1)", "time_ratio (trace2/trace1)", "difference"},
              {}};
  for (const std::size_t i : order) {
    table.rows.push_back(
        {std::string(a[i].role), a[i].count, b[i].count, a[i].us, b[i].us, b[i].us - a[i].us,
         a[i].us > 0 ? Cell(b[i].us / a[i].us) : Cell(),
         DifferenceInWords(a[i].us, b[i].us, a[i].count > 0, b[i].count > 0, "µs")});
  }
  return table;
}

}  // namespace jarvis::analysis
