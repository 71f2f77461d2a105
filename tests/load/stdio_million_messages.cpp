#include "load/stdio_million_messages.h"

#include <iterator>
#include <utility>

namespace jarvis::load {
namespace {

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kUnsupportedVersion = -32022;

constexpr int kBatchVersion = 1;
constexpr int kNewestHandshake = 3;
constexpr int kStateless = 4;
constexpr std::size_t kMebi = std::size_t{1} << 20;
constexpr std::string_view kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

std::vector<Outgoing> Just(Outgoing message) {
  std::vector<Outgoing> messages;
  messages.push_back(std::move(message));
  return messages;
}

std::string Envelope(const std::string& id, const std::string& rest) {
  return R"({"jsonrpc":"2.0","id":)" + id + rest + "}";
}

std::string Cancellation(const std::string& id) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
         R"(,"reason":"test"}})";
}

}  // namespace

std::vector<Outgoing> MessageMaker::First() {
  std::vector<Outgoing> messages;
  for (std::uint64_t which = 0; which < kHugeKinds; ++which)
    messages.push_back(HugeOne(which));
  return messages;
}

std::vector<Outgoing> MessageMaker::Next() {
  struct Kind {
    std::uint64_t weight;
    Makers make;
  };
  static constexpr Kind kKinds[] = {
      {3000, &MessageMaker::Valid},        {1500, &MessageMaker::Calls},
      {1200, &MessageMaker::FailingCalls}, {300, &MessageMaker::Handshake},
      {1000, &MessageMaker::BrokenText},   {800, &MessageMaker::WrongShape},
      {1000, &MessageMaker::WrongRequest}, {500, &MessageMaker::Silent},
      {400, &MessageMaker::Batch},         {1, &MessageMaker::Huge},
      {150, &MessageMaker::CancelledCall}, {75, &MessageMaker::Subscribed},
      {75, &MessageMaker::Twins}};
  std::uint64_t sum = 0;
  for (const Kind& kind : kKinds)
    sum += kind.weight;
  std::uint64_t left = Below(sum);
  const Kind* kind = std::begin(kKinds);
  while (left >= kind->weight)
    left -= kind++->weight;
  return (this->*kind->make)();
}

std::vector<Outgoing> MessageMaker::Last() {
  std::vector<Outgoing> messages;
  for (int i = 0; i < 3; ++i) {
    const std::string id = Id();
    messages.push_back(Subscription(id));
    messages.back().debts.push_back(MakeDebt(Owed::kListenEnd, id, true));
  }
  return messages;
}

std::string MessageMaker::Id() {
  std::string number = std::to_string(++next_id_);
  switch (Below(8)) {
    case 0: return "\"" + number + "\"";  // another one than the number
    case 1: return "\"listen:" + number + "\"";
    case 2: return "-" + number;
    case 3: return std::to_string(9'000'000'000'000'000'000 + next_id_);  // beyond 53 bits
    default: return number;
  }
}

Debt MessageMaker::MakeDebt(Owed what, const std::string& id, bool stateless,
                            std::int64_t number) const {
  Debt debt;
  debt.what = what;
  debt.id = id;
  debt.stateless = stateless;
  debt.revision = stateless ? kStateless : negotiated_;
  debt.number = number;
  return debt;
}

// `params`: members, without braces.
Outgoing MessageMaker::Request(const std::string& id, const std::string& method,
                               const std::string& params, bool stateless, Debt debt) const {
  std::string members = params;
  if (stateless) members += (members.empty() ? "" : ",") + std::string(kMeta);
  std::string rest = ",\"method\":\"" + method + "\"";
  if (!members.empty()) rest += ",\"params\":{" + members + "}";
  return {Envelope(id, rest), {std::move(debt)}};
}

Outgoing MessageMaker::Failing(const std::string& line, int code, const std::string& id) const {
  return {line, {MakeDebt(Owed::kError, id, false, code)}};
}

Outgoing MessageMaker::Ping(const std::string& id) const {
  return Request(id, "ping", "", false, MakeDebt(Owed::kEmpty, id, false));
}

std::vector<Outgoing> MessageMaker::Valid() {
  const std::string id = Id();
  const bool stateless = Below(2) == 0;
  const std::uint64_t which = Below(100);
  if (which < 2) {
    return Just(Request(id, "tools/list", "", stateless, MakeDebt(Owed::kTools, id, stateless)));
  }
  if (which < 45) {
    return Just(Request(id, "server/discover", "", true, MakeDebt(Owed::kDiscovery, id, true)));
  }
  Outgoing ping = Ping(id);
  if (which < 50) ping.line.insert(0, "  ") += "\t\r";
  if (which == 50) {
    ping = Request(id, "logging/setLevel", R"("level":"debug")", false,
                   MakeDebt(Owed::kEmpty, id, false));
  }
  return Just(std::move(ping));
}

