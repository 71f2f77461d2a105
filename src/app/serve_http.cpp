#include "app/serve_http.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/flags.h"
#include "base/check.h"
#include "mcp/http_endpoint.h"
#include "rpc/http_access.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {
namespace {

using std::chrono::milliseconds;

// After a signal. Together they are well below the two seconds that supervisors like to wait.
constexpr milliseconds kStopPatience(700);     // for calls that were told to stop
constexpr milliseconds kAbandonPatience(500);  // for streams that were cut

// `text`: the flag as the help has it.
Flag NumberOf(std::string_view text, std::uint64_t min, std::uint64_t max, std::uint64_t now,
              std::function<void(std::uint64_t)> set) {
  return {{text.substr(0, text.find(' '))},
          WholeNumber{min, max, std::move(set)},
          fmt::format("  {} (default {})\n", text, now)};
}

Flag TimeOf(std::string_view text, std::uint64_t max, milliseconds* time) {
  const auto now = static_cast<std::uint64_t>(time->count()) / 1000;
  return NumberOf(text, 1, max, now,
                  [time](std::uint64_t value) { *time = std::chrono::seconds(value); });
}

std::vector<Flag> FlagsOfHttp(HttpFlags* flags, bool* has_address) {
  rpc::HttpLimits& limits = flags->limits;
  const SetValue address = [=](std::string_view, std::string_view value) -> Status {
    JV_ASSIGN(flags->address, rpc::ParseHttpAddress(std::string(value)));
    *has_address = true;
    return {};
  };
  return {
      {{"--http"},
       address,
       "  --http HOST:PORT\n"
       "      Where to listen: a numeric address or localhost; port 0 takes any free one. Any "
       "other\n"
       "      address than loopback needs a token.\n"},
      {{"--token-file"},
       &flags->token_file,
       "  --token-file FILE\n"
       "      Clients must send one of these tokens (Authorization: Bearer TOKEN). Lines of\n"
       "      TOKEN [NAME], readable by the owner alone.\n"},
      {{"--allow-origin"},
       Repeated{&flags->origins},
       "  --allow-origin ORIGIN\n"
       "      Let pages of this origin use the server from a browser; repeat for more.\n"},
      {{"--allow-host"},
       Repeated{&flags->hosts},
       "  --allow-host HOST[:PORT]\n"
       "      A name that clients may use for this server, besides loopback's; repeat for more.\n"},
      {{"--authorization-server"},
       &flags->authorization_server,
       "  --authorization-server URL\n"
       "      Publish where tokens come from (RFC 9728).\n"},
      {{"--resource-url"},
       &flags->resource_url,
       "  --resource-url URL\n"
       "      This server's URL as clients know it, behind a proxy.\n"},
      NumberOf("--max-connections N", 2, 4096, limits.connections,
               [&limits](std::uint64_t value) { limits.connections = value; }),
      NumberOf("--max-body-bytes N", 1024, std::uint64_t{64} << 20, limits.body_bytes,
               [&limits](std::uint64_t value) { limits.body_bytes = value; }),
      TimeOf("--request-timeout SECONDS   for a request to arrive", 3600, &limits.request_time),
      TimeOf("--idle-timeout SECONDS      between requests of a connection", 3600,
             &limits.idle_time),
      TimeOf("--write-timeout SECONDS     without the client reading", 3600, &limits.write_stall),
      TimeOf("--session-timeout SECONDS   until an unused session ends", 1'000'000,
             &flags->session_time),
      {{"--help", "-h"}, &flags->help},
  };
}

// These go into headers and JSON as they are.
bool IsUrl(const std::string& text) {
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return c <= 0x20 || c >= 0x7F || c == '"' || c == '\\' || c == '#';
  });
  return plain && (text.starts_with("https://") || text.starts_with("http://"));
}

bool IsOrigin(const std::string& text) {
  return IsUrl(text) && text.find('/', text.find("://") + 3) == std::string::npos;
}

Status Check(const HttpFlags& flags, bool has_address) {
  if (!has_address) return Fail(ErrorCode::kBadValue, "serve: these flags need --http HOST:PORT");
  for (const std::string& origin : flags.origins) {
    if (!IsOrigin(origin)) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("--allow-origin: expected an origin such as https://example.com, "
                              "received {}",
                              origin));
    }
  }
  for (const std::string* url : {&flags.authorization_server, &flags.resource_url}) {
    if (!url->empty() && !IsUrl(*url)) {
      return Fail(ErrorCode::kBadValue, fmt::format("expected a URL, received {}", *url));
    }
  }
  if (flags.token_file.empty() && !flags.address.is_loopback) {
    return Fail(ErrorCode::kBadValue,
                "an address that other machines reach needs a token: add --token-file FILE, or "
                "serve on 127.0.0.1");
  }
  if (flags.token_file.empty() && !flags.authorization_server.empty()) {
    return Fail(ErrorCode::kBadValue, "--authorization-server needs --token-file FILE");
  }
  return {};
}

