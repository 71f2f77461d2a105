#include "trace/import/xplane/xplane.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parallel.h"
#include "trace/import/proto/tell.h"
#include "trace/import/shared/slice_writer.h"
#include "trace/import/shared/store_elements.h"
#include "trace/import/shared/store_window.h"
#include "trace/import/xplane/device_lines.h"
#include "trace/import/xplane/drawn_ops.h"
#include "trace/import/xplane/host_lines.h"
#include "trace/import/xplane/op_table.h"
#include "trace/import/xplane/recording.h"
#include "trace/import/xplane/signs.h"
#include "trace/import/xplane/space.h"
#include "trace/repair.h"

namespace jarvis::trace {
namespace {

using namespace xplane;

constexpr std::string_view kHowToRecord =
    "record with jax.profiler.start_trace(DIR) and give plugins/profile/TIME/HOST.xplane.pb of DIR";

// Threads of the host lie beside GPUs, whose numbers are their processes: as XLA's viewer numbers
// them.
constexpr std::size_t kHostPid = 701;

// What is made of a file, whose bytes are not needed behind it.
struct Parts {
  std::vector<DecodedSlice> slices;
  std::vector<TopLevelValue> values;
  std::vector<std::string> damage;
};

class SpaceReader {
 public:
  SpaceReader(const Space& space, int threads, Job& job)
      : space_(space), threads_(threads), job_(job), ops_(space, threads) {}

  Result<Parts> Run() {
    JV_TRY(job_.Check());
    ReadDevices();
    JV_TRY(job_.Check());
    ReadHost();
    JV_TRY(job_.Check());
    LinkAlone();
    const std::string_view program = LongestProgram();
    found_.runs = RunsOf(program, host_);
    found_.ran_on = DevicesOfProgram(program);
    if (std::ranges::none_of(host_, &HostLine::step_marks) && !MarkGroups())
      MarkRunsAsSteps(program, &host_);
    Count();
    Parts parts;
    for (LineEvents& line : lines_)
      parts.slices.push_back(std::move(line.slice));
    for (DecodedSlice& drawn : drawn_)
      parts.slices.push_back(std::move(drawn));
    for (HostLine& line : host_)
      parts.slices.push_back(std::move(line.events.slice));
    parts.values = ValuesOf(space_, devices_, found_);
    parts.damage = space_.damage;
    parts.damage.insert(parts.damage.end(), ops_.problems().begin(), ops_.problems().end());
    return parts;
  }

 private:
  void ReadDevices() {
    devices_ = DevicesOf(space_);
    std::vector<std::pair<std::size_t, const Line*>> work;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      for (const Line* line : WorkLines(devices_[i]))
        work.emplace_back(i, line);
      found_.tpu = found_.tpu || devices_[i].tpu;
    }
    lines_.resize(work.size());
    ParallelFor(work.size(), threads_, [&](std::size_t i) {
      lines_[i] = ReadDeviceLine(devices_[work[i].first], *work[i].second, &ops_);
    });
    for (const auto& [device, line] : work)
      device_of_line_.push_back(device);
    CollectLaunched();
  }

  void CollectLaunched() {
    const auto each = [&](const auto& use) {
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        const DecodedSlice& slice = lines_[i].slice;
        for (std::size_t e = 0; e < lines_[i].ops.size(); ++e) {
          const std::int64_t id = slice.args[slice.events[e].args].correlation;
          if (id != kAbsent) use(id, i, e);
        }
      }
    };
    std::vector<std::int64_t> ids;
    each([&](std::int64_t id, std::size_t, std::size_t) { ids.push_back(id); });
    launched_.correlations = IdTable(std::move(ids));
    launched_.works.resize(launched_.correlations.size());
    std::vector<bool> known(launched_.works.size());
    each([&](std::int64_t id, std::size_t line, std::size_t e) {
      const std::size_t place = launched_.correlations.PlaceOf(id);
      LaunchedWork& work = launched_.works[place];
      const DecodedSlice& slice = lines_[line].slice;
      const Op* op = lines_[line].ops[e];
      if (!known[place]) {
        work = {op, slice.names.hash(slice.events[e].name), device_of_line_[line]};
      } else if (work.op != op) {
        work.op = nullptr;
      }
      known[place] = true;
    });
  }

