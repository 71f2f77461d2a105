#include "tools/shared/change_arguments.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/attribution/work_calls.h"
#include "analysis/tables/summary.h"
#include "base/text.h"
#include "output/number_format.h"
#include "perf/roofline.h"
#include "session/trace_trust.h"
#include "session/trace_work.h"
#include "tools/shared/category_choice.h"
#include "tools/shared/platform_choice.h"

namespace jarvis::tools {
namespace {

using analysis::Change;
using analysis::HostStretch;
using analysis::ScaleGpu;
using trace::EventIndex;

constexpr std::string_view kKinds[] = {"finding",    "row",          "kernel",        "category",
                                       "fuse",       "host",         "host_op",       "graph",
                                       "pin_copies", "remove_waits", "profiler_cost", "gpu"};

// All that a change can have. n: a number from 0, s: text, b: true or false, a: an array, o: an
// object, g: true or an object.
struct Member {
  std::string_view name;
  char kind;
  std::string_view expected;
};
constexpr Member kMembers[] = {
    {"finding", 's', "a finding's id: \"f1\""},
    {"row", 's', "a row's id"},
    {"kernel", 's', "part of a name"},
    {"category", 's', "a category's name"},
    {"fuse", 'a', "an array of row ids"},
    {"host", 'o', "{from_ms, to_ms}"},
    {"host_op", 's', "part of a name"},
    {"graph", 'g', "true or {from_ms, to_ms}"},
    {"pin_copies", 'b', "true"},
    {"remove_waits", 's', "\"all\" or part of a name"},
    {"profiler_cost", 's', "\"remove\""},
    {"gpu", 's', "the name of a platform"},
    {"from_gpu", 's', "the name of a platform"},
    {"factor", 'n', "a number from 0"},
    {"ms", 'n', "milliseconds"},
    {"tflops", 'n', "a number above 0"},
    {"gbps", 'n', "a number above 0"},
    {"remove", 'b', "true"},
    {"calls", 'b', "true or false: calls of the runtime change, too"},
};

std::string AllKinds() {
  std::string all;
  for (const std::string_view kind : kKinds)
    all += fmt::format("{}{}", all.empty() ? "" : ", ", kind);
  return all;
}

tl::unexpected<Error> Bad(std::size_t place, std::string text, std::string hint = {}) {
  return Fail(ErrorCode::kBadValue, fmt::format("changes[{}]: {}", place, text), std::move(hint));
}

bool IsCopyBetweenMemories(const analysis::GpuWork& work) {
  return work.to_host || work.from_host;
}

// "op3*0.5", a finding ("f1"), or the name of a change that needs nothing else.
Json FromText(const std::string& text) {
  if (text == "graph" || text == "pin_copies") return {{text, true}};
  if (text == "remove_waits") return {{text, "all"}};
  if (text == "profiler_cost") return {{text, "remove"}};
  const bool finding =
      text.size() > 1 && text[0] == 'f' &&
      std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (finding) return {{"finding", text}};
  const std::size_t star = text.find('*');
  const auto factor = star == std::string::npos
                          ? std::nullopt
                          : ParseDouble(std::string_view(text).substr(star + 1));
  Json object = {{"row", text.substr(0, star)}};
  if (factor) object["factor"] = *factor;
  return object;
}

// One change at a time.
class ChangeReader {
 public:
  ChangeReader(session::Workspace& workspace, const session::LoadedTrace& trace,
               const analysis::Simulation& simulation, const Json& arguments, Job& job)
      : workspace_(workspace),
        trace_(trace),
        simulation_(simulation),
        recorded_(simulation.recorded()),
        events_(trace.events()),
        arguments_(arguments),
        job_(job) {}