std::string Host(const rpc::HttpAddress& address) {
  return address.is_v6 ? "[" + address.host + "]" : address.host;
}

Result<mcp::HttpEndpointOptions> EndpointOptions(const HttpFlags& flags, int port) {
  mcp::HttpEndpointOptions options;
  options.access.port = port;
  options.access.hosts = flags.hosts;
  options.access.hosts.push_back(fmt::format("{}:{}", Host(flags.address), port));
  options.access.origins = flags.origins;
  if (!flags.token_file.empty()) {
    JV_ASSIGN(options.access.tokens, rpc::ReadTokenFile(flags.token_file));
  }
  options.sessions.idle_time = flags.session_time;
  options.quiet_streams_max = flags.limits.connections / 2;
  options.authorization_server = flags.authorization_server;
  options.resource = flags.resource_url.empty() ? fmt::format("http://{}:{}{}", Host(flags.address),
                                                              port, mcp::HttpEndpoint::kPath)
                                                : flags.resource_url;
  if (!flags.authorization_server.empty()) {
    const std::string base =
        options.resource.substr(0, options.resource.find('/', options.resource.find("://") + 3));
    options.access.challenge =
        fmt::format(" resource_metadata=\"{}{}\"", base, mcp::HttpEndpoint::kMetadataPath);
  }
  return options;
}

}  // namespace

Result<HttpFlags> ParseHttpFlags(Arguments arguments) {
  HttpFlags flags;
  bool has_address = false;
  FlagRules rules;
  rules.no_value = FlagRules::NoValue::kEmpty;
  rules.other = [](std::string_view word, bool) -> Status {
    if (!word.starts_with("--")) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("serve takes no arguments but flags, received {}", word));
    }
    return Fail(ErrorCode::kBadValue,
                fmt::format("serve: unknown argument {}", word.substr(0, word.find('='))));
  };
  JV_TRY(ParseFlags(FlagsOfHttp(&flags, &has_address), arguments, rules));
  if (flags.help) return flags;
  JV_TRY(Check(flags, has_address));
  return flags;
}

std::string HttpFlagsHelp() {
  HttpFlags flags;
  bool has_address = false;
  return "serve: answer MCP clients.\n\n"
         "Usage: jarvis serve                       one client, on stdin and stdout\n"
         "       jarvis serve --http HOST:PORT ...  any number, at http://HOST:PORT/mcp\n\n" +
         FlagsHelp(FlagsOfHttp(&flags, &has_address));
}

int ServeHttp(const HttpFlags& flags, mcp::Catalog catalog, mcp::ServerInfo info,
              const mcp::ServerOptions& server_options) {
  JV_CHECK(rpc::SignalWatcher::Blocked());
  const auto fail = [](const Error& error) {
    PrintError(error.message);
    return kExitFailure;
  };
  auto http = rpc::HttpServer::Listen(flags.address, flags.limits);
  if (!http) return fail(http.error());
  auto options = EndpointOptions(flags, (*http)->port());
  if (!options) return fail(options.error());
  mcp::Server server(std::move(catalog), std::move(info), server_options);
  mcp::HttpEndpoint endpoint(server, std::move(*options));
  const auto watcher = rpc::SignalWatcher::Start([&](int) { (*http)->Stop(); });
  if (!watcher) return fail(watcher.error());
  PrintError(fmt::format("listening on http://{}:{}{}", Host(flags.address), (*http)->port(),
                         mcp::HttpEndpoint::kPath));
  if (flags.token_file.empty()) {
    PrintError("no token is asked for: every user of this machine can use the server");
  }
  (*http)->Run(endpoint);
  endpoint.Stop();
  bool closed = (*http)->WaitClosed(kStopPatience);
  if (!closed) {
    endpoint.Abandon();
    closed = (*http)->WaitClosed(kAbandonPatience);
  }
  // A call that does not stop keeps a thread; there is nothing left to save.
  if (!closed || !server.WaitIdle(kAbandonPatience)) ::_exit(kExitOk);
  return kExitOk;
}

}  // namespace jarvis::app