  void ReadHost() {
    const bool amd = std::ranges::any_of(devices_, &DevicePlane::amd);
    std::vector<HostThread> threads;
    std::size_t pid = kHostPid;
    for (const Plane* plane : HostPlanes(space_)) {
      for (const Line& line : plane->lines) {
        if (line.events > 0) threads.push_back({plane, &line, fmt::format("{}", pid), amd});
      }
      ++pid;
    }
    found_.host = !threads.empty();
    host_.resize(threads.size());
    ParallelFor(threads.size(), threads_,
                [&](std::size_t i) { host_[i] = ReadHostLine(threads[i], launched_, &ops_); });
  }

  // Steps as a converter numbered them; where it drew none, the groups of the kernels.
  bool MarkGroups() {
    std::map<std::int64_t, std::int64_t> numbers;
    for (const DevicePlane& device : devices_)
      numbers.merge(DrawnSteps(device));
    if (numbers.empty()) {
      for (const LineEvents& line : lines_) {
        for (const std::int64_t group : line.groups)
          numbers.emplace(group, group);
      }
    }
    std::set<std::size_t> devices;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!lines_[i].groups.empty()) devices.insert(device_of_line_[i]);
    }
    found_.step_marks = MarkGroupsAsSteps(numbers, devices, &host_);
    return found_.step_marks;
  }

  // The program that has most of the work.
  std::string_view LongestProgram() const {
    std::map<std::string_view, std::int64_t> sums;
    std::unordered_map<const Op*, std::int64_t> by_op;
    for (const LineEvents& line : lines_) {
      for (std::size_t e = 0; e < line.ops.size(); ++e) {
        if (line.ops[e] != nullptr) by_op[line.ops[e]] += line.slice.events[e].dur_ns;
      }
    }
    for (const auto& [op, sum] : by_op)
      sums[op->module] += sum;
    const auto most =
        std::ranges::max_element(sums, {}, [](const auto& sum) { return sum.second; });
    return most == sums.end() ? std::string_view() : most->first;
  }

  // The devices with recorded work of it, as they are called.
  std::set<std::string> DevicesOfProgram(std::string_view program) const {
    std::set<std::string> devices;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (std::ranges::any_of(lines_[i].ops,
                              [&](const Op* op) { return op && op->module == program; }))
        devices.insert(devices_[device_of_line_[i]].name);
    }
    return devices;
  }

  // Draws ops for work that was not launched in the profile.
  void LinkAlone() {
    std::vector<std::int64_t> calls;
    for (const HostLine& line : host_)
      calls.insert(calls.end(), line.launches.begin(), line.launches.end());
    const IdTable launches(std::move(calls));
    std::int64_t next_id = 1;
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      std::vector<LineEvents*> lines;
      std::vector<std::vector<bool>> unlaunched;
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        if (device_of_line_[i] != device) continue;
        const DecodedSlice& slice = lines_[i].slice;
        lines.push_back(&lines_[i]);
        std::vector<bool>& of_line = unlaunched.emplace_back(slice.events.size());
        for (std::size_t e = 0; e < slice.events.size(); ++e) {
          const std::int64_t correlation = slice.args[slice.events[e].args].correlation;
          of_line[e] = correlation == kAbsent || !launches.Has(correlation);
          ++found_.work;
          if (!of_line[e]) ++found_.linked;
        }
      }
      DecodedSlice drawn = DrawOps(devices_[device], lines, unlaunched, &next_id);
      if (!drawn.events.empty()) drawn_.push_back(std::move(drawn));
    }
    found_.drawn_alone = static_cast<std::uint64_t>(next_id - 1);
  }

  void Count() {
    for (const LineEvents& line : lines_) {
      found_.totals += line.losses.totals;
      found_.ops = found_.ops || std::ranges::any_of(line.ops, [](const Op* op) { return op; });
    }
    for (const HostLine& line : host_) {
      found_.totals += line.events.losses.totals;
      found_.drawn += line.drawn;
      found_.allocations += line.allocations;
      found_.step_marks = found_.step_marks || line.step_marks;
      found_.python = found_.python || line.python;
    }
    for (const DevicePlane& device : devices_) {
      const std::vector<const Line*> work = WorkLines(device);
      for (const Line& line : device.plane->lines) {
        if (std::ranges::find(work, &line) == work.end()) found_.drawn_lines += line.events;
        found_.step_marks = found_.step_marks || (device.tpu && line.label() == "Steps");
      }
    }
    found_.signs = SignsOf(space_, ops_);
    found_.programs = ops_.any_module();
    found_.unresolved = ops_.unresolved();
  }

  const Space& space_;
  const int threads_;
  Job& job_;
  OpTable ops_;
  std::vector<DevicePlane> devices_;
  std::vector<LineEvents> lines_;
  std::vector<std::size_t> device_of_line_;
  LaunchedWorks launched_;
  std::vector<HostLine> host_;
  std::vector<DecodedSlice> drawn_;
  Found found_;
};

