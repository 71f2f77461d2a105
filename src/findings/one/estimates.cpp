#include "findings/one/estimates.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analysis/attribution/gpu_timeline.h"
#include "findings/one/advice_rules.h"
#include "findings/one/attention_reach.h"
#include "findings/one/cause_context.h"
#include "findings/one/convolution_as_product.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/replay_causes.h"
#include "findings/one/replayed_calls.h"
#include "findings/one/rule_text.h"
#include "findings/one/thresholds.h"
#include "session/name_floors.h"

namespace jarvis::findings {
namespace {

bool CopiesOnly(const trace::EventStore& events, const Operation& operation) {
  return std::all_of(operation.gpu.begin(), operation.gpu.end(), [&](trace::EventIndex e) {
    return events[e].kind == trace::EventKind::kMemcpy;
  });
}

bool CollectivesOnly(const trace::EventStore& events, const Operation& operation) {
  return std::all_of(operation.gpu.begin(), operation.gpu.end(), [&](trace::EventIndex e) {
    return analysis::ClassOf(events[e].kind, events.name(e), analysis::Communicators::kAll) ==
           analysis::WorkClass::kCommunication;
  });
}

bool IsNotable(const Operation& operation) {
  return std::any_of(operation.patterns.begin(), operation.patterns.end(),
                     [](const PatternHit& hit) { return Info(hit.pattern).notable; });
}

// Of what attention kernels reach at these sizes; 0: no such rate is known.
double ReachedPart(const Calls& calls, const CategoryAnalysis& category,
                   const Operation& operation) {
  if (category.kind != Kind::kSdpa || !operation.efficiency.tflops_per_s) return 0;
  const auto reach = AttentionReach(operation, calls.platform);
  return reach && *reach > 0 ? *operation.efficiency.tflops_per_s / *reach : 0;
}

// Its kernels are so short that what they move hardly matters: fewer launches would help.
bool AtLaunchFloor(const Operation& operation) {
  return operation.efficiency.bound == Bound::kMemory && !operation.gpu.empty() &&
         operation.gpu_us < limits::kFloorKernelUs * static_cast<double>(operation.gpu.size());
}

std::string_view BucketOf(std::optional<double> efficiency) {
  if (!efficiency) return "unknown";
  if (*efficiency < limits::kBucketLow) return "0-30";
  return *efficiency < limits::kBucketHigh ? "30-60" : "60-100";
}

// The parts of an operation that count for a finding.
struct Group {
  const Cause* cause = nullptr;  // of all members
  EstimateMethod method = EstimateMethod::kNone;
  std::vector<const Operation*> members;
  double mid = 0;
  double time_us = 0;
  bool acceptable = true;  // all members are
};

class FindingMaker {
 public:
  FindingMaker(const Calls& calls, const WorkContext& context, CategoryAnalysis* out)
      : calls_(calls), context_(context), out_(*out) {}

  // Of operations of any category that have one cause; the longest first.
  void AddCause(const std::vector<const Operation*>& members) {
    Group group;
    group.cause = &*members.front()->cause;
    group.members = members;
    const bool target = group.cause->a || group.cause->b;
    group.method = target ? EstimateMethod::kTarget : EstimateMethod::kNone;
    for (const Operation* member : members)
      group.time_us += member->gpu_us;
    Add(group);
  }

  void Run(Estimated estimated) {
    std::map<std::tuple<int, std::string, std::string>, Group> groups;
    for (const Operation& operation : out_.operations) {
      const auto key = KeyOf(operation);
      if (!key) continue;
      Group& group = groups[*key];
      group.method = operation.impact_percent ? EstimateMethod::kRoof : EstimateMethod::kNone;
      group.members.push_back(&operation);
      group.time_us += operation.gpu_us;
      group.acceptable = group.acceptable && !IsNotable(operation) &&
                         operation.efficiency.percent.value_or(0) >= limits::kAcceptable;
      if (operation.impact_percent) group.mid += operation.impact_percent->mid;
    }
    std::vector<const Group*> kept;
    for (const auto& [key, group] : groups) {
      const double share =
          calls_.computation_us > 0 ? group.time_us / calls_.computation_us * 100 : 0;
      // What has no estimate or an acceptable efficiency matters only if large.
      const bool large = share > limits::kMediumShare;
      const bool fine = group.acceptable || group.method != EstimateMethod::kRoof;
      // Nor does it where the GPU hardly works at all.
      const bool told = group.time_us * 100 >= limits::kUnsizedMin * calls_.window_us;
      const bool enough =
          group.method == EstimateMethod::kNone ? told : group.mid >= limits::kFindingMin;
      const bool matters = enough && (large || !fine);
      const bool none = group.method == EstimateMethod::kNone;
      if (matters && none == (estimated == Estimated::kNo)) kept.push_back(&group);
    }
    std::stable_sort(kept.begin(), kept.end(), [&](const Group* a, const Group* b) {
      return estimated == Estimated::kNo ? a->time_us > b->time_us : a->mid > b->mid;
    });
    for (const Group* group : kept)
      Add(*group);
    if (estimated == Estimated::kNo) Notes(groups.size());
  }