Outgoing MessageMaker::Product(const std::string& id, bool stateless) {
  const auto m = static_cast<std::int64_t>(Below(60'000) + 1);
  const auto n = static_cast<std::int64_t>(Below(60'000) + 1);
  const auto k = static_cast<std::int64_t>(Below(60'000) + 1);
  const std::string token = Below(4) == 0 ? R"(,"progressToken":)" + id : "";
  std::string params = R"("name":"gemm_roofline","arguments":{"m":)" + std::to_string(m) +
                       ",\"n\":" + std::to_string(n) + ",\"k\":" + std::to_string(k) + "}";
  if (!token.empty() && !stateless) params += ",\"_meta\":{" + token.substr(1) + "}";
  Debt debt = MakeDebt(Owed::kProduct, id, stateless, 2 * m * n * k);
  debt.is_call = true;
  Outgoing message = Request(id, "tools/call", params, stateless, std::move(debt));
  if (!token.empty() && stateless) message.line.insert(message.line.size() - 3, token);
  return message;
}

std::vector<Outgoing> MessageMaker::Calls() {
  const std::string id = Id();
  return Just(Product(id, Below(2) == 0));
}

// Arguments that no tool can do anything with. Each fails before a file is opened for long.
std::vector<Outgoing> MessageMaker::FailingCalls() {
  static constexpr std::string_view kCalls[] = {
      R"("gemm_roofline","arguments":{"m":3})",
      R"("gemm_roofline","arguments":{"m":"x","n":1,"k":1})",
      R"("gemm_roofline","arguments":{"m":0,"n":1,"k":1})",
      R"("gemm_roofline","arguments":{"m":1,"n":1,"k":1,"dtype":"fp99"})",
      R"("gemm_roofline","arguments":{"m":1,"n":1,"k":1,"no_such":[{}]})",
      R"("gemm_roofline","arguments":{"m":1e300,"n":-1,"k":0.5})",
      R"("load_trace","arguments":{})",
      R"("load_trace","arguments":{"trace":""})",
      R"("load_trace","arguments":{"trace":"/no/such/trace.json"})",
      R"("load_trace","arguments":{"trace":"%s%n\u0000\n"})",
      R"("gpu_timeline","arguments":{"trace":"t_00000000"})",
      R"("ops_summary","arguments":{"trace":"t_00000000"})",
      R"("parent_chain","arguments":{"trace":"t_00000000","row":"op1"})",
      R"("ops_summary","arguments":{"trace":7})",
      R"("parent_chain","arguments":{"trace":null})",
      R"("ops_summary")",
      R"("gpu_timeline","arguments":null)"};
  const std::string id = Id();
  const bool stateless = Below(2) == 0;
  Debt debt = MakeDebt(Owed::kToolError, id, stateless);
  debt.is_call = true;
  return Just(Request(id, "tools/call", "\"name\":" + std::string(One(kCalls)), stateless,
                      std::move(debt)));
}

std::vector<Outgoing> MessageMaker::Handshake() {
  const std::string id = Id();
  if (Below(10) == 0) {
    return Just(Request(id, "initialize", R"("protocolVersion":3,"capabilities":{})", false,
                        MakeDebt(Owed::kError, id, false, kInvalidParams)));
  }
  // The newest of all starts without a handshake, and one that nobody knows gets the newest one.
  const std::size_t wanted = Below(std::size(kVersions) + 1);
  const std::string version =
      wanted < std::size(kVersions) ? std::string(kVersions[wanted]) : "1999-01-01";
  negotiated_ = wanted < kStateless ? static_cast<int>(wanted) : kNewestHandshake;
  Debt debt = MakeDebt(Owed::kHandshake, id, false);
  debt.text = kVersions[negotiated_];
  std::vector<Outgoing> messages =
      Just(Request(id, "initialize", R"("protocolVersion":")" + version + R"(","capabilities":{})",
                   false, std::move(debt)));
  messages.push_back({R"({"jsonrpc":"2.0","method":"notifications/initialized"})", {}});
  return messages;
}

// No JSON: whatever it was to be, nobody can tell; of a whole message at best the id.
std::vector<Outgoing> MessageMaker::BrokenText() {
  static constexpr std::string_view kBroken[] = {
      "garbage", "\xff\xfe{}", "{'a':1}", "{\"a\":01}",  "{\"a\":1,}", "[1,2",
      "]",       "}",          "nul",     "{\"a\":NaN}", "{} {}",      "\xEF\xBB"};
  static constexpr std::string_view kBrokenBehindId[] = {
      R"(,"method":"\ud800")", ",\"method\":\"\xc3\x28\"", R"(,"method":"\x")"};
  if (Below(6) == 0) {
    const std::string id = Id();
    return Just(Failing(Envelope(id, std::string(One(kBrokenBehindId))), kParseError, id));
  }
  if (Below(3) > 0) return Just(Failing(std::string(One(kBroken)), kParseError));
  // A good message of which the end is missing.
  std::string line = Product(Id(), Below(2) == 0).line;
  line.resize(1 + Below(line.size() - 1));
  return Just(Failing(line, kParseError));
}

// JSON, but no message.
std::vector<Outgoing> MessageMaker::WrongShape() {
  static constexpr std::string_view kAnonymous[] = {
      "null",
      "true",
      "17",
      "\"text\"",
      "{}",
      R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
      R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
      R"({"jsonrpc":"2.0","id":1.0,"method":"ping"})",
      R"({"jsonrpc":"2.0","id":true,"method":"ping"})",
      R"({"jsonrpc":"2.0","id":[1],"method":"ping"})",
      R"({"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"})",
      R"([])"};
  if (Below(2) == 0) return Just(Failing(std::string(One(kAnonymous)), kInvalidRequest));
  static constexpr std::string_view kNamed[] = {R"("jsonrpc":"1.0","method":"ping")",
                                                R"("jsonrpc":2.0,"method":"ping")",
                                                R"("method":"ping")",
                                                R"("jsonrpc":"2.0")",
                                                R"("jsonrpc":"2.0","method":7)",
                                                R"("jsonrpc":"2.0","method":null,"params":{})"};
  const std::string id = Id();
  return Just(Failing("{" + std::string(One(kNamed)) + ",\"id\":" + id + "}", kInvalidRequest, id));
}

// A request that cannot be done as it stands.
std::vector<Outgoing> MessageMaker::WrongRequest() {
  struct Wrong {
    std::string_view rest;
    int code;
  };
  static constexpr Wrong kWrong[] = {
      {R"("method":"no/such")", kMethodNotFound},
      {R"("method":"")", kMethodNotFound},
      {R"("method":"ping","params":[1])", kInvalidParams},
      {R"("method":"ping","params":"x")", kInvalidParams},
      {R"("method":"ping","params":{"_meta":7})", kInvalidParams},
      {R"("method":"tools/list","params":{"_meta":{"progressToken":[]}})", kInvalidParams},
      {R"("method":"tools/call","params":{"name":7})", kInvalidParams},
      {R"("method":"tools/call")", kInvalidParams},
      {R"("method":"tools/call","params":{"name":"no_such_tool"})", kInvalidParams},
      {R"("method":"tools/call","params":{"name":"load_trace","arguments":[]})", kInvalidParams},
      {R"("method":"server/discover")", kInvalidParams},
      {R"("method":"subscriptions/listen","params":{})", kInvalidParams},
      {R"("method":"logging/setLevel","params":{"level":"loud"})", kInvalidParams},
      {R"("method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})",
       kInvalidParams},
      {R"("method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01",)"
       R"("io.modelcontextprotocol/clientCapabilities":{}}})",
       kUnsupportedVersion},
      {R"("method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
       R"("io.modelcontextprotocol/clientCapabilities":{}}})",
       kMethodNotFound}};
  const Wrong& wrong = One(kWrong);
  const std::string id = Id();
  return Just(Failing(Envelope(id, "," + std::string(wrong.rest)), wrong.code, id));
}

std::vector<Outgoing> MessageMaker::Silent() {
  static constexpr std::string_view kSilent[] = {
      "",
      "   ",
      "\r",
      "\t \t",
      R"({"jsonrpc":"2.0","method":"no/such"})",
      R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":7})",
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}})",
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[1]}}})",
      R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
      R"({"jsonrpc":"2.0","id":3,"result":{}})",
      R"({"jsonrpc":"2.0","id":"x","error":{"code":1,"message":""}})"};
  return Just({std::string(One(kSilent)), {}});
}

