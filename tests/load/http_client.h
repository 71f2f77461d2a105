// The client's side of HTTP, just enough for the load programs: a socket, the bytes of a request
// and the replies that come back. Not a library: it trusts the server's framing and checks the
// rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace jarvis::load {

// To the loopback address. Throws std::runtime_error if nobody listens.
FileDescriptor ConnectTo(int port);

// A POST to /mcp; `lines` are further headers, each with its line end.
std::string PostBytes(int port, std::string_view lines, std::string_view body);

struct Reply {
  int status = 0;
  std::string head;
  std::string body;  // without the framing of chunks

  // The value of a header, named in lower case; empty: not sent.
  std::string Header(std::string_view name) const;
};
// Takes the first reply off the bytes. Empty: it is not complete yet. Throws std::runtime_error on
// what is no reply.
std::optional<Reply> TakeReply(std::string& bytes);

// Blocking; these throw std::runtime_error when the server hangs up.
void SendAll(int fd, std::string_view bytes);
std::string ReceiveUntil(int fd, std::string_view mark);
Reply Ask(int fd, std::string_view request);

}  // namespace jarvis::load
