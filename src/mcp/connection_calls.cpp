// Requests that run on a worker: from their parameters to a call, and from its reply to an answer,
// to questions for the client, or to a task.
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "mcp/apps.h"
#include "mcp/call_tool.h"
#include "mcp/closest_match.h"
#include "mcp/connection.h"
#include "mcp/envelope.h"
#include "mcp/error_reply.h"
#include "mcp/refusals.h"
#include "mcp/short_of_memory.h"
#include "rpc/log.h"

namespace jarvis::mcp {
namespace {

using rpc::FailRpc;

rpc::RpcError Busy() {
  return {rpc::kInternalError, kBusyText, {}};
}

rpc::RpcError NoThread() {
  return {rpc::kInternalError, kNoThreadText, {}};
}

using NotTaken = rpc::WorkerPool::Submitted::Refusal;

tl::unexpected<rpc::RpcError> NoTool(const ToolSet& tools, const std::string& name) {
  std::string message = "Unknown tool " + Excerpt(name);
  const auto closest = ClosestMatch(name, tools.Names());
  if (closest) message += "; did you mean \"" + *closest + "\"?";
  message += closest ? " Tools: " : ". Tools: ";
  return FailRpc(rpc::kInvalidParams, message + JoinNames(tools.Names()));
}

CallReply RunTool(const Server& server, const Tool& tool, Revision revision, const Json& arguments,
                  CallContext& context) {
  CallOutcome outcome;
  if (auto stopped = context.job.Check(); !stopped) {
    outcome.reply = ErrorReply(stopped.error());
  } else {
    outcome = CallTool(tool, arguments, context);
  }
  if (!outcome.incident.empty()) {
    return {FailRpc(rpc::kInternalError, outcome.incident)};
  }
  if (outcome.reply.refusal) return {tl::make_unexpected(*outcome.reply.refusal)};
  if (outcome.reply.ask) return {Json(), std::move(outcome.reply.ask)};
  Json result = ToolCallResult(server.info(), outcome.reply, revision);
  if (!outcome.reply.view.is_null() && KnowsExtension(context.capabilities, kAppsExtension))
    result["_meta"][kMetaView] = std::move(outcome.reply.view);
  return {std::move(result)};
}

// Of a tool or a prompt.
struct Named {
  std::string name;
  Json arguments;  // an object
};
rpc::RpcResult<Named> ReadNamed(const Json& params) {
  const Json name = params.value("name", Json());
  if (!name.is_string()) return WrongMember("name", "a string", name);
  Json arguments = params.value("arguments", Json());
  if (arguments.is_null()) arguments = Json::object();
  if (!arguments.is_object()) return WrongMember("arguments", "an object", arguments);
  return Named{name.get<std::string>(), std::move(arguments)};
}

rpc::RpcResult<CallPlan> PlanTool(const Server& server, const rpc::Message& request,
                                  const Envelope& envelope) {
  auto named = ReadNamed(request.params);
  if (!named) return tl::make_unexpected(named.error());
  const std::string& name = named->name;
  Json& arguments = named->arguments;
  const ToolSet& tools = server.catalog().tools;
  const Tool* tool = tools.Find(name);
  if (tool == nullptr) return NoTool(tools, name);
  CallPlan plan{"tools/call " + tool->name, tool->options.cost};
  if (tool->options.cost_of) plan.cost = tool->options.cost_of(arguments);
  plan.subject = {{"name", tool->name}, {"arguments", std::move(arguments)}};
  if (IsStateless(envelope.revision)) {
    const bool knows = KnowsExtension(envelope.capabilities, kTasksExtension);
    if (tool->options.task == TaskUse::kRequired && !knows) {
      return LacksCapability("Tool " + tool->name + " runs as a task only", TasksCapability());
    }
    if (knows) plan.task = tool->options.task;
    plan.asks_first = tool->options.asks_first;
  }
  plan.run = [&server, tool, revision = envelope.revision](const Json& subject,
                                                           CallContext& context) {
    return RunTool(server, *tool, revision, subject.at("arguments"), context);
  };
  return plan;
}

rpc::RpcResult<CallPlan> PlanRead(const Server& server, const rpc::Message& request,
                                  const Envelope& envelope) {
  const Json uri = request.params.value("uri", Json());
  if (!uri.is_string()) return WrongMember("uri", "a string", uri);
  CallPlan plan{"resources/read"};
  plan.subject = {{"uri", uri}};
  plan.run = [&server, revision = envelope.revision](const Json& subject,
                                                     CallContext& context) -> CallReply {
    const std::string wanted = subject.at("uri").get<std::string>();
    const auto content = server.catalog().resources->Read(wanted, context.job);
    if (!content) return {FailRpc(rpc::kInternalError, ErrorReply(content.error()).text)};
    if (*content) return {ReadResult(server.info(), wanted, **content, revision)};
    return {FailRpc(IsStateless(revision) ? rpc::kInvalidParams : kResourceNotFound,
                    "No resource " + Excerpt(wanted) + "; resources/list names them",
                    {{"uri", wanted}})};
  };
  return plan;
}

rpc::RpcResult<void> CheckPromptArguments(const Prompt& prompt, const Json& arguments) {
  for (const auto& [name, value] : arguments.items()) {
    if (!value.is_string()) return WrongMember("arguments." + name, "a string", value);
    if (value.get_ref<const std::string&>().size() > kPromptArgumentBytesMax) {
      return WrongMember("arguments." + name, "at most 4 kB", value);
    }
  }
  for (const PromptArgument& argument : prompt.arguments) {
    if (argument.required && !arguments.contains(argument.name)) {
      return FailRpc(rpc::kInvalidParams, "Prompt " + prompt.name + " needs the argument \"" +
                                              argument.name + "\": " + argument.description);
    }
  }
  return {};
}

rpc::RpcResult<CallPlan> PlanPrompt(const Server& server, const rpc::Message& request,
                                    const Envelope& envelope) {
  auto named = ReadNamed(request.params);
  if (!named) return tl::make_unexpected(named.error());
  const std::string& name = named->name;
  Json& arguments = named->arguments;
  const Prompt* prompt = nullptr;
  std::vector<std::string> names;
  for (const Prompt& known : server.catalog().prompts) {
    if (known.name == name) prompt = &known;
    names.push_back(known.name);
  }
  if (prompt == nullptr) {
    return FailRpc(rpc::kInvalidParams,
                   "Unknown prompt " + Excerpt(name) + ". Prompts: " + JoinNames(names));
  }
  if (auto checked = CheckPromptArguments(*prompt, arguments); !checked) {
    return tl::make_unexpected(checked.error());
  }
  CallPlan plan{"prompts/get " + prompt->name};
  plan.subject = {{"name", prompt->name}, {"arguments", std::move(arguments)}};
  plan.run = [&server, prompt, revision = envelope.revision](const Json& subject,
                                                             CallContext& context) -> CallReply {
    PromptReply reply = prompt->make(subject.at("arguments"), context);
    if (reply.ask) return {Json(), std::move(reply.ask)};
    return {PromptResult(server.info(), *prompt, reply, revision)};
  };
  return plan;
}

// The capability without which a client cannot be asked this.
const char* CapabilityFor(const std::string& method) {
  if (method == "sampling/createMessage") return "sampling";
  return method == "roots/list" ? "roots" : "elicitation";
}

}  // namespace

bool Connection::IsCallMethod(const std::string& method) {
  return method == "tools/call" || method == "resources/read" || method == "prompts/get";
}

rpc::RpcResult<CallPlan> Connection::MakePlan(const rpc::Message& request,
                                              const Envelope& envelope) const {
  if (request.method == "tools/call") return PlanTool(server_, request, envelope);
  const Catalog& catalog = server_.catalog();
  if (request.method == "resources/read" && catalog.resources) {
    return PlanRead(server_, request, envelope);
  }
  if (request.method == "prompts/get" && !catalog.prompts.empty()) {
    return PlanPrompt(server_, request, envelope);
  }
  return NoMethod(request);
}

rpc::RpcResult<Connection::Outcome> Connection::PrepareCall(const rpc::Message& request,
                                                            const Envelope& envelope,
                                                            const ChannelPtr& channel) {
  auto plan = MakePlan(request, envelope);
  if (!plan) return tl::make_unexpected(plan.error());
  const auto report = [this](const Call& call, ProgressScale::Point point, std::string_view what) {
    ReportProgress(call, point, what);
  };
  auto call = std::make_shared<Call>(request.id, envelope, std::move(*plan), report);
  call->channel = channel;
  if (IsStateless(envelope.revision)) {
    if (auto read = ReadAnswers(request, *call); !read) return tl::make_unexpected(read.error());
  }
  const std::lock_guard lock(mutex_);
  in_flight_.emplace(rpc::IdKey(request.id),
                     InFlight{call, request.id, envelope.revision, channel});
  return Outcome{std::nullopt, std::move(call)};
}

// Of a client that was asked and sends its request once more.
rpc::RpcResult<void> Connection::ReadAnswers(const rpc::Message& request, Call& call) const {
  const Json& params = request.params;
  if (const auto answers = params.find("inputResponses"); answers != params.end()) {
    if (!answers->is_object()) return WrongMember("inputResponses", "an object", *answers);
    for (const auto& [key, answer] : answers->items()) {
      if (!answer.is_object()) return WrongMember("inputResponses." + key, "an object", answer);
    }
    call.inputs = *answers;
  }
  const auto state = params.find("requestState");
  if (state == params.end()) return {};
  if (!state->is_string()) return WrongMember("requestState", "a string", *state);
  auto opened = server_.states().Open(state->get<std::string>(), Binding(call));
  if (!opened) {
    return FailRpc(rpc::kInvalidParams,
                   "params.requestState: not what this server gave for this request, or too old; "
                   "send the request again without it");
  }
  call.state = std::move(*opened);
  return {};
}

std::string Connection::Binding(const Call& call) const {
  return DumpLine(Json::array({principal_, call.plan.label, call.plan.subject}));
}

void Connection::Begin(const std::shared_ptr<Call>& call) {
  // A client that asks after tasks need not be told to come again.
  if (call->plan.task != TaskUse::kNever) call->job.set_patient();
  const bool at_once =
      call->plan.task == TaskUse::kRequired && !(call->plan.asks_first && call->inputs.empty());
  if (at_once && !MakeTask(call)) {
    Refuse(*call, &Busy);
    return;
  }
  Start(call);
  if (call->plan.task != TaskUse::kAllowed) return;
  const bool timed =
      server_.timer().After(server_.options().task_patience,
                            [self = weak_from_this(), waiting = std::weak_ptr<Call>(call)] {
                              const auto connection = self.lock();
                              const auto late = waiting.lock();
                              if (connection && late) connection->MakeTask(late);
                            });
  if (!timed) rpc::LogWarning("no memory for a timer: a call does not become a task");
}

void Connection::Start(const std::shared_ptr<Call>& call) {
  rpc::WorkerPool::Submitted submitted{NotTaken::kNoThread};
  try {
    submitted = Submit(call->plan.cost, [this, call] { Settle(call, Run(*call)); });
  } catch (const std::bad_alloc&) {
  }
  if (!submitted) Refuse(*call, submitted.refusal == NotTaken::kFull ? &Busy : &NoThread);
}

// One task runs the calls of a batch one after the other; their answers leave in one array.
void Connection::StartBatch(std::vector<Outcome> outcomes, const ChannelPtr& channel) {
  bool has_call = false;
  ToolCost cost = ToolCost::kQuick;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.call) continue;
    has_call = true;
    if (outcome.call->plan.cost == ToolCost::kLong) cost = ToolCost::kLong;
  }
  const auto shared = std::make_shared<std::vector<Outcome>>(std::move(outcomes));
  const auto finish = [this, shared, channel](rpc::WorkerPool::Submitted submitted) {
    for (Outcome& outcome : *shared) {
      if (!outcome.call) continue;
      outcome.response = RespondInBatch(*outcome.call, submitted);
    }
    if (!TryForAWhile([&] { SendBatch(*shared, channel); })) {
      rpc::LogWarning("the answers to a batch were lost: no memory for them");
    }
  };
  if (!has_call) {
    finish({});
  } else if (const auto submitted = Submit(cost, [finish] { finish({}); }); !submitted) {
    finish(submitted);
  }
}

