#include "mcp/connection.h"

#include <exception>
#include <utility>

#include "mcp/call_tool.h"
#include "mcp/error_reply.h"
#include "rpc/log.h"

namespace jarvis::mcp {
namespace {

using rpc::Json;

constexpr std::size_t kBatchMax = 100;

Json Rejected(std::string text) {
  return rpc::MakeError(Json(), {rpc::kInvalidRequest, std::move(text), {}});
}

Json Busy(const Call& call) {
  return rpc::MakeError(call.id, {rpc::kInternalError, kBusyText, {}});
}

bool HasStatelessElement(const Json& batch) {
  for (const Json& element : batch) {
    if (element.is_object() && LooksStateless(element.value("params", Json()))) return true;
  }
  return false;
}

}  // namespace

rpc::RpcError UnreadableError(const Error& error) {
  const bool too_large = error.code == ErrorCode::kTooLarge;
  return {too_large ? rpc::kInvalidRequest : rpc::kParseError, error.message, {}};
}

// The first wall: whatever a message does to us, the connection goes on.
void Connection::OnMessage(std::string_view text) {
  try {
    Receive(text);
  } catch (const std::exception& exception) {
    rpc::LogWarning(std::string("a message failed: ") + exception.what());
    Send(channel_, rpc::MakeError(Json(), {rpc::kInternalError, "Internal error", {}}));
  }
}

void Connection::OnOverlong() {
  Send(channel_, Rejected("message too large"));
}

void Connection::Receive(std::string_view text) {
  Result<Json> value = rpc::ParseJson(text);
  if (!value) {
    Send(channel_, rpc::MakeError(Json(), UnreadableError(value.error())));
  } else if (value->is_array()) {
    AcceptBatch(std::move(*value), channel_);
  } else {
    Accept(rpc::Classify(std::move(*value)), channel_);
  }
}

void Connection::Accept(rpc::Message message, const ChannelPtr& channel) {
  Outcome outcome = Handle(message, channel, /*in_batch=*/false);
  if (outcome.response) Send(channel, *outcome.response);
  if (outcome.call) Start(outcome.call);
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
    case rpc::MessageKind::kResponse: return {};  // we ask nothing, so nobody waits for it
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
  const auto envelope = ReadEnvelope(request, negotiated_);
  if (!envelope) return tl::make_unexpected(envelope.error());
  if (IsStateless(envelope->revision)) return StatelessMethod(request, *envelope, channel);
  if (in_batch && request.method == "initialize") {
    return rpc::FailRpc(rpc::kInvalidRequest, "initialize cannot be part of a batch");
  }
  return HandshakeMethod(request, *envelope, channel);
}

// Everything but a cancellation is news that we have no use for.
void Connection::OnNotification(const rpc::Message& message) {
  if (message.method != "notifications/cancelled") return;
  const auto id = message.params.find("requestId");
  if (id == message.params.end()) return;
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(rpc::IdKey(*id));
  if (found == in_flight_.end()) return;
  if (found->second.call) {
    found->second.call->withdrawn = true;
    found->second.call->job.Stop();
  } else {
    --subscriptions_;
  }
  if (found->second.channel != channel_) found->second.channel->Finish();
  in_flight_.erase(found);
}

void Connection::Start(const std::shared_ptr<Call>& call) {
  const bool taken = Submit(call->tool.cost, [this, call] {
    const Json response = Run(*call);
    const std::lock_guard lock(mutex_);
    if (Retire(*call)) SendLocked(call->channel, response);
  });
  if (taken) return;
  const std::lock_guard lock(mutex_);
  if (Retire(*call)) SendLocked(call->channel, Busy(*call));
}

// One task runs the calls of a batch one after the other; their answers leave in one array.
void Connection::StartBatch(std::vector<Outcome> outcomes, const ChannelPtr& channel) {
  bool has_call = false;
  ToolCost cost = ToolCost::kQuick;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.call) continue;
    has_call = true;
    if (outcome.call->tool.cost == ToolCost::kLong) cost = ToolCost::kLong;
  }
  const auto shared = std::make_shared<std::vector<Outcome>>(std::move(outcomes));
  const auto finish = [this, shared, channel](bool taken) {
    for (Outcome& outcome : *shared) {
      if (outcome.call) outcome.response = taken ? Run(*outcome.call) : Busy(*outcome.call);
    }
    const std::lock_guard lock(mutex_);
    const Json responses = CollectBatch(*shared);
    if (!responses.empty()) SendLocked(channel, responses);
  };
  if (!has_call) {
    finish(true);
  } else if (!Submit(cost, [finish] { finish(true); })) {
    finish(false);
  }
}

Json Connection::CollectBatch(const std::vector<Outcome>& outcomes) {
  Json responses = Json::array();
  for (const Outcome& outcome : outcomes) {
    if (outcome.call && !Retire(*outcome.call)) continue;
    if (outcome.response) responses.push_back(*outcome.response);
  }
  return responses;
}

// The task holds the connection, so that a call may end after its client has gone.
bool Connection::Submit(ToolCost cost, rpc::WorkerPool::Task task) {
  {
    const std::lock_guard lock(mutex_);
    ++tasks_;
  }
  const auto done = [](Connection& self) {
    {
      const std::lock_guard lock(self.mutex_);
      --self.tasks_;
    }
    self.idle_.notify_all();
  };
  const bool taken =
      server_.pool(cost).Submit([self = shared_from_this(), done, task = std::move(task)] {
        try {
          task();
        } catch (const std::exception& exception) {  // only if there is no memory for the answer
          rpc::LogWarning(std::string("an answer was lost: ") + exception.what());
        }
        done(*self);
      });
  if (!taken) done(*this);
  return taken;
}

Json Connection::Run(Call& call) const {
  CallOutcome outcome;
  if (auto stopped = call.job.Check(); !stopped) {
    outcome.reply = ErrorReply(stopped.error());
  } else {
    outcome = CallTool(call.tool, call.arguments, call.job);
  }
  if (!outcome.incident.empty()) {
    return rpc::MakeError(
        call.id, {rpc::kInternalError, "Internal error, incident " + outcome.incident, {}});
  }
  return rpc::MakeResult(call.id,
                         ToolCallResult(server_.info(), outcome.reply, call.envelope.revision));
}

void Connection::ReportProgress(const Call& call, ProgressScale::Point point,
                                std::string_view what) {
  Json params = {{"progressToken", call.envelope.progress_token}, {"progress", point.done}};
  if (point.total > 0) params["total"] = point.total;
  if (!what.empty() && call.envelope.revision >= Revision::k20250326) params["message"] = what;
  const std::lock_guard lock(mutex_);
  if (!call.withdrawn)
    SendLocked(call.channel, rpc::MakeNotification("notifications/progress", std::move(params)));
}

bool Connection::WaitIdle(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, patience, [this] { return tasks_ == 0; });
}

void Connection::StopCalls() {
  const std::lock_guard lock(mutex_);
  for (auto entry = in_flight_.begin(); entry != in_flight_.end();) {
    const InFlight& request = entry->second;
    if (request.call) {
      request.call->job.Stop();
      ++entry;
    } else {
      SendLocked(
          request.channel,
          rpc::MakeResult(request.id, ListenResult(server_.info(), request.id, request.revision)));
      --subscriptions_;
      entry = in_flight_.erase(entry);
    }
  }
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

bool Connection::Retire(const Call& call) {
  if (call.withdrawn) return false;
  in_flight_.erase(rpc::IdKey(call.id));
  return true;
}

}  // namespace jarvis::mcp