 private:
  using Key = std::tuple<int, std::string, std::string>;

  std::optional<Key> KeyOf(const Operation& operation) const {
    if (operation.gpu_us <= 0 || out_.kind == Kind::kCommunication) return std::nullopt;
    if (operation.cause || operation.claimed) return std::nullopt;
    if (IsLaunchFloor(calls_, operation)) return std::nullopt;
    const Efficiency& e = operation.efficiency;
    if (e.impossible) return std::nullopt;
    if (operation.quantified) {
      if (*e.percent >= limits::kGood && !IsNotable(operation)) return std::nullopt;
      if (ReachedPart(calls_, out_, operation) >= limits::kReached) return std::nullopt;
      if (AtLaunchFloor(operation)) return std::nullopt;
      // One cause a finding: what stands out of one operation is not said of others.
      std::string library = operation.library + "/";
      for (const PatternHit& hit : operation.patterns) {
        if (!Info(hit.pattern).notable) continue;
        library += Info(hit.pattern).key;
        break;
      }
      return Key{static_cast<int>(e.bound), std::move(library), std::string(BucketOf(e.percent))};
    }
    if (CopiesOnly(calls_.events(), operation)) return std::nullopt;
    if (CollectivesOnly(calls_.events(), operation)) return std::nullopt;
    // A name alone is no finding where no op was recorded: rules of kernels tell what it says.
    if (!calls_.trace.recorded().cpu_ops) return std::nullopt;
    // Of replayed kernels without ops there is one thing to say, not one a kernel.
    const bool by_name =
        IsReplayCall(calls_.events(), calls_.calls[calls_.call_of[operation.gpu[0]]]);
    return Key{100, by_name ? std::string() : operation.name, {}};
  }

  void Add(const Group& group) {
    Finding f;
    f.category = out_.key;
    f.category_name = out_.display_name;
    f.tier = Tier::kCompute;
    f.rank = static_cast<int>(out_.findings.size()) + 1;
    f.method = group.method;
    const Operation& first = *group.members.front();  // operations come by time
    f.subject = first.name;
    f.subject_args = first.args;
    if (group.cause != nullptr && !group.cause->subject.empty()) {
      f.subject = group.cause->subject;
      f.subject_args.clear();
    }
    f.bound = first.efficiency.bound;
    f.library = first.library;
    Sum(group, &f);
    f.bucket = group.method == EstimateMethod::kRoof || group.cause != nullptr
                   ? BucketOf(first.efficiency.percent)
                   : std::string_view("unknown");
    f.band = BandOf(f.efficiency);
    bool notable = false;
    for (const PatternHit& hit : f.patterns)
      notable = notable || Info(hit.pattern).notable;
    // Nobody knows what work without an estimate could save.
    const bool judged = f.method != EstimateMethod::kNone || group.cause != nullptr;
    f.priority = judged ? PriorityOf(f.percent_of_computation.value_or(0), f.efficiency, notable)
                        : PriorityClass::kLow;
    f.replay_recommended = f.percent_of_computation.value_or(0) > limits::kReplayShare &&
                           f.efficiency && *f.efficiency < limits::kReplayEfficiency;
    const auto assumes = [&](std::string_view assumption) {
      return std::any_of(group.members.begin(), group.members.end(), [&](const Operation* member) {
        return member->least_percent && member->efficiency.assumption == assumption;
      });
    };
    if (out_.kind == Kind::kMoe || assumes("uniform_routing"))
      f.warnings.emplace_back("routing_assumed");
    if (assumes("own_keys")) f.warnings.emplace_back("keys_assumed");
    if (f.starved_percent.value_or(0) > 50) f.warnings.emplace_back("starved");
    if (HasPattern(first, Pattern::kUnlinked)) f.warnings.emplace_back("unlinked");
    if (!judged) f.warnings.emplace_back("not_quantified");
    if (group.cause != nullptr) {
      AddOption(group, &f);
      AddPaths(group, &f);
    } else {
      AddAdvice(out_.kind, out_.key, context_, calls_.platform, &f);
    }
    if (group.cause == nullptr && MostlyLeavesDevice(group)) return;
    // Neither a figure nor a way out: nothing that a reader could do. Graphs are opened elsewhere.
    const bool nothing = f.path_a.empty() && f.path_b.empty() && f.method == EstimateMethod::kNone;
    // Without a platform nothing has a figure; what an op is, is told all the same.
    const bool told = HasPattern(first, Pattern::kGraphLaunch) ||
                      (calls_.platform == nullptr && out_.kind != Kind::kOther);
    if (nothing && group.cause == nullptr && !told) return;
    Changes(group, &f);
    out_.findings.push_back(std::move(f));
  }

