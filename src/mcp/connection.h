// One client of a Server: what it negotiated and which of its requests are in flight.
//
// Everything but tools/call is answered before OnMessage() returns; calls run on the server's
// threads and their answers come when they are done, in any order. Nothing is sent for a request
// after its cancellation has been received.
//
// A connection has one channel for everything (a pipe), or is given one with each message (HTTP):
// what a message leads to goes where the message says.
//
// Threads: OnMessage(), OnOverlong() and Accept() from one thread at a time; the rest from any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.h"
#include "mcp/server.h"
#include "rpc/message.h"
#include "rpc/transport.h"

namespace jarvis::mcp {

// The error for a call that found the queue full; nothing has happened and a retry may help.
inline constexpr const char* kBusyText = "busy: too many calls are waiting; retry";

// The answer to text that rpc::ParseJson refused.
rpc::RpcError UnreadableError(const Error& error);

class Connection : public rpc::Receiver, public std::enable_shared_from_this<Connection> {
 public:
  // The channel of OnMessage(); it must live until Detach() or the connection's end.
  Connection(Server& server, rpc::Channel& channel)
      : server_(server), channel_(&channel, [](rpc::Channel*) {}) {}
  explicit Connection(Server& server) : server_(server) {}

  void OnMessage(std::string_view text) override;
  void OnOverlong() override;

  // A message or a batch that somebody has parsed. The channel gets its answer, the progress of its
  // calls, and Finish() when it is cancelled and nothing more will come.
  void Accept(rpc::Message message, const std::shared_ptr<rpc::Channel>& channel);
  void AcceptBatch(rpc::Json batch, const std::shared_ptr<rpc::Channel>& channel);

  // Are all calls answered? Waits for it at most this long.
  bool WaitIdle(std::chrono::milliseconds patience);
  // Asks every call to stop; each still answers, most with [cancelled]. Ends subscriptions.
  void StopCalls();
  // Nothing is sent on the connection's own channel any more. When this returns it may go.
  void Detach();

 private:
  // What a message leads to: an answer, a call to run, or neither.
  struct Outcome {
    std::optional<rpc::Json> response;
    std::shared_ptr<Call> call;
  };
  struct InFlight {
    std::shared_ptr<Call> call;  // null: a subscription
    rpc::Json id;
    Revision revision;
    std::shared_ptr<rpc::Channel> channel;
  };

  void Receive(std::string_view text);
  using ChannelPtr = std::shared_ptr<rpc::Channel>;
  Outcome Handle(const rpc::Message& message, const ChannelPtr& channel, bool in_batch);
  void OnNotification(const rpc::Message& message);
  rpc::RpcResult<Outcome> OnRequest(const rpc::Message& request, const ChannelPtr& channel,
                                    bool in_batch);

  // connection_methods.cpp: the methods of either era.
  rpc::RpcResult<Outcome> HandshakeMethod(const rpc::Message& request, const Envelope& envelope,
                                          const ChannelPtr& channel);
  rpc::RpcResult<Outcome> StatelessMethod(const rpc::Message& request, const Envelope& envelope,
                                          const ChannelPtr& channel);
  rpc::RpcResult<rpc::Json> Initialize(const rpc::Message& request);
  rpc::RpcResult<rpc::Json> ListTools(const rpc::Message& request, Revision revision) const;
  rpc::RpcResult<Outcome> Listen(const rpc::Message& request, Revision revision,
                                 const ChannelPtr& channel);
  rpc::RpcResult<Outcome> PrepareCall(const rpc::Message& request, const Envelope& envelope,
                                      const ChannelPtr& channel);

  void Start(const std::shared_ptr<Call>& call);
  void StartBatch(std::vector<Outcome> outcomes, const ChannelPtr& channel);
  bool Submit(ToolCost cost, rpc::WorkerPool::Task task);
  rpc::Json Run(Call& call) const;
  rpc::Json CollectBatch(const std::vector<Outcome>& outcomes);  // REQUIRES: mutex_ held
  void ReportProgress(const Call& call, ProgressScale::Point point, std::string_view what);

  void Send(const ChannelPtr& channel, const rpc::Json& message);
  void SendLocked(const ChannelPtr& channel, const rpc::Json& message);  // REQUIRES: mutex_ held
  // Takes a call out of flight. False: it was withdrawn. REQUIRES: mutex_ held
  bool Retire(const Call& call);

  Server& server_;
  Revision negotiated_ = kNewestHandshake;  // used by OnMessage() only

  std::mutex mutex_;
  std::condition_variable idle_;
  ChannelPtr channel_;                         // of OnMessage()
  bool detached_ = false;                      // then channel_ is not touched
  std::map<std::string, InFlight> in_flight_;  // by rpc::IdKey
  std::size_t subscriptions_ = 0;
  std::size_t tasks_ = 0;  // submitted and not done
};

}  // namespace jarvis::mcp
