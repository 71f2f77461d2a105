#include "findings/one/graph_capture.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "findings/one/host_units.h"
#include "findings/one/multi_kernel.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

constexpr std::size_t kStopsTold = 2;

// Names of a trace are text of others: none may end the code that it stands in.
std::string QuotedName(std::string name) {
  constexpr std::size_t kBytesMax = 100;
  std::erase_if(name, [](char c) { return c == '`' || c == '\n' || c == '\r'; });
  return name.empty() || name.size() > kBytesMax ? "" : "`" + name + "`";
}

// A call that a graph cannot hold.
struct Obstacle {
  std::string op;
  std::string place;  // "`aten::item` in `mask.py(42): is_full`"
  std::string code;   // "mask.py(42): is_full"; empty: not recorded
  bool operator==(const Obstacle& other) const { return place == other.place; }
};

bool MakesSizes(std::string_view op) {
  constexpr std::string_view kSizes[] = {"aten::nonzero",  "aten::masked_select", "aten::unique",
                                         "aten::_unique2", "aten::bincount",      "aten::index"};
  return std::ranges::find(kSizes, op) != std::end(kSizes);
}

// What a senior engineer does about a wait, by what is read back.
std::string_view CureOf(const Obstacle& wait) {
  constexpr std::string_view kValues[] = {"aten::is_nonzero", "aten::item", "aten::equal",
                                          "aten::_local_scalar_dense", "aten::allclose"};
  if (MakesSizes(wait.op)) return "keep sizes fixed (`torch.where`, a mask instead of an index)";
  if (std::ranges::find(kValues, wait.op) == std::end(kValues))
    return "move it before or after the step";
  if (wait.code.find("mask") != std::string::npos)
    return "pass a ready-made 4-D mask, or no mask if the model then makes none";
  return "keep the decision on the device (`torch.where`), or take the value before the step";
}

class CaptureReader {
 public:
  CaptureReader(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                const session::TraceFrames& frames, const IntervalSet<std::int64_t>& captured)
      : trace_(trace),
        events_(trace.events()),
        tree_(trace.tree()),
        host_(host),
        units_(frames.frames.base.host_each()) {
    for (const Interval<std::int64_t>& step : captured)
      AddCaptured(step);
    std::ranges::sort(launched_);
  }

  bool empty() const { return captured_.empty(); }

  // Calls that wait, without those for what they upload.
  void CountWaits(bool in_modules, double units, CaptureText* text) const {
    analysis::HostNames names(events_);
    const auto uploads = [&](EventIndex call) {
      const EventIndex op = analysis::CallingOp(events_, tree_, call, &names);
      const auto& work = tree_.GpuBelow(op == trace::kNoEvent ? call : op);
      return std::any_of(work.begin(), work.end(), [&](EventIndex gpu) {
        return events_[gpu].kind == trace::EventKind::kMemcpy &&
               DirectionOf(trace_, gpu) == CopyDirection::kToDevice;
      });
    };
    for (const analysis::WaitGroup& group : host_.waits) {
      if (group.cause == analysis::WaitCause::kFullQueue) continue;
      const auto calls = std::ranges::count_if(
          group.calls, [&](EventIndex call) { return Counts(call, in_modules) && !uploads(call); });
      text->waits += static_cast<double>(calls) / units;
    }
  }