  Result<NamedChange> Read(const Json& object, std::size_t place) {
    object_ = &object;
    place_ = place;
    JV_TRY(CheckMembers());
    std::string_view kind;
    for (const std::string_view one : kKinds) {
      if (!object.contains(one)) continue;
      if (!kind.empty())
        return Bad(place, fmt::format("has both {} and {}: give two changes", kind, one));
      kind = one;
    }
    if (kind.empty()) return Bad(place, "expected one of " + AllKinds());
    if (kind == "finding") return ReadFinding();
    if (kind == "row" || kind == "kernel" || kind == "category") return ReadWork(kind);
    if (kind == "fuse") return ReadFuse();
    if (kind == "host") return ReadHost();
    if (kind == "host_op") return ReadHostOp();
    if (kind == "graph") return ReadGraph();
    if (kind == "pin_copies") return ReadPin();
    if (kind == "remove_waits") return ReadWaits();
    if (kind == "profiler_cost") return ReadProfiler();
    return ReadGpu();
  }

 private:
  // That there are no others, and each is of its kind.
  Status CheckMembers() const {
    for (const auto& [name, value] : object_->items()) {
      const auto* member =
          std::find_if(std::begin(kMembers), std::end(kMembers),
                       [&name = name](const Member& one) { return one.name == name; });
      if (member == std::end(kMembers)) {
        std::vector<std::string_view> names;
        for (const Member& one : kMembers)
          names.push_back(one.name);
        const auto close = Closest(name, names);
        return Bad(place_,
                   fmt::format("no change has \"{}\"{}", Utf8Prefix(name, 40),
                               close ? fmt::format("; did you mean {}?", *close) : ""),
                   fmt::format("one of: {}", fmt::join(names, ", ")));
      }
      const bool fits = member->kind == 'n'   ? value.is_number() && value.get<double>() >= 0
                        : member->kind == 's' ? value.is_string()
                        : member->kind == 'b' ? value.is_boolean()
                        : member->kind == 'a' ? value.is_array()
                        : member->kind == 'o' ? value.is_object()
                                              : value.is_boolean() || value.is_object();
      if (!fits) return Bad(place_, fmt::format("{}: expected {}", name, member->expected));
    }
    return {};
  }

  std::optional<double> Number(std::string_view name) const {
    const auto found = object_->find(name);
    if (found == object_->end()) return std::nullopt;
    return found->get<double>();
  }
  std::string TextOf(std::string_view name) const {
    return object_->value(name, std::string_view());
  }

  Result<std::vector<EventIndex>> RowEvents(const std::string& id) const {
    const analysis::SummaryRow* row = trace_.FindRow(id);
    if (row == nullptr) {
      return Bad(place_, fmt::format("there is no row \"{}\"", Utf8Prefix(id, 40)),
                 "ops_summary lists rows with their ids");
    }
    return row->gpu;
  }

  Result<std::vector<EventIndex>> WorkEvents(std::string_view kind, std::string* what) const {
    const std::string wanted = TextOf(kind);
    if (kind == "row") {
      const analysis::SummaryRow* row = trace_.FindRow(wanted);
      *what = row == nullptr ? wanted : fmt::format("{} ({})", wanted, ShownName(*row));
      return RowEvents(wanted);
    }
    std::vector<EventIndex> events;
    *what = fmt::format("{} \"{}\"", kind, Utf8Prefix(wanted, 60));
    if (kind == "category") {
      for (const analysis::SummaryRow& row : trace_.SummaryBy(analysis::GroupBy::kCategory).rows) {
        if (LowerAscii(row.name) == LowerAscii(wanted)) events = row.gpu;
      }
    } else if (!wanted.empty()) {
      for (const analysis::GpuWork& work : recorded_.works) {
        if (events_.strings[work.name].find(wanted) != std::string_view::npos)
          events.push_back(work.event);
      }
    }
    if (events.empty()) {
      return Bad(place_, fmt::format("no GPU work is of {}", *what),
                 kind == "category" ? "ops_summary by=category lists them"
                                    : "ops_summary by=kernel lists them");
    }
    return events;
  }

  double TotalMs(std::span<const EventIndex> events) const {
    double us = 0;
    for (const EventIndex e : events) {
      const std::uint32_t work = recorded_.WorkAt(e);
      if (work != analysis::kNoPlace) us += recorded_.works[work].duration();
    }
    return us / 1000;
  }

