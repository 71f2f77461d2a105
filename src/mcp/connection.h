// One client of a Server: what it negotiated and which of its requests are in flight.
//
// Requests that may take time (tools/call, resources/read, prompts/get) run on the server's threads
// and are answered when they are done, in any order; everything else is answered before OnMessage()
// returns. Nothing is sent for a request after its cancellation has been received.
//
// A connection has one channel for everything (a pipe), or is given one with each message (HTTP):
// what a message leads to goes where the message says.
//
// connection.cpp has messages and what is sent, connection_methods.cpp what is answered at once,
// connection_calls.cpp what runs on a worker.
//
// Threads: OnMessage(), OnOverlong() and Accept() from one thread at a time; the rest from any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.h"
#include "mcp/changes.h"
#include "mcp/server.h"
#include "rpc/message.h"
#include "rpc/transport.h"

namespace jarvis::mcp {

// The error for a call that found the queue full; nothing has happened and a retry may help.
inline constexpr const char* kBusyText = "busy: too many calls are waiting; retry";
inline constexpr const char* kNoThreadText =
    "[out_of_memory] no memory or no thread for the call: the machine or a limit (ulimit -v, -u) "
    "refuses it; retry when other work has ended, or raise the limit";

// The answer where memory was refused, and where what went wrong is our bug. Neither takes memory.
rpc::RpcError NoMemory();
rpc::RpcError InternalError();

// The answer to text that ParseJson refused.
rpc::RpcError UnreadableError(const Error& error);

class Connection : public rpc::Receiver,
                   public ChangeListener,
                   public std::enable_shared_from_this<Connection> {
 public:
  // The channel of OnMessage(); it must live until Detach() or the connection's end.
  Connection(Server& server, rpc::Channel& channel)
      : server_(server),
        client_(server.NextClient()),
        channel_(&channel, [](rpc::Channel*) {}),
        news_(channel_) {}
  // `principal`: whose tasks are this client's; empty: nobody in particular. `client`: whose turn
  // its calls take at the workers.
  Connection(Server& server, std::string principal, std::string client)
      : server_(server), principal_(std::move(principal)), client_(std::move(client)) {}

  void OnMessage(std::string_view text) override;
  void OnOverlong() override;
  void OnChange(const Change& change) override;

  // A message or a batch that somebody has parsed. The channel gets its answer, the progress of its
  // calls, and Finish() when it is cancelled and nothing more will come.
  void Accept(rpc::Message message, const std::shared_ptr<rpc::Channel>& channel);
  void AcceptBatch(Json batch, const std::shared_ptr<rpc::Channel>& channel);

  // Where news go that belong to no request; null: nowhere.
  void SetNewsChannel(const std::shared_ptr<rpc::Channel>& channel);

  // Of the last handshake. From the thread that gives messages.
  Revision negotiated() const { return negotiated_; }

  // Are all calls answered? Waits for it at most this long.
  bool WaitIdle(std::chrono::milliseconds patience);
  // Asks every call to stop; each still answers, most with [cancelled]. Ends subscriptions.
  void StopCalls();
  // Nothing is sent on the connection's own channel any more. When this returns it may go.
  void Detach();

 private:
  using ChannelPtr = std::shared_ptr<rpc::Channel>;
  // What a message leads to: an answer, a call to run, or neither.
  struct Outcome {
    std::optional<Json> response;
    std::shared_ptr<Call> call;
  };
  struct Subscription {
    bool tools = false;
    bool prompts = false;
    bool resources = false;
    std::set<std::string> uris;
    std::set<std::string> tasks;
  };
  struct InFlight {
    std::shared_ptr<Call> call;  // null: a subscription
    Json id;
    Revision revision;
    ChannelPtr channel;
    Subscription wants = {};
  };
  // A request of ours that the client has not answered.
  struct Asked {
    std::shared_ptr<Call> call;
    std::string key;  // among the call's inputs
  };

  void Receive(std::string_view text);
  Outcome Handle(const rpc::Message& message, const ChannelPtr& channel, bool in_batch);
  rpc::RpcResult<void> CheckEra(Revision revision) const;
  void OnNotification(const rpc::Message& message);
  void OnResponse(const rpc::Message& message);
  rpc::RpcResult<Outcome> OnRequest(const rpc::Message& request, const ChannelPtr& channel,
                                    bool in_batch);

  // connection_methods.cpp: what is answered at once.
  rpc::RpcResult<Outcome> HandshakeMethod(const rpc::Message& request, const Envelope& envelope,
                                          const ChannelPtr& channel);
  rpc::RpcResult<Outcome> StatelessMethod(const rpc::Message& request, Envelope envelope,
                                          const ChannelPtr& channel);
  std::optional<rpc::RpcResult<Json>> CommonMethod(const rpc::Message& request,
                                                   Revision revision) const;
  rpc::RpcResult<Json> Initialize(const rpc::Message& request);
  rpc::RpcResult<Json> SetLevel(const rpc::Message& request, Revision revision);
  rpc::RpcResult<Json> Subscribe(const rpc::Message& request, Revision revision);
  rpc::RpcResult<Json> TaskMethod(const rpc::Message& request, const Envelope& envelope) const;
  rpc::RpcResult<Outcome> Listen(const rpc::Message& request, const Envelope& envelope,
                                 const ChannelPtr& channel);

  // connection_calls.cpp: what runs on a worker.
  static bool IsCallMethod(const std::string& method);
  rpc::RpcResult<Outcome> PrepareCall(const rpc::Message& request, const Envelope& envelope,
                                      const ChannelPtr& channel);
  rpc::RpcResult<CallPlan> MakePlan(const rpc::Message& request, const Envelope& envelope) const;
  rpc::RpcResult<void> ReadAnswers(const rpc::Message& request, Call& call) const;
  std::string Binding(const Call& call) const;  // see RequestStates
  void Begin(const std::shared_ptr<Call>& call);
  void Start(const std::shared_ptr<Call>& call);
  void StartBatch(std::vector<Outcome> outcomes, const ChannelPtr& channel);
  rpc::WorkerPool::Submitted Submit(ToolCost cost, rpc::WorkerPool::Task task) noexcept;
  CallReply Run(Call& call);
  CallContext MakeContext(Call& call);
  void Settle(const std::shared_ptr<Call>& call, CallReply reply);
  // Sends it, or that there is no memory for it.
  void Answer(Call& call, const rpc::RpcResult<Json>& result);
  void AnswerOnce(Call& call, const rpc::RpcResult<Json>& result);
  void Refuse(Call& call, rpc::RpcError (*why)());
  void Ask(const std::shared_ptr<Call>& call, InputNeeded needed);
  void AskOverChannel(const std::shared_ptr<Call>& call, InputNeeded needed);
  bool MakeTask(const std::shared_ptr<Call>& call);  // true: it is one now
  std::optional<Json> RespondInBatch(Call& call, rpc::WorkerPool::Submitted submitted);
  void SendBatch(const std::vector<Outcome>& outcomes, const ChannelPtr& channel);
  void ReportProgress(const Call& call, ProgressScale::Point point, std::string_view what);
  bool WantsLog(const Call& call, LogLevel level) const;
  void SendLog(const Call& call, LogLevel level, const Json& data);

  void Send(const ChannelPtr& channel, const Json& message);
  void SendLocked(const ChannelPtr& channel, const Json& message);  // REQUIRES: mutex_ held
  void ForgetAsked(Call& call);                                     // REQUIRES: mutex_ held

  Server& server_;
  const std::string principal_;
  const std::string client_;
  // Used by the thread that gives messages only.
  Revision negotiated_ = kNewestHandshake;
  Json capabilities_ = Json::object();  // of a client that said them once

  std::atomic<LogLevel> log_level_ = LogLevel::kWarning;  // of the handshake era

  std::mutex mutex_;
  std::condition_variable idle_;
  ChannelPtr channel_;  // of OnMessage()
  ChannelPtr news_;
  bool detached_ = false;                      // then channel_ is not touched
  bool wants_news_ = false;                    // after the handshake
  std::set<std::string> subscribed_;           // likewise: URIs
  std::map<std::string, InFlight> in_flight_;  // by rpc::IdKey
  std::map<std::string, Asked> asked_;         // by rpc::IdKey
  std::uint64_t questions_ = 0;
  std::size_t subscriptions_ = 0;
  std::size_t tasks_ = 0;  // submitted to a pool and not done
};

}  // namespace jarvis::mcp
