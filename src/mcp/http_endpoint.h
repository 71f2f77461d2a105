// MCP over Streamable HTTP: one path, both eras. Decides per request which era it is of, checks the
// headers of that era, hands the message to a Connection and sends back what comes, as JSON when
// there is one answer and nothing else, as a stream of events otherwise.
//
// Requests of 2026-07-28 stand alone: each has a Connection of its own, and a client that hangs up
// has cancelled. Older ones belong to a session; their calls go on when the client hangs up, as
// their revisions ask, and end with notifications/cancelled or with the session.
//
// Threads: Admit(), Answer() and Refuse() from any; Stop() and Abandon() from one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "mcp/http_sessions.h"
#include "mcp/server.h"
#include "rpc/http_access.h"
#include "rpc/http_server.h"
#include "rpc/message.h"

namespace jarvis::mcp {

struct HttpEndpointOptions {
  rpc::HttpAccess access;
  SessionLimits sessions;
  std::size_t quiet_streams_max = 128;  // streams that wait for news; each holds a connection
  std::string authorization_server;     // not empty: its URL is published (RFC 9728)
  std::string resource;                 // our URL as clients know it, then
};

class HttpEndpoint : public rpc::HttpHandler {
 public:
  static constexpr const char* kPath = "/mcp";
  static constexpr const char* kHealthPath = "/healthz";
  static constexpr const char* kMetadataPath = "/.well-known/oauth-protected-resource";

  // REQUIRES: the server outlives this.
  HttpEndpoint(Server& server, HttpEndpointOptions options);

  std::optional<rpc::HttpReply> Admit(rpc::HttpRequest& request) override;
  rpc::HttpReply Answer(const rpc::HttpRequest& request, rpc::HttpPeer& peer) override;
  rpc::HttpReply Refuse(rpc::HttpStatus status) override;

  // Tells all calls to stop and ends all streams that wait for news. New requests get 503.
  void Stop();
  // Ends what is still being answered, without its answer.
  void Abandon();

 private:
  // One POST with a request.
  struct Exchange {
    std::shared_ptr<Mailbox> mailbox;
    std::shared_ptr<Connection> own;  // of the stateless era; else null
    SessionTable::Hold session;       // of the other
    std::shared_ptr<EventLog> log;    // of a session whose client can come back for events
    std::uint64_t seen = 0;           // by the client, of the log
    std::string new_session;          // the id to tell, after initialize
    bool accepts_json = true;
    bool accepts_events = true;
    bool quiet = false;
  };
  // Known to Stop() and Abandon() as long as it exists. Null: no descriptors left.
  std::shared_ptr<Exchange> Begin(const rpc::HttpRequest& request,
                                  std::shared_ptr<Connection> own = nullptr);
  // A stream that waits for news may be opened. End of it: with the exchange.
  bool TakeQuietStream(Exchange& exchange);

  std::optional<rpc::HttpReply> AdmitPost(const rpc::HttpRequest& request) const;
  rpc::HttpReply Post(const rpc::HttpRequest& request, rpc::HttpPeer& peer);
  rpc::HttpReply PostStateless(const rpc::HttpRequest& request, rpc::Message message,
                               rpc::HttpPeer& peer);
  rpc::HttpReply PostInitialize(const rpc::HttpRequest& request, rpc::Message message,
                                rpc::HttpPeer& peer);
  using Accept = std::function<void(Connection&, const std::shared_ptr<Mailbox>&)>;
  // `accept` hands the message over; `answered`: it is no mere notification.
  rpc::HttpReply PostInSession(const rpc::HttpRequest& request, bool answered, const Accept& accept,
                               rpc::HttpPeer& peer);
  rpc::HttpReply Get(const rpc::HttpRequest& request, rpc::HttpPeer& peer);
  rpc::HttpReply Delete(const rpc::HttpRequest& request);
  rpc::HttpReply Metadata() const;
  // The session that a request names, or the refusal.
  tl::expected<SessionTable::Hold, rpc::HttpReply> FindSession(const rpc::HttpRequest& request);

  rpc::HttpReply Resume(const std::shared_ptr<Exchange>& exchange, std::uint64_t seen,
                        rpc::HttpPeer& peer);
  rpc::HttpReply Await(const std::shared_ptr<Exchange>& exchange, rpc::HttpPeer& peer);
  static rpc::HttpReply Single(const Exchange& exchange, const Json& answer);
  rpc::HttpReply Stream(const std::shared_ptr<Exchange>& exchange, Mailbox::Mail first,
                        rpc::HttpPeer& peer);
  // Until the answer, or the end without one. False: the client is gone.
  static bool Pump(const Exchange& exchange, Mailbox::Mail mail, rpc::HttpPeer& peer,
                   rpc::HttpStream& stream);
  // The same through the exchange's log.
  static bool PumpLogged(const Exchange& exchange, rpc::HttpPeer& peer, rpc::HttpStream& stream);
  // The client is gone.
  static void Abort(const Exchange& exchange);
  std::optional<rpc::HttpReply> Gate(rpc::HttpRequest& request) const;
  void AddCors(const rpc::HttpRequest& request, rpc::HttpReply& reply) const;

  Server& server_;
  const HttpEndpointOptions options_;
  SessionTable sessions_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> quiet_streams_ = 0;

  std::mutex mutex_;
  std::set<std::shared_ptr<Exchange>> exchanges_;  // being answered
};

}  // namespace jarvis::mcp
