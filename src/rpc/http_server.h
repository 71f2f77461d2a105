// An HTTP/1.1 server: one thread for each connection, a bounded number of them, and nothing that a
// client can hold for longer than a limit says.
//
// A full server makes room by closing the connection that has been idle longest; if none is idle
// the newcomer is answered 503 with Retry-After. A request that is refused before its body was read
// ends its connection, so the body can never be taken for a request.
//
// Threads: Run() on one; Stop() and WaitClosed() from any. The handler is called from many.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "rpc/http_message.h"
#include "rpc/http_socket.h"

namespace jarvis::rpc {

struct HttpLimits {
  std::size_t connections = 512;
  HttpHeadLimits head;
  std::size_t body_bytes = std::size_t{4} << 20;   // as counted on the wire
  std::chrono::milliseconds request_time{30'000};  // from the first byte to the last of a request
  std::chrono::milliseconds idle_time{60'000};     // between requests
  std::chrono::milliseconds write_stall{10'000};   // without a byte taken by the client
};

struct HttpAddress {
  std::string host;  // a numeric address, or localhost
  int port = 0;      // 0: any free one
  bool is_v6 = false;
  bool is_loopback = false;
};
// "127.0.0.1:8765", "[::1]:8765", "localhost:8765".
Result<HttpAddress> ParseHttpAddress(const std::string& text);

class HttpHandler {
 public:
  HttpHandler() = default;
  HttpHandler(const HttpHandler&) = delete;
  HttpHandler& operator=(const HttpHandler&) = delete;
  virtual ~HttpHandler() = default;

  // Before the body is read; an answer here refuses the request. May set request.principal.
  virtual std::optional<HttpReply> Admit(HttpRequest& request) = 0;
  // May wait for as long as the peer is there; see HttpPeer.
  virtual HttpReply Answer(const HttpRequest& request, HttpPeer& peer) = 0;
  // The answer when reading failed: 400, 408, 411, 413, 414, 431, 501.
  virtual HttpReply Refuse(HttpStatus status) = 0;
};

class HttpServer {
 public:
  // Binds and listens; connections wait until Run(). An error says what is wrong with the address.
  static Result<std::unique_ptr<HttpServer>> Listen(const HttpAddress& address,
                                                    const HttpLimits& limits);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Waits for the connections; see WaitClosed() for one that does not end. REQUIRES: Run() is over.
  ~HttpServer();

  int port() const { return port_; }
  // Serves until Stop().
  void Run(HttpHandler& handler);
  // No new connections or requests; those that are being answered are answered.
  void Stop();
  // Are all connections over? Waits for it at most this long.
  bool WaitClosed(std::chrono::milliseconds patience);

 private:
  struct Connection {
    std::list<std::thread> thread;  // one, in the form in which over_ takes it
    std::unique_ptr<HttpSocket> socket;
    std::uint64_t id = 0;
    std::string address;   // as of a request
    bool reading = true;   // between requests or in one
    bool idle = false;     // between requests
    bool in_head = false;  // of a request that nobody has admitted yet
    HttpClock::time_point since = HttpClock::now();
  };
  struct Refused {
    FileDescriptor fd;
    HttpClock::time_point until;
  };

  HttpServer(FileDescriptor listener, FileDescriptor wake, int port, const HttpLimits& limits);
  void Accept(HttpHandler& handler);
  bool MakeRoom();  // REQUIRES: mutex_ held
  void Turn(FileDescriptor fd) noexcept;
  void CloseRefused();
  void Serve(Connection& connection, HttpHandler& handler);
  bool ServeOne(Connection& connection, HttpHandler& handler, class HttpWriter& writer);
  // False: the server is stopping or wants the connection's place.
  bool Note(Connection& connection, bool reading, bool idle, bool in_head = false);
  void Reap();

  const FileDescriptor listener_;
  const FileDescriptor wake_;  // readable: stopping, or a connection is over
  const int port_;
  const HttpLimits limits_;

  std::mutex mutex_;
  std::condition_variable closed_;
  bool stopping_ = false;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, Connection> open_;
  std::list<std::thread> over_;  // to be joined
  std::list<Refused> refused_;   // used by Run() only
};

}  // namespace jarvis::rpc
