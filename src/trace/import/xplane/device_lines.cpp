#include "trace/import/xplane/device_lines.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::trace::xplane {
namespace {

constexpr std::string_view kStream = "Stream #";

std::optional<std::int64_t> LeadingNumber(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return ParseInt(text.substr(0, end));
}

bool StartsNoCase(std::string_view text, std::string_view lower) {
  return EqualsNoCase(text.substr(0, lower.size()), lower);
}

EventKind KindOf(std::string_view name) {
  if (StartsNoCase(name, "memcpy") || StartsNoCase(name, "copy") ||
      name.starts_with("__amd_rocclr_copyBuffer"))
    return EventKind::kMemcpy;
  if (StartsNoCase(name, "memset") || name.starts_with("__amd_rocclr_fillBuffer"))
    return EventKind::kMemset;
  return EventKind::kKernel;
}

// "key:value key:value", parted by blanks or ends of lines.
template <typename Each>
void EachDetail(std::string_view details, const Each& each) {
  while (!details.empty()) {
    const std::size_t end = std::min(details.find_first_of(" \n"), details.size());
    const std::string_view one = details.substr(0, end);
    const std::size_t colon = one.find(':');
    if (colon != std::string_view::npos) each(one.substr(0, colon), one.substr(colon + 1));
    details.remove_prefix(std::min(details.size(), end + 1));
  }
}

// What a launch of a kernel was like, under the names that torch.profiler has for it.
void AddKernelDetails(std::string_view details, ArgText* args) {
  constexpr std::int64_t kRegistersMax = 1024;  // no GPU has as many; AMD's field may hold garbage
  std::optional<std::int64_t> registers, shared;
  const auto sizes = [&](std::string_view key, std::string_view value) {
    // Three numbers with commas between them, and nothing else.
    if (std::count(value.begin(), value.end(), ',') == 2 &&
        value.find_first_not_of("0123456789,") == std::string_view::npos && value.front() != ',' &&
        value.back() != ',' && value.find(",,") == std::string_view::npos)
      args->Raw(key, fmt::format("[{}]", value));
  };
  EachDetail(details, [&](std::string_view key, std::string_view value) {
    const auto number = ParseInt(value);
    if (key == "regs") registers = number;
    if (number && IsOneOf(key, {"static_shared", "dynamic_shared", "shm", "group_mem"}))
      shared = shared.value_or(0) + std::clamp<std::int64_t>(*number, 0, std::int64_t{1} << 32);
    if (key == "grid" || key == "block") sizes(key, value);
    if (key == "occ_pct") {
      const auto percent = ParseDouble(value);
      if (percent && *percent > 0) args->Number("est. achieved occupancy %", *percent);
    }
    if (key == "private_mem" && number) args->Number("private memory", *number);
  });
  if (registers && (*registers < 0 || *registers > kRegistersMax)) return;
  if (registers) args->Number("registers per thread", *registers);
  if (shared) args->Number("shared memory", *shared);
}

void AddCopyDetails(std::string_view details, ArgText* args) {
  EachDetail(details, [&](std::string_view key, std::string_view value) {
    const auto number = ParseInt(value);
    if (IsOneOf(key, {"size", "num_bytes"}) && number) args->Number("bytes", *number);
    if (IsOneOf(key, {"kind_src", "kind_dst", "kind"})) args->Text(key, value);
    if (key == "dest" && number) args->Number("to device", *number);
  });
}

// A piece of work on a line, before it is written.
struct Piece {
  std::int64_t begin_ps, end_ps;
};

class DeviceLine {
 public:
  DeviceLine(const DevicePlane& device, const Line& line, OpTable* ops)
      : device_(device),
        line_(line),
        ops_(*ops),
        facts_(*device.plane),
        kinds_(*device.plane, nullptr),
        writer_(&out_.slice) {
    std::string_view stream = line.label();
    number_ =
        stream.starts_with(kStream) ? LeadingNumber(stream.substr(kStream.size())) : std::nullopt;
    track_ = writer_.Track(device.name, fmt::format("{}", number_.value_or(line.id)));
    writer_.NameProcess(track_, device.plane->name,
                        fmt::format("{} {}", device.tpu ? "TPU" : "GPU", device.name));
    writer_.NameThread(track_, line.label());
  }

  LineEvents Run() {
    out_.slice.events.reserve_whole(line_.events);
    out_.slice.args.reserve_whole(line_.events);
    out_.ops.reserve(line_.events);
    proto::Cursor cursor(line_.message);
    proto::Field field;
    while (cursor.Next(&field)) {
      if (field.IsBytes(4)) Take(field.bytes);
    }
    if (device_.tpu) WriteNested();
    return std::move(out_);
  }

