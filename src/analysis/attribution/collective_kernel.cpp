#include "analysis/attribution/collective_kernel.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>

#include "analysis/attribution/arg_text.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

constexpr double kBytesPerMb = 1024.0 * 1024.0;

// A raw JSON value as a cell.
Cell ValueCell(std::string_view raw) {
  if (raw.empty() || raw == "null") return {};
  if (raw.front() == '"') return trace::Unescape(trace::Unquoted(raw));
  if (raw.front() == '[' || raw.front() == '{') return TupleText(raw);
  if (const auto whole = ParseInt(raw)) return *whole;
  if (const auto number = ParseDouble(raw); number && std::isfinite(*number)) return *number;
  return std::string(raw);
}

// Letters and digits alone, lower case: "all_to_all" and "AllToAll" are one word.
std::string PlainWord(std::string_view name) {
  std::string plain = LowerAscii(name);
  std::erase_if(plain, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return plain;
}

bool HasAnyPart(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool HasAnyPart(std::string_view text, std::initializer_list<std::string_view> parts) {
  return HasAnyPart(text, std::span(parts.begin(), parts.size()));
}

// Words that are in the names of local kernels too ("DispatchReduceByKey", a flash combine) count
// beside a library or a collective alone.
constexpr std::array<std::string_view, 13> kCommLibraries = {
    "nccl",      "rccl",     "nvshmem",     "rocshmem",    "mscclpp", "deepep", "intranode",
    "internode", "multimem", "crossdevice", "quickreduce", "symmmem", "oneccl"};
// What prepares an exchange is no exchange.
constexpr std::array<std::string_view, 7> kCommPreparation = {
    "precompute", "offset", "getdispatchlayout", "memset", "permute", "routing", "layout"};

}  // namespace

std::string_view CommFamilyName(CommFamily family) {
  switch (family) {
    case CommFamily::kAllReduce: return "AllReduce";
    case CommFamily::kReduceScatter: return "ReduceScatter";
    case CommFamily::kAllGather: return "AllGather";
    case CommFamily::kExchange: return "all_to_all";
    case CommFamily::kPointToPoint: return "send/recv";
    case CommFamily::kBroadcast: return "Broadcast";
    case CommFamily::kReduce: return "Reduce";
    case CommFamily::kBarrier: return "Barrier";
    case CommFamily::kOther: return "collective";
  }
  return "collective";
}

CommFamily CommFamilyOfName(std::string_view name) {
  const std::string plain = PlainWord(name);
  // A barrier is an AllReduce of nothing, and may be called one ("all_reduce_barrier").
  if (plain.ends_with("barrier")) return CommFamily::kBarrier;
  if (HasAnyPart(plain, {"reducescatter"})) return CommFamily::kReduceScatter;
  if (HasAnyPart(plain, {"allgather", "gatherinto"})) return CommFamily::kAllGather;
  if (HasAnyPart(plain, {"allreduce", "crossdevicereduce", "quickreduce"}))
    return CommFamily::kAllReduce;
  if (HasAnyPart(plain, {"alltoall", "all2all", "sendrecv", "dispatch", "combine"}))
    return CommFamily::kExchange;
  if (HasAnyPart(plain, {"send", "recv"})) return CommFamily::kPointToPoint;
  if (HasAnyPart(plain, {"broadcast"})) return CommFamily::kBroadcast;
  if (HasAnyPart(plain, {"barrier"})) return CommFamily::kBarrier;
  if (HasAnyPart(plain, {"reduce"})) return CommFamily::kReduce;
  return CommFamily::kOther;
}

std::optional<CommFamily> CommFamilyOfKernel(std::string_view kernel) {
  // Arguments of templates and functions speak of types, not of what the kernel does.
  const std::string plain = PlainWord(kernel.substr(0, kernel.find('(', 32)));
  if (HasAnyPart(plain, kCommPreparation)) return std::nullopt;
  const bool library = HasAnyPart(plain, kCommLibraries);
  if (library) {
    const CommFamily family = CommFamilyOfName(plain);
    // One kernel sends and receives, whatever is asked of it.
    return family == CommFamily::kPointToPoint ? CommFamily::kExchange : family;
  }
  if (HasAnyPart(plain, {"oneshot", "twoshot"}) && HasAnyPart(plain, {"reduce"}))
    return CommFamily::kAllReduce;
  if (HasAnyPart(plain, {"allreduce", "reducescatter", "allgather", "alltoall", "all2all"})) {
    // Reductions within one block or warp are local.
    if (HasAnyPart(plain, {"blockallreduce", "warpallreduce", "cub::"})) return std::nullopt;
    return CommFamilyOfName(plain);
  }
  return std::nullopt;
}

const std::array<const char*, kCollectiveKeyCount> kCollectiveKeyNames = {
    "Process Group Name", "Process Group Ranks", "Collective name", "Group size",     "dtype",
    "In msg nelems",      "Out msg nelems",      "In split size",   "Out split size", "stream"};

CollectiveKeys RecordedCollective(const trace::EventStore& events, trace::EventIndex e) {
  const trace::Args& args = events.args_of(e);
  CollectiveKeys keys;
  for (std::size_t key = 0; key < kStream; ++key)
    keys[key] = ValueCell(trace::MemberOf(events.text(args.other), kCollectiveKeyNames[key]));
  if (args.stream != trace::kAbsent) keys[kStream] = args.stream;
  return keys;
}

Cell CollectiveOfKernel(std::string_view kernel, bool name_from_kernel) {
  if (ContainsNoCase(kernel, "cross_device_reduce")) return std::string("allreduce");
  if (!name_from_kernel) return {};
  constexpr std::array<std::pair<const char*, const char*>, 8> kNames = {{
      {"allreduce", "allreduce"},
      {"allgather", "allgather"},
      {"reducescatter", "reduce_scatter"},
      {"alltoall", "all_to_all"},
      {"broadcast", "broadcast"},
      {"sendrecv", "send_recv"},
      {"reduce_", "reduce"},
      {"reducekernel", "reduce"},
  }};
  for (const auto& [part, name] : kNames) {
    if (ContainsNoCase(kernel, part)) return std::string(name);
  }
  return {};
}

std::optional<double> RecordedNumber(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  const auto* text = std::get_if<std::string>(&cell);
  const auto number = text == nullptr ? std::nullopt : ParseDouble(*text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> MegabytesOf(const CollectiveKeys& keys, CollectiveKey elements,
                                  const CollectiveRules& rules) {
  const auto* dtype = std::get_if<std::string>(&keys[kDtype]);
  const auto count = RecordedNumber(keys[elements]);
  const auto bytes = dtype == nullptr ? std::nullopt : rules.element_bytes(*dtype);
  if (!count || !bytes) return std::nullopt;
  return *count * static_cast<double>(*bytes) / kBytesPerMb;
}

CollectiveType CollectiveTypeOf(std::string_view name) {
  std::string plain = LowerAscii(name);
  std::erase(plain, '_');
  const auto has = [&](std::string_view part) { return plain.find(part) != std::string::npos; };
  if (has("allreduce")) return CollectiveType::kAllReduce;
  if (has("reducescatter")) return CollectiveType::kReduceScatter;
  if (has("allgather")) return CollectiveType::kAllGather;
  if (has("alltoallv")) return CollectiveType::kAllToAllV;
  return has("alltoall") ? CollectiveType::kAllToAll : CollectiveType::kOther;
}

std::optional<std::int64_t> CollectiveElementBytes(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::int64_t> kBytes[] = {
      {"BFloat16", 2},
      {"Bool", 1},
      {"Byte", 1},
      {"Char", 1},
      {"ComplexDouble", 16},
      {"ComplexFloat", 8},
      {"ComplexHalf", 4},
      {"Double", 8},
      {"Float", 4},
      {"Float8_e4m3fn", 1},
      {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2", 1},
      {"Float8_e5m2fnuz", 1},
      {"Half", 2},
      {"Int", 4},
      {"Long", 8},
      {"QInt32", 4},
      {"QInt8", 1},
      {"QUInt8", 1},
      {"Short", 2},
      {"UInt16", 2},
      {"UInt32", 4},
      {"UInt64", 8},
      // As XLA writes them.
      {"bf16", 2},
      {"f16", 2},
      {"f32", 4},
      {"f64", 8},
      {"pred", 1},
      {"s8", 1},
      {"u8", 1},
      {"s16", 2},
      {"u16", 2},
      {"s32", 4},
      {"u32", 4},
      {"s64", 8},
      {"u64", 8},
  };
  for (const auto& [name, bytes] : kBytes) {
    if (name == dtype) return bytes;
  }
  return std::nullopt;
}

}  // namespace jarvis::analysis