std::optional<Json> Connection::RespondInBatch(Call& call, rpc::WorkerPool::Submitted submitted) {
  std::optional<Json> response;
  try {
    CallReply reply = submitted ? Run(call)
                                : CallReply{tl::make_unexpected(
                                      submitted.refusal == NotTaken::kFull ? Busy() : NoThread())};
    if (reply.ask) {
      reply.result = FailRpc(rpc::kInvalidRequest,
                             "this asks back, which a batch cannot; send the request alone");
    }
    response = reply.result ? rpc::MakeResult(call.id, std::move(*reply.result))
                            : rpc::MakeError(call.id, reply.result.error());
  } catch (const std::bad_alloc&) {
    if (!TryForAWhile([&] { response = rpc::MakeError(call.id, NoMemory()); })) {
      rpc::LogWarning("an answer was lost: no memory for it");
    }
  }
  return response;
}

// All or nothing, so that it can be tried again.
void Connection::SendBatch(const std::vector<Outcome>& outcomes, const ChannelPtr& channel) {
  std::vector<std::string> keys;
  for (const Outcome& outcome : outcomes) {
    if (outcome.call) keys.push_back(rpc::IdKey(outcome.call->id));
  }
  Json responses = Json::array();
  const std::lock_guard lock(mutex_);
  for (const Outcome& outcome : outcomes) {
    if (outcome.call && outcome.call->withdrawn) continue;
    if (outcome.response) responses.push_back(*outcome.response);
  }
  if (!responses.empty()) SendLocked(channel, responses);
  std::size_t key = 0;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.call) continue;
    // What was withdrawn is out of flight already, and another may have its id.
    if (!outcome.call->withdrawn) in_flight_.erase(keys[key]);
    ++key;
  }
}

