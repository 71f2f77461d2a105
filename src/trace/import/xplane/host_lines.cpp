#include "trace/import/xplane/host_lines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/import/xplane/tensor_text.h"

namespace jarvis::trace::xplane {
namespace {

constexpr std::string_view kExecution = ":XLA GPU module";
constexpr std::uint32_t kTrackOfLine = 0;  // a line's slice has one
// XLA runs a program on several devices by a thread for each.
constexpr std::string_view kExecutor = "py_xla_execute";
constexpr std::uint64_t kAllocationsRead = 32;  // of a thread, to tell whose memory it takes

bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

// Of what has a correlation, which is a call of the runtime or the driver. Some versions name it
// after the kernel that it launched.
EventKind CallKindOf(std::string_view name) {
  const bool driver = name.starts_with("cu") && name.size() > 2 && IsUpper(name[2]);
  return driver ? EventKind::kDriver : EventKind::kRuntime;
}

// Bookkeeping of the profiler, the allocator and queues of threads: moments, and no work. Their
// stats, which are others each time, are not kept.
bool IsBookkeeping(std::string_view name) {
  return name == "MemoryAllocation" || name == "MemoryDeallocation" ||
         name.starts_with("ThreadpoolListener::");
}

class ThreadReader {
 public:
  ThreadReader(const HostThread& thread, const LaunchedWorks& launched, OpTable* ops)
      : thread_(thread),
        launched_(launched),
        ops_(*ops),
        facts_(*thread.plane),
        kinds_(*thread.plane, &IsBookkeeping),
        slice_(out_.events.slice),
        writer_(&slice_) {
    track_ = writer_.Track(thread.pid, fmt::format("{}", thread.line->id));
    writer_.NameProcess(track_, thread.plane->name, "CPU");
    writer_.NameThread(track_, thread.line->label());
    out_.executor = thread.line->label().starts_with(kExecutor);
  }

  HostLine Run() {
    slice_.events.reserve_whole(thread_.line->events);
    proto::Cursor cursor(thread_.line->message);
    proto::Field field;
    while (cursor.Next(&field)) {
      if (field.IsBytes(4)) Take(field.bytes);
    }
    PlaceOps();
    return std::move(out_);
  }

 private:
  struct Launch {
    std::uint32_t event;
    const Op* op;
    std::uint64_t kernel;
  };

  void Take(std::string_view message) {
    Event event;
    if (!ReadEvent(message, &event)) {
      slice_.oddities.Count(Oddity::kMalformedEvent, slice_.events.size());
      return;
    }
    if (event.total) {
      ++out_.events.losses.totals;
      return;
    }
    std::int64_t begin = 0;
    if (!TimeOf(*thread_.line, event, &slice_.oddities, &begin)) return;
    std::int64_t correlation = kAbsent;
    const std::uint32_t number = kinds_.Of(event, &correlation);
    if (number == made_.size()) made_.push_back(Make(event));
    const Made& made = made_[number];
    if (correlation == kAbsent) correlation = made.correlation;
    if (made.execution) out_.executions.push_back(static_cast<std::uint32_t>(slice_.events.size()));
    if (made.allocation && out_.allocations++ < kAllocationsRead) ReadAllocator(event.stats);
    writer_.AddPs(made.kind, made.category, track_, made.name, begin, event.duration_ps);
    if (made.group != kAbsent) AddToGroup(made.group, slice_.events.back());
    if (made.args != kNoString || correlation != kAbsent) {
      Args* args = writer_.LastArgs();
      args->dims = made.dims;
      args->types = made.types;
      args->correlation = correlation;
      args->other = made.args;
    }
    if (IsLaunchCall(made.kind)) TakeLaunch(made, correlation);
  }