  // Most of its time is copies from or to the host, which have findings of their own: there is no
  // kernel to fuse or to make faster.
  static bool MostlyLeavesDevice(const Group& group) {
    double copies_us = 0, all_us = 0;
    for (const Operation* member : group.members) {
      for (const KernelShare& kernel : member->kernels) {
        all_us += kernel.total_us;
        const CopyDirection direction = analysis::DirectionOf(kernel.name);
        if (direction == CopyDirection::kToDevice || direction == CopyDirection::kToHost)
          copies_us += kernel.total_us;
      }
    }
    return 2 * copies_us > all_us;
  }

  // What goes further at a price, of all members: told beside the way out, in no saving.
  static void AddOption(const Group& group, Finding* f) {
    double ms = 0;
    for (const Operation* member : group.members) {
      if (member->cause->option) ms += TargetSavings(*member->cause->option, *member).mid;
    }
    if (ms <= 0) return;
    f->patterns.front().facts.push_back(NumberFact("option_ms", ms, "ms"));
    // Its sentence is the reports', which know of what the time is a part.
    f->patterns.front().facts.push_back({"option", std::string("yes"), "words"});
  }

  // A rule's own ways out; its texts stand in its row. What none of its facts fills is no way out.
  static void AddPaths(const Group& group, Finding* f) {
    f->rule = group.cause->pattern;
    f->replay_recommended = false;  // the cause is known; a reproducer would show it again
    const RuleRow* row = RuleOf(group.cause->pattern);
    if (row == nullptr) return;
    const auto written = [](const Fact& fact) {
      const auto* text = std::get_if<std::string>(&fact.value);
      return text == nullptr ? std::string("1") : *text;
    };
    const std::vector<Fact>& facts = f->patterns.front().facts;
    if (!FillRule(row->path_a, facts, written).empty()) f->path_a = {{Advice::kRule, {}, {}}};
    if (!FillRule(row->path_b, facts, written).empty()) f->path_b = {{Advice::kRule, {}, {}}};
    f->action_b = group.cause->way_b.action;
  }

  // Of a product, how much of a large one's rate its size lets it reach.
  double Filled(const Operation& member) const {
    if (out_.kind != Kind::kGemm) return 1;
    const auto detail = [&](std::string_view key) {
      for (const Fact& fact : member.details) {
        const auto* number = std::get_if<std::int64_t>(&fact.value);
        if (fact.key == key && number != nullptr) return static_cast<double>(*number);
      }
      return 0.0;
    };
    const double m = detail("M"), n = detail("N");
    return m > 0 && n > 0 ? FilledPart(calls_, m, n, detail("batch")) : 1;
  }

