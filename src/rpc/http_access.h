// Who may talk to an HTTP server: which names it answers to, which web pages may use it, and whose
// token opens it. A browser on this machine reaches 127.0.0.1 for any page it shows; without these
// checks a page could rebind its own name to that address and use the server as the page's own.
//
// Threads: constant once made.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rpc/http_message.h"

namespace jarvis::rpc {

struct HttpToken {
  std::string secret;
  std::string name;  // of whoever has it
};

inline constexpr std::size_t kTokenBytesMin = 16;
inline constexpr std::size_t kTokenBytesMax = 256;

// A file of lines "TOKEN [NAME]"; blank lines and those that start with # are skipped. Refuses
// files that others than the owner can read, short tokens and those that no header can carry.
Result<std::vector<HttpToken>> ReadTokenFile(const std::string& path);

struct HttpAccess {
  int port = 0;                      // ours
  std::vector<std::string> hosts;    // besides the names of loopback: NAME or NAME:PORT
  std::vector<std::string> origins;  // besides pages of those hosts; exactly as browsers send
  std::vector<HttpToken> tokens;     // empty: no token is asked for
  std::string challenge;             // of WWW-Authenticate, after "Bearer"
};

// 0, or the status with which to refuse: 400 without one readable Host, 403 for a Host or Origin
// that is not allowed.
HttpStatus CheckHostAndOrigin(const HttpAccess& access, const HttpRequest& request);

// The name of the token that the request carries in Authorization; nothing: none, or none of ours.
// Takes the same time for every wrong token.
std::optional<std::string> FindPrincipal(const HttpAccess& access, const HttpRequest& request);

}  // namespace jarvis::rpc