  Result<NamedChange> ReadWork(std::string_view kind) {
    NamedChange change;
    JV_ASSIGN(std::vector<EventIndex> events, WorkEvents(kind, &change.text));
    const int ways = static_cast<int>(Number("factor").has_value()) +
                     static_cast<int>(Number("ms").has_value()) +
                     static_cast<int>(Number("tflops").has_value()) +
                     static_cast<int>(Number("gbps").has_value()) +
                     static_cast<int>(object_->value("remove", false));
    if (ways != 1) {
      return Bad(place_,
                 fmt::format("expected one of factor, ms, tflops, gbps or remove beside {}", kind));
    }
    if (object_->value("remove", false)) {
      change.text += " removed";
      change.changes.push_back(analysis::RemoveGpu{std::move(events)});
    } else if (const auto factor = Number("factor")) {
      change.text += fmt::format(" x {}", output::Rounded(*factor));
      change.changes.push_back(ScaleGpu{std::move(events), {*factor}});
    } else if (const auto ms = Number("ms")) {
      const double now = TotalMs(events);
      if (now <= 0) return Bad(place_, "its GPU time is 0, so that it cannot be set");
      change.text += fmt::format(" from {} to {} ms", output::Rounded(now), output::Rounded(*ms));
      change.changes.push_back(ScaleGpu{std::move(events), {*ms / now}});
    } else {
      return ReadRate(std::move(change), std::move(events));
    }
    return change;
  }

  // To a rate: each call by the rate that it has now.
  Result<NamedChange> ReadRate(NamedChange change, std::vector<EventIndex> events) {
    const auto tflops = Number("tflops");
    const double wanted = tflops ? *tflops * 1e12 : Number("gbps").value_or(0) * 1e9;
    change.text += fmt::format(" at {} {}", output::Rounded(tflops ? *tflops : wanted / 1e9),
                               tflops ? "TFLOPS" : "GB/s");
    if (!(wanted > 0)) return Bad(place_, "expected a rate above 0");
    std::sort(events.begin(), events.end());
    ScaleGpu scale;
    JV_ASSIGN(const auto work, session::WorkOf(trace_, nullptr, job_));
    for (const analysis::WorkCall& call : work->calls) {
      if (call.work == nullptr || !(call.kernel_us > 0)) continue;
      const std::optional<double> amount = tflops ? call.work->flops : call.work->bytes;
      if (!amount || *amount <= 0) continue;
      for (const EventIndex kernel : call.kernels) {
        if (!std::binary_search(events.begin(), events.end(), kernel)) continue;
        scale.events.push_back(kernel);
        scale.factors.push_back(*amount / (call.kernel_us * 1e-6) / wanted);
      }
    }
    if (scale.events.empty()) {
      return Bad(place_, "how much work it does is not known, so there is no rate to change",
                 "give factor or ms instead");
    }
    if (scale.events.size() < events.size()) {
      change.note = fmt::format("{}: of {} GPU events {} have a known amount of work", change.text,
                                events.size(), scale.events.size());
    }
    change.changes.emplace_back(std::move(scale));
    return change;
  }

  // As the finding itself was simulated.
  Result<NamedChange> ReadFinding() {
    const std::string id = TextOf("finding");
    JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace_, arguments_, job_));
    const findings::Finding* finding = one.analysis->FindFinding(id);
    if (finding == nullptr) {
      return Bad(place_, fmt::format("there is no finding \"{}\"", Utf8Prefix(id, 40)),
                 "prioritize lists them with their ids");
    }
    auto step = findings::PlanStepOf(*one.analysis, simulation_, *finding);
    if (!step) {
      return Bad(place_, fmt::format("{} has no saving that adds to others: it happens once, or "
                                     "the trace does not tell what it would save",
                                     id));
    }
    NamedChange change{fmt::format("{} ({}: {})", id, finding->category,
                                   OneLine(Utf8Prefix(finding->subject, 60))),
                       step->changes,
                       {}};
    change.finding = std::move(step);
    return change;
  }