  // What is made of all events of one name and of the same stats.
  struct Made {
    EventKind kind = EventKind::kCpuOp;
    std::uint8_t category = 0;
    StringId name = kNoString, args = kNoString, dims = kNoString, types = kNoString;
    const Op* op = nullptr;
    std::int64_t correlation = kAbsent, group = kAbsent;
    bool execution = false, allocation = false;
  };
  Made Make(const Event& event) {
    const std::int64_t name_id = event.name_id;
    const auto named = thread_.plane->event_names.find(name_id);
    const EventName* name = named == thread_.plane->event_names.end() ? nullptr : &named->second;
    facts_.Read(name, event.stats, &found_);
    std::string shown = NameOf(name, found_, name_id);
    Made made;
    made.kind = KindOf(&shown, &made);
    made.category = writer_.Category(made.kind, thread_.amd);
    made.name = writer_.Name(shown);
    if (made.kind != EventKind::kOther) made.args = ArgsOf(name, shown);
    made.op = ops_.Find(found_);
    if (made.kind == EventKind::kCpuOp) AddInputs(&made);
    made.correlation = found_.correlation;
    made.group = found_.group;
    return made;
  }

  // "GPU_7_bfc": memory of device 7.
  void ReadAllocator(std::string_view stats) {
    constexpr std::string_view kGpu = "GPU_";
    facts_.Read(nullptr, stats, &found_);
    const auto told = std::ranges::find(found_.other, "allocator_name",
                                        &std::pair<std::string_view, Stat>::first);
    if (told == found_.other.end()) return;
    std::string_view name = thread_.plane->TextOf(told->second);
    if (!name.starts_with(kGpu)) return;
    name.remove_prefix(kGpu.size());
    if (const auto device = ParseInt(name.substr(0, name.find('_')))) ++out_.memory_of[*device];
  }

  void AddInputs(Made* made) {
    constexpr std::string_view kInputs = "shape";
    const auto told =
        std::ranges::find(found_.other, kInputs, &std::pair<std::string_view, Stat>::first);
    if (told == found_.other.end()) return;
    const auto inputs = ReadTensorInputs(thread_.plane->TextOf(told->second));
    if (!inputs) return;
    made->dims = writer_.Raw(inputs->dims);
    made->types = writer_.Raw(inputs->types);
  }

  void AddToGroup(std::int64_t group, const trace::Event& event) {
    if (group_ == nullptr || group != last_group_) {
      group_ = &out_.groups.try_emplace(group, HostLine::Span{event.ts_ns, event.end_ns()})
                    .first->second;
      last_group_ = group;
    }
    group_->begin_ns = std::min(group_->begin_ns, event.ts_ns);
    group_->end_ns = std::max(group_->end_ns, event.end_ns());
  }

  EventKind KindOf(std::string* shown, Made* made) {
    const std::string_view name = *shown;
    if (found_.correlation != kAbsent) return CallKindOf(name);
    if (found_.step != kAbsent) {
      // As the annotation writes itself, so that it is known for a step's mark.
      shown->append(fmt::format("#step_num={}#", found_.step));
      out_.step_marks = true;
      return EventKind::kUserAnnotation;
    }
    if (name.starts_with('$')) {
      out_.python = true;
      return EventKind::kPythonFunction;
    }
    if (name.starts_with("PjitFunction(")) return EventKind::kUserAnnotation;
    if (IsBookkeeping(name)) {
      made->allocation = name.starts_with("Memory");
      return EventKind::kOther;
    }
    made->execution = name.ends_with(kExecution);
    return EventKind::kCpuOp;
  }

  StringId ArgsOf(const EventName* name, std::string_view shown) {
    args_.Clear();
    if (name != nullptr && !name->display.empty() && name->name != shown)
      args_.Text("long_name", name->name);
    if (!found_.hlo_op.empty()) args_.Text("hlo_op", found_.hlo_op);
    if (!found_.hlo_module.empty()) args_.Text("hlo_module", found_.hlo_module);
    if (found_.program != kAbsent) args_.Number("program_id", found_.program);
    if (found_.group != kAbsent) args_.Number("group_id", found_.group);
    if (!found_.memcpy_details.empty()) args_.Text("memcpy_details", found_.memcpy_details);
    facts_.AddOther(found_, &args_);
    return args_.text().empty() ? kNoString : writer_.Raw(args_.text());
  }

