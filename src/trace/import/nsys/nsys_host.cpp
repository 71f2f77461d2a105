#include "trace/import/nsys/nsys_host.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "trace/import/shared/range_name.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

// NVTX_EVENTS.eventType.
constexpr std::int64_t kMark = 34;
constexpr std::int64_t kPushPop = 59;
constexpr std::int64_t kStartEnd = 60;
constexpr std::int64_t kMarkOfText = 65;
constexpr std::int64_t kPushPopOfText = 70;
constexpr std::int64_t kStartEndOfText = 71;
constexpr std::int64_t kDomainCreate = 75;

// OVERHEAD.overheadType, as Kineto calls them.
constexpr std::array<std::string_view, 9> kOverheads = {"",
                                                        "",
                                                        "Driver Compiler",
                                                        "Buffer Flush",
                                                        "Instrumentation",
                                                        "Resource",
                                                        "Runtime Triggered Module Loading",
                                                        "Lazy Function Loading",
                                                        "Command Buffer Full"};

bool IsDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// "cuMemAlloc", not "cudaMalloc".
bool IsDriverName(std::string_view name) {
  return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
}

}  // namespace

std::string_view CallName(std::string_view recorded) {
  std::string_view name = recorded;
  if (name.ends_with("_ptsz") || name.ends_with("_ptds")) name.remove_suffix(5);
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos) return name;
  const std::string_view digits = name.substr(at + 2);
  return digits.size() >= 4 && digits.size() <= 6 && IsDigits(digits) ? name.substr(0, at) : name;
}

Status NsysHost::Run() {
  JV_TRY(Calls());
  JV_TRY(Ranges());
  return Overheads();
}

Status NsysHost::Calls() {
  struct Call {
    StringId name = kNoString;
    bool driver = false;  // by its name
  };
  std::vector<Call> calls(scope_.texts.size());
  std::int64_t last_result = 0;
  StringId result_text = kNoString;
  EachRow("CUPTI_ACTIVITY_KIND_RUNTIME",
          {"start", "end", "nameId", "globalTid", "correlationId", "eventClass", "returnValue"}, 3,
          [&](io::SqliteRows& row) -> Status {
            const std::int64_t start = row.Time(0);
            const std::int64_t end = row.Time(1);
            if (!Timed(start, end, "calls")) return {};
            const std::int64_t name_id = row.Int(2);
            const StringId place = name_id == kNoCell ? kNoString : scope_.texts.PlaceOf(name_id);
            Call unnamed;
            Call& call = place == kNoString ? unnamed : calls[place];
            if (call.name == kNoString) {
              const std::string text =
                  place == kNoString ? fmt::format("call {}", name_id == kNoCell ? 0 : name_id)
                                     : std::string(scope_.texts[place]);
              call.name = writer_.Name(CallName(text));
              call.driver = IsDriverName(CallName(text));
            }
            const std::int64_t kind = row.Int(5);
            const bool driver = kind == kNoCell ? call.driver : kind == 1;
            const std::int64_t tid = row.Int(3);
            const OwnerId process = ProcessOf(tid);
            Args args;
            args.correlation = Correlation(process, row.Int(4));
            const std::int64_t result = row.Int(6);
            if (result != kNoCell && result != 0) {
              if (result != last_result) {
                text_.Clear();
                text_.Add("result", result);
                result_text = writer_.Raw(text_.text());
                last_result = result;
              }
              args.other = result_text;
            }
            const EventWriter::NewEvent event = {driver ? EventKind::kDriver : EventKind::kRuntime,
                                                 call.name, writer_.TrackOf(process, TidOf(tid)),
                                                 start, end - start};
            const bool bare = args.correlation == jarvis::trace::kAbsent && args.other == kNoString;
            return bare ? writer_.Add(event) : writer_.Add(event, args);
          });
  return status_;
}

// They may be named after they were used.
void NsysHost::ReadDomains() {
  EachRow("NVTX_EVENTS", {"eventType", "domainId", "text", "textId"}, 1,
          [&](io::SqliteRows& row) -> Status {
            if (row.Int(0) != kDomainCreate) return {};
            const std::int64_t id = row.Int(1);
            const auto text = row.Text(2);
            const auto named = text ? text : scope_.texts.TextOf(row.Int(3));
            if (id != kNoCell && named) domains_[id] = named->substr(0, kRecordedNameBytesMax);
            return {};
          });
}

void NsysHost::ReadSchemas() {
  const auto bytes_of = [](std::int64_t type) -> std::size_t {
    return type == 5 ? 4 : type == 18 || type == 22 ? 8 : 0;
  };
  EachRow(
      "NVTX_PAYLOAD_SCHEMA_ENTRIES", {"schemaId", "type", "name", "offset"}, 3,
      [&](io::SqliteRows& row) -> Status {
        const std::int64_t id = row.Int(0);
        const std::size_t bytes = bytes_of(row.Int(1));
        const auto name = row.Text(2);
        const std::int64_t offset = row.Int(3);
        if (id == kNoCell || bytes == 0 || !name || (offset != kNoCell && offset < 0)) return {};
        schemas_[id].push_back({Escape(name->substr(0, limits::kNameBytesShort)),
                                offset == kNoCell ? 0 : static_cast<std::size_t>(offset), bytes});
        return {};
      });
}

