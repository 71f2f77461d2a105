// The methods of either era. Each answers at once, except tools/call, which gives a call to run.
#include <utility>

#include "mcp/closest_match.h"
#include "mcp/connection.h"

namespace jarvis::mcp {
namespace {

using rpc::FailRpc;
using rpc::Json;

constexpr std::size_t kSubscriptionsMax = 64;

tl::unexpected<rpc::RpcError> NoMethod(const rpc::Message& request) {
  return FailRpc(rpc::kMethodNotFound, "Unknown method " + rpc::Excerpt(request.method));
}

tl::unexpected<rpc::RpcError> WrongMember(const std::string& name, const char* expected,
                                          const Json& received) {
  return FailRpc(rpc::kInvalidParams, "params." + name + ": expected " + expected + ", received " +
                                          rpc::Excerpt(received));
}

tl::unexpected<rpc::RpcError> NoTool(const ToolSet& tools, const std::string& name) {
  std::string message = "Unknown tool " + rpc::Excerpt(name);
  const auto closest = ClosestMatch(name, tools.Names());
  if (closest) message += "; did you mean \"" + *closest + "\"?";
  message += closest ? " Tools: " : ". Tools: ";
  return FailRpc(rpc::kInvalidParams, message + JoinNames(tools.Names()));
}

}  // namespace

rpc::RpcResult<Connection::Outcome> Connection::HandshakeMethod(const rpc::Message& request,
                                                                const Envelope& envelope,
                                                                const ChannelPtr& channel) {
  const std::string& method = request.method;
  if (method == "tools/call") return PrepareCall(request, envelope, channel);
  rpc::RpcResult<Json> result = FailRpc(0, "");
  if (method == "initialize") {
    result = Initialize(request);
  } else if (method == "ping") {
    result = EmptyResult(server_.info(), envelope.revision);
  } else if (method == "logging/setLevel") {
    // Accepted for the clients that set it unasked; there are no messages to choose from.
    const auto checked = CheckLogLevel(request.params.value("level", Json()), "params.level");
    if (!checked) return tl::make_unexpected(checked.error());
    result = EmptyResult(server_.info(), envelope.revision);
  } else if (method == "tools/list") {
    result = ListTools(request, envelope.revision);
  } else {
    return NoMethod(request);
  }
  if (!result) return tl::make_unexpected(result.error());
  return Outcome{rpc::MakeResult(request.id, std::move(*result)), nullptr};
}

rpc::RpcResult<Connection::Outcome> Connection::StatelessMethod(const rpc::Message& request,
                                                                const Envelope& envelope,
                                                                const ChannelPtr& channel) {
  const std::string& method = request.method;
  const bool is_list = method == "tools/list";
  if (!is_list && method != "server/discover" && method != "tools/call" &&
      method != "subscriptions/listen") {
    return NoMethod(request);
  }
  const Json& meta = request.params.at("_meta");  // the envelope is complete
  if (const auto level = meta.find(kMetaLogLevel); level != meta.end()) {
    const auto checked =
        CheckLogLevel(*level, std::string("params._meta[\"") + kMetaLogLevel + "\"]");
    if (!checked) return tl::make_unexpected(checked.error());
  }
  if (method == "tools/call") return PrepareCall(request, envelope, channel);
  if (method == "subscriptions/listen") return Listen(request, envelope.revision, channel);
  rpc::RpcResult<Json> result = is_list ? ListTools(request, envelope.revision)
                                        : DiscoverResult(server_.info(), envelope.revision);
  if (!result) return tl::make_unexpected(result.error());
  return Outcome{rpc::MakeResult(request.id, std::move(*result)), nullptr};
}

// A second initialize starts over: some hosts connect again on the same pipe.
rpc::RpcResult<Json> Connection::Initialize(const rpc::Message& request) {
  const Json version = request.params.value("protocolVersion", Json());
  if (!version.is_string()) {
    return FailRpc(rpc::kInvalidParams,
                   "params.protocolVersion: expected a string, received " + rpc::Excerpt(version),
                   {{"supported", RevisionNames(/*with_stateless=*/false)},
                    {"requested", rpc::Excerpt(version)}});
  }
  const auto wanted = FindRevision(version.get<std::string>());
  negotiated_ = wanted && !IsStateless(*wanted) ? *wanted : kNewestHandshake;
  return InitializeResult(server_.info(), negotiated_);
}

rpc::RpcResult<Json> Connection::ListTools(const rpc::Message& request, Revision revision) const {
  // The list is one page, so no cursor is one of ours.
  const Json cursor = request.params.value("cursor", Json());
  if (!cursor.is_null()) return WrongMember("cursor", "no cursor (the list is one page)", cursor);
  return ToolListResult(server_.info(), server_.tools(), revision);
}

// Nothing that could be told changes while we run; the stream is kept for clients that open it
// right away and wait for the acknowledgement.
rpc::RpcResult<Connection::Outcome> Connection::Listen(const rpc::Message& request,
                                                       Revision revision,
                                                       const ChannelPtr& channel) {
  const Json wanted = request.params.value("notifications", Json());
  if (!wanted.is_object()) return WrongMember("notifications", "an object", wanted);
  Json params = {{"notifications", Json::object()}};
  params["_meta"][kMetaSubscription] = request.id;
  const std::lock_guard lock(mutex_);
  if (subscriptions_ >= kSubscriptionsMax) {
    return FailRpc(rpc::kInternalError, "too many subscriptions; cancel one");
  }
  ++subscriptions_;
  in_flight_.emplace(rpc::IdKey(request.id), InFlight{nullptr, request.id, revision, channel});
  SendLocked(channel,
             rpc::MakeNotification("notifications/subscriptions/acknowledged", std::move(params)));
  return Outcome{};
}

rpc::RpcResult<Connection::Outcome> Connection::PrepareCall(const rpc::Message& request,
                                                            const Envelope& envelope,
                                                            const ChannelPtr& channel) {
  const Json name = request.params.value("name", Json());
  if (!name.is_string()) return WrongMember("name", "a string", name);
  Json arguments = request.params.value("arguments", Json());
  if (arguments.is_null()) arguments = Json::object();
  if (!arguments.is_object()) return WrongMember("arguments", "an object", arguments);
  const Tool* tool = server_.tools().Find(name.get<std::string>());
  if (tool == nullptr) return NoTool(server_.tools(), name.get<std::string>());
  const auto report = [this](const Call& call, ProgressScale::Point point, std::string_view what) {
    ReportProgress(call, point, what);
  };
  auto call = std::make_shared<Call>(*tool, request.id, envelope, std::move(arguments), report);
  call->channel = channel;
  const std::lock_guard lock(mutex_);
  in_flight_.emplace(rpc::IdKey(request.id),
                     InFlight{call, request.id, envelope.revision, channel});
  return Outcome{std::nullopt, std::move(call)};
}

}  // namespace jarvis::mcp