Fit SniffXplane(std::string_view head) {
  switch (proto::TellFile(head)) {
    case proto::FileKind::kXspace:
    case proto::FileKind::kHlo: return Fit::kCertain;
    case proto::FileKind::kConverted: return Fit::kPossible;
    case proto::FileKind::kPerfetto:
    case proto::FileKind::kOther: break;
  }
  return Fit::kNone;
}

Status CheckKind(std::string_view head) {
  const proto::FileKind kind = proto::TellFile(head);
  if (kind == proto::FileKind::kHlo) {
    return Fail(ErrorCode::kNotATrace, "this is an HLO module without a profile",
                "give the .xplane.pb of the same run");
  }
  if (kind == proto::FileKind::kConverted) {
    return Fail(ErrorCode::kNotATrace,
                "its bytes were once converted as text: what was no UTF-8 became EF BF BD, and "
                "cannot be had back",
                "copy the file again, as binary");
  }
  return {};
}

Result<Parts> ReadParts(std::string_view data, const std::string& source_damage, int threads,
                        Job& job) {
  JV_TRY(CheckKind(data.substr(0, kSniffedBytes)));
  Space space = ReadSpace(data);
  if (!source_damage.empty()) space.damage.push_back(source_damage);
  if (std::ranges::none_of(space.planes, [](const Plane& plane) { return !plane.name.empty(); })) {
    return Fail(ErrorCode::kNotATrace,
                fmt::format("no plane of a profile can be read in its {} bytes{}{}", data.size(),
                            space.damage.empty() ? "" : ": ", fmt::join(space.damage, "; ")),
                std::string(kHowToRecord));
  }
  return SpaceReader(space, threads, job).Run();
}

Result<Trace> TraceOf(Parts parts) {
  Trace trace;
  JV_ASSIGN(trace.events, StoreOf(std::move(parts.slices)));
  trace.events.dialect.SetRecorder(kRecorder);
  trace.metadata = ReadMetadata(std::move(parts.values));
  trace.track_names = ReadTrackNames(trace.events);
  Repair(&trace.events);
  for (const Oddity oddity :
       {Oddity::kMalformedEvent, Oddity::kNegativeDuration, Oddity::kHugeTimestamp}) {
    if (const std::uint64_t count = trace.events.oddities.count(oddity); count > 0)
      parts.damage.push_back(fmt::format("{} events were left out ({})", count, Info(oddity).name));
  }
  trace.damage = fmt::format("{}", fmt::join(parts.damage, "; "));
  trace.partial = !trace.damage.empty();
  return trace;
}

Result<ImportedTrace> ReadXplane(const TraceInput& input, const ReadOptions& options, Job& job) {
  JV_TRY(CheckPackedOnce(input));
  JV_ASSIGN(const auto bytes, input.Bytes(job));
  JV_ASSIGN(Column<char> data, ReadAll(*bytes, options.bytes_max, job));
  const std::size_t size = data.size();
  JV_ASSIGN(Parts parts, ReadParts({data.data(), size}, bytes->damage(), options.threads, job));
  data = {};
  ImportedTrace read;
  JV_ASSIGN(read.trace, TraceOf(std::move(parts)));
  if (read.trace.events.events.empty() && !read.trace.partial) {
    return Fail(ErrorCode::kNotATrace, "the profile holds no events: nothing was recorded",
                std::string(kHowToRecord));
  }
  read.trace.events.text_bytes = size;
  read.content_hash = bytes->content_hash();
  return read;
}

}  // namespace

const Importer kXplane = {
    .name = "xplane",
    .what = "XPlane profiles of XLA",
    .one_file = true,
    .sniff = &SniffXplane,
    .read = &ReadXplane,
    .survey = &SurveyByReading<kXplane>,
    .read_window = &WindowOfWhole,
    .elements = &ElementsByReading<&ReadXplane>,
};

}  // namespace jarvis::trace
