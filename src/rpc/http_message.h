// HTTP/1.1 requests, read strictly: what two programs could read in two ways is refused, because
// that is how a request hides inside another. Pure functions and values; nothing here does I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace jarvis::rpc {

struct HttpHeader {
  std::string name;  // in lower case in requests
  std::string value;
};

struct HttpRequest {
  std::string method;
  std::string path;  // as sent, without the query; nothing is decoded
  int minor_version = 1;
  std::vector<HttpHeader> headers;
  std::string body;
  std::string principal;  // whose token it carried; set by the handler's Admit
  std::string address;    // of who sent it; of IPv6 the network, as one host has many of these
  std::uint64_t connection = 0;  // over which it came; no two of a server have one number

  // The first value; null: not sent. `name` in lower case.
  const std::string* Find(std::string_view name) const;
  std::size_t Count(std::string_view name) const;
  // Does a comma-separated header hold this word? Case does not matter.
  bool Lists(std::string_view name, std::string_view word) const;
};

// A connection while its request is answered.
class HttpPeer {
 public:
  enum class Event { kWoken, kGone, kTime };

  HttpPeer() = default;
  HttpPeer(const HttpPeer&) = delete;
  HttpPeer& operator=(const HttpPeer&) = delete;
  virtual ~HttpPeer() = default;

  // Until the descriptor can be read, the client has closed its side, or the time is over. Costs
  // nothing while it waits.
  virtual Event Wait(int wake_fd, int timeout_ms) = 0;
};

// The body of an answer while it is made.
class HttpStream {
 public:
  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;

  // On the wire when it returns. False: the client is gone or does not read.
  virtual bool Write(std::string_view bytes) = 0;
};

struct HttpReply {
  int status = 200;
  std::vector<HttpHeader> headers;
  std::string content_type;
  std::string body;
  // Instead of the body: writes it piece by piece, on the connection's thread. False: the stream
  // broke; the connection is closed without the mark of a complete body.
  std::function<bool(HttpStream&)> stream;
  bool close = false;  // the connection, after this
};

// Limits on what is read before a request is known.
struct HttpHeadLimits {
  std::size_t bytes = std::size_t{64} << 10;
  std::size_t line_bytes = std::size_t{8} << 10;
  std::size_t lines = 100;
};

// The status with which to refuse.
using HttpStatus = int;

// `block`: from the request line up to and without the empty line, lines ending in CR LF.
tl::expected<HttpRequest, HttpStatus> ParseHttpHead(std::string_view block,
                                                    const HttpHeadLimits& limits = {});

struct HttpFraming {
  bool chunked = false;
  std::size_t length = 0;  // when not chunked
};
// How the body is delimited. Refuses both lengths at once, repeated or unreadable ones, codings
// other than chunked, and a POST without any.
tl::expected<HttpFraming, HttpStatus> ReadHttpFraming(const HttpRequest& head);

// Does the connection end after this request?
bool WantsClose(const HttpRequest& head);

// Takes a chunked body apart. Every byte of the wire counts towards the limit, so that a body of
// many small chunks is no cheaper way in.
class ChunkDecoder {
 public:
  explicit ChunkDecoder(std::size_t wire_bytes_max) : left_(wire_bytes_max) {}

  enum class State { kMore, kDone };
  // Takes bytes from the front of `input` and adds what they carry to `body`.
  tl::expected<State, HttpStatus> Feed(std::string& input, std::string& body);

 private:
  enum class Part { kSize, kData, kDataEnd, kTrailer };
  tl::expected<std::optional<std::string>, HttpStatus> TakeLine(std::string_view input,
                                                                std::size_t& at) const;

  Part part_ = Part::kSize;
  std::size_t chunk_left_ = 0;
  std::size_t left_;  // of the limit
};

}  // namespace jarvis::rpc