void MessageMaker::AddElement(Outgoing& batch) {
  const auto add = [&](Outgoing element) {
    batch.line += (batch.line.size() > 1 ? "," : "") + element.line;
    for (Debt& debt : element.debts)
      batch.debts.push_back(std::move(debt));
  };
  const std::string id = Id();
  switch (Below(6)) {
    case 0: return add(Ping(id));
    case 1: return add(Failing("7", kInvalidRequest));
    case 2: return add({R"({"jsonrpc":"2.0","method":"no/such"})", {}});
    case 3: {
      add(Product(id, false));
      // It is in flight until the whole batch is answered.
      if (Below(3) == 0) add(Failing(Ping(id).line, kInvalidRequest, id));
      return;
    }
    case 4:
      return add(Failing(Envelope(id, R"(,"method":"initialize","params":{)"
                                      R"("protocolVersion":"2025-11-25"})"),
                         kInvalidRequest, id));
    default: return add(Failing(Envelope(id, R"(,"method":"no/such")"), kMethodNotFound, id));
  }
}

std::vector<Outgoing> MessageMaker::Batch() {
  Outgoing batch;
  batch.line = "[";
  const std::uint64_t which = Below(20);
  const std::uint64_t size = which == 0 ? 101 : 1 + Below(which == 1 ? 90 : 6);
  for (std::uint64_t i = 0; i < size; ++i)
    AddElement(batch);
  bool refused = which == 0 || negotiated_ != kBatchVersion;
  if (which == 2) {
    batch.line += "," + Product(Id(), true).line;
    refused = true;
  }
  batch.line += "]";
  if (refused) return Just(Failing(batch.line, kInvalidRequest));
  batch.as_array = !batch.debts.empty();
  return Just(std::move(batch));
}