 private:
  struct Nested {
    Piece piece;
    StringId name;
    const Op* op;
    StringId args;
  };

  void Take(std::string_view message) {
    Event event;
    if (!ReadEvent(message, &event)) {
      out_.slice.oddities.Count(Oddity::kMalformedEvent, out_.slice.events.size());
      return;
    }
    if (event.total) {
      ++out_.losses.totals;
      return;
    }
    std::int64_t begin = 0;
    if (!TimeOf(line_, event, &out_.slice.oddities, &begin)) return;
    std::int64_t correlation = kAbsent;
    const std::uint32_t number = kinds_.Of(event, &correlation);
    if (number == made_.size()) made_.push_back(Make(event));
    const Made& made = made_[number];
    if (device_.tpu) {
      nested_.push_back({{begin, begin + event.duration_ps}, made.name, made.op, made.args});
      return;
    }
    writer_.AddPs(made.kind, made.category, track_, made.name, begin, event.duration_ps);
    Finish(made.op, made.args, correlation == kAbsent ? made.correlation : correlation);
    if (made.group != kAbsent && made.kind == EventKind::kKernel) out_.groups.insert(made.group);
  }

  // What is made of all events of one name and of the same stats.
  struct Made {
    EventKind kind;
    std::uint8_t category;
    StringId name;
    const Op* op;
    StringId args;
    std::int64_t correlation, group;
  };
  Made Make(const Event& event) {
    const std::int64_t name_id = event.name_id;
    const auto named = device_.plane->event_names.find(name_id);
    const EventName* name = named == device_.plane->event_names.end() ? nullptr : &named->second;
    facts_.Read(name, event.stats, &found_);
    const std::string shown = NameOf(name, found_, name_id);
    const Op* op = device_.tpu && name != nullptr && found_.hlo_op.empty()
                       ? ops_.FindCounted(*name, found_)
                       : ops_.Find(found_);
    const EventKind kind = device_.tpu ? EventKind::kKernel : KindOf(shown);
    return {kind,       writer_.Category(kind), writer_.Name(shown), op,
            ArgsOf(op), found_.correlation,     found_.group};
  }

  void Finish(const Op* op, StringId args, std::int64_t correlation) {
    Args* to = writer_.LastArgs();
    to->correlation = correlation;
    to->stream = number_.value_or(line_.id);
    to->other = args;
    out_.ops.push_back(op);
  }

  StringId ArgsOf(const Op* op) {
    args_.Clear();
    if (const auto device = ParseInt(device_.name)) args_.Number("device", *device);
    AddKernelDetails(found_.kernel_details, &args_);
    AddCopyDetails(found_.memcpy_details, &args_);
    AddCopyDetails(found_.memset_details, &args_);
    if (!found_.hlo_op.empty()) args_.Text("hlo_op", found_.hlo_op);
    if (!found_.hlo_module.empty()) args_.Text("hlo_module", found_.hlo_module);
    if (found_.program != kAbsent) args_.Number("program_id", found_.program);
    if (found_.group != kAbsent) args_.Number("group_id", found_.group);
    facts_.AddOther(found_, &args_);
    if (op != nullptr && op->facts.exchange)
      AddExchange(*op->facts.exchange, ParseInt(device_.name), &args_);
    return writer_.Raw(args_.text());
  }

  // Ops of a TPU hold others (a while its body's): each moment is the innermost one's, so an op
  // that holds others becomes the pieces between them.
  void WriteNested() {
    std::stable_sort(nested_.begin(), nested_.end(), [](const Nested& a, const Nested& b) {
      return std::tuple(a.piece.begin_ps, -a.piece.end_ps) <
             std::tuple(b.piece.begin_ps, -b.piece.end_ps);
    });
    struct Open {
      std::size_t at;
      std::int64_t done_ps;  // of it, up to here is written or others'
    };
    std::vector<Open> open;
    std::vector<std::pair<Piece, std::size_t>> pieces;
    const auto close = [&](std::int64_t until) {
      while (!open.empty() && nested_[open.back().at].piece.end_ps <= until) {
        const Open top = open.back();
        open.pop_back();
        const std::int64_t end = nested_[top.at].piece.end_ps;
        if (end > top.done_ps || nested_[top.at].piece.begin_ps == end)
          pieces.push_back({{top.done_ps, end}, top.at});
        if (!open.empty()) open.back().done_ps = std::max(open.back().done_ps, end);
      }
    };
    for (std::size_t i = 0; i < nested_.size(); ++i) {
      const std::int64_t begin = nested_[i].piece.begin_ps;
      close(begin);
      if (!open.empty() && begin > open.back().done_ps) {
        pieces.push_back({{open.back().done_ps, begin}, open.back().at});
        open.back().done_ps = begin;
      }
      open.push_back({i, begin});
    }
    close(std::numeric_limits<std::int64_t>::max());
    std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
      return a.first.begin_ps < b.first.begin_ps;
    });
    const std::uint8_t category = writer_.Category(EventKind::kKernel);
    for (const auto& [piece, at] : pieces) {
      const Nested& one = nested_[at];
      writer_.AddPs(EventKind::kKernel, category, track_, one.name, piece.begin_ps,
                    piece.end_ps - piece.begin_ps);
      Finish(one.op, one.args, kAbsent);
      out_.calls.push_back(static_cast<std::uint32_t>(at));
    }
  }

  const DevicePlane& device_;
  const Line& line_;
  OpTable& ops_;
  FactsReader facts_;
  EventKinds kinds_;
  std::vector<Made> made_;  // by kind
  LineEvents out_;
  SliceWriter writer_;
  std::optional<std::int64_t> number_;
  std::uint32_t track_ = 0;
  EventFacts found_;
  ArgText args_;
  std::vector<Nested> nested_;
};

}  // namespace

