// The methods that are answered at once, of either era.
#include <utility>

#include "mcp/connection.h"
#include "mcp/refusals.h"

namespace jarvis::mcp {
namespace {

using rpc::FailRpc;

constexpr std::size_t kSubscriptionsMax = 64;
constexpr std::size_t kSubscribedUrisMax = 1000;
// Nothing that can be subscribed to has a longer name.
constexpr std::size_t kSubscribedUriBytesMax = 16 << 10;
constexpr std::size_t kSubscribedBytesMax = 256 << 10;  // of all

rpc::RpcResult<Json> ListOf(const Server& server, const char* member, const Json& entries,
                            bool grows, const rpc::Message& request, Revision revision) {
  const Json cursor = request.params.value("cursor", Json());
  auto page = TakePage(member, entries, cursor, server.options().page_size);
  if (!page) return tl::make_unexpected(page.error());
  return ListResult(server.info(), member, std::move(*page), grows, revision);
}

rpc::RpcResult<CompletionQuestion> ReadCompletion(const Json& params) {
  const Json ref = params.value("ref", Json());
  const Json argument = params.value("argument", Json());
  if (!ref.is_object()) return WrongMember("ref", "an object", ref);
  if (!argument.is_object()) return WrongMember("argument", "an object", argument);
  CompletionQuestion question;
  const Json type = ref.value("type", Json());
  question.of_prompt = type == "ref/prompt";
  if (!question.of_prompt && type != "ref/resource") {
    return WrongMember("ref.type", "\"ref/prompt\" or \"ref/resource\"", type);
  }
  const Json name = ref.value(question.of_prompt ? "name" : "uri", Json());
  if (!name.is_string()) {
    return WrongMember(question.of_prompt ? "ref.name" : "ref.uri", "a string", name);
  }
  question.name = name.get<std::string>();
  for (const auto& [key, to] :
       {std::pair{"name", &question.argument}, std::pair{"value", &question.value}}) {
    const Json text = argument.value(key, Json());
    if (!text.is_string()) return WrongMember(std::string("argument.") + key, "a string", text);
    *to = text.get<std::string>();
  }
  const Json context = params.value("context", Json::object());
  if (context.is_object()) question.others = context.value("arguments", Json::object());
  return question;
}

rpc::RpcResult<Json> Complete(const Server& server, const rpc::Message& request,
                              Revision revision) {
  const auto question = ReadCompletion(request.params);
  if (!question) return tl::make_unexpected(question.error());
  const auto values = server.catalog().completer(*question);
  if (!values) {
    return FailRpc(rpc::kInvalidParams, "params.ref: nothing named " + Excerpt(question->name) +
                                            " has an argument " + Excerpt(question->argument));
  }
  return CompletionResult(server.info(), *values, revision);
}

bool Wants(const Json& wanted, const char* key) {
  return wanted.value(key, Json()) == true;
}

// May one more be remembered for a client?
bool HasRoomFor(const std::set<std::string>& texts, const std::string& text) {
  if (text.size() > kSubscribedUriBytesMax || texts.size() >= kSubscribedUrisMax) return false;
  std::size_t bytes = text.size();
  for (const std::string& other : texts)
    bytes += other.size();
  return bytes <= kSubscribedBytesMax;
}

// What there is no room for is not among those that are granted.
std::set<std::string> Texts(const Json& wanted, const char* key) {
  std::set<std::string> texts;
  for (const Json& text : wanted.value(key, Json::array())) {
    if (text.is_string() && HasRoomFor(texts, text.get_ref<const std::string&>())) {
      texts.insert(text.get<std::string>());
    }
  }
  return texts;
}

}  // namespace

// What both eras have.
std::optional<rpc::RpcResult<Json>> Connection::CommonMethod(const rpc::Message& request,
                                                             Revision revision) const {
  const std::string& method = request.method;
  const Catalog& catalog = server_.catalog();
  const auto list = [&](const char* member, const Json& entries, bool grows) {
    return ListOf(server_, member, entries, grows, request, revision);
  };
  if (method == "tools/list") {
    return list("tools", ToolEntries(catalog.tools, revision), catalog.tools_change);
  }
  if (method == "prompts/list" && !catalog.prompts.empty()) {
    return list("prompts", PromptEntries(catalog.prompts, revision), catalog.prompts_change);
  }
  if (method == "resources/list" && catalog.resources) {
    return list("resources", ResourceEntries(catalog.resources->List(), revision),
                catalog.resources_change);
  }
  if (method == "resources/templates/list" && catalog.resources) {
    return list("resourceTemplates", TemplateEntries(catalog.resources->Templates(), revision),
                /*grows=*/false);
  }
  if (method == "completion/complete" && catalog.completer) {
    return Complete(server_, request, revision);
  }
  return std::nullopt;
}

rpc::RpcResult<Connection::Outcome> Connection::HandshakeMethod(const rpc::Message& request,
                                                                const Envelope& envelope,
                                                                const ChannelPtr& channel) {
  const std::string& method = request.method;
  if (IsCallMethod(method)) return PrepareCall(request, envelope, channel);
  rpc::RpcResult<Json> result = FailRpc(0, "");
  if (method == "initialize") {
    result = Initialize(request);
  } else if (method == "ping") {
    result = EmptyResult(server_.info(), envelope.revision);
  } else if (method == "logging/setLevel") {
    result = SetLevel(request, envelope.revision);
  } else if (method == "resources/subscribe" || method == "resources/unsubscribe") {
    result = Subscribe(request, envelope.revision);
  } else if (auto common = CommonMethod(request, envelope.revision)) {
    result = std::move(*common);
  } else {
    return NoMethod(request);
  }
  if (!result) return tl::make_unexpected(result.error());
  return Outcome{rpc::MakeResult(request.id, std::move(*result)), nullptr};
}

rpc::RpcResult<Connection::Outcome> Connection::StatelessMethod(const rpc::Message& request,
                                                                Envelope envelope,
                                                                const ChannelPtr& channel) {
  const std::string& method = request.method;
  const Json& meta = request.params.at("_meta");  // the envelope is complete
  rpc::RpcResult<void> level = {};
  if (const auto given = meta.find(kMetaLogLevel); given != meta.end()) {
    const auto read = ReadLogLevel(*given, std::string("params._meta[\"") + kMetaLogLevel + "\"]");
    if (read) {
      envelope.log_level = *read;
    } else {
      level = tl::make_unexpected(read.error());
    }
  }
  // An unknown method is that, whatever else is wrong.
  const bool is_task =
      method == "tasks/get" || method == "tasks/cancel" || method == "tasks/update";
  const bool is_known = IsCallMethod(method) || is_task || method == "subscriptions/listen" ||
                        method == "server/discover";
  std::optional<rpc::RpcResult<Json>> result;
  if (!is_known) {
    result = CommonMethod(request, envelope.revision);
    if (!result) return NoMethod(request);
  }
  if (!level) return tl::make_unexpected(level.error());
  if (IsCallMethod(method)) return PrepareCall(request, envelope, channel);
  if (method == "subscriptions/listen") return Listen(request, envelope, channel);
  if (method == "server/discover") {
    result = DiscoverResult(server_.info(), server_.catalog(), envelope.revision);
  } else if (is_task) {
    result = TaskMethod(request, envelope);
  }
  if (!*result) return tl::make_unexpected(result->error());
  return Outcome{rpc::MakeResult(request.id, std::move(**result)), nullptr};
}

// A second initialize starts over: some hosts connect again on the same pipe.
rpc::RpcResult<Json> Connection::Initialize(const rpc::Message& request) {
  const Json version = request.params.value("protocolVersion", Json());
  if (!version.is_string()) {
    return FailRpc(
        rpc::kInvalidParams,
        "params.protocolVersion: expected a string, received " + Excerpt(version),
        {{"supported", RevisionNames(/*with_stateless=*/false)}, {"requested", Excerpt(version)}});
  }
  const auto wanted = FindRevision(version.get<std::string>());
  negotiated_ = wanted && !IsStateless(*wanted) ? *wanted : kNewestHandshake;
  capabilities_ = request.params.value("capabilities", Json::object());
  if (!capabilities_.is_object()) capabilities_ = Json::object();
  server_.changes().Add(shared_from_this());
  return InitializeResult(server_.info(), server_.catalog(), capabilities_, negotiated_);
}

rpc::RpcResult<Json> Connection::SetLevel(const rpc::Message& request, Revision revision) {
  const auto level = ReadLogLevel(request.params.value("level", Json()), "params.level");
  if (!level) return tl::make_unexpected(level.error());
  const std::lock_guard lock(mutex_);
  log_level_ = *level;
  return EmptyResult(server_.info(), revision);
}

rpc::RpcResult<Json> Connection::Subscribe(const rpc::Message& request, Revision revision) {
  if (!server_.catalog().resources) return NoMethod(request);
  const Json uri = request.params.value("uri", Json());
  if (!uri.is_string()) return WrongMember("uri", "a string", uri);
  const std::string& name = uri.get_ref<const std::string&>();
  if (name.size() > kSubscribedUriBytesMax) {
    return FailRpc(rpc::kInvalidParams, "params.uri: longer than that of any resource");
  }
  const std::lock_guard lock(mutex_);
  if (request.method == "resources/unsubscribe") {
    subscribed_.erase(name);
  } else if (!HasRoomFor(subscribed_, name)) {
    return FailRpc(rpc::kInternalError, "too many subscriptions; unsubscribe from one");
  } else {
    subscribed_.insert(name);
  }
  return EmptyResult(server_.info(), revision);
}

rpc::RpcResult<Json> Connection::TaskMethod(const rpc::Message& request,
                                            const Envelope& envelope) const {
  if (!KnowsExtension(envelope.capabilities, kTasksExtension)) {
    return LacksCapability(request.method + " needs the tasks extension", TasksCapability());
  }
  const Json id = request.params.value("taskId", Json());
  if (!id.is_string()) return WrongMember("taskId", "a string", id);
  const std::string task = id.get<std::string>();
  const auto unknown = [&] {
    return FailRpc(rpc::kInvalidParams,
                   "No task " + Excerpt(id) + ": unknown or expired; call the tool again");
  };
  if (request.method == "tasks/get") {
    auto state = server_.tasks().Describe(task, principal_);
    if (!state) return unknown();
    return TaskStateResult(server_.info(), std::move(*state), envelope.revision);
  }
  bool known = false;
  if (request.method == "tasks/cancel") {
    known = server_.tasks().Cancel(task, principal_);
  } else {
    const Json answers = request.params.value("inputResponses", Json());
    if (!answers.is_object()) return WrongMember("inputResponses", "an object", answers);
    known = server_.tasks().Update(task, principal_, answers);
  }
  if (!known) return unknown();
  return EmptyResult(server_.info(), envelope.revision);
}

// A stream of news. Clients open it right away and wait for the acknowledgement, whether or not
// there is anything that they could be told.
rpc::RpcResult<Connection::Outcome> Connection::Listen(const rpc::Message& request,
                                                       const Envelope& envelope,
                                                       const ChannelPtr& channel) {
  const Json wanted = request.params.value("notifications", Json());
  if (!wanted.is_object()) return WrongMember("notifications", "an object", wanted);
  const Catalog& catalog = server_.catalog();
  Subscription wants;
  wants.tools = catalog.tools_change && Wants(wanted, "toolsListChanged");
  wants.prompts = catalog.prompts_change && Wants(wanted, "promptsListChanged");
  wants.resources = catalog.resources_change && Wants(wanted, "resourcesListChanged");
  Json granted = Json::object();
  if (wants.tools) granted["toolsListChanged"] = true;
  if (wants.prompts) granted["promptsListChanged"] = true;
  if (wants.resources) granted["resourcesListChanged"] = true;
  if (catalog.resources && wanted.contains("resourceSubscriptions")) {
    wants.uris = Texts(wanted, "resourceSubscriptions");
    granted["resourceSubscriptions"] = wants.uris;
  }
  if (wanted.contains("taskIds") && KnowsExtension(envelope.capabilities, kTasksExtension)) {
    wants.tasks = Texts(wanted, "taskIds");
    granted["taskIds"] = wants.tasks;
  }
  Json params = {{"notifications", std::move(granted)}};
  params["_meta"][kMetaSubscription] = request.id;
  server_.changes().Add(shared_from_this());
  const std::lock_guard lock(mutex_);
  if (subscriptions_ >= kSubscriptionsMax) {
    return FailRpc(rpc::kInternalError, "too many subscriptions; cancel one");
  }
  ++subscriptions_;
  in_flight_.emplace(rpc::IdKey(request.id),
                     InFlight{nullptr, request.id, envelope.revision, channel, std::move(wants)});
  SendLocked(channel,
             rpc::MakeNotification("notifications/subscriptions/acknowledged", std::move(params)));
  return Outcome{};
}

}  // namespace jarvis::mcp