// The task holds the connection, so that a call may end after its client has gone.
rpc::WorkerPool::Submitted Connection::Submit(ToolCost cost, rpc::WorkerPool::Task task) noexcept {
  const auto done = [](Connection& self) {
    {
      const std::lock_guard lock(self.mutex_);
      --self.tasks_;
    }
    self.idle_.notify_all();
  };
  auto run = [self = shared_from_this(), done, task = std::move(task)] {
    try {
      task();
    } catch (const std::exception& exception) {
      rpc::LogWarning("an answer was lost: ", exception.what());
    }
    done(*self);
  };
  {
    const std::lock_guard lock(mutex_);
    ++tasks_;
  }
  rpc::WorkerPool::Submitted submitted{NotTaken::kNoThread};
  try {
    submitted = server_.pool(cost).Submit(std::move(run), client_);
  } catch (const std::bad_alloc&) {
  }
  if (!submitted) done(*this);
  return submitted;
}

CallContext Connection::MakeContext(Call& call) {
  CallContext context(call.job);
  context.capabilities = call.envelope.capabilities;
  context.inputs = std::exchange(call.inputs, Json::object());
  context.state = std::exchange(call.state, Json());
  context.log = [this, &call](LogLevel level, const Json& data) { SendLog(call, level, data); };
  context.announce = [this](const Change& change) { server_.Announce(change); };
  context.hang_up = [&call] { call.channel->HangUp(); };
  return context;
}