  // The roof itself is a bound and no target.
  // Nor is it one of attention where kernels are known to reach less at these sizes.
  Target RoofTarget(const Operation& member) const {
    const double reached = ReachedPart(calls_, out_, member);
    if (100 * reached > *member.efficiency.percent) {
      const auto rest = [&](double share) { return std::max(0.0, 1 - reached / share); };
      return {{rest(limits::kReachLow), rest(limits::kReachMid), rest(1)},
              "what attention kernels reach at this length",
              "published rates, less of short sequences"};
    }
    const double percent = *member.efficiency.percent;
    const double filled = Filled(member);
    const auto part = [&](double share) {
      return std::max(0.0, 1 - percent / (100 * share * filled));
    };
    if (out_.kind == Kind::kSdpa && member.efficiency.bound == Bound::kCompute) {
      const double most = HasPattern(member, Pattern::kShortSequence) ? limits::kAttentionShort
                                                                      : limits::kAttentionOther;
      return {{part(most * limits::kAttentionLow), part(most * limits::kAttentionMid), part(most)},
              fmt::format("{:.0f}% of its roofline", 100 * most),
              "share of the peak that attention of such lengths reaches"};
    }
    return {{part(limits::kRoofLow), part(limits::kRoofMid), part(limits::kRoofHigh)},
            "60% to 90% of its roofline",
            "estimate"};
  }

  // The part of a convolution's time that layout conversions take.
  static double Transposes(const Operation& operation) {
    if (!HasPattern(operation, Pattern::kLayoutTransposes) || operation.gpu_us <= 0) return 0;
    for (const Fact& fact : operation.details) {
      const double* us = std::get_if<double>(&fact.value);
      if (fact.key == "transpose_us" && us != nullptr) return *us / operation.gpu_us;
    }
    return 0;
  }

  // What a change of the model saves of a convolution.
  std::optional<Target> OfModel(const Operation& convolution) const {
    if (auto product = AsProductAndShuffle(calls_, convolution)) return product;
    const double part = Transposes(convolution);
    if (part <= 0) return std::nullopt;
    return Target{{part / 2, 0.8 * part, part}, "no layout conversions", "this trace", true};
  }

  // Of transposed convolutions: those that are GEMMs are told so first, others not at all. Returns
  // whether it is about such.
  bool TellTransposed(const Group& group, Finding* f) const {
    const auto found = std::find_if(f->path_a.begin(), f->path_a.end(), [](const Remedy& remedy) {
      return remedy.advice == Advice::kProductAndShuffle;
    });
    if (found == f->path_a.end()) return false;
    const bool products = std::any_of(
        group.members.begin(), group.members.end(),
        [&](const Operation* member) { return AsProductAndShuffle(calls_, *member).has_value(); });
    std::rotate(f->path_a.begin(), found, found + 1);
    if (products) return true;
    f->path_a.erase(f->path_a.begin());
    if (f->path_a.empty()) f->path_a.push_back({Advice::kChannelsLast, {}, {}});
    return true;
  }

  void Changes(const Group& group, Finding* f) const {
    // The gap to a roof is a kernel's, unless only a change of the model takes it away.
    // What another algorithm would reach the roof does not tell.
    const bool other_work = TellTransposed(group, f);
    const bool by_a = !HasAction(f->path_b) && HasAction(f->path_a) && !other_work;
    const auto roof_path = by_a ? &Cause::a : &Cause::b;
    for (const auto& [path, change] :
         {std::pair{&Cause::a, &f->change_a}, {&Cause::b, &f->change_b}}) {
      Change made;
      for (const Operation* member : group.members) {
        std::optional<Target> target;
        if (group.cause != nullptr) {
          target = (*member->cause).*path;
        } else if (path == &Cause::a && (other_work || Transposes(*member) > 0)) {
          target = OfModel(*member);
        } else if (path == roof_path && member->efficiency.percent) {
          target = RoofTarget(*member);
        }
        if (!target) continue;
        if (made.parts.empty()) {
          made.target = target->text;
          made.source = target->source;
        }
        const Range saved = TargetSavings(*target, *member);
        for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
          made.savings_ms.*part += saved.*part;
        const bool some = group.cause != nullptr && !member->cause->gpu.empty();
        made.parts.push_back(
            {SavedPartOf(*target, *member), some ? member->cause->gpu : member->gpu});
      }
      if (!made.parts.empty()) *change = std::move(made);
    }
    for (const auto& [path, change] :
         {std::pair{&f->path_a, &f->change_a}, {&f->path_b, &f->change_b}}) {
      if (f->rule && *change && !path->empty()) path->front().savings_ms = (*change)->savings_ms;
    }
  }

