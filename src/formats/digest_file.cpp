#include "formats/digest_file.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/timeline_parts.h"
#include "json/json.h"

namespace jarvis::formats {
namespace {

using analysis::CollectiveCall;
using analysis::CollectiveKeys;
using analysis::CollectiveKind;
using analysis::KnownBy;
using analysis::RankDigest;

constexpr std::string_view kDigestFormat = "jarvis-rank-digest";
constexpr std::int64_t kVersion = 1;
// Times that sums cannot leave the type with: +-97 years.
constexpr std::int64_t kTimeMax = 3'060'000'000'000'000'000;

constexpr std::pair<const char*, KnownBy> kKnownBy[] = {
    {"kernel_args", KnownBy::kKernelArgs},
    {"record_param_comms", KnownBy::kParamComms},
    {"kernel_name", KnownBy::kKernelName},
};
// Of a call, added up.
constexpr std::int64_t kLinked = 1;
constexpr std::int64_t kLeftOut = 2;
constexpr std::int64_t kModern = 4;

Json JsonOf(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

template <typename T>
Json JsonOf(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json JsonOf(const CollectiveKeys& keys) {
  Json list = Json::array();
  for (const Cell& cell : keys)
    list.push_back(JsonOf(cell));
  return list;
}

// What is wrong is said with the way to it: "kinds[3].recorded".
tl::unexpected<Error> Wrong(const std::string& where, std::string_view what) {
  return Fail(ErrorCode::kBadValue, fmt::format("no usable digest: {} {}", where, what),
              "make it again with jarvis digest");
}

const Json* Member(const Json& object, const char* name) {
  return FindMember(object, name);
}

Result<std::int64_t> Whole(const Json* value, const std::string& where, std::int64_t least,
                           std::int64_t most) {
  if (value == nullptr || !value->is_number_integer() ||
      (value->is_number_unsigned() &&
       value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)))
    return Wrong(where, "is no whole number");
  const auto number = value->get<std::int64_t>();
  if (number < least || number > most)
    return Wrong(where, fmt::format("is not between {} and {}", least, most));
  return number;
}

Result<std::optional<std::int64_t>> MaybeWhole(const Json* value, const std::string& where,
                                               std::int64_t least, std::int64_t most) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  JV_ASSIGN(const std::int64_t number, Whole(value, where, least, most));
  return number;
}

Result<double> FiniteNumber(const Json* value, const std::string& where) {
  if (value == nullptr || !value->is_number()) return Wrong(where, "is no number");
  const auto number = value->get<double>();
  if (!std::isfinite(number) || std::abs(number) > static_cast<double>(kTimeMax))
    return Wrong(where, "is out of range");
  return number;
}

Result<std::string> Text(const Json* value, const std::string& where) {
  if (value == nullptr || !value->is_string()) return Wrong(where, "is no text");
  return value->get<std::string>();
}

Result<Cell> CellFrom(const Json& value, const std::string& where) {
  if (value.is_null()) return Cell();
  if (value.is_string()) return Cell(value.get<std::string>());
  if (value.is_number_float()) {
    JV_ASSIGN(const double number, FiniteNumber(&value, where));
    return Cell(number);
  }
  JV_ASSIGN(const std::int64_t whole, Whole(&value, where, INT64_MIN, INT64_MAX));
  return Cell(whole);
}

Result<CollectiveKeys> KeysFrom(const Json* list, const std::string& where) {
  CollectiveKeys keys;
  if (list == nullptr || !list->is_array() || list->size() != keys.size())
    return Wrong(where, fmt::format("is no list of {} values", keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    JV_ASSIGN(keys[i], CellFrom((*list)[i], fmt::format("{}[{}]", where, i)));
  }
  return keys;
}

Result<CollectiveKind> KindFrom(const Json& value, const std::string& where) {
  CollectiveKind kind;
  JV_ASSIGN(kind.recorded, KeysFrom(Member(value, "recorded"), where + ".recorded"));
  JV_ASSIGN(kind.known, KeysFrom(Member(value, "known"), where + ".known"));
  JV_ASSIGN(kind.kernel, Text(Member(value, "kernel"), where + ".kernel"));
  JV_ASSIGN(const std::string known_by, Text(Member(value, "known_by"), where + ".known_by"));
  bool found = false;
  for (const auto& [name, which] : kKnownBy) {
    if (known_by != name) continue;
    kind.known_by = which;
    found = true;
  }
  if (!found) return Wrong(where + ".known_by", "is none of its values");
  JV_ASSIGN(kind.local_group,
            Whole(Member(value, "local_group"), where + ".local_group", 0, INT32_MAX));
  return kind;
}

// [kind, ts_ns, dur_ns, ts_us, dur_us, covered_ns, sequence or null, flags]
Result<CollectiveCall> CallFrom(const Json& row, std::size_t kinds, const std::string& where) {
  constexpr std::size_t kValues = 8;
  if (!row.is_array() || row.size() != kValues)
    return Wrong(where, fmt::format("is no list of {} values", kValues));
  CollectiveCall call;
  JV_ASSIGN(const std::int64_t kind,
            Whole(&row[0], where + "[0]", 0, static_cast<std::int64_t>(kinds) - 1));
  call.kind = static_cast<std::size_t>(kind);
  JV_ASSIGN(call.ts_ns, Whole(&row[1], where + "[1]", -kTimeMax, kTimeMax));
  JV_ASSIGN(call.dur_ns, Whole(&row[2], where + "[2]", 0, kTimeMax));
  JV_ASSIGN(call.ts_us, FiniteNumber(&row[3], where + "[3]"));
  JV_ASSIGN(call.dur_us, FiniteNumber(&row[4], where + "[4]"));
  if (call.dur_us < 0) return Wrong(where + "[4]", "is below zero");
  JV_ASSIGN(call.covered_ns, Whole(&row[5], where + "[5]", 0, call.dur_ns));
  JV_ASSIGN(call.sequence, MaybeWhole(&row[6], where + "[6]", INT64_MIN, INT64_MAX));
  JV_ASSIGN(const std::int64_t flags,
            Whole(&row[7], where + "[7]", 0, kLinked | kLeftOut | kModern));
  call.linked = (flags & kLinked) != 0;
  call.left_out = (flags & kLeftOut) != 0;
  call.modern = (flags & kModern) != 0;
  return call;
}

Status ReadLists(const Json& json, RankDigest* digest) {
  const Json* kinds = Member(json, "kinds");
  const Json* calls = Member(json, "calls");
  if (kinds == nullptr || !kinds->is_array()) return Wrong("kinds", "is no list");
  if (calls == nullptr || !calls->is_array()) return Wrong("calls", "is no list");
  for (const Json& one : *kinds) {
    JV_ASSIGN(CollectiveKind kind, KindFrom(one, fmt::format("kinds[{}]", digest->kinds.size())));
    digest->kinds.push_back(std::move(kind));
  }
  digest->calls.reserve(calls->size());
  for (const Json& one : *calls) {
    JV_ASSIGN(const CollectiveCall call,
              CallFrom(one, digest->kinds.size(), fmt::format("calls[{}]", digest->calls.size())));
    digest->calls.push_back(call);
  }
  return {};
}

}  // namespace

std::string DigestText(const RankDigest& digest) {
  Json json = {{"format", kDigestFormat},
               {"version", kVersion},
               {"source", digest.source},
               {"trace_id", digest.trace_id},
               {"rank", JsonOf(digest.rank)},
               {"world_size", JsonOf(digest.world_size)},
               {"named_rank", JsonOf(digest.named_rank)},
               {"devices", JsonOf(digest.devices)},
               {"device", digest.device},
               {"base_ns", digest.base_ns},
               {"damage", digest.damage}};
  Json& timeline = json["timeline_us"];
  if (digest.timeline) {
    for (const auto& [name, which] : kTimelineParts)
      timeline[name] = (*digest.timeline).*which;
  }
  Json kinds = Json::array();
  for (const CollectiveKind& kind : digest.kinds) {
    const char* known_by = nullptr;
    for (const auto& [name, which] : kKnownBy) {
      if (which == kind.known_by) known_by = name;
    }
    kinds.push_back({{"recorded", JsonOf(kind.recorded)},
                     {"known", JsonOf(kind.known)},
                     {"known_by", known_by},
                     {"kernel", kind.kernel},
                     {"local_group", kind.local_group}});
  }
  json["kinds"] = std::move(kinds);
  Json calls = Json::array();
  for (const CollectiveCall& call : digest.calls) {
    const std::int64_t flags =
        (call.linked ? kLinked : 0) | (call.left_out ? kLeftOut : 0) | (call.modern ? kModern : 0);
    calls.push_back({call.kind, call.ts_ns, call.dur_ns, call.ts_us, call.dur_us, call.covered_ns,
                     JsonOf(call.sequence), flags});
  }
  json["calls"] = std::move(calls);
  return DumpLine(json) + "\n";
}

bool IsDigest(std::string_view begin) {
  std::string plain;
  for (const char c : begin) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') plain += c;
  }
  return plain.starts_with(fmt::format(R"({{"format":"{}")", kDigestFormat));
}

Result<std::vector<RankDigest>> ReadDigest(std::string_view text) {
  auto parsed = ParseJson(Trim(text));
  if (!parsed) return Wrong("the file", "is no JSON: " + parsed.error().message);
  const Json& json = *parsed;
  const Json* format = Member(json, "format");
  if (format == nullptr || *format != Json(kDigestFormat)) return Wrong("format", "is another one");
  JV_ASSIGN(const std::int64_t version, Whole(Member(json, "version"), "version", 1, INT32_MAX));
  if (version != kVersion) {
    return Wrong("version", fmt::format("is {}; this jarvis reads version {}", version, kVersion));
  }
  RankDigest digest;
  JV_ASSIGN(digest.source, Text(Member(json, "source"), "source"));
  JV_ASSIGN(digest.trace_id, Text(Member(json, "trace_id"), "trace_id"));
  JV_ASSIGN(digest.rank, MaybeWhole(Member(json, "rank"), "rank", INT64_MIN, INT64_MAX));
  JV_ASSIGN(digest.world_size,
            MaybeWhole(Member(json, "world_size"), "world_size", INT64_MIN, INT64_MAX));
  JV_ASSIGN(digest.named_rank, MaybeWhole(Member(json, "named_rank"), "named_rank", 0, INT64_MAX));
  JV_ASSIGN(digest.devices, MaybeWhole(Member(json, "devices"), "devices", 0, INT32_MAX));
  JV_ASSIGN(digest.device, Text(Member(json, "device"), "device"));
  JV_ASSIGN(digest.base_ns, Whole(Member(json, "base_ns"), "base_ns", INT64_MIN, INT64_MAX));
  JV_ASSIGN(digest.damage, Text(Member(json, "damage"), "damage"));
  const Json* timeline = Member(json, "timeline_us");
  if (timeline == nullptr || (!timeline->is_null() && !timeline->is_object()))
    return Wrong("timeline_us", "is no object");
  if (timeline->is_object()) {
    digest.timeline.emplace();
    for (const auto& [name, which] : kTimelineParts) {
      JV_ASSIGN((*digest.timeline).*which,
                FiniteNumber(Member(*timeline, name), fmt::format("timeline_us.{}", name)));
    }
  }
  JV_TRY(ReadLists(json, &digest));
  std::vector<RankDigest> digests;
  digests.push_back(std::move(digest));
  return digests;
}

}  // namespace jarvis::formats