CallReply Connection::Run(Call& call) {
  const auto began = std::chrono::steady_clock::now();
  CallReply reply{Json()};
  try {
    CallContext context = MakeContext(call);
    reply = call.plan.run(call.plan.subject, context);
  } catch (const std::bad_alloc&) {
    reply = {tl::make_unexpected(NoMemory())};
  } catch (const std::exception& exception) {
    rpc::LogWarning("a call failed: ", exception.what());
    reply = {tl::make_unexpected(InternalError())};
  }
  if (WantsLog(call, LogLevel::kDebug)) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    SendLog(call, LogLevel::kDebug, {{"call", call.plan.label}, {"ms", took.count()}});
  }
  return reply;
}

void Connection::Settle(const std::shared_ptr<Call>& call, CallReply reply) {
  if (!reply.ask) {
    Answer(*call, reply.result);
    return;
  }
  try {
    Ask(call, std::move(*reply.ask));
  } catch (const std::bad_alloc&) {
    Refuse(*call, &NoMemory);
  }
}

void Connection::Answer(Call& call, const rpc::RpcResult<Json>& result) {
  if (!TryForAWhile([&] { AnswerOnce(call, result); })) Refuse(call, &NoMemory);
}

void Connection::Refuse(Call& call, rpc::RpcError (*why)()) {
  if (!TryForAWhile([&] { AnswerOnce(call, tl::make_unexpected(why())); })) {
    rpc::LogWarning("an answer was lost: no memory for it");
  }
}

