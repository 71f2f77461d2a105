#include "trace/import/perfetto/perfetto.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "trace/framework_signs.h"
#include "trace/how_to_record.h"
#include "trace/import/perfetto/packets.h"
#include "trace/import/perfetto/slices.h"
#include "trace/import/proto/tell.h"
#include "trace/import/shared/make_trace.h"
#include "trace/import/shared/slice_writer.h"
#include "trace/import/shared/store_elements.h"
#include "trace/import/shared/store_window.h"
#include "trace/json_text.h"
#include "trace/repair.h"

namespace jarvis::trace {
namespace {

using namespace perfetto;

constexpr std::string_view kHowToRecord =
    "record with rocprofv3 --sys-trace --output-format pftrace -- COMMAND, or give the JSON that "
    "torch.profiler exports";

// What rocprofv3 calls things, beside the categories of torch.profiler.
struct CategoryKind {
  std::string_view category;
  EventKind kind;
};
constexpr CategoryKind kRocprofCategories[] = {
    {"hip_api", EventKind::kRuntime},        {"hsa_api", EventKind::kRuntime},
    {"rccl_api", EventKind::kRuntime},       {"rocdecode_api", EventKind::kRuntime},
    {"rocjpeg_api", EventKind::kRuntime},    {"marker_api", EventKind::kUserAnnotation},
    {"kernel_dispatch", EventKind::kKernel}, {"memory_copy", EventKind::kMemcpy},
};

// The number that a track's name has behind a word: "STREAM [0]".
std::optional<std::int64_t> NumberBehind(std::string_view name, std::string_view word) {
  const std::string wanted = fmt::format("{} [", word);
  const std::size_t at = name.find(wanted);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = name.substr(at + wanted.size());
  return ParseInt(rest.substr(0, std::min(rest.find(']'), rest.size())));
}

class TraceMaker {
 public:
  TraceMaker(const Packets& packets, const Slices& slices)
      : packets_(packets), slices_(slices), writer_(&slice_) {}

  Result<Trace> Run() {
    FindKinds();
    FindDevices();
    slice_.events.reserve_whole(slices_.slices.size());
    slice_.args.reserve_whole(slices_.slices.size());
    names_.assign(packets_.texts.size(), kNoString);
    for (const Slice& slice : slices_.slices)
      Add(slice);
    slice_.ignored_events = slices_.instants + slices_.counters;
    Trace trace;
    std::vector<DecodedSlice> parts;
    parts.push_back(std::move(slice_));
    JV_ASSIGN(trace.events, StoreOf(std::move(parts)));
    trace.events.dialect.SetRecorder(Recorder());
    trace.metadata = ReadMetadata(Values(trace.events));
    trace.track_names = ReadTrackNames(trace.events);
    Repair(&trace.events);
    return trace;
  }

 private:
  struct Kind {
    EventKind kind = EventKind::kCpuOp;
    bool rocprof = false;
  };

  void FindKinds() {
    StringId last = kNoString;
    for (const Slice& slice : slices_.slices) {
      if (slice.category == last) continue;
      last = slice.category;
      const auto [known, added] = kind_of_category_.try_emplace(slice.category);
      if (!added) continue;
      const std::string_view category = packets_.texts[slice.category];
      const auto* named = std::ranges::find(kRocprofCategories, category, &CategoryKind::category);
      if (named != std::end(kRocprofCategories)) {
        known->second = {named->kind, true};
        rocprof_ = true;
        continue;
      }
      const CategoryRule rule = FindCategory(category);
      if (rule.rule != Rule::kUnknown) known->second.kind = rule.kind;
    }
  }

  std::string_view Text(StringId id) const {
    return id == kNoString ? std::string_view() : packets_.texts[id];
  }

  // Agents that run kernels are GPUs; without kernels, those that tracks name so.
  void FindDevices() {
    std::set<std::string, decltype([](const std::string& a, const std::string& b) {
               return NaturallyBefore(a, b) || (!NaturallyBefore(b, a) && a < b);
             })>
        agents;
    std::vector<bool> seen(packets_.texts.size());
    const Slice* last = nullptr;
    for (const Slice& slice : slices_.slices) {
      // Most say what others said, and in a row are of one track.
      const StringId agent = SaidBy(slice).agent;
      if (agent != kNoString ? seen[agent] : last != nullptr && last->track == slice.track)
        continue;
      const Kind& kind = kind_of_category_.at(slice.category);
      if (!kind.rocprof || kind.kind != EventKind::kKernel) continue;
      agents.emplace(AgentOf(slice));
      if (agent != kNoString) {
        seen[agent] = true;
      } else {
        last = &slice;
      }
    }
    if (agents.empty()) {
      for (const auto& [uuid, track] : packets_.tracks) {
        if (track.name.find("(GPU)") == std::string::npos) continue;
        if (const auto agent = NumberBehind(track.name, "AGENT"))
          agents.emplace(fmt::format("{}", *agent));
      }
    }
    for (const std::string& agent : agents)
      device_of_agent_.emplace(agent, static_cast<std::int64_t>(device_of_agent_.size()));
  }