// A head of 32 bytes (domain, reserved, schema, reserved, size of the rest, size of all), then the
// schema's fields; little endian.
void NsysHost::AddPayload(std::string_view bytes, OwnerId process) {
  constexpr std::size_t kHead = 32;
  if (bytes.size() < kHead) return;
  const auto schema = schemas_.find(static_cast<std::int64_t>(LittleEndian(bytes.substr(8, 4))));
  if (schema == schemas_.end()) return;
  const std::string_view body = bytes.substr(
      kHead, std::min<std::uint64_t>(LittleEndian(bytes.substr(16, 8)), bytes.size() - kHead));
  std::optional<std::uint64_t> rank, ranks;
  for (const Field& field : schema->second) {
    if (field.offset > body.size() || body.size() - field.offset < field.bytes) continue;
    if (text_.text().size() > limits::kOtherArgsBytesMax) break;
    const std::uint64_t value = LittleEndian(body.substr(field.offset, field.bytes));
    if (field.name == "Rank") rank = value;
    if (field.name == "No. of ranks") ranks = value;
    text_.AddUnsigned(field.name, value);
  }
  if (!rank || !ranks) return;
  NcclRank& known = scope_.nccl_ranks[process];
  if (*ranks > known.ranks) known = {*ranks, *rank};
}

Status NsysHost::Ranges() {
  ReadDomains();
  ReadSchemas();
  EachRow("NVTX_EVENTS",
          {"start", "eventType", "end", "text", "textId", "globalTid", "endGlobalTid", "domainId",
           "binaryData"},
          2, [&](io::SqliteRows& row) { return Range(row); });
  return status_;
}

Status NsysHost::Range(io::SqliteRows& row) {
  const std::int64_t type = row.Int(1);
  if (type == kMark || type == kMarkOfText) {
    ++tally.counts["marks"];
    return {};
  }
  const bool start_end = type == kStartEnd || type == kStartEndOfText;
  if (!start_end && type != kPushPop && type != kPushPopOfText) return {};
  const std::int64_t start = row.Time(0);
  std::int64_t end = row.Time(2);
  const bool open = end == kNoCell;
  if (open) end = start;
  if (!Timed(start, end, "ranges")) return {};
  const std::int64_t tid = row.Int(5);
  const OwnerId process = ProcessOf(tid);
  auto text = row.Text(3);
  if (!text) text = scope_.texts.TextOf(row.Int(4));
  if (!text) ++tally.counts["ranges without a name"];
  text_.Clear();
  const std::int64_t domain = row.Int(7);
  RangeName range;
  range.name = text.value_or("range");
  if (domain == kNoCell || domain == 0) {
    range = ParseRangeName(range.name);
  } else if (const auto named = domains_.find(domain); named != domains_.end()) {
    text_.AddText("domain", named->second);
  } else {
    text_.Add("domain", domain);
  }
  if (!schemas_.empty()) AddPayload(row.Blob(8), process);
  Args args;
  args.sequence = range.sequence.value_or(jarvis::trace::kAbsent);
  args.external_id = range.op_id.value_or(jarvis::trace::kAbsent);
  if (!range.sizes.empty()) args.dims = writer_.Raw(range.sizes);
  if (!text_.text().empty()) args.other = writer_.Raw(text_.text());
  const std::int64_t end_tid = row.Int(6);
  // One that ends on another thread is never to disturb what nests on this one.
  const bool beside = start_end && end_tid != kNoCell && end_tid != 0 && end_tid != tid;
  if (open) open_ranges_.push_back(static_cast<std::uint32_t>(writer_.events()));
  const EventWriter::NewEvent event = {
      range.is_op ? EventKind::kCpuOp : EventKind::kUserAnnotation, writer_.Name(range.name),
      writer_.TrackOf(process, TidOf(tid), beside), start, end - start};
  const bool bare =
      !range.sequence && !range.op_id && args.dims == kNoString && args.other == kNoString;
  return bare ? writer_.Add(event) : writer_.Add(event, args);
}

Status NsysHost::Overheads() {
  EachRow("CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end", "globalTid", "overheadType"}, 2,
          [&](io::SqliteRows& row) -> Status {
            const std::int64_t start = row.Time(0);
            const std::int64_t end = row.Time(1);
            if (!Timed(start, end, "overheads")) return {};
            const std::int64_t kind = row.Int(3);
            const bool known = kind >= 2 && kind < static_cast<std::int64_t>(kOverheads.size());
            const std::string_view name =
                known ? kOverheads[static_cast<std::size_t>(kind)] : "Overhead";
            const std::int64_t tid = row.Int(2);
            const OwnerId process = ProcessOf(tid);
            return writer_.Add({EventKind::kOverhead, writer_.Name(name),
                                writer_.TrackOf(process, TidOf(tid)), start, end - start});
          });
  return status_;
}

}  // namespace jarvis::trace