std::vector<Outgoing> MessageMaker::Huge() {
  return Just(HugeOne(Below(kHugeKinds)));
}

Outgoing MessageMaker::HugeOne(std::uint64_t which) {
  const std::string id = Id();
  Outgoing ping = Ping(id);
  switch (which) {
    case 0: return Failing(std::string(17 * kMebi, 'x'), kInvalidRequest);
    case 1: return Failing(std::string(4 * kMebi, '['), kInvalidRequest);
    case 2: {
      std::string wide = "{\"a0\":0";
      for (int i = 1; i < 2000; ++i)
        wide += ",\"a" + std::to_string(i) + "\":0";
      return Failing(wide + "}", kInvalidRequest);
    }
    case 3:
      return Failing(Envelope("\"" + std::string(5000, 'i') + "\"", R"(,"method":"ping")"),
                     kInvalidRequest);
    case 4:
      ping.line.insert(ping.line.size() - 1,
                       R"(,"params":{"junk":")" + std::string(kMebi, 'z') + "\"}");
      return ping;
    default: {
      Debt debt = MakeDebt(Owed::kToolError, id, true);
      debt.is_call = true;
      return Request(
          id, "tools/call",
          R"("name":"load_trace","arguments":{"trace":")" + std::string(100'000, 'p') + "\"}", true,
          std::move(debt));
    }
  }
}

// The answer may have left before the cancellation arrives.
std::vector<Outgoing> MessageMaker::CancelledCall() {
  const std::string id = Id();
  std::vector<Outgoing> messages = Just(Product(id, Below(2) == 0));
  messages.front().debts.front().cancelled = true;
  messages.push_back({Cancellation(id), {}});
  return messages;
}

Outgoing MessageMaker::Subscription(const std::string& id) const {
  return Request(id, "subscriptions/listen", R"("notifications":{})", true,
                 MakeDebt(Owed::kAcknowledged, id, true));
}

// A request that stays in flight until it is cancelled: meanwhile nobody else can have its id.
std::vector<Outgoing> MessageMaker::Subscribed() {
  const std::string id = Id();
  std::vector<Outgoing> messages = Just(Subscription(id));
  messages.push_back(Failing(Ping(id).line, kInvalidRequest, id));
  messages.push_back(Failing(Product(id, true).line, kInvalidRequest, id));
  messages.push_back({Cancellation(id), {}});
  messages.push_back(Ping(id));
  return messages;
}

// The second one is refused if the first is still running, else it is another call.
std::vector<Outgoing> MessageMaker::Twins() {
  const std::string id = Id();
  std::vector<Outgoing> messages = Just(Product(id, Below(2) == 0));
  messages.front().debts.front().twin = true;
  messages.push_back(messages.front());
  return messages;
}

}  // namespace jarvis::load
