#include "mcp/connection.h"

#include <exception>
#include <new>
#include <utility>

#include "mcp/short_of_memory.h"
#include "rpc/log.h"

namespace jarvis::mcp {
namespace {

constexpr std::size_t kBatchMax = 100;

Json Rejected(std::string text) {
  return rpc::MakeError(Json(), {rpc::kInvalidRequest, std::move(text), {}});
}

bool HasStatelessElement(const Json& batch) {
  for (const Json& element : batch) {
    if (element.is_object() && LooksStateless(element.value("params", Json()))) return true;
  }
  return false;
}

}  // namespace

// Texts this short lie in the string itself.
rpc::RpcError NoMemory() {
  return {rpc::kInternalError, "out of memory", {}};
}

rpc::RpcError InternalError() {
  return {rpc::kInternalError, "Internal error", {}};
}

rpc::RpcError UnreadableError(const Error& error) {
  const bool too_large = error.code == ErrorCode::kTooLarge;
  return {too_large ? rpc::kInvalidRequest : rpc::kParseError, error.message, {}};
}

// The first wall: whatever a message does to us, the connection goes on.
void Connection::OnMessage(std::string_view text) {
  try {
    Receive(text);
  } catch (const std::exception& exception) {
    rpc::LogWarning("a message failed: ", exception.what());
    const bool memory = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr;
    const bool told = TryForAWhile([&] {
      Send(channel_, rpc::MakeError(rpc::IdInText(text), memory ? NoMemory() : InternalError()));
    });
    if (!told) rpc::LogWarning("an answer was lost: no memory for it");
  }
}

void Connection::OnOverlong() {
  static_cast<void>(TryForAWhile([this] { Send(channel_, Rejected("message too large")); }));
}

void Connection::Receive(std::string_view text) {
  Result<Json> value = ParseJson(text);
  if (!value) {
    Send(channel_, rpc::MakeError(rpc::IdInText(text), UnreadableError(value.error())));
  } else if (value->is_array()) {
    AcceptBatch(std::move(*value), channel_);
  } else {
    Accept(rpc::Classify(std::move(*value)), channel_);
  }
}

void Connection::Accept(rpc::Message message, const ChannelPtr& channel) {
  Outcome outcome = Handle(message, channel, /*in_batch=*/false);
  if (outcome.response) Send(channel, *outcome.response);
  if (outcome.call) Begin(outcome.call);
}

void Connection::AcceptBatch(Json batch, const ChannelPtr& channel) {
  if (negotiated_ != Revision::k20250326) {
    Send(channel, Rejected("batches exist in version 2025-03-26 only"));
    return;
  }
  if (batch.empty() || batch.size() > kBatchMax) {
    Send(channel, Rejected("a batch has 1 to " + std::to_string(kBatchMax) + " messages"));
    return;
  }
  if (HasStatelessElement(batch)) {
    Send(channel, Rejected("a batch cannot hold requests of version 2026-07-28"));
    return;
  }
  std::vector<Outcome> outcomes;
  for (Json& element : batch) {
    outcomes.push_back(Handle(rpc::Classify(std::move(element)), channel, /*in_batch=*/true));
  }
  StartBatch(std::move(outcomes), channel);
}

Connection::Outcome Connection::Handle(const rpc::Message& message, const ChannelPtr& channel,
                                       bool in_batch) {
  switch (message.kind) {
    case rpc::MessageKind::kInvalid: return {rpc::MakeError(message.id, message.error), nullptr};
    case rpc::MessageKind::kResponse: OnResponse(message); return {};
    case rpc::MessageKind::kNotification: OnNotification(message); return {};
    case rpc::MessageKind::kRequest: break;
  }
  rpc::RpcResult<Outcome> outcome = OnRequest(message, channel, in_batch);
  if (!outcome) return {rpc::MakeError(message.id, outcome.error()), nullptr};
  return std::move(*outcome);
}

rpc::RpcResult<Connection::Outcome> Connection::OnRequest(const rpc::Message& request,
                                                          const ChannelPtr& channel,
                                                          bool in_batch) {
  {
    const std::lock_guard lock(mutex_);
    if (in_flight_.contains(rpc::IdKey(request.id))) {
      return rpc::FailRpc(rpc::kInvalidRequest, "a request with this id is still running");
    }
  }
  auto envelope = ReadEnvelope(request, negotiated_);
  if (!envelope) return tl::make_unexpected(envelope.error());
  if (auto allowed = CheckEra(envelope->revision); !allowed) {
    return tl::make_unexpected(allowed.error());
  }
  if (IsStateless(envelope->revision)) {
    return StatelessMethod(request, std::move(*envelope), channel);
  }
  envelope->capabilities = capabilities_;
  if (in_batch && request.method == "initialize") {
    return rpc::FailRpc(rpc::kInvalidRequest, "initialize cannot be part of a batch");
  }
  return HandshakeMethod(request, *envelope, channel);
}

// Clients that cannot be answered show the text, if anything.
rpc::RpcResult<void> Connection::CheckEra(Revision revision) const {
  const Eras eras = server_.options().eras;
  if (eras == Eras::kStateless && !IsStateless(revision)) {
    return rpc::FailRpc(rpc::kInvalidRequest,
                        "this server was started for version 2026-07-28 alone (--modern-only)");
  }
  if (eras == Eras::kHandshake && IsStateless(revision)) {
    return rpc::FailRpc(
        kUnsupportedVersion,
        "this server was started for the handshake versions alone (--legacy-only)",
        {{"supported", RevisionNames(/*with_stateless=*/false)}, {"requested", Name(revision)}});
  }
  return {};
}

void Connection::OnNotification(const rpc::Message& message) {
  if (message.method == "notifications/initialized") {
    const std::lock_guard lock(mutex_);
    wants_news_ = true;
    return;
  }
  if (message.method != "notifications/cancelled") return;  // news that we have no use for
  const auto id = message.params.find("requestId");
  if (id == message.params.end()) return;
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(rpc::IdKey(*id));
  if (found == in_flight_.end()) return;
  if (found->second.call) {
    found->second.call->withdrawn = true;
    found->second.call->job.Stop();
    ForgetAsked(*found->second.call);
  } else {
    --subscriptions_;
  }
  if (found->second.channel != channel_) found->second.channel->Finish();
  in_flight_.erase(found);
}

// An answer to what we asked. One that nobody waits for is dropped.
void Connection::OnResponse(const rpc::Message& message) {
  std::shared_ptr<Call> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = asked_.find(rpc::IdKey(message.id));
    if (found == asked_.end()) return;
    call = found->second.call;
    // A client that refuses is as good as one whose user did.
    call->inputs[found->second.key] =
        message.result.is_object() ? message.result : Json{{"action", "cancel"}};
    asked_.erase(found);
    if (--call->awaited > 0) return;
  }
  Start(call);
}