  void TakeLaunch(const Made& made, std::int64_t correlation) {
    out_.launches.push_back(correlation);
    // The work itself says more than its launch, which may leave the program's id out.
    const LaunchedWork* work = launched_.Find(correlation);
    if (work != nullptr) ++out_.launches_of[work->device];
    const Op* op = work == nullptr ? nullptr : work->op;
    if (op == nullptr) op = made.op;
    if (op == nullptr) return;
    // Looked up by the text where it lies elsewhere than the last one: of a plane, a name is one.
    if (launched_times_ == nullptr || op->module.data() != last_module_.data() ||
        op->module.size() != last_module_.size()) {
      last_module_ = op->module;
      launched_times_ = &out_.launched[op->module];
    }
    launched_times_->push_back(slice_.events.back().ts_ns);
    launches_.push_back({static_cast<std::uint32_t>(slice_.events.size() - 1), op,
                         work == nullptr ? 0 : work->kernel});
  }

  // Gives every launch the event of its op.
  void PlaceOps() {
    if (launches_.empty()) return;
    const std::vector<std::uint32_t> around = AroundLaunches();
    const auto when = [&](const Launch& launch) { return slice_.events[launch.event].ts_ns; };
    if (!std::ranges::is_sorted(launches_, {}, when)) std::ranges::stable_sort(launches_, {}, when);
    FindLoneOps();
    for (std::size_t i = 0; i < launches_.size();) {
      const Op* op = launches_[i].op;
      const std::uint32_t parent = around[launches_[i].event];
      std::size_t end = i + 1;
      while (end < launches_.size() && launches_[end].op == op &&
             around[launches_[end].event] == parent && !StartsAnother(i, end, parent))
        ++end;
      if (parent != kNoEvent && slice_.names[slice_.events[parent].name] == op->name) {
        Describe(parent, *op);
      } else {
        Draw(*op, i, end);
      }
      i = end;
    }
  }

  // Programs of one op alone: there, with no event around launches, a kernel that comes again is
  // the next call's. In others, calls of an op are parted by those of the rest.
  void FindLoneOps() {
    std::unordered_set<const Op*> ops;
    for (const Launch& launch : launches_)
      ops.insert(launch.op);
    std::map<std::pair<std::string_view, std::int64_t>, const Op*> only;
    for (const Op* op : ops) {
      const auto [found, added] = only.emplace(std::pair(op->module, op->program), op);
      if (!added) found->second = nullptr;
    }
    for (const auto& [program, op] : only) {
      if (op != nullptr) lone_.insert(op);
    }
  }

  bool StartsAnother(std::size_t first, std::size_t at, std::uint32_t parent) const {
    if (parent != kNoEvent || !lone_.contains(launches_[at].op)) return false;
    for (std::size_t i = first; i < at; ++i) {
      if (launches_[i].kernel == launches_[at].kernel) return true;
    }
    return false;
  }