  // Neighbours on a stream become one, which takes as long as the longest of them.
  Result<NamedChange> ReadFuse() {
    NamedChange change;
    std::vector<bool> fused(recorded_.works.size(), false);
    for (const Json& id : object_->at("fuse")) {
      const std::string text = id.is_string() ? id.get<std::string>() : std::string();
      JV_ASSIGN(const std::vector<EventIndex> events, RowEvents(text));
      for (const EventIndex e : events) {
        const std::uint32_t work = recorded_.WorkAt(e);
        if (work != analysis::kNoPlace) fused[work] = true;
      }
      change.text += fmt::format("{}{}", change.text.empty() ? "fused: " : ", ", text);
    }
    analysis::SetGpuTime stays;
    analysis::RemoveGpu goes;
    for (const std::vector<std::uint32_t>& stream : recorded_.streams) {
      for (std::size_t first = 0, end = 0; first < stream.size(); first = end) {
        end = first + 1;
        if (!fused[stream[first]]) continue;
        double longest = recorded_.works[stream[first]].duration();
        for (; end < stream.size() && fused[stream[end]]; ++end) {
          longest = std::max(longest, recorded_.works[stream[end]].duration());
          goes.events.push_back(recorded_.works[stream[end]].event);
        }
        stays.events.push_back(recorded_.works[stream[first]].event);
        stays.us.push_back(longest);
      }
    }
    if (goes.events.empty()) {
      return Bad(place_, "nothing of these rows runs next to each other on a stream");
    }
    change.changes.emplace_back(std::move(stays));
    change.changes.emplace_back(std::move(goes));
    return change;
  }

  std::int64_t NanosOf(double ms) const {
    // Far beyond any trace, and safe from overflow.
    constexpr double kFar = 1e12;
    return recorded_.base_ns + static_cast<std::int64_t>(std::clamp(ms, -kFar, kFar) * 1e6);
  }

  // {"from_ms", "to_ms"}, from the trace's first event; what is absent is its end.
  HostStretch StretchOf(const Json& object) const {
    constexpr double kFar = 1e12;
    const auto number = [&](std::string_view name, double otherwise) {
      const auto found = object.find(name);
      return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
    };
    return {analysis::kAllTracks, NanosOf(number("from_ms", -kFar)),
            NanosOf(number("to_ms", kFar))};
  }

  static std::string StretchText(const Json& object) {
    const auto text = [&](std::string_view name, const char* otherwise) {
      const auto found = object.find(name);
      return found != object.end() && found->is_number()
                 ? fmt::format("{} ms", output::Rounded(found->get<double>()))
                 : std::string(otherwise);
    };
    return fmt::format("from {} to {}", text("from_ms", "the start"), text("to_ms", "the end"));
  }

  // Faster code makes no call of the runtime faster; what goes takes its calls along.
  bool WithCalls(double factor) const { return object_->value("calls", factor == 0); }

  Result<NamedChange> ReadHost() {
    const auto factor = Number("factor");
    if (!factor) return Bad(place_, "host needs factor; 0 takes the time away");
    const Json& stretch = object_->at("host");
    return NamedChange{fmt::format("host {} x {}", StretchText(stretch), output::Rounded(*factor)),
                       {analysis::ScaleHost{{StretchOf(stretch)}, *factor, WithCalls(*factor)}},
                       {}};
  }