  std::string AgentOf(const Slice& slice) const {
    const StringId agent = SaidBy(slice).agent;
    if (agent != kNoString) return Unescape(Text(agent));
    const auto number = NumberBehind(TrackOf(slice).name, "AGENT");
    return number ? fmt::format("{}", *number) : std::string();
  }

  const Annotations& SaidBy(const Slice& slice) const { return slices_.KindOf(slice, packets_); }

  // Of a copy: the GPU that it is to, else that it is from.
  std::int64_t DeviceOf(const Slice& slice) {
    const auto known = [&](const std::string& agent) -> std::optional<std::int64_t> {
      const auto found = device_of_agent_.find(agent);
      if (found == device_of_agent_.end()) return std::nullopt;
      return found->second;
    };
    const Annotations& said = SaidBy(slice);
    const auto to = known(Unescape(Text(said.target_agent)));
    if (to) return *to;
    const auto from = known(Unescape(Text(said.source_agent)));
    if (from) return *from;
    // A GPU that only copies.
    const std::string agent = AgentOf(slice);
    const auto [found, added] =
        device_of_agent_.try_emplace(agent, static_cast<std::int64_t>(device_of_agent_.size()));
    return found->second;
  }

  const TrackInfo& TrackOf(const Slice& slice) const {
    static const TrackInfo kNone;
    const auto found = packets_.tracks.find(TrackIdOf(slice));
    return found == packets_.tracks.end() ? kNone : found->second;
  }

  std::uint64_t TrackIdOf(const Slice& slice) const {
    return packets_.tracks_of_points[slice.track];
  }

  // The process that a track belongs to, by its parents: they may form a circle.
  std::string ProcessOf(const TrackInfo& track) const {
    constexpr int kParentsMax = 64;
    const TrackInfo* at = &track;
    for (int i = 0; i < kParentsMax; ++i) {
      if (at->pid) return fmt::format("{}", *at->pid);
      const auto parent = packets_.tracks.find(at->parent);
      if (at->parent == 0 || parent == packets_.tracks.end()) break;
      at = &parent->second;
    }
    return "0";
  }

  // What is made of all slices of one track and category that say the same.
  struct Made {
    EventKind kind = EventKind::kCpuOp;
    std::uint8_t category = 0;
    std::uint32_t track = 0;
    Args args;
  };

  void Add(const Slice& slice) {
    Made alone;
    const auto [known, added] = MadeOf(slice, &alone);
    Made& made = *known;
    const Kind kind = added ? kind_of_category_.at(slice.category) : Kind();
    if (added) PlaceOn(slice, kind, &made);
    const StringId name = NameOf(slice);
    if (added) {
      made.category = writer_.Category(kind.kind, rocprof_);
      TakeArgs(slice, kind, &made);
    }
    writer_.AddNs(made.kind, made.category, made.track, name, slice.begin_ns,
                  slice.end_ns - slice.begin_ns);
    Args* args = writer_.LastArgs();
    *args = made.args;
    args->correlation = slice.correlation;
  }

  // And whether it is new. Where most slices are of a kind of their own, each is.
  std::pair<Made*, bool> MadeOf(const Slice& slice, Made* alone) {
    if (2 * packets_.kinds.size() > slices_.slices.size()) return {alone, true};
    const auto [found, added] =
        of_kind_.try_emplace(std::tuple(slice.track, slice.category, slice.kind));
    return {&found->second, added};
  }

  void PlaceOn(const Slice& slice, const Kind& kind, Made* made) {
    made->kind = kind.kind;
    if (!IsDevice(kind)) {
      made->track = HostTrack(slice, kind);
      return;
    }
    std::int64_t stream = SaidBy(slice).stream;
    made->track = DeviceTrack(slice, kind, &stream);
    made->args.stream = stream;
  }
  static bool IsDevice(const Kind& kind) {
    return IsGpuWork(kind.kind) || kind.kind == EventKind::kGpuAnnotation;
  }

  void TakeArgs(const Slice& slice, const Kind& kind, Made* made) {
    std::string other(Text(SaidBy(slice).all));
    if (kind.rocprof && kind.kind == EventKind::kMemcpy)
      other += fmt::format("\"bytes\": {},", IntegerOf(MemberOf(other, "copy_bytes")).value_or(0));
    if (IsDevice(kind) && kind.rocprof) other += fmt::format("\"device\": {},", device_number_);
    if (!kind.rocprof) TakeKnownArgs(other, &made->args);
    if (!other.empty()) made->args.other = writer_.Raw(other);
  }