// All or nothing, so that it can be tried again.
void Connection::AnswerOnce(Call& call, const rpc::RpcResult<Json>& result) {
  const std::string key = rpc::IdKey(call.id);
  {
    const std::lock_guard lock(mutex_);
    if (call.task.empty()) {
      if (call.withdrawn) return;
      SendLocked(call.channel, result ? rpc::MakeResult(call.id, *result)
                                      : rpc::MakeError(call.id, result.error()));
      in_flight_.erase(key);
      return;
    }
  }
  if (result) {
    server_.tasks().Complete(call.task, *result);
  } else {
    server_.tasks().Break(call.task, result.error());
  }
}

void Connection::Ask(const std::shared_ptr<Call>& call, InputNeeded needed) {
  for (const auto& [key, question] : needed.requests.items()) {
    const char* capability = CapabilityFor(question.at("method").get<std::string>());
    if (call->envelope.capabilities.contains(capability)) continue;
    Answer(*call, LacksCapability(call->plan.label + " must ask the client, which lacks " +
                                      std::string(capability),
                                  {{capability, Json::object()}}));
    return;
  }
  if (!IsStateless(call->envelope.revision)) {
    AskOverChannel(call, std::move(needed));
    return;
  }
  bool is_task = false;
  {
    const std::lock_guard lock(mutex_);
    is_task = !call->task.empty();
  }
  if (is_task) {
    call->state = std::move(needed.state);
    server_.tasks().Ask(call->task, std::move(needed.requests));
    return;
  }
  Json sealed;
  if (!needed.state.is_null()) sealed = server_.states().Seal(needed.state, Binding(*call));
  Answer(*call, InputRequiredResult(server_.info(), std::move(needed.requests), sealed));
}

// Requests to the client; the call goes on when the last is answered.
void Connection::AskOverChannel(const std::shared_ptr<Call>& call, InputNeeded needed) {
  const std::lock_guard lock(mutex_);
  if (call->withdrawn) return;
  call->state = std::move(needed.state);
  call->awaited = needed.requests.size();
  for (const auto& [key, question] : needed.requests.items()) {
    const std::string id = "question-" + std::to_string(++questions_);
    asked_[rpc::IdKey(id)] = {call, key};
    Json message = {{"jsonrpc", "2.0"}, {"id", id}};
    message.update(question);
    SendLocked(call->channel, message);
  }
}

bool Connection::MakeTask(const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(rpc::IdKey(call->id));
  if (found == in_flight_.end() || found->second.call != call) return false;
  auto id = server_.tasks().Create(principal_, {[call] { call->job.Stop(); },
                                                [self = shared_from_this(), call](Json inputs) {
                                                  call->inputs = std::move(inputs);
                                                  self->Start(call);
                                                }});
  if (!id) return false;
  try {
    Json task = *server_.tasks().Describe(*id, principal_);
    SendLocked(call->channel,
               rpc::MakeResult(call->id, TaskResult(server_.info(), std::move(task))));
  } catch (const std::bad_alloc&) {  // nobody has heard of it
    server_.tasks().Forget(*id);
    return false;
  }
  call->task = *std::move(id);
  in_flight_.erase(found);
  return true;
}

void Connection::ReportProgress(const Call& call, ProgressScale::Point point,
                                std::string_view what) {
  const std::lock_guard lock(mutex_);
  if (!call.task.empty()) {
    server_.tasks().SetMessage(call.task, what);
    return;
  }
  if (call.withdrawn || call.envelope.progress_token.is_null()) return;
  Json params = {{"progressToken", call.envelope.progress_token}, {"progress", point.done}};
  if (point.total > 0) params["total"] = point.total;
  if (!what.empty() && call.envelope.revision >= Revision::k20250326) params["message"] = what;
  SendLocked(call.channel, rpc::MakeNotification("notifications/progress", std::move(params)));
}

bool Connection::WantsLog(const Call& call, LogLevel level) const {
  const auto wanted = IsStateless(call.envelope.revision) ? call.envelope.log_level
                                                          : std::optional(log_level_.load());
  return wanted && level >= *wanted;
}

void Connection::SendLog(const Call& call, LogLevel level, const Json& data) {
  if (!WantsLog(call, level)) return;
  const std::lock_guard lock(mutex_);
  if (call.withdrawn || !call.task.empty()) return;
  Json params = {{"level", Name(level)}, {"logger", server_.info().name}, {"data", data}};
  SendLocked(call.channel, rpc::MakeNotification("notifications/message", std::move(params)));
}

}  // namespace jarvis::mcp
