#include "analysis/align/roles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/align/role_rules.h"
#include "analysis/align/view.h"
#include "analysis/attribution/module_paths.h"
#include "base/text.h"

namespace jarvis::analysis {
namespace {

bool AnyHas(std::span<const std::string_view> names, std::string_view pattern) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return ContainsNoCase(name, pattern); });
}

bool Fits(const RoleRule& rule, const RoleNames& names) {
  if (!rule.within.empty() && !AnyHas(names.modules, rule.within)) return false;
  switch (rule.level) {
    case RoleLevel::kKernel: return ContainsNoCase(names.kernel, rule.pattern);
    case RoleLevel::kOp: return AnyHas(names.ops, rule.pattern);
    case RoleLevel::kModule: return AnyHas(names.modules, rule.pattern);
  }
  return false;
}

bool IsProduct(const RoleNames& names) {
  return std::any_of(RoleRules().begin(), RoleRules().end(), [&](const RoleRule& rule) {
    return rule.role == kProductRole && Fits(rule, names);
  });
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
    const EventStore& events = *side_.events;
    std::vector<StringId> key = {events[e].name};  // the kernel; ops and modules, innermost first
    for (EventIndex up = side_.caller(e); up != kNoEvent; up = side_.caller(up)) {
      const StringId folded = Folded(events[up].name);
      const trace::EventKind kind = events[up].kind;
      const bool op = kind == trace::EventKind::kCpuOp || kind == trace::EventKind::kUserAnnotation;
      if (folded == kNoString && !op) continue;
      key.push_back(folded == kNoString ? events[up].name : kModuleBit | folded);
    }
    const auto [known, added] = known_.try_emplace(std::move(key));
    if (added) known->second = RoleOfKey(known->first);
    if (known->second != "mlp" || !shape_) return known->second;
    const EventIndex op = side_.op_of(e);
    const auto shape = op == kNoEvent ? std::nullopt : shape_(op);
    if (!shape || shape->first == shape->second) return known->second;
    return shape->first > shape->second ? "mlp up" : "mlp down";
  }

  std::string_view RoleOfKey(const std::vector<StringId>& key) const {
    const EventStore& events = *side_.events;
    RoleNames names{events.strings[key.front()], {}, {}};
    for (std::size_t i = 1; i < key.size(); ++i) {
      if ((key[i] & kModuleBit) != 0) {
        names.modules.push_back(modules_[key[i] & ~kModuleBit]);
      } else {
        names.ops.push_back(events.strings[key[i]]);
      }
    }
    return RoleOf(names);
  }

  // A module's class, whatever its instance; kNoString: no module.
  StringId Folded(StringId name) {
    const auto [known, added] = folded_.try_emplace(name, kNoString);
    if (added && side_.events->strings[name].starts_with("nn.Module:")) {
      known->second = modules_.Intern(FoldedName(side_.events->strings[name]));
    }
    return known->second;
  }

  const DiffSide& side_;
  const ProductShape& shape_;
  static constexpr StringId kModuleBit = StringId{1} << 31;
  StringPool modules_;
  std::unordered_map<StringId, StringId> folded_;
  std::map<std::vector<StringId>, std::string_view> known_;
};

}  // namespace

std::string_view RoleOf(const RoleNames& names) {
  for (const RoleRule& rule : RoleRules()) {
    if (Fits(rule, names) && (!rule.products_only || IsProduct(names))) return rule.role;
  }
  return kOtherRole;
}

std::vector<std::string_view> RolesByName(const EventStore& events,
                                          std::span<const EventIndex> gpu) {
  RoledWork work;
  std::unordered_map<StringId, std::string_view> known;
  for (const EventIndex e : gpu) {
    const auto [role, added] = known.try_emplace(events[e].name);
    if (added) role->second = RoleOf({events.name(e), {}, {}});
    work.emplace_back(e, role->second);
  }
  PlaceProducts(events, &work);
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
         DifferenceInWords(a[i].us, b[i].us, a[i].count > 0, b[i].count > 0, "us")});
  }
  return table;
}

}  // namespace jarvis::analysis