std::vector<DevicePlane> DevicesOf(const Space& space) {
  struct Prefix {
    std::string_view text;
    bool tpu;
  };
  constexpr std::array<Prefix, 2> kPrefixes = {{{"/device:GPU:", false}, {"/device:TPU:", true}}};
  std::vector<DevicePlane> devices;
  for (const Plane& plane : space.planes) {
    for (const Prefix& prefix : kPrefixes) {
      if (!plane.name.starts_with(prefix.text)) continue;
      DevicePlane device{&plane, ValidUtf8(plane.name.substr(prefix.text.size())), prefix.tpu};
      const Stat* vendor = plane.Find("device_vendor");
      device.amd = vendor != nullptr && EqualsNoCase(plane.TextOf(*vendor), "amd");
      devices.push_back(std::move(device));
    }
  }
  std::stable_sort(devices.begin(), devices.end(), [](const DevicePlane& a, const DevicePlane& b) {
    return a.tpu != b.tpu ? b.tpu : NaturallyBefore(a.name, b.name);
  });
  return devices;
}

std::vector<const Line*> WorkLines(const DevicePlane& device) {
  std::vector<const Line*> lines;
  for (const Line& line : device.plane->lines) {
    if (device.tpu ? line.label() == "XLA Ops" : line.label().starts_with(kStream))
      lines.push_back(&line);
  }
  return lines;
}

std::map<std::int64_t, std::int64_t> DrawnSteps(const DevicePlane& device) {
  std::map<std::int64_t, std::int64_t> numbers;
  FactsReader reader(*device.plane);
  EventFacts facts;
  for (const Line& line : device.plane->lines) {
    if (line.label() != "Steps") continue;
    proto::Cursor cursor(line.message);
    proto::Field field;
    while (cursor.Next(&field)) {
      Event event;
      if (!field.IsBytes(4) || !ReadEvent(field.bytes, &event)) continue;
      const auto named = device.plane->event_names.find(event.name_id);
      const EventName* name = named == device.plane->event_names.end() ? nullptr : &named->second;
      reader.Read(name, event.stats, &facts);
      if (facts.group == kAbsent) continue;
      numbers[facts.group] = ParseInt(NameOf(name, facts, event.name_id)).value_or(facts.group);
    }
  }
  return numbers;
}

LineEvents ReadDeviceLine(const DevicePlane& device, const Line& line, OpTable* ops) {
  return DeviceLine(device, line, ops).Run();
}

bool TimeOf(const Line& line, const Event& event, Oddities* oddities, std::int64_t* begin_ps) {
  constexpr std::int64_t kPsPerNs = 1000;
  std::int64_t end = 0;
  if (event.duration_ps < 0) {
    oddities->Count(Oddity::kNegativeDuration, 0);
    return false;
  }
  if (__builtin_mul_overflow(line.timestamp_ns, kPsPerNs, begin_ps) ||
      __builtin_add_overflow(*begin_ps, event.offset_ps, begin_ps) ||
      __builtin_add_overflow(*begin_ps, event.duration_ps, &end)) {
    oddities->Count(Oddity::kHugeTimestamp, 0);
    return false;
  }
  return true;
}

std::string NameOf(const EventName* name, const EventFacts& facts, std::int64_t id) {
  if (!facts.step_name.empty()) return std::string(facts.step_name);
  if (name == nullptr) return fmt::format("event {}", id);
  return std::string(name->display.empty() ? name->name : name->display);
}

}  // namespace jarvis::trace::xplane