  void Sum(const Group& group, Finding* f) const {
    Range impact, savings;
    double roof_us = 0, modeled_us = 0, least_us = 0, starved_us = 0, known_us = 0;
    std::set<std::string> rows;
    std::map<std::string, double> modules;
    std::map<Pattern, const PatternHit*, levers::InOrder> patterns;
    for (const Operation* member : group.members) {
      // A cause that is about some of its kernels under a name of its own has their time.
      const bool some = group.cause != nullptr && !group.cause->subject.empty();
      const double us = some ? member->cause->gpu_us : member->gpu_us;
      f->time_ms += us / 1000;
      f->exclusive_ms += std::min(us, member->exclusive_us) / 1000;
      f->count += member->count;
      f->members.push_back(member->id);
      if (!member->row_id.empty() && rows.insert(member->row_id).second)
        f->row_ids.push_back(member->row_id);
      if (!member->module_path.empty()) modules[member->module_path] += member->gpu_us;
      for (const PatternHit& hit : member->patterns)
        patterns.try_emplace(hit.pattern, &hit);
      least_us += member->least_percent.value_or(0) / 100 * member->gpu_us;
      f->least_by_grid = f->least_by_grid || member->least_by_grid;
      if (member->efficiency.roof_us) {
        roof_us += *member->efficiency.percent / 100 * member->gpu_us;
        modeled_us += member->gpu_us;
      }
      if (member->starved_percent) {
        known_us += member->gpu_us;
        starved_us += member->gpu_us * *member->starved_percent / 100;
      }
      if (!member->impact_percent) continue;
      for (double Range::*part : {&Range::low, &Range::mid, &Range::high}) {
        impact.*part += (*member->impact_percent).*part;
        savings.*part += (*member->savings_ms).*part;
      }
    }
    if (modeled_us > 0) f->efficiency = roof_us / modeled_us * 100;
    if (modeled_us <= 0 && least_us > 0 && least_us >= session::kLeastShare * 1000 * f->time_ms)
      f->least_percent = least_us / 10 / f->time_ms;
    if (modeled_us > 0) f->upper_bound_ms = std::max(0.0, modeled_us - roof_us) / 1000;
    if (known_us > 0) f->starved_percent = starved_us / known_us * 100;
    if (group.method != EstimateMethod::kNone) {
      f->impact_percent = impact;
      f->savings_ms = savings;
    }
    if (calls_.window_us > 0) f->percent_of_total = f->time_ms * 1e5 / calls_.window_us;
    if (calls_.computation_us > 0)
      f->percent_of_computation = f->time_ms * 1e5 / calls_.computation_us;
    // The cause first: its facts are those of the costliest member.
    if (group.cause != nullptr) f->patterns.push_back({group.cause->pattern, group.cause->facts});
    for (const auto& [pattern, hit] : patterns) {
      if (group.cause == nullptr || pattern != group.cause->pattern) f->patterns.push_back(*hit);
    }
    std::vector<std::pair<double, std::string>> by_time;
    for (const auto& [path, us] : modules)
      by_time.emplace_back(-us, path);
    std::sort(by_time.begin(), by_time.end());
    for (std::size_t i = 0; i < by_time.size() && i < 3; ++i)
      f->module_paths.push_back(by_time[i].second);
  }

  // Why a category has no finding, and what could not be judged.
  void Notes(std::size_t groups) {
    bool near_roof = false;
    bool no_model = false;
    bool no_shapes = false;
    bool anomaly = false;
    bool fused = false;
    for (const Operation& operation : out_.operations) {
      const Efficiency& e = operation.efficiency;
      if (operation.percent_of_category.value_or(0) < limits::kSignificantShare) continue;
      near_roof = near_roof || (e.percent && *e.percent >= limits::kGood && !e.impossible);
      anomaly = anomaly || e.impossible;
      fused = fused || operation.claimed;
      if (e.flops || e.bytes) continue;
      no_shapes = no_shapes || LacksShapes(operation);
      no_model = no_model || !operation.has_model;
    }
    const auto note = [&](bool holds, const char* key) {
      if (holds) out_.notes.emplace_back(key);
    };
    const bool system = out_.kind == Kind::kCommunication;
    note(system, "see_multi_kernel");
    note(fused, "see_fusion");
    note(calls_.platform == nullptr && !system, "no_platform");
    note(no_shapes, "no_shapes");
    note(no_model && !system, "no_model");
    // Beside something to fix it would say the opposite.
    note(near_roof && out_.findings.empty(), "near_roof");
    note(anomaly, "above_roof");
    note(out_.kind == Kind::kMoe, "routing_assumed");
    note(out_.findings.empty() && groups > 0, "below_threshold");
  }