namespace {

// The notification that tells a client of the handshake era; nothing: it is not told.
std::optional<Json> NewsForAll(const Change& change, const std::set<std::string>& subscribed) {
  switch (change.kind) {
    case Change::Kind::kTools:
      return rpc::MakeNotification("notifications/tools/list_changed", Json::object());
    case Change::Kind::kPrompts:
      return rpc::MakeNotification("notifications/prompts/list_changed", Json::object());
    case Change::Kind::kResources:
      return rpc::MakeNotification("notifications/resources/list_changed", Json::object());
    case Change::Kind::kResource:
      if (!subscribed.contains(change.name)) return std::nullopt;
      return rpc::MakeNotification("notifications/resources/updated", {{"uri", change.name}});
    case Change::Kind::kTask: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void Connection::OnChange(const Change& change) {
  const std::lock_guard lock(mutex_);
  if (wants_news_ && news_) {
    if (const auto news = NewsForAll(change, subscribed_)) SendLocked(news_, *news);
  }
  for (const auto& [key, request] : in_flight_) {
    if (request.call) continue;
    const Subscription& wants = request.wants;
    const bool wanted =
        (change.kind == Change::Kind::kTools && wants.tools) ||
        (change.kind == Change::Kind::kPrompts && wants.prompts) ||
        (change.kind == Change::Kind::kResources && wants.resources) ||
        (change.kind == Change::Kind::kResource && wants.uris.contains(change.name)) ||
        (change.kind == Change::Kind::kTask && wants.tasks.contains(change.name) &&
         change.principal == principal_);
    if (!wanted) continue;
    Json news = change.kind == Change::Kind::kTask
                    ? rpc::MakeNotification("notifications/tasks", change.task)
                    : *NewsForAll(change, wants.uris);
    news["params"]["_meta"][kMetaSubscription] = request.id;
    SendLocked(request.channel, news);
  }
}

void Connection::SetNewsChannel(const ChannelPtr& channel) {
  const std::lock_guard lock(mutex_);
  news_ = channel;
}

bool Connection::WaitIdle(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, patience, [this] { return tasks_ == 0; });
}

void Connection::StopCalls() {
  std::vector<std::shared_ptr<Call>> waiting;  // for the client; nobody else would end them
  {
    const std::lock_guard lock(mutex_);
    for (auto entry = in_flight_.begin(); entry != in_flight_.end();) {
      const InFlight& request = entry->second;
      if (request.call) {
        request.call->job.Stop();
        if (request.call->awaited > 0) {
          ForgetAsked(*request.call);
          waiting.push_back(request.call);
        }
        ++entry;
      } else {
        SendLocked(request.channel,
                   rpc::MakeResult(request.id,
                                   ListenResult(server_.info(), request.id, request.revision)));
        --subscriptions_;
        entry = in_flight_.erase(entry);
      }
    }
  }
  for (const auto& call : waiting)
    Start(call);
}

void Connection::Detach() {
  const std::lock_guard lock(mutex_);
  detached_ = true;
}

void Connection::Send(const ChannelPtr& channel, const Json& message) {
  const std::lock_guard lock(mutex_);
  SendLocked(channel, message);
}

void Connection::SendLocked(const ChannelPtr& channel, const Json& message) {
  if (detached_ && channel == channel_) return;
  channel->Send(message);
}

void Connection::ForgetAsked(Call& call) {
  std::erase_if(asked_, [&](const auto& entry) { return entry.second.call.get() == &call; });
  call.awaited = 0;
}

}  // namespace jarvis::mcp