  // Each text once, but those of which something is counted each time.
  StringId NameOf(const Slice& slice) {
    StringId& known = names_[slice.name];
    if (known != kNoString) return known;
    const auto changed = [&] {
      return slice_.oddities.count(Oddity::kBadUtf8) + slice_.oddities.count(Oddity::kLongName);
    };
    const std::uint64_t before = changed();
    const std::string_view text = Text(slice.name);
    const StringId name = writer_.Name(text.empty() ? "(unnamed)" : text);
    if (changed() == before) known = name;
    return name;
  }

  // As the decoder of JSON takes them.
  void TakeKnownArgs(std::string_view other, Args* args) {
    if (other.empty()) return;
    const auto raw = [&](std::string_view key) {
      const std::string_view json = MemberOf(other, key);
      return json.empty() ? kNoString : writer_.Raw(Trim(json));
    };
    args->dims = raw("Input Dims");
    args->types = raw("Input type");
    args->strides = raw("Input Strides");
    args->concrete = raw("Concrete Inputs");
    args->external_id = IntegerOf(MemberOf(other, "External id")).value_or(kAbsent);
    args->sequence = IntegerOf(MemberOf(other, "Sequence number")).value_or(kAbsent);
  }

  std::uint32_t DeviceTrack(const Slice& slice, const Kind& kind, std::int64_t* stream) {
    const TrackInfo& track = TrackOf(slice);
    if (!kind.rocprof) {
      const std::string pid = ProcessOf(track);
      const std::string tid =
          fmt::format("{}", *stream != kAbsent ? *stream : track.tid.value_or(0));
      return Named(pid, tid, track, "");
    }
    const auto by_name = [&](std::string_view word) { return NumberBehind(track.name, word); };
    if (*stream == kAbsent) *stream = by_name("STREAM").value_or(kAbsent);
    const bool queue = *stream == kAbsent;
    if (queue) *stream = by_name("QUEUE").value_or(SaidBy(slice).queue);
    if (*stream == kAbsent) *stream = 0;
    const bool copies = kind.kind == EventKind::kMemcpy;
    device_number_ = copies ? DeviceOf(slice) : device_of_agent_.at(AgentOf(slice));
    const TrackKey key = {slice.track, 2 * device_number_ + (copies ? 1 : 0), *stream};
    if (const auto made = made_.find(key); made != made_.end()) return made->second;
    // Copies run beside kernels of their stream, on engines of their own.
    return made_[key] = Named(fmt::format("{}", device_number_),
                              fmt::format("{}{}", copies ? "copy " : "", *stream), track,
                              fmt::format("GPU {}", device_number_));
  }

  std::uint32_t HostTrack(const Slice& slice, const Kind& kind) {
    const std::int64_t said = kind.rocprof ? SaidBy(slice).tid : kAbsent;
    const TrackKey key = {slice.track, kAbsent, said};
    if (const auto made = made_.find(key); made != made_.end()) return made->second;
    const TrackInfo& track = TrackOf(slice);
    const std::string tid = track.tid         ? fmt::format("{}", *track.tid)
                            : said != kAbsent ? fmt::format("{}", said)
                                              : fmt::format("track {}", TrackIdOf(slice));
    return made_[key] = Named(ProcessOf(track), tid, track, "CPU");
  }

  // A track, and its names when it is new.
  std::uint32_t Named(const std::string& pid, const std::string& tid, const TrackInfo& track,
                      const std::string& label) {
    const std::size_t before = slice_.tracks.size();
    const std::uint32_t made = writer_.Track(pid, tid);
    if (slice_.tracks.size() == before) return made;
    if (processes_.insert(pid).second) writer_.NameProcess(made, ProcessName(track, label), label);
    const std::string& name = track.name.empty() ? track.thread : track.name;
    writer_.NameThread(made, name.empty() ? tid : name);
    return made;
  }

  std::string ProcessName(const TrackInfo& track, const std::string& label) const {
    const TrackInfo* at = &track;
    constexpr int kParentsMax = 64;
    for (int i = 0; i < kParentsMax; ++i) {
      if (!at->process.empty()) return at->process;
      const auto parent = packets_.tracks.find(at->parent);
      if (at->parent == 0 || parent == packets_.tracks.end()) break;
      at = &parent->second;
    }
    return label.empty() ? "process" : label;
  }

  std::string_view Recorder() const { return rocprof_ ? "perfetto (rocprofv3)" : "perfetto"; }

  std::vector<TopLevelValue> Values(const EventStore& events) const {
    std::vector<TopLevelValue> values = {{"schemaVersion", "1"},
                                         {kRecorderKey, fmt::format("\"{}\"", Recorder())}};
    if (rocprof_) values.push_back({"rocprofiler-sdk_version", "1"});
    values.push_back(ValueOf(Told(events)));
    return values;
  }

