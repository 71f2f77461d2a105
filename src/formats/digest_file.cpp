#include "formats/digest_file.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/digest_ledger.h"
#include "formats/digest_values.h"
#include "formats/timeline_parts.h"
#include "json/json.h"

namespace jarvis::formats {
namespace {

using analysis::CollectiveArrival;
using analysis::CollectiveCall;
using analysis::CollectiveKeys;
using analysis::CollectiveKind;
using analysis::HostPlace;
using analysis::KnownBy;
using analysis::RankDigest;
using analysis::RankFacts;
using analysis::RankHostPiece;
using analysis::RankHostWait;
using analysis::RankKernel;
using analysis::RankKernels;
using analysis::RankStep;

constexpr std::string_view kDigestFormat = "jarvis-rank-digest";
constexpr std::int64_t kVersion = 3;
// The first one has no facts of the host, the second no ledger; they are read as ever.
constexpr std::int64_t kOldestVersion = 1;
constexpr std::int64_t kWithoutLedger = 2;
// More pieces of GPU work than any recording has; sums of them stay within the type.
constexpr std::int64_t kCountMax = 1'000'000'000'000;

constexpr std::pair<const char*, KnownBy> kKnownBy[] = {
    {"kernel_args", KnownBy::kKernelArgs},
    {"record_param_comms", KnownBy::kParamComms},
    {"kernel_name", KnownBy::kKernelName},
};
// Of a call, added up.
constexpr std::int64_t kLinked = 1;
constexpr std::int64_t kLeftOut = 2;
constexpr std::int64_t kModern = 4;
constexpr std::int64_t kNotCounted = 8;

constexpr std::pair<const char*, HostPlace> kPlaces[] = {
    {"empty", HostPlace::kEmpty},
    {"op", HostPlace::kOp},
    {"call", HostPlace::kCall},
    {"memory", HostPlace::kMemory},
};
// The second version had sums that are the ledger's now beside the time of waits, at this place.
constexpr std::size_t kOldSums = 8;
constexpr std::size_t kOldWaitSum = 5;
constexpr std::optional<std::int64_t> RankFacts::*kFactInstants[] = {
    &RankFacts::host_start_ns, &RankFacts::host_end_ns, &RankFacts::gpu_start_ns,
    &RankFacts::gpu_end_ns};

Json JsonOf(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Absent>) {
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

Result<Cell> CellFrom(const Json& value, const std::string& where) {
  if (value.is_null()) return Cell();
  if (value.is_string()) return Cell(value.get<std::string>());
  if (value.is_number_float()) {
    JV_ASSIGN(const double number, DigestNumber(&value, where));
    return Cell(number);
  }
  JV_ASSIGN(const std::int64_t whole, DigestWhole(&value, where, INT64_MIN, INT64_MAX));
  return Cell(whole);
}

Result<CollectiveKeys> KeysFrom(const Json* list, const std::string& where) {
  CollectiveKeys keys;
  if (list == nullptr || !list->is_array() || list->size() != keys.size())
    return WrongDigest(where, fmt::format("is no list of {} values", keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    JV_ASSIGN(keys[i], CellFrom((*list)[i], fmt::format("{}[{}]", where, i)));
  }
  return keys;
}

constexpr std::pair<const char*, std::optional<std::int64_t> CollectiveKind::*> kPeers[] = {
    {"source", &CollectiveKind::source}, {"target", &CollectiveKind::target}};

Result<CollectiveKind> KindFrom(const Json& value, const std::string& where) {
  CollectiveKind kind;
  JV_ASSIGN(kind.recorded, KeysFrom(FindMember(value, "recorded"), where + ".recorded"));
  JV_ASSIGN(kind.known, KeysFrom(FindMember(value, "known"), where + ".known"));
  JV_ASSIGN(kind.kernel, DigestString(FindMember(value, "kernel"), where + ".kernel"));
  JV_ASSIGN(const std::string known_by,
            DigestString(FindMember(value, "known_by"), where + ".known_by"));
  bool found = false;
  for (const auto& [name, which] : kKnownBy) {
    if (known_by != name) continue;
    kind.known_by = which;
    found = true;
  }
  if (!found) return WrongDigest(where + ".known_by", "is none of its values");
  JV_ASSIGN(kind.local_group,
            DigestWhole(FindMember(value, "local_group"), where + ".local_group", 0, INT32_MAX));
  // Of sends and receives alone.
  for (const auto& [name, which] : kPeers) {
    if (FindMember(value, name) == nullptr) continue;
    JV_ASSIGN(kind.*which,
              DigestMaybeWhole(FindMember(value, name), where + "." + name, INT64_MIN, INT64_MAX));
  }
  return kind;
}

// [kind, ts_ns, dur_ns, ts_us, dur_us, covered_ns, sequence or null, flags]
Result<CollectiveCall> CallFrom(const Json& row, std::size_t kinds, const DigestPlace& where) {
  constexpr std::size_t kValues = 8;
  if (!row.is_array() || row.size() != kValues)
    return WrongDigest(where, fmt::format("is no list of {} values", kValues));
  CollectiveCall call;
  JV_ASSIGN(const std::int64_t kind,
            DigestWhole(&row[0], where.At(0), 0, static_cast<std::int64_t>(kinds) - 1));
  call.kind = static_cast<std::size_t>(kind);
  JV_ASSIGN(call.ts_ns, DigestWhole(&row[1], where.At(1), -kDigestTimeMax, kDigestTimeMax));
  JV_ASSIGN(call.dur_ns, DigestWhole(&row[2], where.At(2), 0, kDigestTimeMax));
  JV_ASSIGN(call.ts_us, DigestNumber(&row[3], where.At(3)));
  JV_ASSIGN(call.dur_us, DigestNumber(&row[4], where.At(4)));
  if (call.dur_us < 0) return WrongDigest(where.At(4), "is below zero");
  JV_ASSIGN(call.covered_ns, DigestWhole(&row[5], where.At(5), 0, call.dur_ns));
  JV_ASSIGN(call.sequence, DigestMaybeWhole(&row[6], where.At(6), INT64_MIN, INT64_MAX));
  JV_ASSIGN(const std::int64_t flags,
            DigestWhole(&row[7], where.At(7), 0, kLinked | kLeftOut | kModern | kNotCounted));
  call.linked = (flags & kLinked) != 0;
  call.left_out = (flags & kLeftOut) != 0;
  call.modern = (flags & kModern) != 0;
  call.counted = (flags & kNotCounted) == 0;
  return call;
}

Status ReadLists(const Json& json, RankDigest* digest) {
  const Json* kinds = FindMember(json, "kinds");
  const Json* calls = FindMember(json, "calls");
  if (kinds == nullptr || !kinds->is_array()) return WrongDigest("kinds", "is no list");
  if (calls == nullptr || !calls->is_array()) return WrongDigest("calls", "is no list");
  for (const Json& one : *kinds) {
    JV_ASSIGN(CollectiveKind kind, KindFrom(one, fmt::format("kinds[{}]", digest->kinds.size())));
    digest->kinds.push_back(std::move(kind));
  }
  digest->calls.reserve(calls->size());
  for (const Json& one : *calls) {
    JV_ASSIGN(const CollectiveCall call,
              CallFrom(one, digest->kinds.size(), {"calls", digest->calls.size()}));
    digest->calls.push_back(call);
  }
  return {};
}

// How long before an instant something lies, so that numbers stay short.
Json Before(const std::optional<std::int64_t>& when, std::int64_t instant) {
  return when ? Json(instant - *when) : Json();
}

// [launched before, anchored before, after the anchor, busy, compute]
Json JsonOf(const CollectiveArrival& how, std::int64_t at) {
  return {Before(how.launch_ns, at), Before(how.anchor_ns, at), how.after_anchor_ns, how.busy_ns,
          how.compute_ns};
}

Json JsonOf(const RankFacts& facts, const std::vector<CollectiveCall>& calls) {
  Json json = Json::object();
  Json& instants = json["span_ns"] = Json::array();
  for (const auto which : kFactInstants)
    instants.push_back(JsonOf(facts.*which));
  json["wait_ns"] = facts.wait_ns;
  json["launches"] = facts.launches;
  json["left_out"] = facts.left_out;
  json["names"] = facts.names;
  Json& pieces = json["pieces"] = Json::array();
  for (const RankHostPiece& piece : facts.pieces) {
    const char* place = nullptr;
    for (const auto& [name, which] : kPlaces) {
      if (which == piece.place) place = name;
    }
    pieces.push_back({piece.ts_ns, piece.dur_ns, piece.usual_ns, piece.times, place, piece.inside,
                      piece.before, piece.after, piece.annotation});
  }
  Json& waits = json["waits"] = Json::array();
  for (const RankHostWait& wait : facts.waits)
    waits.push_back({wait.ts_ns, wait.dur_ns, wait.call});
  Json& arrivals = json["arrivals"] = Json::array();
  for (std::size_t i = 0; i < calls.size(); ++i)
    arrivals.push_back(JsonOf(facts.arrivals[i], calls[i].ts_ns));
  Json& work = json["work"] = Json::array();
  for (const CollectiveArrival& how : facts.arrivals) {
    Json row = Json::array();
    for (const analysis::WorkBefore& one : how.work)
      row.push_back({one.kernel, one.ns});
    work.push_back(std::move(row));
  }
  json["tail"] = JsonOf(facts.tail, facts.gpu_end_ns.value_or(0));
  return json;
}

Result<std::optional<std::int64_t>> InstantBefore(const Json& value, const DigestPlace& where,
                                                  std::int64_t instant) {
  JV_ASSIGN(const auto lag, DigestMaybeWhole(&value, where, -kDigestTimeMax, kDigestTimeMax));
  return lag ? std::optional(instant - *lag) : std::nullopt;
}

Result<CollectiveArrival> ArrivalFrom(const Json* row, const DigestPlace& where, std::int64_t at) {
  constexpr std::size_t kValues = 5;
  if (row == nullptr || !row->is_array() || row->size() != kValues)
    return WrongDigest(where, fmt::format("is no list of {} values", kValues));
  CollectiveArrival how;
  JV_ASSIGN(how.launch_ns, InstantBefore((*row)[0], where.At(0), at));
  JV_ASSIGN(how.anchor_ns, InstantBefore((*row)[1], where.At(1), at));
  JV_ASSIGN(how.after_anchor_ns,
            DigestWhole(&(*row)[2], where.At(2), -analysis::kFactMaxNs, analysis::kFactMaxNs));
  JV_ASSIGN(how.busy_ns, DigestWhole(&(*row)[3], where.At(3), 0, analysis::kFactMaxNs));
  JV_ASSIGN(how.compute_ns, DigestWhole(&(*row)[4], where.At(4), 0, analysis::kFactMaxNs));
  return how;
}

Result<std::uint32_t> NameFrom(const Json& value, const std::string& where,
                               const RankFacts& facts) {
  JV_ASSIGN(const std::int64_t name,
            DigestWhole(&value, where, 0, static_cast<std::int64_t>(facts.names.size()) - 1));
  return static_cast<std::uint32_t>(name);
}

Result<RankHostPiece> PieceFrom(const Json& row, const std::string& where, const RankFacts& facts) {
  // Older digests do not have the last.
  constexpr std::size_t kValues = 9;
  if (!row.is_array() || row.size() < kValues - 1 || row.size() > kValues)
    return WrongDigest(where, fmt::format("is no list of {} values", kValues));
  RankHostPiece piece;
  JV_ASSIGN(piece.ts_ns, DigestWhole(&row[0], where + "[0]", -kDigestTimeMax, kDigestTimeMax));
  JV_ASSIGN(piece.dur_ns, DigestWhole(&row[1], where + "[1]", 1, analysis::kFactMaxNs));
  JV_ASSIGN(piece.usual_ns, DigestWhole(&row[2], where + "[2]", 0, piece.dur_ns));
  JV_ASSIGN(piece.times, DigestWhole(&row[3], where + "[3]", 1, INT64_MAX));
  JV_ASSIGN(const std::string place, DigestString(&row[4], where + "[4]"));
  bool found = false;
  for (const auto& [name, which] : kPlaces) {
    if (place != name) continue;
    piece.place = which;
    found = true;
  }
  if (!found) return WrongDigest(where + "[4]", "is none of its values");
  JV_ASSIGN(piece.inside, NameFrom(row[5], where + "[5]", facts));
  JV_ASSIGN(piece.before, NameFrom(row[6], where + "[6]", facts));
  JV_ASSIGN(piece.after, NameFrom(row[7], where + "[7]", facts));
  if (row.size() == kValues) {
    JV_ASSIGN(piece.annotation, NameFrom(row[8], where + "[8]", facts));
  }
  return piece;
}

// Stretches are by start and do not overlap.
Status ReadPieces(const Json& list, RankFacts* facts) {
  for (const Json& row : list) {
    const std::string where = fmt::format("facts.pieces[{}]", facts->pieces.size());
    JV_ASSIGN(const RankHostPiece piece, PieceFrom(row, where, *facts));
    if (!facts->pieces.empty() &&
        piece.ts_ns < facts->pieces.back().ts_ns + facts->pieces.back().dur_ns)
      return WrongDigest(where, "begins before the one before it ends");
    facts->pieces.push_back(piece);
  }
  return {};
}

Status ReadWaits(const Json& list, RankFacts* facts) {
  for (const Json& row : list) {
    const std::string where = fmt::format("facts.waits[{}]", facts->waits.size());
    if (!row.is_array() || row.size() != 3) return WrongDigest(where, "is no list of 3 values");
    RankHostWait wait;
    JV_ASSIGN(wait.ts_ns, DigestWhole(&row[0], where + "[0]", -kDigestTimeMax, kDigestTimeMax));
    JV_ASSIGN(wait.dur_ns, DigestWhole(&row[1], where + "[1]", 0, analysis::kFactMaxNs));
    JV_ASSIGN(wait.call, NameFrom(row[2], where + "[2]", *facts));
    if (!facts->waits.empty() && wait.ts_ns < facts->waits.back().ts_ns)
      return WrongDigest(where, "begins before the one before it");
    facts->waits.push_back(wait);
  }
  return {};
}

// Of each call, the [kernel, ns] of what ran before it.
Status ReadWorkBefore(const Json& list, RankFacts* facts) {
  if (!list.is_array() || list.size() != facts->arrivals.size())
    return WrongDigest("facts.work", "is not one for each call");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fmt::format("facts.work[{}]", i);
    if (!list[i].is_array() || list[i].size() > analysis::kWorkBeforeMax)
      return WrongDigest(where, fmt::format("is no list of at most {}", analysis::kWorkBeforeMax));
    for (const Json& row : list[i]) {
      if (!row.is_array() || row.size() != 2) return WrongDigest(where, "is no list of pairs");
      analysis::WorkBefore one;
      JV_ASSIGN(one.kernel, NameFrom(row[0], where, *facts));
      JV_ASSIGN(one.ns, DigestWhole(&row[1], where, 1, analysis::kFactMaxNs));
      facts->arrivals[i].work.push_back(one);
    }
  }
  return {};
}

Result<const Json*> ListIn(const Json& json, const char* name, std::size_t most) {
  const Json* list = FindMember(json, name);
  if (list == nullptr || !list->is_array() || list->size() > most)
    return WrongDigest(fmt::format("facts.{}", name),
                       fmt::format("is no list of at most {}", most));
  return list;
}

Result<RankFacts> FactsFrom(const Json& json, const std::vector<CollectiveCall>& calls,
                            std::int64_t version) {
  RankFacts facts;
  JV_ASSIGN(const Json* instants, ListIn(json, "span_ns", std::size(kFactInstants)));
  if (instants->size() != std::size(kFactInstants))
    return WrongDigest("facts", "has too few times");
  for (std::size_t i = 0; i < std::size(kFactInstants); ++i) {
    JV_ASSIGN(facts.*kFactInstants[i],
              DigestMaybeWhole(&(*instants)[i], fmt::format("facts.span_ns[{}]", i),
                               -kDigestTimeMax, kDigestTimeMax));
  }
  if (facts.gpu_start_ns.has_value() != facts.gpu_end_ns.has_value() ||
      facts.host_start_ns.has_value() != facts.host_end_ns.has_value() ||
      (!calls.empty() && !facts.gpu_start_ns))
    return WrongDigest("facts.span_ns", "has a beginning without an end");
  const Json* wait = FindMember(json, "wait_ns");
  if (version <= kWithoutLedger) {
    JV_ASSIGN(const Json* sums, ListIn(json, "sums_ns", kOldSums));
    if (sums->size() != kOldSums) return WrongDigest("facts", "has too few times");
    wait = &(*sums)[kOldWaitSum];
  }
  JV_ASSIGN(facts.wait_ns, DigestWhole(wait, "facts.wait_ns", 0, kDigestTimeMax));
  JV_ASSIGN(const std::int64_t launches,
            DigestWhole(FindMember(json, "launches"), "facts.launches", 0, INT64_MAX));
  JV_ASSIGN(const std::int64_t left_out,
            DigestWhole(FindMember(json, "left_out"), "facts.left_out", 0, INT64_MAX));
  facts.launches = static_cast<std::uint64_t>(launches);
  facts.left_out = static_cast<std::uint64_t>(left_out);
  JV_ASSIGN(const Json* names,
            ListIn(json, "names", 4 * analysis::kPiecesMax + analysis::kWorkNamesMax + 1));
  for (const Json& name : *names) {
    JV_ASSIGN(std::string text,
              DigestString(&name, fmt::format("facts.names[{}]", facts.names.size())));
    facts.names.push_back(std::move(text));
  }
  if (facts.names.empty() || !facts.names.front().empty())
    return WrongDigest("facts.names", "does not begin with an empty one");
  JV_ASSIGN(const Json* pieces, ListIn(json, "pieces", analysis::kPiecesMax));
  JV_ASSIGN(const Json* waits, ListIn(json, "waits", analysis::kPiecesMax));
  JV_ASSIGN(const Json* arrivals, ListIn(json, "arrivals", calls.size()));
  JV_TRY(ReadPieces(*pieces, &facts));
  JV_TRY(ReadWaits(*waits, &facts));
  if (arrivals->size() != calls.size())
    return WrongDigest("facts.arrivals", "is not one for each call");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    JV_ASSIGN(CollectiveArrival how,
              ArrivalFrom(&(*arrivals)[i], {"facts.arrivals", i}, calls[i].ts_ns));
    facts.arrivals.push_back(how);
  }
  // Older digests do not have it.
  if (const Json* work = FindMember(json, "work"); work != nullptr) {
    JV_TRY(ReadWorkBefore(*work, &facts));
  }
  JV_ASSIGN(facts.tail,
            ArrivalFrom(FindMember(json, "tail"), "facts.tail", facts.gpu_end_ns.value_or(0)));
  return facts;
}

Json JsonOf(const std::vector<RankStep>& steps) {
  Json list = Json::array();
  for (const RankStep& step : steps) {
    list.push_back(
        {step.number, step.ts_ns, step.dur_ns, step.busy_ns, step.compute_ns, step.exposed_ns});
  }
  return list;
}

Json JsonOf(const RankKernels& kernels) {
  Json list = Json::array();
  for (const RankKernel& one : kernels.list)
    list.push_back({one.name, one.count, one.total_ns});
  Json json = Json::object();
  json["list"] = std::move(list);
  json["rest"] = {kernels.rest.count, kernels.rest.total_ns};
  return json;
}

Result<RankStep> StepFrom(const Json& row, const DigestPlace& where) {
  constexpr std::size_t kValues = 6;
  if (!row.is_array() || row.size() != kValues)
    return WrongDigest(where, fmt::format("is no list of {} values", kValues));
  RankStep step;
  JV_ASSIGN(step.number, DigestWhole(&row[0], where.At(0), INT64_MIN, INT64_MAX));
  JV_ASSIGN(step.ts_ns, DigestWhole(&row[1], where.At(1), -kDigestTimeMax, kDigestTimeMax));
  JV_ASSIGN(step.dur_ns, DigestWhole(&row[2], where.At(2), 0, analysis::kFactMaxNs));
  JV_ASSIGN(step.busy_ns, DigestWhole(&row[3], where.At(3), 0, step.dur_ns));
  JV_ASSIGN(step.compute_ns, DigestWhole(&row[4], where.At(4), 0, step.busy_ns));
  JV_ASSIGN(step.exposed_ns, DigestWhole(&row[5], where.At(5), 0, step.busy_ns - step.compute_ns));
  return step;
}

Result<std::vector<RankStep>> StepsFrom(const Json& list) {
  if (!list.is_array() || list.size() > analysis::kRankStepsMax)
    return WrongDigest("steps", fmt::format("is no list of at most {}", analysis::kRankStepsMax));
  std::vector<RankStep> steps;
  for (const Json& row : list) {
    JV_ASSIGN(const RankStep step, StepFrom(row, {"steps", steps.size()}));
    steps.push_back(step);
  }
  return steps;
}

// [count, total_ns] from the place `first` on.
Status ReadWork(const Json& row, std::size_t first, const std::string& where, RankKernel* kernel) {
  if (!row.is_array() || row.size() != first + 2)
    return WrongDigest(where, fmt::format("is no list of {} values", first + 2));
  JV_ASSIGN(kernel->count, DigestWhole(&row[first], where + ": its count", 0, kCountMax));
  JV_ASSIGN(kernel->total_ns,
            DigestWhole(&row[first + 1], where + ": its time", 0, kDigestTimeMax / 64));
  return {};
}

Result<RankKernels> KernelsFrom(const Json& json) {
  const Json* list = FindMember(json, "list");
  const Json* rest = FindMember(json, "rest");
  if (list == nullptr || !list->is_array() || list->size() > analysis::kRankKernelsMax) {
    return WrongDigest("kernels.list",
                       fmt::format("is no list of at most {}", analysis::kRankKernelsMax));
  }
  if (rest == nullptr) return WrongDigest("kernels.rest", "is not there");
  RankKernels kernels;
  for (const Json& row : *list) {
    const std::string where = fmt::format("kernels.list[{}]", kernels.list.size());
    RankKernel kernel;
    JV_TRY(ReadWork(row, 1, where, &kernel));
    JV_ASSIGN(kernel.name, DigestString(&row[0], where + "[0]"));
    kernels.list.push_back(std::move(kernel));
  }
  JV_TRY(ReadWork(*rest, 0, "kernels.rest", &kernels.rest));
  return kernels;
}

// Members that digests got later without a new version: who does not know them misses nothing else.
Status ReadLaterMembers(const Json& json, RankDigest* digest) {
  if (const Json* host = FindMember(json, "host"); host != nullptr && !host->is_null()) {
    JV_ASSIGN(digest->host, DigestString(host, "host"));
  }
  if (const Json* ledger = FindMember(json, "ledger"); ledger != nullptr && !ledger->is_null()) {
    JV_ASSIGN(digest->ledger, LedgerFrom(*ledger));
  }
  if (const Json* steps = FindMember(json, "steps"); steps != nullptr && !steps->is_null()) {
    JV_ASSIGN(digest->steps, StepsFrom(*steps));
  }
  if (const Json* kernels = FindMember(json, "kernels");
      kernels != nullptr && !kernels->is_null()) {
    JV_ASSIGN(digest->kernels, KernelsFrom(*kernels));
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
  if (digest.mixed) json["mixed"] = true;
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
    for (const auto& [name, which] : kPeers) {
      if (kind.*which) kinds.back()[name] = *(kind.*which);
    }
  }
  json["kinds"] = std::move(kinds);
  Json calls = Json::array();
  for (const CollectiveCall& call : digest.calls) {
    const std::int64_t flags = (call.linked ? kLinked : 0) | (call.left_out ? kLeftOut : 0) |
                               (call.modern ? kModern : 0) | (call.counted ? 0 : kNotCounted);
    calls.push_back({call.kind, call.ts_ns, call.dur_ns, call.ts_us, call.dur_us, call.covered_ns,
                     JsonOf(call.sequence), flags});
  }
  json["calls"] = std::move(calls);
  json["facts"] = digest.facts ? JsonOf(*digest.facts, digest.calls) : Json();
  json["host"] = digest.host.empty() ? Json() : Json(digest.host);
  json["ledger"] = digest.ledger ? LedgerJson(*digest.ledger) : Json();
  json["steps"] = digest.steps ? JsonOf(*digest.steps) : Json();
  json["kernels"] = digest.kernels ? JsonOf(*digest.kernels) : Json();
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
  if (!parsed) return WrongDigest("the file", "is no JSON: " + parsed.error().message);
  const Json& json = *parsed;
  const Json* format = FindMember(json, "format");
  if (format == nullptr || *format != Json(kDigestFormat))
    return WrongDigest("format", "is another one");
  JV_ASSIGN(const std::int64_t version,
            DigestWhole(FindMember(json, "version"), "version", kOldestVersion, INT32_MAX));
  if (version > kVersion) {
    return WrongDigest("version", fmt::format("is {}; this jarvis reads versions {} to {}", version,
                                              kOldestVersion, kVersion));
  }
  RankDigest digest;
  JV_ASSIGN(digest.source, DigestString(FindMember(json, "source"), "source"));
  JV_ASSIGN(digest.trace_id, DigestString(FindMember(json, "trace_id"), "trace_id"));
  JV_ASSIGN(digest.rank, DigestMaybeWhole(FindMember(json, "rank"), "rank", INT64_MIN, INT64_MAX));
  JV_ASSIGN(digest.world_size,
            DigestMaybeWhole(FindMember(json, "world_size"), "world_size", INT64_MIN, INT64_MAX));
  JV_ASSIGN(digest.named_rank,
            DigestMaybeWhole(FindMember(json, "named_rank"), "named_rank", 0, INT64_MAX));
  JV_ASSIGN(digest.devices, DigestMaybeWhole(FindMember(json, "devices"), "devices", 0, INT32_MAX));
  JV_ASSIGN(digest.device, DigestString(FindMember(json, "device"), "device"));
  JV_ASSIGN(digest.base_ns,
            DigestWhole(FindMember(json, "base_ns"), "base_ns", INT64_MIN, INT64_MAX));
  JV_ASSIGN(digest.damage, DigestString(FindMember(json, "damage"), "damage"));
  const Json* mixed = FindMember(json, "mixed");
  digest.mixed = mixed != nullptr && *mixed == Json(true);
  const Json* timeline = FindMember(json, "timeline_us");
  if (timeline == nullptr || (!timeline->is_null() && !timeline->is_object()))
    return WrongDigest("timeline_us", "is no object");
  if (timeline->is_object()) {
    digest.timeline.emplace();
    for (const auto& [name, which] : kTimelineParts) {
      JV_ASSIGN((*digest.timeline).*which,
                DigestNumber(FindMember(*timeline, name), fmt::format("timeline_us.{}", name)));
    }
  }
  JV_TRY(ReadLists(json, &digest));
  if (version > kOldestVersion) {
    const Json* facts = FindMember(json, "facts");
    if (facts == nullptr || (!facts->is_null() && !facts->is_object()))
      return WrongDigest("facts", "is no object");
    if (facts->is_object()) {
      JV_ASSIGN(digest.facts, FactsFrom(*facts, digest.calls, version));
    }
  }
  JV_TRY(ReadLaterMembers(json, &digest));
  std::vector<RankDigest> digests;
  digests.push_back(std::move(digest));
  return digests;
}

}  // namespace jarvis::formats
