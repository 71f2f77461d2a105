#include "trace/import/xplane/drawn_ops.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "trace/import/shared/slice_writer.h"

namespace jarvis::trace::xplane {
namespace {

constexpr std::int64_t kNsPerOp = 1;

struct Work {
  std::size_t line = 0;
  std::uint32_t event = 0;
  std::int64_t ts_ns = 0, end_ns = 0;
  const Op* op = nullptr;
};

struct Run {
  std::string name;
  std::int64_t begin_ns = 0, end_ns = 0;
};

class Drawer {
 public:
  Drawer(const DevicePlane& device, std::span<LineEvents*> lines, std::int64_t* next_id)
      : device_(device), lines_(lines), next_id_(*next_id), writer_(&slice_) {
    track_ =
        writer_.Track(fmt::format("{} {} program", device.tpu ? "TPU" : "GPU", device.name), "0");
    writer_.NameProcess(track_, fmt::format("programs of {}, drawn", device.plane->name), "CPU");
    writer_.NameThread(track_, "programs");
  }

  DecodedSlice Draw(std::vector<Work> works) {
    std::stable_sort(works.begin(), works.end(),
                     [](const Work& a, const Work& b) { return a.ts_ns < b.ts_ns; });
    std::vector<Run> runs = RecordedRuns();
    if (runs.empty()) runs = RepeatedRuns(works);
    DrawSteps();
    DrawRuns(runs, works);
    return std::move(slice_);
  }

 private:
  // Events of a line that converters draw, as runs.
  std::vector<Run> EventsOf(std::string_view label, bool steps) {
    std::vector<Run> runs;
    FactsReader reader(*device_.plane);
    EventFacts facts;
    for (const Line& line : device_.plane->lines) {
      if (line.label() != label) continue;
      proto::Cursor cursor(line.message);
      proto::Field field;
      while (cursor.Next(&field)) {
        Event event;
        std::int64_t begin = 0;
        if (!field.IsBytes(4) || !ReadEvent(field.bytes, &event) || event.total ||
            !TimeOf(line, event, &slice_.oddities, &begin))
          continue;
        const auto named = device_.plane->event_names.find(event.name_id);
        const EventName* name =
            named == device_.plane->event_names.end() ? nullptr : &named->second;
        reader.Read(name, event.stats, &facts);
        constexpr std::int64_t kPsPerNs = 1000;
        std::string shown = NameOf(name, facts, event.name_id);
        if (steps) {
          const std::int64_t number = facts.step != kAbsent ? facts.step
                                      : facts.group != kAbsent
                                          ? facts.group
                                          : static_cast<std::int64_t>(runs.size());
          shown = fmt::format("step#step_num={}#", number);
        }
        runs.push_back(
            {std::move(shown), begin / kPsPerNs, (begin + event.duration_ps) / kPsPerNs});
      }
    }
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run& a, const Run& b) { return a.begin_ns < b.begin_ns; });
    return runs;
  }

  std::vector<Run> RecordedRuns() {
    return device_.tpu ? EventsOf("XLA Modules", false) : std::vector<Run>();
  }

  // A run ends where an op returns that was there already and is not the one just before.
  static std::vector<Run> RepeatedRuns(const std::vector<Work>& works) {
    std::vector<Run> runs;
    std::set<const Op*> seen;
    const Op* last = nullptr;
    for (const Work& work : works) {
      const bool another = last != nullptr &&
                           (work.op->module != last->module || work.op->program != last->program ||
                            (work.op != last && seen.contains(work.op)));
      if (runs.empty() || another) {
        runs.push_back({std::string(work.op->module), work.ts_ns, work.end_ns});
        seen.clear();
      }
      runs.back().end_ns = std::max(runs.back().end_ns, work.end_ns);
      seen.insert(work.op);
      last = work.op;
    }
    return runs;
  }

  void DrawSteps() {
    for (const Run& step : device_.tpu ? EventsOf("Steps", true) : std::vector<Run>())
      AddSpan(step);
  }

  void AddSpan(const Run& run) {
    const EventKind kind = EventKind::kUserAnnotation;
    writer_.AddNs(kind, writer_.Category(kind), track_,
                  writer_.Name(run.name.empty() ? "program" : run.name), run.begin_ns,
                  run.end_ns - run.begin_ns);
  }

  void DrawRuns(const std::vector<Run>& runs, const std::vector<Work>& works) {
    std::size_t at = 0;
    for (const Run& run : runs) {
      AddSpan(run);
      std::int64_t when = run.begin_ns;
      while (at < works.size() && works[at].ts_ns < run.begin_ns)
        at = Call(works, at, works[at].ts_ns);
      while (at < works.size() && works[at].ts_ns < std::max(run.end_ns, run.begin_ns + 1)) {
        at = Call(works, at, when);
        when += 2 * kNsPerOp;
      }
    }
    while (at < works.size())
      at = Call(works, at, works[at].ts_ns);
  }

  // One call of an op, whose work goes on for as long as no other op's comes between.
  std::size_t Call(const std::vector<Work>& works, std::size_t at, std::int64_t when) {
    const LineEvents& line = *lines_[works[at].line];
    if (!line.calls.empty()) {
      // A piece of a call that was drawn already: ops of a TPU lie in each other.
      const auto known = id_of_call_.find({works[at].line, line.calls[works[at].event]});
      if (known != id_of_call_.end()) {
        Link(works[at], known->second);
        return at + 1;
      }
    }
    const Op& op = *works[at].op;
    const EventKind kind = EventKind::kCpuOp;
    writer_.AddNs(kind, writer_.Category(kind), track_, writer_.Name(op.name), when, kNsPerOp);
    Args* args = writer_.LastArgs();
    const auto raw = [&](const std::string& text) {
      return text.empty() ? kNoString : writer_.Raw(text);
    };
    args->external_id = next_id_;
    args->dims = raw(op.facts.dims);
    args->types = raw(op.facts.types);
    args->strides = raw(op.facts.strides);
    args->known_as = raw(op.facts.known_as);
    args_.Clear();
    AddOpArgs(op, &args_);
    args->other = raw(std::string(args_.text()));
    do {
      Link(works[at], next_id_);
      ++at;
    } while (!device_.tpu && at < works.size() && works[at].op == &op);
    ++next_id_;
    return at;
  }

  void Link(const Work& work, std::int64_t id) {
    LineEvents& line = *lines_[work.line];
    line.slice.args[line.slice.events[work.event].args].external_id = id;
    if (!line.calls.empty()) id_of_call_.emplace(std::pair(work.line, line.calls[work.event]), id);
  }

  const DevicePlane& device_;
  std::span<LineEvents*> lines_;
  std::int64_t& next_id_;
  DecodedSlice slice_;
  SliceWriter writer_;
  ArgText args_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> id_of_call_;
  std::uint32_t track_ = 0;
};

}  // namespace

DecodedSlice DrawOps(const DevicePlane& device, std::span<LineEvents*> lines,
                     const std::vector<std::vector<bool>>& unlaunched, std::int64_t* next_id) {
  std::vector<Work> works;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const LineEvents& events = *lines[line];
    for (std::uint32_t e = 0; e < events.slice.events.size(); ++e) {
      const trace::Event& event = events.slice.events[e];
      if (unlaunched[line][e] && events.ops[e] != nullptr)
        works.push_back({line, e, event.ts_ns, event.end_ns(), events.ops[e]});
    }
  }
  if (works.empty()) return {};
  return Drawer(device, lines, next_id).Draw(std::move(works));
}

}  // namespace jarvis::trace::xplane