  // Ops that make sizes from values of the GPU; a wait of each would be too short to be told of.
  void CountSizesMade(bool in_modules, double units, CaptureText* text) const {
    trace::ByName<bool> makes(
        events_, [](std::string_view name) { return name != "aten::index" && MakesSizes(name); });
    std::map<StringId, std::size_t> made;
    std::size_t most = 0, all = 0, amid = 0;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kCpuOp || !makes.Of(e)) continue;
      if (!Counts(e, in_modules) || tree_.GpuBelow(e).empty()) continue;
      ++all;
      // Where no module says what is the model's, most of them have to be amid.
      if (!in_modules && !IsAmid(e)) continue;
      ++amid;
      const std::size_t count = ++made[events_[e].name];
      if (count <= most) continue;
      most = count;
      text->maker = QuotedName(std::string(events_.name(e)));
    }
    if (2 * amid > all) text->sizes_made = static_cast<double>(amid) / units;
  }

  // Places whose call waits, as they first come.
  // `in_modules`: only those that modules make.
  std::vector<Obstacle> Waits(bool in_modules) const {
    std::vector<Obstacle> places;
    for (const analysis::WaitGroup& group : host_.waits) {
      // Launching into a full queue is what a graph ends.
      if (group.cause == analysis::WaitCause::kFullQueue) continue;
      const bool inside = std::any_of(group.calls.begin(), group.calls.end(),
                                      [&](EventIndex call) { return Counts(call, in_modules); });
      if (inside) AddPlace(group.op.empty() ? group.call : group.op, group.code, &places);
    }
    return places;
  }

  std::vector<Obstacle> Uploads() const {
    analysis::HostNames names(events_);
    std::vector<Obstacle> places;
    for (const EventIndex copy : trace_.attribution().timeline) {
      const EventIndex launch = tree_.parent(copy);
      if (events_[copy].kind != trace::EventKind::kMemcpy || launch == trace::kNoEvent) continue;
      if (DirectionOf(trace_, copy) != CopyDirection::kToDevice || !IsInside(launch)) continue;
      const EventIndex op = analysis::CallingOp(events_, tree_, launch, &names);
      std::string code;
      for (EventIndex up = launch; up != trace::kNoEvent && code.empty(); up = tree_.parent(up)) {
        if (names.Of(up).user_frame) code = events_.name(up);
      }
      AddPlace(std::string(events_.name(op == trace::kNoEvent ? launch : op)), code, &places);
    }
    return places;
  }

 private:
  void AddCaptured(const Interval<std::int64_t>& step) {
    std::int64_t first = step.end, last = step.start;
    for (const analysis::Launch& launch : host_.launches.all()) {
      if (!launch.kernel || launch.call_ns < step.start || launch.call_ns >= step.end) continue;
      first = std::min(first, launch.call_ns);
      last = std::max(last, launch.call_ns);
      launched_.push_back(launch.call_ns);
    }
    if (first < last) captured_.push_back({first, last});
  }

  // A good part of what its unit launches comes after it: what takes a result apart at the end
  // makes sizes as well.
  bool IsAmid(EventIndex call) const {
    constexpr std::ptrdiff_t kGoodPart = 4;  // one in so many
    const analysis::FoundStep* unit = UnitAt(units_, events_[call].ts_ns);
    if (unit == nullptr) return false;
    const auto place = [&](std::int64_t ns) { return std::ranges::lower_bound(launched_, ns); };
    const auto end = place(unit->host.end);
    return kGoodPart * (end - place(events_[call].ts_ns)) >= end - place(unit->host.start);
  }

  bool Counts(EventIndex call, bool in_modules) const {
    return IsInside(call) && (!in_modules || IsInModule(call));
  }
  bool IsInside(EventIndex call) const { return Contains(captured_, events_[call].ts_ns); }

  bool IsInModule(EventIndex call) const {
    bool found = false;
    for (EventIndex up = call; up != trace::kNoEvent && !found; up = tree_.parent(up))
      found = !analysis::ModuleClass(events_.name(up)).empty();
    return found;
  }

  static void AddPlace(std::string name, const std::string& code, std::vector<Obstacle>* places) {
    Obstacle one{name, QuotedName(name), code};
    if (const std::string at = QuotedName(code); !at.empty()) one.place += " in " + at;
    if (!one.place.empty() && std::find(places->begin(), places->end(), one) == places->end())
      places->push_back(std::move(one));
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const analysis::HostSummary& host_;
  const std::vector<analysis::FoundStep>& units_;
  IntervalSet<std::int64_t> captured_;  // from the first kernel's launch to the last one's
  std::vector<std::int64_t> launched_;  // kernels in these
};

// "`a` in `f`, `b` and 3 places more"
std::string PlacesClause(const std::vector<Obstacle>& places) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(places.size(), kStopsTold); ++i)
    parts.push_back(places[i].place);
  if (const std::size_t more = places.size() - parts.size(); more > 0)
    parts.push_back(fmt::format("{} place{} more", more, more == 1 ? "" : "s"));
  return Enumerated(parts);
}

// "`a` in `f` waits for the GPU, which breaks the graph: pass no mask; for `b`, ..."
std::string WaitsClause(const std::vector<Obstacle>& waits, bool compiled) {
  const std::string places = PlacesClause(waits);
  const char* const s = waits.size() == 1 ? "s" : "";
  std::string text =
      compiled ? fmt::format(
                     "{} wait{} for the GPU, which breaks the graph unless the compiled "
                     "code takes another branch",
                     places, s)
               : fmt::format("`torch.cuda.graph` fails at {}, which wait{} for the GPU", places, s);
  text += fmt::format(": {}", CureOf(waits.front()));
  if (waits.size() > 1 && CureOf(waits[1]) != CureOf(waits.front()))
    text += fmt::format("; for {}, {}", QuotedName(waits[1].op), CureOf(waits[1]));
  return text;
}

// Lengths that no multiple of eight is are the input's own: the next one has another. Token by
// token the keys get longer.
std::string LengthClause(const WorkContext& context, const std::string& sizes) {
  if (context.generates) {
    return ". A graph has one fixed length: keep keys and values in a cache of fixed size "
           "(transformers: `StaticCache`), written in place, with a mask";
  }
  if (!sizes.empty())
    return fmt::format(". A graph has fixed sizes, and here they differ by step ({})", sizes);
  if (context.training || context.input_tokens == 0 || context.input_tokens % 8 == 0) return "";
  return fmt::format(". A graph has one fixed length: pad inputs to a few lengths ({} tokens now)",
                     context.input_tokens);
}

std::string UploadsClause(const std::vector<Obstacle>& uploads) {
  return fmt::format(
      "{} cop{} from the host inside it: create the tensor on the device (`device=`), or copy it "
      "before the graph",
      PlacesClause(uploads), uploads.size() == 1 ? "ies" : "y");
}