  const Calls& calls_;
  const WorkContext& context_;
  CategoryAnalysis& out_;
};

}  // namespace

double SavedPart(double now, double target) {
  return target > now && target > 0 ? 1 - now / target : 0;
}

Range Scaled(const Range& range, double by) {
  return {range.low * by, range.mid * by, range.high * by};
}

Range SavingsOf(double upper_ms) {
  return Scaled({limits::kImpactLow, limits::kImpactMid, limits::kImpactHigh}, upper_ms);
}

void EstimateOperations(const Calls& calls, CategoryAnalysis* category) {
  for (Operation& operation : category->operations) {
    const Efficiency& e = operation.efficiency;
    if (e.anomaly) {
      category->anomalies.push_back({operation.id, operation.name, operation.args, *e.percent,
                                     operation.gpu_us / 1000, e.impossible, e.assumption});
    }
    if (operation.gpu_us <= 0 || calls.window_us <= 0 || e.impossible) continue;
    if (category->kind == Kind::kCommunication || CopiesOnly(calls.events(), operation)) continue;
    if (CollectivesOnly(calls.events(), operation)) continue;
    // What takes as long as its launch does not come nearer to a roof by itself.
    if (!e.percent || IsLaunchFloor(calls, operation)) continue;
    const double gap = std::max(0.0, 1 - *e.percent / 100) * operation.gpu_us;
    operation.quantified = true;
    operation.savings_ms = SavingsOf(std::min(gap, operation.exclusive_us) / 1000);
    operation.impact_percent = Scaled(*operation.savings_ms, 1e5 / calls.window_us);
  }
}

Range SavedPartOf(const Target& target, const Operation& operation) {
  if (target.of_durations || operation.gpu_us <= 0) return target.saved_part;
  return Scaled(target.saved_part, 1 - operation.dispatch_us / operation.gpu_us);
}

Range TargetSavings(const Target& target, const Operation& operation) {
  const Range saved_part = SavedPartOf(target, operation);
  const auto saved = [&](double part) {
    const bool some = operation.cause && !operation.cause->gpu.empty();
    const double us = some ? operation.cause->gpu_us : operation.gpu_us;
    return std::min(part * us, operation.exclusive_us) / 1000;
  };
  return {saved(saved_part.low), saved(saved_part.mid), saved(saved_part.high)};
}

void MakeCauseFindings(const Calls& calls, const WorkContext& context,
                       std::vector<CategoryAnalysis>* categories) {
  std::map<std::tuple<int, Pattern, std::string_view>, std::vector<const Operation*>> groups;
  for (const CategoryAnalysis& category : *categories) {
    for (const Operation& operation : category.operations) {
      if (!operation.cause) continue;
      const Pattern pattern = operation.cause->pattern;
      groups[{Info(pattern).order, pattern, operation.cause->group}].push_back(&operation);
    }
  }
  for (auto& [key, members] : groups) {
    // The category with most of the time names the finding, its longest operation first.
    std::map<std::string_view, double> time;
    for (const Operation* member : members)
      time[member->category] += member->gpu_us;
    std::stable_sort(members.begin(), members.end(), [&](const Operation* a, const Operation* b) {
      const double x = time[a->category], y = time[b->category];
      return x != y ? x > y : a->gpu_us > b->gpu_us;
    });
    const std::string_view named = members.front()->category;
    const auto home = std::find_if(categories->begin(), categories->end(),
                                   [&](const CategoryAnalysis& one) { return one.key == named; });
    FindingMaker(calls, context, &*home).AddCause(members);
  }
}

void MakeFindings(const Calls& calls, const WorkContext& context, Estimated estimated,
                  CategoryAnalysis* category) {
  FindingMaker(calls, context, category).Run(estimated);
}

}  // namespace jarvis::findings