  Recording Told(const EventStore& events) const {
    Recording told;
    told.profiler = rocprof_ ? kByRocprof : kByPerfetto;
    told.framework = FrameworkOf(events);
    const auto note = [&](std::string code, std::uint64_t count, std::string text,
                          std::string_view record) {
      told.notes.push_back({std::move(code), std::move(text), count, std::string(record)});
    };
    const auto seen = [&](std::string what, std::uint64_t count) {
      if (count > 0) told.seen.push_back({std::move(what), count, std::nullopt});
    };
    for (const auto& [why, count] : packets_.lost)
      note("left_out", count, fmt::format("{} {}.", count, why), "");
    if (slices_.open > 0)
      note("open_slices", slices_.open,
           fmt::format("{} slices have no end: they are taken to last to the end of the trace.",
                       slices_.open),
           "");
    if (rocprof_)
      note(
          "no_ops", 0,
          "A trace of rocprofv3 has no ops, shapes, Python frames or sizes of collectives: work is "
          "known by the names of kernels and by the calls that launched it.",
          PlainWords(HowToRecordNext(&told).ops));
    seen("moments without a length", slices_.instants);
    seen("values of counters", slices_.counters);
    for (const auto& [field, count] : packets_.skipped)
      seen(fmt::format("packets' parts of field {}", field), count);
    return told;
  }

  const Packets& packets_;
  const Slices& slices_;
  DecodedSlice slice_;
  SliceWriter writer_;
  std::unordered_map<StringId, Kind> kind_of_category_;
  // By track, category and kind of annotations.
  struct HashKey {
    std::size_t operator()(const std::tuple<std::uint32_t, StringId, std::uint32_t>& key) const {
      const auto [track, category, kind] = key;
      constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15u;
      const std::uint64_t hash = ((std::uint64_t{track} << 32 | category) * kMix ^ kind) * kMix;
      return static_cast<std::size_t>(hash ^ hash >> 32);
    }
  };
  std::unordered_map<std::tuple<std::uint32_t, StringId, std::uint32_t>, Made, HashKey> of_kind_;
  std::vector<StringId> names_;  // by text
  // A track of the file, what it is of, and the thread or stream: by what tracks are told apart.
  using TrackKey = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;
  std::map<TrackKey, std::uint32_t> made_;
  std::map<std::string, std::int64_t> device_of_agent_;
  std::set<std::string> processes_;
  std::int64_t device_number_ = 0;
  bool rocprof_ = false;
};

Fit SniffPerfetto(std::string_view head) {
  return proto::TellFile(head) == proto::FileKind::kPerfetto ? Fit::kCertain : Fit::kNone;
}

std::string DamageOf(const Packets& packets, const Slices& slices) {
  std::vector<std::string> damage = packets.damage;
  for (const auto& [why, count] : packets.lost)
    damage.push_back(fmt::format("{} {}", count, why));
  if (slices.unmatched > 0)
    damage.push_back(fmt::format("{} ends of slices without a begin", slices.unmatched));
  return fmt::format("{}", fmt::join(damage, "; "));
}

Result<ImportedTrace> ReadPerfetto(const TraceInput& input, const ReadOptions& options, Job& job) {
  JV_TRY(CheckPackedOnce(input));
  JV_ASSIGN(const auto bytes, input.Bytes(job));
  JV_ASSIGN(Column<char> data, ReadAll(*bytes, options.bytes_max, job));
  const std::size_t size = data.size();
  Packets packets = ReadPackets({data.data(), size});
  data = {};
  if (!bytes->damage().empty()) packets.damage.push_back(bytes->damage());
  JV_TRY(job.Check());
  if (packets.tracks.empty() && packets.points.empty()) {
    return Fail(
        ErrorCode::kNotATrace,
        fmt::format("no track and no event of a Perfetto trace can be read in its {} packets{}{}",
                    packets.packets, packets.lost.empty() ? "" : ": ", DamageOf(packets, {})),
        std::string(kHowToRecord));
  }
  const Slices slices = NestSlices(packets);
  packets.points = {};
  packets.said = {};
  JV_TRY(job.Check());
  ImportedTrace read;
  JV_ASSIGN(read.trace, TraceMaker(packets, slices).Run());
  read.trace.damage = DamageOf(packets, slices);
  read.trace.partial = !read.trace.damage.empty();
  read.trace.events.text_bytes = size;
  read.content_hash = bytes->content_hash();
  return read;
}

}  // namespace

const Importer kPerfetto = {
    .name = "perfetto",
    .what = "traces of Perfetto",
    .one_file = true,
    .sniff = &SniffPerfetto,
    .read = &ReadPerfetto,
    .survey = &SurveyByReading<kPerfetto>,
    .read_window = &WindowOfWhole,
    .elements = &ElementsByReading<&ReadPerfetto>,
};

}  // namespace jarvis::trace