  Result<NamedChange> ReadHostOp() {
    const auto factor = Number("factor");
    if (!factor) return Bad(place_, "host_op needs factor; 0 takes the time away");
    const std::string wanted = TextOf("host_op");
    analysis::ScaleHost scale{{}, *factor, WithCalls(*factor)};
    std::uint32_t covered = 0;  // places before it are below an event that was taken
    const std::span<const EventIndex> order = trace_.tree().preorder();
    for (std::uint32_t at = 0; at < order.size() && !wanted.empty(); ++at) {
      const EventIndex e = order[at];
      if (at < covered || events_.name(e).find(wanted) == std::string_view::npos) continue;
      covered = trace_.tree().subtree_end(e);
      const trace::Event& event = events_[e];
      scale.stretches.push_back({event.track, event.ts_ns, event.end_ns()});
    }
    if (scale.stretches.empty()) {
      return Bad(place_, fmt::format("no host event's name has \"{}\"", Utf8Prefix(wanted, 60)));
    }
    NamedChange change{fmt::format("host time in {} calls of \"{}\" x {}", scale.stretches.size(),
                                   Utf8Prefix(wanted, 60), output::Rounded(*factor)),
                       {},
                       {}};
    change.changes.emplace_back(std::move(scale));
    return change;
  }

  Result<NamedChange> ReadGraph() {
    const Json& stretch = object_->at("graph");
    if (stretch.is_boolean() && !stretch.get<bool>()) return Bad(place_, "graph: expected true");
    const HostStretch where = StretchOf(stretch);
    return NamedChange{"launches as graphs " + StretchText(stretch),
                       {analysis::GraphLaunches{where.begin_ns, where.end_ns}},
                       "launches as graphs: an upper bound, as all host time between the launches "
                       "of a graph goes, whatever it is for"};
  }

  Result<NamedChange> ReadPin() {
    if (!object_->value("pin_copies", false)) return Bad(place_, "pin_copies: expected true");
    analysis::PinCopies pin;
    std::size_t without_bytes = 0;
    for (const analysis::GpuWork& work : recorded_.works) {
      // Not every profiler says which memory was pinned; those that say so are left alone.
      if (!IsCopyBetweenMemories(work) || (work.pinned && !work.pageable)) continue;
      pin.copies.push_back(work.event);
      if (work.bytes <= 0) ++without_bytes;
    }
    if (pin.copies.empty()) return Bad(place_, "no copy uses memory that is not pinned");
    NamedChange change{fmt::format("{} copies pinned", pin.copies.size()), {}, {}};
    if (without_bytes > 0) {
      change.note = fmt::format("{} copies did not record their size: they keep their duration",
                                without_bytes);
    }
    change.changes.emplace_back(std::move(pin));
    return change;
  }

  // The call's name or one around it.
  bool IsCalledFrom(EventIndex call, const std::string& wanted) const {
    constexpr int kDepthMax = 200;
    EventIndex e = call;
    for (int depth = 0; e != trace::kNoEvent && depth < kDepthMax; ++depth) {
      if (events_.name(e).find(wanted) != std::string_view::npos) return true;
      e = trace_.tree().parent(e);
    }
    return false;
  }

  Result<NamedChange> ReadWaits() {
    const std::string wanted = TextOf("remove_waits");
    analysis::RemoveWaits remove;
    if (wanted == "all") {
      remove.all = true;
      return NamedChange{"all waits of the host removed", {std::move(remove)}, {}};
    }
    for (const analysis::HostCall& call : recorded_.calls) {
      if (!wanted.empty() && IsCalledFrom(call.event, wanted)) remove.calls.push_back(call.event);
    }
    if (remove.calls.empty()) {
      return Bad(place_,
                 fmt::format("no call that may wait is below \"{}\"", Utf8Prefix(wanted, 60)),
                 "\"all\" takes every wait");
    }
    NamedChange change{fmt::format("waits below \"{}\" removed", Utf8Prefix(wanted, 60)), {}, {}};
    change.changes.emplace_back(std::move(remove));
    return change;
  }

  Result<NamedChange> ReadProfiler() {
    if (TextOf("profiler_cost") != "remove")
      return Bad(place_, "profiler_cost: expected \"remove\"");
    JV_ASSIGN(const auto cost, session::ProfilingCostOf(trace_, job_));
    if (cost->stretches.empty()) {
      return Bad(place_, "no cost of profiling shows in the trace");
    }
    return NamedChange{fmt::format("the profiler's cost of {} to {} ms removed",
                                   output::Rounded(cost->low_ms), output::Rounded(cost->high_ms)),
                       {analysis::RemoveProfilerCost{cost->stretches}},
                       {}};
  }