std::string ObstaclesClause(const std::vector<Obstacle>& waits,
                            const std::vector<Obstacle>& uploads, bool compiled) {
  std::string text = waits.empty() ? "" : WaitsClause(waits, compiled);
  if (!uploads.empty()) text += (text.empty() ? "" : ". ") + UploadsClause(uploads);
  if (!text.empty()) return text;
  return "The step can be captured as it is: nothing between its first and last kernel waits for "
         "the "
         "GPU or copies from the host";
}

}  // namespace

CaptureText CaptureWords(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                         const session::TraceFrames& frames, const TimeScope& scope,
                         const IntervalSet<std::int64_t>& launching, const WorkContext& context,
                         const std::string& sizes) {
  CaptureText text;
  text.part = frames.frames.steps.empty();
  const CaptureReader reader(trace, host, frames, text.part ? launching : scope.spans());
  if (reader.empty()) return text;
  const std::vector<Obstacle> uploads = reader.Uploads();
  const auto waits_of = [&](bool in_modules) {
    std::vector<Obstacle> waits = reader.Waits(in_modules);
    // A copy from pageable memory waits as well; that it is made elsewhere ends both.
    std::erase_if(waits, [&](const Obstacle& wait) {
      return std::find(uploads.begin(), uploads.end(), wait) != uploads.end();
    });
    return waits;
  };
  const std::vector<Obstacle> of_step = waits_of(false);
  const std::string length = LengthClause(context, sizes);
  if (!of_step.empty())
    text.before = fmt::format("take {} out of the {}, then ", QuotedName(of_step.front().op),
                              text.part ? "captured part" : "step");
  if (text.part && of_step.empty() && uploads.empty()) return text;
  // A graph is of one pass, not of a group of them.
  const auto parts = static_cast<double>(std::max<std::int64_t>(1, frames.frames.base.parts()));
  reader.CountWaits(trace.recorded().modules, parts, &text);
  reader.CountSizesMade(trace.recorded().modules, parts, &text);
  text.step = ObstaclesClause(of_step, uploads, false) + length;
  text.model = ObstaclesClause(waits_of(trace.recorded().modules), uploads, true) + length;
  return text;
}

void SayCapture(const LaunchFit& fit, const CaptureText& text, bool generates,
                std::vector<Remedy>* ways) {
  for (Remedy& remedy : *ways) {
    // The compiler leaves a library's function as it is; a graph replays its launches.
    if (remedy.advice == Advice::kCompileGraphs && !fit.library_op.empty())
      remedy.advice = Advice::kGpuGraphs;
    if (remedy.advice != Advice::kCompileGraphs && remedy.advice != Advice::kGpuGraphs) continue;
    // For the model compiled and for the step captured: which of them it is may change later.
    const bool more = remedy.advice == Advice::kGpuGraphs && !text.before.empty();
    const std::string then = more ? "" : "then ";
    if (!fit.sizes.empty() && !generates)
      remedy.facts.push_back({"pad", "pad inputs to a few sizes, " + then, "words"});
    if (fit.grows && generates) {
      remedy.facts.push_back(
          {"fixed", "keep keys and values in a cache of fixed size, " + then, "words"});
    }
    if (!text.before.empty()) remedy.facts.push_back({"before", text.before, "words"});
    if (text.part) remedy.facts.push_back({"part", std::int64_t{1}, ""});
    if (text.step.empty()) continue;
    remedy.facts.push_back({"capture", text.step, "words"});
    remedy.facts.push_back({"compiled", text.model, "words"});
  }
}

void FitToMadeSizes(const CaptureText& text, Finding* finding) {
  constexpr std::string_view kModule = "nn.Module: ";
  std::string module;
  if (!finding->host->places.empty() && finding->host->places.front().name.starts_with(kModule))
    module = QuotedName(finding->host->places.front().name.substr(kModule.size()));
  const auto graph = std::ranges::find_if(finding->path_b, [](const Remedy& one) {
    return one.advice == Advice::kCompileGraphs || one.advice == Advice::kGpuGraphs;
  });
  if (graph == finding->path_b.end() || text.maker.empty()) return;
  if (!module.empty()) {
    graph->advice = Advice::kCompilePart;
    graph->facts.push_back({"module", std::move(module), "words"});
    graph->facts.push_back({"maker", text.maker, "words"});
    return;
  }
  graph->facts.push_back(
      {"fixed", fmt::format("make sizes fixed (no {} inside the model), then ", text.maker),
       "words"});
  std::erase_if(graph->facts, [](const Fact& fact) { return fact.key == "pad"; });
  finding->path_a.push_back(std::move(*graph));
  finding->path_b.erase(graph);
}

std::vector<analysis::Change> LaunchedAsGraphs(const IntervalSet<std::int64_t>& spans) {
  constexpr std::size_t kSpansMax = 32;
  std::vector<analysis::Change> changes;
  if (spans.size() > kSpansMax)
    return {analysis::GraphLaunches{spans.front().start, spans.back().end}};
  for (const Interval<std::int64_t>& span : spans)
    changes.emplace_back(analysis::GraphLaunches{span.start, span.end});
  return changes;
}

}  // namespace jarvis::findings
