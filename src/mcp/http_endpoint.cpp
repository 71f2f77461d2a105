#include "mcp/http_endpoint.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/text.h"
#include "mcp/envelope.h"
#include "mcp/http_headers.h"

namespace jarvis::mcp {
namespace {

using rpc::HttpReply;
using rpc::HttpRequest;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// An answer within this time is sent alone. After it the client gets to see that there is life.
constexpr milliseconds kPatience(150);
// On streams that are quiet: keeps proxies from closing them.
constexpr int kKeepAliveMs = 15'000;
constexpr const char* kSessionHeader = "mcp-session-id";
constexpr const char* kVersionHeader = "mcp-protocol-version";

HttpReply Empty(int status) {
  HttpReply reply;
  reply.status = status;
  return reply;
}

HttpReply JsonReply(int status, const Json& body) {
  HttpReply reply = Empty(status);
  reply.content_type = "application/json";
  reply.body = DumpLine(body);
  return reply;
}

HttpReply HttpError(int status, const rpc::RpcError& error, const Json& id = {}) {
  return JsonReply(status, rpc::MakeError(id, error));
}

HttpReply Refusal(int status, std::string text) {
  return HttpError(status, {rpc::kInvalidRequest, std::move(text), {}});
}

HttpReply Full() {
  HttpReply reply = Empty(503);
  reply.headers.push_back({"Retry-After", "1"});
  return reply;
}

HttpReply NotAllowed(const char* allow) {
  HttpReply reply = Refusal(405, std::string("only ") + allow + " are answered here");
  reply.headers.push_back({"Allow", allow});
  return reply;
}

bool Accepts(const HttpRequest& request, const std::string& type) {
  const std::string* header = request.Find("accept");
  if (header == nullptr) return true;
  const std::string family = type.substr(0, type.find('/')) + "/*";
  std::string_view rest = *header;
  while (!rest.empty()) {
    const std::string_view listed = rest.substr(0, rest.find(','));
    const std::string_view item = Trim(listed.substr(0, listed.find(';')));
    if (item == type || item == family || item == "*/*") return true;
    const std::size_t comma = rest.find(',');
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return false;
}

bool IsJsonType(const HttpRequest& request) {
  const std::string* header = request.Find("content-type");
  if (header == nullptr || request.Count("content-encoding") > 0) return false;
  return EqualsNoCase(Trim(std::string_view(*header).substr(0, header->find(';'))),
                      "application/json");
}

std::string Event(const Json& message) {
  return "event: message\ndata: " + DumpLine(message) + "\n\n";
}

// Does the envelope name a version, so that headers can be compared with it?
bool HasEnvelope(const rpc::Message& message) {
  const Json* meta = FindMember(message.params, "_meta");
  if (meta == nullptr) return false;
  const Json* version = FindMember(*meta, kMetaVersion);
  const Json* capabilities = FindMember(*meta, kMetaCapabilities);
  return version != nullptr && version->is_string() && capabilities != nullptr &&
         capabilities->is_object();
}

rpc::RpcResult<void> CheckArguments(const Server& server, const HttpRequest& request,
                                    const rpc::Message& message) {
  if (message.method != "tools/call") return {};
  const Json* name = FindMember(message.params, "name");
  const Json* arguments = FindMember(message.params, "arguments");
  const Tool* tool = name != nullptr && name->is_string()
                         ? server.catalog().tools.Find(name->get_ref<const std::string&>())
                         : nullptr;
  if (tool == nullptr) return {};
  return CheckArgumentHeaders(request, tool->input_schema(),
                              arguments == nullptr ? Json() : *arguments);
}

// All that has one token is one client. Where nobody is known, those of one address are a group, in
// which all that came over one connection, sessions that were made there too, is one client.
std::string ClientOf(const HttpRequest& request) {
  if (!request.principal.empty()) return "=" + request.principal;
  return "@" + request.address + "\n" + std::to_string(request.connection);
}

bool IsBusy(const Json& error) {
  const Json message = error.value("message", Json());
  return message == kBusyText || message == kNoThreadText;
}

int StatusOf(const Json& answer, bool stateless) {
  if (!answer.is_object()) return 200;
  const auto error = answer.find("error");
  if (error == answer.end()) return 200;
  if (IsBusy(*error)) return 503;
  if (!stateless) return answer.contains("id") ? 200 : 400;
  switch (error->value("code", 0)) {
    case rpc::kMethodNotFound: return 404;
    case rpc::kInternalError: return 200;
    default: return 400;
  }
}

}  // namespace

HttpEndpoint::HttpEndpoint(Server& server, HttpEndpointOptions options)
    : server_(server), options_(std::move(options)), sessions_(options_.sessions) {}

std::optional<HttpReply> HttpEndpoint::Admit(HttpRequest& request) {
  std::optional<HttpReply> reply = Gate(request);
  if (reply) AddCors(request, *reply);
  return reply;
}

std::optional<HttpReply> HttpEndpoint::Gate(HttpRequest& request) const {
  if (stopping_) return Full();
  const auto status = rpc::CheckHostAndOrigin(options_.access, request);
  if (status == 400) return Refusal(400, "one readable Host header is needed");
  if (status != 0) return Refusal(status, "this Host or Origin is not allowed");
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (request.path == kHealthPath) {
    return is_read ? std::nullopt : std::optional(NotAllowed("GET, HEAD"));
  }
  const bool is_endpoint = request.path == kPath;
  const bool is_metadata =
      !options_.authorization_server.empty() &&
      (request.path == kMetadataPath || request.path == std::string(kMetadataPath) + kPath);
  if (!is_endpoint && !is_metadata) return Empty(404);
  // Browsers ask before they send what carries the token.
  if (request.method == "OPTIONS" && !options_.access.origins.empty()) return Empty(204);
  if (is_metadata) return is_read ? std::nullopt : std::optional(NotAllowed("GET, HEAD"));
  if (!options_.access.tokens.empty()) {
    auto principal = rpc::FindPrincipal(options_.access, request);
    if (!principal) {
      HttpReply reply = Empty(401);
      reply.headers.push_back({"WWW-Authenticate", "Bearer" + options_.access.challenge});
      return reply;
    }
    request.principal = std::move(*principal);
  }
  if (request.method == "POST") return AdmitPost(request);
  if (request.method == "GET" || request.method == "DELETE") return std::nullopt;
  return NotAllowed("GET, POST, DELETE");
}

std::optional<HttpReply> HttpEndpoint::AdmitPost(const HttpRequest& request) const {
  if (!IsJsonType(request)) return Refusal(415, "Content-Type must be application/json");
  if (!Accepts(request, "application/json") && !Accepts(request, "text/event-stream")) {
    return Refusal(406, "Accept must list application/json and text/event-stream");
  }
  return std::nullopt;
}

HttpReply HttpEndpoint::Answer(const HttpRequest& request, rpc::HttpPeer& peer) {
  sessions_.Sweep();
  HttpReply reply = [&] {
    if (request.path == kHealthPath) {
      HttpReply health = Empty(200);
      health.content_type = "text/plain";
      health.body = "ok\n";
      return health;
    }
    if (request.path != kPath) return Metadata();
    if (request.method == "GET") return Get(request, peer);
    if (request.method == "DELETE") return Delete(request);
    return Post(request, peer);
  }();
  AddCors(request, reply);
  return reply;
}

HttpReply HttpEndpoint::Refuse(rpc::HttpStatus status) {
  switch (status) {
    case 408: return Refusal(408, "the request took too long to arrive");
    case 411: return Refusal(411, "Content-Length is needed");
    case 413: return Refusal(413, "the request is too large");
    case 414: return Refusal(414, "the path is too long");
    case 431: return Refusal(431, "the headers are too large");
    case 500: return HttpError(500, {rpc::kInternalError, "Internal error", {}});
    case 501: return Refusal(501, "this transfer coding is not known");
    default: return Refusal(status, "this is not HTTP as RFC 9112 writes it");
  }
}

HttpReply HttpEndpoint::Post(const HttpRequest& request, rpc::HttpPeer& peer) {
  Result<Json> value = ParseJson(request.body);
  if (!value) return HttpError(400, UnreadableError(value.error()), rpc::IdInText(request.body));
  if (value->is_array()) {
    const bool answered =
        value->empty() || std::any_of(value->begin(), value->end(), [](const Json& element) {
          return !element.is_object() || (element.contains("method") && element.contains("id"));
        });
    return PostInSession(
        request, answered,
        [&](Connection& to, const std::shared_ptr<Mailbox>& mailbox) {
          to.AcceptBatch(std::move(*value), mailbox);
        },
        peer);
  }
  rpc::Message message = rpc::Classify(std::move(*value));
  if (message.kind == rpc::MessageKind::kInvalid) return HttpError(400, message.error, message.id);
  const std::string* version = request.Find(kVersionHeader);
  const auto revision = version == nullptr ? std::nullopt : FindRevision(*version);
  const bool has_session = request.Find(kSessionHeader) != nullptr;
  const bool newer = version != nullptr && (!revision || IsStateless(*revision)) && !has_session;
  const bool is_request = message.kind == rpc::MessageKind::kRequest;
  if (newer || LooksStateless(message)) {
    // There is nothing that a message without an answer could refer to.
    if (!is_request) return Empty(202);
    return PostStateless(request, std::move(message), peer);
  }
  if (is_request && message.method == "initialize") {
    return PostInitialize(request, std::move(message), peer);
  }
  return PostInSession(
      request, is_request,
      [&](Connection& to, const std::shared_ptr<Mailbox>& mailbox) {
        to.Accept(std::move(message), mailbox);
      },
      peer);
}

// The order of the checks is part of the protocol: envelope, header, version, method.
HttpReply HttpEndpoint::PostStateless(const HttpRequest& request, rpc::Message message,
                                      rpc::HttpPeer& peer) {
  if (!LooksStateless(message)) {
    return HttpError(400,
                     {rpc::kInvalidParams,
                      std::string("params._meta[\"") + kMetaVersion + "\"]: expected a string",
                      {}},
                     message.id);
  }
  if (HasEnvelope(message)) {
    auto checked = CheckVersionHeader(request, message);
    const auto revision =
        FindRevision(message.params.at("_meta").at(kMetaVersion).get<std::string>());
    if (checked && revision && IsStateless(*revision)) {
      checked = CheckMethodHeaders(request, message);
      if (checked) checked = CheckArguments(server_, request, message);
    }
    if (!checked) return HttpError(400, checked.error(), message.id);
  }
  const auto exchange = Begin(request, server_.ConnectAs(request.principal, ClientOf(request)));
  if (!exchange) return Full();
  if (message.method == "subscriptions/listen") {
    if (!exchange->accepts_events) return Refusal(406, "Accept must list text/event-stream");
    if (!TakeQuietStream(*exchange)) return Full();
  }
  exchange->own->Accept(std::move(message), exchange->mailbox);
  if (stopping_) exchange->own->StopCalls();
  return Await(exchange, peer);
}

HttpReply HttpEndpoint::PostInitialize(const HttpRequest& request, rpc::Message message,
                                       rpc::HttpPeer& peer) {
  const auto exchange = Begin(request);
  if (!exchange) return Full();
  auto connection = server_.ConnectAs(request.principal, ClientOf(request));
  connection->Accept(std::move(message), exchange->mailbox);
  const Mailbox::Mail mail = exchange->mailbox->Take();
  if (mail.answer.is_object() && mail.answer.contains("result")) {
    exchange->session = sessions_.Create(request.principal, std::move(connection));
    if (!exchange->session) return Full();
    exchange->new_session = exchange->session->id;
  }
  if (exchange->accepts_json) return Single(*exchange, mail.answer);
  return Stream(exchange, mail, peer);
}

HttpReply HttpEndpoint::PostInSession(const HttpRequest& request, bool answered,
                                      const Accept& accept, rpc::HttpPeer& peer) {
  auto session = FindSession(request);
  if (!session) return session.error();
  const auto exchange = Begin(request);
  if (!exchange) return Full();
  exchange->session = std::move(*session);
  {
    const std::lock_guard lock(exchange->session->accepting);
    accept(*exchange->session->connection, exchange->mailbox);
  }
  if (stopping_) exchange->session->connection->StopCalls();
  if (!answered) {
    const Mailbox::Mail mail = exchange->mailbox->Take();  // a batch as a whole may be wrong
    return Single(*exchange, mail.answer);
  }
  return Await(exchange, peer);
}

tl::expected<SessionTable::Hold, HttpReply> HttpEndpoint::FindSession(const HttpRequest& request) {
  const std::string* id = request.Find(kSessionHeader);
  if (id == nullptr) {
    if (request.method != "POST") return tl::make_unexpected(NotAllowed("POST"));
    return tl::make_unexpected(
        Refusal(400, "the header Mcp-Session-Id is missing; start with initialize"));
  }
  auto session = sessions_.Find(*id, request.principal);
  if (!session) {
    return tl::make_unexpected(Refusal(404, "no such session; start again with initialize"));
  }
  const std::string* version = request.Find(kVersionHeader);
  const auto revision = version == nullptr ? std::nullopt : FindRevision(*version);
  if (version != nullptr && (!revision || IsStateless(*revision))) {
    return tl::make_unexpected(
        Refusal(400, "MCP-Protocol-Version is none that a session can have"));
  }
  return session;
}

HttpReply HttpEndpoint::Get(const HttpRequest& request, rpc::HttpPeer& peer) {
  auto session = FindSession(request);
  if (!session) return session.error();
  if (!Accepts(request, "text/event-stream")) {
    return Refusal(406, "Accept must list text/event-stream");
  }
  const auto exchange = Begin(request);
  if (!exchange) return Full();
  exchange->session = std::move(*session);
  std::uint64_t seen = 0;
  if (const std::string* last = request.Find("last-event-id")) {
    if (const auto id = ParseEventId(*last)) {
      exchange->log = sessions_.FindLog(exchange->session, id->stream);
      seen = id->event;
    }
  }
  if (exchange->log && !exchange->log->of_news()) return Resume(exchange, seen, peer);
  if (!TakeQuietStream(*exchange)) return Full();
  if (exchange->log && exchange->log->mailbox()) exchange->mailbox = exchange->log->mailbox();
  if (!sessions_.OpenStream(exchange->session, exchange->mailbox)) {
    return Refusal(409, "this session has its stream already");
  }
  if (stopping_) exchange->mailbox->Finish();
  HttpReply reply = exchange->log ? Resume(exchange, seen, peer) : Stream(exchange, {}, peer);
  reply.stream = [this, exchange, pump = std::move(reply.stream)](rpc::HttpStream& stream) {
    const bool whole = pump(stream);
    sessions_.CloseStream(exchange->session);
    return whole;
  };
  return reply;
}

// The rest of a stream whose connection broke.
HttpReply HttpEndpoint::Resume(const std::shared_ptr<Exchange>& exchange, std::uint64_t seen,
                               rpc::HttpPeer& peer) {
  if (auto mailbox = exchange->log->mailbox()) {
    if (!mailbox->Rouse()) return Full();
    exchange->mailbox = std::move(mailbox);
  }
  exchange->seen = seen;
  return Stream(exchange, {}, peer);
}

HttpReply HttpEndpoint::Delete(const HttpRequest& request) {
  auto session = FindSession(request);
  if (!session) return session.error();
  sessions_.End((*session)->id);
  return Empty(200);
}

HttpReply HttpEndpoint::Metadata() const {
  Json body = {{"resource", options_.resource}};
  body["authorization_servers"] = Json::array({options_.authorization_server});
  body["bearer_methods_supported"] = Json::array({"header"});
  return JsonReply(200, body);
}

std::shared_ptr<HttpEndpoint::Exchange> HttpEndpoint::Begin(const HttpRequest& request,
                                                            std::shared_ptr<Connection> own) {
  auto exchange = std::make_shared<Exchange>();
  exchange->own = std::move(own);
  exchange->mailbox = Mailbox::Make();
  if (!exchange->mailbox) return nullptr;
  exchange->accepts_json = Accepts(request, "application/json");
  exchange->accepts_events = Accepts(request, "text/event-stream");
  {
    const std::lock_guard lock(mutex_);
    exchanges_.insert(exchange);
  }
  return {exchange.get(), [this, exchange](Exchange*) {
            if (exchange->quiet) --quiet_streams_;
            const std::lock_guard lock(mutex_);
            exchanges_.erase(exchange);
          }};
}

bool HttpEndpoint::TakeQuietStream(Exchange& exchange) {
  if (++quiet_streams_ > options_.quiet_streams_max) {
    --quiet_streams_;
    return false;
  }
  exchange.quiet = true;
  return true;
}

HttpReply HttpEndpoint::Await(const std::shared_ptr<Exchange>& exchange, rpc::HttpPeer& peer) {
  const auto deadline = steady_clock::now() + kPatience;
  while (true) {
    Mailbox::Mail mail = exchange->mailbox->Take();
    if (!exchange->accepts_events) {
      mail.notifications.clear();
      mail.hang_up = false;
    }
    if (!mail.notifications.empty() || mail.hang_up || !exchange->accepts_json) {
      return Stream(exchange, std::move(mail), peer);
    }
    if (mail.over) return Single(*exchange, mail.answer);
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0 && exchange->accepts_events) return Stream(exchange, {}, peer);
    const int wait = exchange->accepts_events ? static_cast<int>(left) : kKeepAliveMs;
    if (peer.Wait(exchange->mailbox->wake_fd(), wait) == rpc::HttpPeer::Event::kGone) {
      Abort(*exchange);
      HttpReply nobody = Empty(202);
      nobody.close = true;
      return nobody;
    }
  }
}

HttpReply HttpEndpoint::Single(const Exchange& exchange, const Json& answer) {
  if (answer.is_null()) return Empty(202);  // cancelled
  const int status = StatusOf(answer, exchange.own != nullptr);
  HttpReply reply = JsonReply(status, answer);
  if (status == 503) reply.headers.push_back({"Retry-After", "1"});
  if (!exchange.new_session.empty()) {
    reply.headers.push_back({"Mcp-Session-Id", exchange.new_session});
  }
  return reply;
}

HttpReply HttpEndpoint::Stream(const std::shared_ptr<Exchange>& exchange, Mailbox::Mail first,
                               rpc::HttpPeer& peer) {
  HttpReply reply = Empty(200);
  reply.content_type = "text/event-stream";
  reply.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  if (!exchange->new_session.empty()) {
    reply.headers.push_back({"Mcp-Session-Id", exchange->new_session});
  }
  const bool comes_back =
      exchange->session && exchange->session->connection->negotiated() >= Revision::k20251125;
  if (comes_back && !exchange->log) {
    exchange->log = sessions_.OpenLog(exchange->session, exchange->mailbox, exchange->quiet);
    exchange->log->Put(first);
  }
  reply.stream = [this, exchange, first = std::move(first),
                  &peer](rpc::HttpStream& stream) mutable {
    if (exchange->log) {
      const bool alive = PumpLogged(*exchange, peer, stream);
      sessions_.TrimLogs();
      return alive;
    }
    if (Pump(*exchange, std::move(first), peer, stream)) return true;
    Abort(*exchange);
    return false;
  };
  return reply;
}

bool HttpEndpoint::PumpLogged(const Exchange& exchange, rpc::HttpPeer& peer,
                              rpc::HttpStream& stream) {
  EventLog& log = *exchange.log;
  const auto turn = log.TakeOver();
  if (!turn) return false;
  std::uint64_t seen = exchange.seen;
  bool alive = true;
  while (alive) {
    const EventLog::Batch batch = log.Collect(seen);
    alive = log.IsWriter(*turn);
    seen = batch.seen;
    for (const std::string& event : batch.events)
      alive = alive && stream.Write(event);
    if (!alive || batch.over || batch.hang_up) break;
    switch (peer.Wait(exchange.mailbox->wake_fd(), kKeepAliveMs)) {
      case rpc::HttpPeer::Event::kGone: alive = false; break;
      case rpc::HttpPeer::Event::kTime: alive = stream.Write(":\n\n"); break;
      case rpc::HttpPeer::Event::kWoken: break;
    }
  }
  log.Leave();
  return alive;
}

bool HttpEndpoint::Pump(const Exchange& exchange, Mailbox::Mail mail, rpc::HttpPeer& peer,
                        rpc::HttpStream& stream) {
  while (true) {
    for (const Json& notification : mail.notifications) {
      if (!stream.Write(Event(notification))) return false;
    }
    if (!mail.answer.is_null()) return stream.Write(Event(mail.answer));
    if (mail.over) return true;
    switch (peer.Wait(exchange.mailbox->wake_fd(), kKeepAliveMs)) {
      case rpc::HttpPeer::Event::kGone: return false;
      case rpc::HttpPeer::Event::kTime:
        if (!stream.Write(":\n\n")) return false;
        break;
      case rpc::HttpPeer::Event::kWoken: break;
    }
    mail = exchange.mailbox->Take();
  }
}

// Only the stateless era takes a hang-up for a cancellation.
void HttpEndpoint::Abort(const Exchange& exchange) {
  exchange.mailbox->Finish();
  if (exchange.own) exchange.own->StopCalls();
}

void HttpEndpoint::Stop() {
  stopping_ = true;
  std::vector<std::shared_ptr<Exchange>> exchanges;
  {
    const std::lock_guard lock(mutex_);
    exchanges.assign(exchanges_.begin(), exchanges_.end());
  }
  for (const auto& exchange : exchanges) {
    if (exchange->own) exchange->own->StopCalls();
  }
  sessions_.EndAll();
}

void HttpEndpoint::Abandon() {
  const std::lock_guard lock(mutex_);
  for (const auto& exchange : exchanges_)
    exchange->mailbox->Finish();
}

// Only for the pages that were named, and no other's answers can be read by a page.
void HttpEndpoint::AddCors(const HttpRequest& request, HttpReply& reply) const {
  const std::vector<std::string>& allowed = options_.access.origins;
  const std::string* origin = request.Find("origin");
  if (origin == nullptr || std::find(allowed.begin(), allowed.end(), *origin) == allowed.end()) {
    return;
  }
  reply.headers.push_back({"Access-Control-Allow-Origin", *origin});
  reply.headers.push_back({"Vary", "Origin"});
  reply.headers.push_back({"Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate"});
  if (request.method != "OPTIONS") return;
  reply.headers.push_back({"Access-Control-Allow-Methods", "GET, POST, DELETE"});
  reply.headers.push_back(
      {"Access-Control-Allow-Headers",
       "content-type, accept, authorization, mcp-session-id, mcp-protocol-version, mcp-method, "
       "mcp-name, last-event-id"});
  reply.headers.push_back({"Access-Control-Max-Age", "600"});
}

}  // namespace jarvis::mcp