  // Each call by its roofs on both devices; what has none by their memory bandwidths.
  Result<NamedChange> ReadGpu() {
    const std::string wanted = TextOf("gpu");
    JV_ASSIGN(const PlatformChoice to, ChoosePlatform(workspace_.files(), wanted, &trace_));
    JV_ASSIGN(const PlatformChoice from,
              ChoosePlatform(workspace_.files(), TextOf("from_gpu"), &trace_));
    if (!from.platform) {
      return Bad(place_, "the device of the trace is not known", "give from_gpu: its name");
    }
    if (!to.platform) return Bad(place_, "gpu: expected the name of a platform");
    const auto bandwidth =
        to.platform->mem_bw_gbps && from.platform->mem_bw_gbps
            ? std::optional(*from.platform->mem_bw_gbps / *to.platform->mem_bw_gbps)
            : std::nullopt;
    JV_ASSIGN(const auto work, session::WorkOf(trace_, nullptr, job_));
    ScaleGpu scale;
    double by_roof_us = 0;
    double all_us = 0;
    for (const analysis::WorkCall& call : work->calls) {
      const auto roofs = RoofsOf(call, *from.platform, *to.platform);
      for (const EventIndex kernel : call.kernels) {
        const std::uint32_t place = recorded_.WorkAt(kernel);
        if (place == analysis::kNoPlace) continue;
        const analysis::GpuWork& one = recorded_.works[place];
        if (one.collective || IsCopyBetweenMemories(one)) continue;
        all_us += one.duration();
        if (!roofs && !bandwidth) continue;
        if (roofs) by_roof_us += one.duration();
        scale.events.push_back(kernel);
        scale.factors.push_back(roofs ? *roofs : *bandwidth);
      }
    }
    if (scale.events.empty()) return Bad(place_, "no GPU work has a roof on both devices");
    NamedChange change{fmt::format("{} instead of {}", to.platform->name, from.platform->name),
                       {},
                       fmt::format("{} instead of {}: {:.0f} % of the GPU time by its roofs, the "
                                   "rest by memory bandwidth; host, copies over PCIe and "
                                   "collectives as they are",
                                   to.platform->name, from.platform->name,
                                   Percent(by_roof_us, all_us).value_or(0))};
    change.changes.emplace_back(std::move(scale));
    return change;
  }

  static std::optional<double> RoofsOf(const analysis::WorkCall& call, const perf::Platform& from,
                                       const perf::Platform& to) {
    if (call.work == nullptr) return std::nullopt;
    const perf::Work work{call.work->flops, call.work->bytes, call.work->spec};
    const auto before = perf::RooflineOf(work, from).roof_us;
    const auto after = perf::RooflineOf(work, to).roof_us;
    if (!before || !after || *before <= 0) return std::nullopt;
    return *after / *before;
  }

  session::Workspace& workspace_;
  const session::LoadedTrace& trace_;
  const analysis::Simulation& simulation_;
  const analysis::RecordedWork& recorded_;
  const trace::EventStore& events_;
  const Json& arguments_;
  Job& job_;
  const Json* object_ = nullptr;
  std::size_t place_ = 0;
};

}  // namespace

Result<std::vector<NamedChange>> ReadChanges(session::Workspace& workspace,
                                             const session::LoadedTrace& trace,
                                             const analysis::Simulation& simulation,
                                             const Json& arguments, Job& job) {
  ChangeReader reader(workspace, trace, simulation, arguments, job);
  std::vector<NamedChange> changes;
  for (const Json& given : arguments.at("changes")) {
    const Json object = given.is_string() ? FromText(given.get<std::string>()) : given;
    JV_ASSIGN(NamedChange change, reader.Read(object, changes.size()));
    JV_TRY(job.Check());
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace jarvis::tools