  // By event, of launches: the innermost event around it that is no call.
  std::vector<std::uint32_t> AroundLaunches() const {
    std::vector<std::uint32_t> order(slice_.events.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
      order[i] = i;
    const auto key = [&](std::uint32_t i) {
      const trace::Event& event = slice_.events[i];
      return std::tuple(event.ts_ns, -event.dur_ns, IsLaunchCall(event.kind), i);
    };
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
    if (!std::ranges::is_sorted(order, before)) std::ranges::sort(order, before);
    std::vector<std::uint32_t> around(slice_.events.size(), kNoEvent);
    std::vector<std::uint32_t> open;
    for (const std::uint32_t i : order) {
      const trace::Event& event = slice_.events[i];
      while (!open.empty() && slice_.events[open.back()].end_ns() <= event.ts_ns)
        open.pop_back();
      if (IsLaunchCall(event.kind)) {
        if (!open.empty()) around[i] = open.back();
      } else if (event.dur_ns > 0) {
        open.push_back(i);
      }
    }
    return around;
  }

  // An op's event: what models ask for, and what its program says.
  void Describe(std::uint32_t event, const Op& op) {
    trace::Event& described = slice_.events[event];
    if (described.args == kNoArgs) {
      described.args = static_cast<std::uint32_t>(slice_.args.size());
      slice_.args.push_back({});
    }
    Args& args = slice_.args[described.args];
    const Args& told = ToldOf(op);
    args.dims = told.dims;
    args.types = told.types;
    args.strides = told.strides;
    args.known_as = told.known_as;
    // What the event itself says stays where its program is not known.
    if (args.other == kNoString || op.known) args.other = told.other;
  }

  // What is said of each call of an op, written once.
  const Args& ToldOf(const Op& op) {
    const auto [found, added] = told_.try_emplace(&op);
    if (!added) return found->second;
    const auto raw = [&](std::string_view text) {
      return text.empty() ? kNoString : writer_.Raw(text);
    };
    Args& args = found->second;
    args.dims = raw(op.facts.dims);
    args.types = raw(op.facts.types);
    args.strides = raw(op.facts.strides);
    args.known_as = raw(op.facts.known_as);
    args_.Clear();
    AddOpArgs(op, &args_);
    args.other = raw(args_.text());
    return args;
  }

  void Draw(const Op& op, std::size_t first, std::size_t end) {
    const trace::Event& call = slice_.events[launches_[first].event];
    const std::int64_t begin = call.ts_ns;
    std::int64_t last = call.end_ns();
    for (std::size_t i = first; i < end; ++i)
      last = std::max(last, slice_.events[launches_[i].event].end_ns());
    writer_.AddNs(EventKind::kCpuOp, writer_.Category(EventKind::kCpuOp), track_,
                  writer_.Name(op.name), begin, last - begin);
    Describe(static_cast<std::uint32_t>(slice_.events.size() - 1), op);
    ++out_.drawn;
  }

  const HostThread& thread_;
  const LaunchedWorks& launched_;
  OpTable& ops_;
  FactsReader facts_;
  EventKinds kinds_;
  std::vector<Made> made_;  // by kind
  HostLine out_;
  DecodedSlice& slice_;
  SliceWriter writer_;
  std::uint32_t track_ = 0;
  EventFacts found_;
  ArgText args_;
  std::vector<Launch> launches_;
  std::vector<std::int64_t>* launched_times_ = nullptr;  // of last_module_
  std::string_view last_module_;
  HostLine::Span* group_ = nullptr;  // of last_group_
  std::int64_t last_group_ = kAbsent;
  std::set<const Op*> lone_;
  std::unordered_map<const Op*, Args> told_;
};

}  // namespace

std::vector<const Plane*> HostPlanes(const Space& space) {
  constexpr std::string_view kNoThreads[] = {"/host:metadata", "/host:__ScopeRangeCallStack__",
                                             "/host:tfstreamz"};
  std::vector<const Plane*> planes;
  for (const Plane& plane : space.planes) {
    if (plane.name.starts_with("/host:") &&
        std::ranges::find(kNoThreads, plane.name) == std::end(kNoThreads))
      planes.push_back(&plane);
  }
  return planes;
}

namespace {

// The thread that launches most of a program's work; none launches any: the end.
template <typename Lines>
auto LauncherOf(std::string_view program, Lines& lines) {
  const auto launches = [&](const HostLine& line) {
    const auto found = line.launched.find(program);
    return found == line.launched.end() ? std::size_t{0} : found->second.size();
  };
  const auto most = std::ranges::max_element(lines, {}, launches);
  return most == lines.end() || launches(*most) == 0 ? lines.end() : most;
}

struct ProgramRun {
  std::uint32_t event;
  bool launched;  // work that is recorded
};
// A program's runs on a thread, by start.
std::vector<ProgramRun> RunsOn(const HostLine& line, std::string_view program) {
  const DecodedSlice& slice = line.events.slice;
  const std::string wanted = fmt::format("{}{}", program, kExecution);
  std::vector<std::int64_t> when;
  if (const auto found = line.launched.find(program); found != line.launched.end())
    when = found->second;
  if (!std::ranges::is_sorted(when)) std::sort(when.begin(), when.end());
  std::vector<ProgramRun> runs;
  for (const std::uint32_t e : line.executions) {
    const trace::Event& run = slice.events[e];
    if (slice.names[run.name] != wanted) continue;
    const auto first = std::lower_bound(when.begin(), when.end(), run.ts_ns);
    runs.push_back({e, first != when.end() && *first <= run.end_ns()});
  }
  std::ranges::stable_sort(runs, {},
                           [&](const ProgramRun& run) { return slice.events[run.event].ts_ns; });
  return runs;
}

// Up to here runs launched something; those behind are of the same thread, and so of its device.
std::size_t PastLaunched(const std::vector<ProgramRun>& runs) {
  const auto last = std::ranges::find_if(runs.rbegin(), runs.rend(), &ProgramRun::launched);
  return static_cast<std::size_t>(runs.rend() - last);
}

}  // namespace

Recording::Runs RunsOf(std::string_view program, const std::vector<HostLine>& lines) {
  Recording::Runs out;
  out.program = std::string(program);
  std::uint64_t executors = 0;
  std::set<std::int64_t> devices;
  for (const HostLine& line : lines) {
    if (RunsOn(line, program).empty()) continue;
    executors += line.executor ? 1 : 0;
    // One thread may place data on other devices, too: whose program it runs shows the most of it.
    const auto own =
        std::ranges::max_element(line.memory_of, {}, [](auto& of) { return of.second; });
    if (own != line.memory_of.end()) devices.insert(own->first);
  }
  out.gpus = std::max<std::uint64_t>(executors, devices.size());
  const auto launcher = LauncherOf(program, lines);
  if (launcher == lines.end()) return out;
  const std::vector<ProgramRun> runs = RunsOn(*launcher, program);
  const std::size_t past = PastLaunched(runs);
  if (std::ranges::all_of(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(past),
                          &ProgramRun::launched)) {
    out.count = runs.size();
    out.with_kernels = past;
  }
  return out;
}

void MarkRunsAsSteps(std::string_view program, std::vector<HostLine>* lines) {
  const auto most = LauncherOf(program, *lines);
  if (most == lines->end()) return;
  DecodedSlice& slice = most->events.slice;
  std::vector<ProgramRun> runs = RunsOn(*most, program);
  const std::size_t past = PastLaunched(runs);
  std::size_t place = 0;
  std::erase_if(runs, [&](const ProgramRun& run) { return place++ < past && !run.launched; });
  if (runs.size() < 2) return;
  SliceWriter writer(&slice);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    trace::Event& run = slice.events[runs[i].event];
    run.kind = EventKind::kUserAnnotation;
    run.category = writer.Category(run.kind);
    run.name = writer.Name(fmt::format("{}{}#step_num={}#", program, kExecution, i));
  }
}

bool MarkGroupsAsSteps(const std::map<std::int64_t, std::int64_t>& numbers,
                       const std::set<std::size_t>& devices, std::vector<HostLine>* lines) {
  std::map<std::size_t, HostLine*> most;  // by device
  for (HostLine& line : *lines) {
    for (const auto& [device, launches] : line.launches_of) {
      if (!devices.contains(device)) continue;
      HostLine*& best = most[device];
      if (best == nullptr || launches > best->launches_of[device]) best = &line;
    }
  }
  std::set<HostLine*> chosen;
  for (const auto& [device, line] : most)
    chosen.insert(line);
  bool any = false;
  for (HostLine* line : chosen) {
    std::vector<std::pair<HostLine::Span, std::int64_t>> steps;
    for (const auto& [group, number] : numbers) {
      const auto found = line->groups.find(group);
      if (found != line->groups.end()) steps.emplace_back(found->second, number);
    }
    std::ranges::sort(steps, {}, [](const auto& step) { return step.first.begin_ns; });
    const auto overlap = std::ranges::adjacent_find(
        steps, [](const auto& a, const auto& b) { return b.first.begin_ns < a.first.end_ns; });
    if (steps.empty() || overlap != steps.end()) continue;
    any = true;
    SliceWriter writer(&line->events.slice);
    constexpr EventKind kMark = EventKind::kUserAnnotation;
    for (const auto& [span, number] : steps)
      writer.AddNs(kMark, writer.Category(kMark), kTrackOfLine,
                   writer.Name(fmt::format("step#step_num={}#", number)), span.begin_ns,
                   span.end_ns - span.begin_ns);
  }
  return any;
}

HostLine ReadHostLine(const HostThread& thread, const LaunchedWorks& launched, OpTable* ops) {
  return ThreadReader(thread, launched, ops).Run();
}

}  // namespace jarvis::trace::xplane
