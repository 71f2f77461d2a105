#include "app/serve_http.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "app/console.h"
#include "app/exit_code.h"
#include "mcp/http_endpoint.h"
#include "rpc/http_access.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {
namespace {

using std::chrono::milliseconds;

// After a signal. Together they are well below the two seconds that supervisors like to wait.
constexpr milliseconds kStopPatience(700);     // for calls that were told to stop
constexpr milliseconds kAbandonPatience(500);  // for streams that were cut

struct NumberFlag {
  std::string_view name;
  std::uint64_t min;
  std::uint64_t max;
  void (*set)(HttpFlags& flags, std::uint64_t value);
};
constexpr NumberFlag kNumberFlags[] = {
    {"--max-connections", 2, 4096,
     [](HttpFlags& flags, std::uint64_t value) { flags.limits.connections = value; }},
    {"--max-body-bytes", 1024, std::uint64_t{64} << 20,
     [](HttpFlags& flags, std::uint64_t value) { flags.limits.body_bytes = value; }},
    {"--request-timeout", 1, 3600,
     [](HttpFlags& flags, std::uint64_t value) {
       flags.limits.request_time = std::chrono::seconds(value);
     }},
    {"--idle-timeout", 1, 3600,
     [](HttpFlags& flags, std::uint64_t value) {
       flags.limits.idle_time = std::chrono::seconds(value);
     }},
    {"--write-timeout", 1, 3600,
     [](HttpFlags& flags, std::uint64_t value) {
       flags.limits.write_stall = std::chrono::seconds(value);
     }},
    {"--session-timeout", 1, 1'000'000,
     [](HttpFlags& flags, std::uint64_t value) {
       flags.session_time = std::chrono::seconds(value);
     }},
};

struct TextFlag {
  std::string_view name;
  std::string HttpFlags::*one;                // or
  std::vector<std::string> HttpFlags::*many;  // may be given several times
};
constexpr TextFlag kTextFlags[] = {
    {"--token-file", &HttpFlags::token_file, nullptr},
    {"--allow-origin", nullptr, &HttpFlags::origins},
    {"--allow-host", nullptr, &HttpFlags::hosts},
    {"--authorization-server", &HttpFlags::authorization_server, nullptr},
    {"--resource-url", &HttpFlags::resource_url, nullptr},
};

Status SetNumber(const NumberFlag& flag, const std::string& text, HttpFlags& flags) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < flag.min ||
      value > flag.max) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{}: expected a number from {} to {}, received {}", flag.name, flag.min,
                            flag.max, text));
  }
  flag.set(flags, value);
  return {};
}

Status SetFlag(std::string_view name, const std::string& value, HttpFlags& flags,
               bool& has_address) {
  if (name == "--http") {
    JV_ASSIGN(flags.address, rpc::ParseHttpAddress(value));
    has_address = true;
    return {};
  }
  for (const NumberFlag& flag : kNumberFlags) {
    if (flag.name == name) return SetNumber(flag, value, flags);
  }
  for (const TextFlag& flag : kTextFlags) {
    if (flag.name != name) continue;
    if (value.empty()) return Fail(ErrorCode::kBadValue, fmt::format("{} needs a value", name));
    if (flag.one != nullptr) {
      flags.*flag.one = value;
    } else {
      (flags.*flag.many).push_back(value);
    }
    return {};
  }
  return Fail(ErrorCode::kBadValue, fmt::format("serve: unknown argument {}", name));
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
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--help" || word == "-h") {
      flags.help = true;
      return flags;
    }
    if (!word.starts_with("--")) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("serve takes no arguments but flags, received {}", word));
    }
    const std::size_t equals = word.find('=');
    std::string value;
    if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    JV_TRY(SetFlag(word.substr(0, equals), value, flags, has_address));
  }
  JV_TRY(Check(flags, has_address));
  return flags;
}

std::string HttpFlagsHelp() {
  const HttpFlags defaults;
  const auto seconds = [](milliseconds time) { return time.count() / 1000; };
  return fmt::format(
      "serve: answer MCP clients.\n\n"
      "Usage: jarvis serve                       one client, on stdin and stdout\n"
      "       jarvis serve --http HOST:PORT ...  any number, at http://HOST:PORT/mcp\n\n"
      "  --http HOST:PORT\n"
      "      Where to listen: a numeric address or localhost; port 0 takes any free one. Any "
      "other\n"
      "      address than loopback needs a token.\n"
      "  --token-file FILE\n"
      "      Clients must send one of these tokens (Authorization: Bearer TOKEN). Lines of\n"
      "      TOKEN [NAME], readable by the owner alone.\n"
      "  --allow-origin ORIGIN\n"
      "      Let pages of this origin use the server from a browser; repeat for more.\n"
      "  --allow-host HOST[:PORT]\n"
      "      A name that clients may use for this server, besides loopback's; repeat for more.\n"
      "  --authorization-server URL\n"
      "      Publish where tokens come from (RFC 9728).\n"
      "  --resource-url URL\n"
      "      This server's URL as clients know it, behind a proxy.\n"
      "  --max-connections N (default {})\n"
      "  --max-body-bytes N (default {})\n"
      "  --request-timeout SECONDS   for a request to arrive (default {})\n"
      "  --idle-timeout SECONDS      between requests of a connection (default {})\n"
      "  --write-timeout SECONDS     without the client reading (default {})\n"
      "  --session-timeout SECONDS   until an unused session ends (default {})\n",
      defaults.limits.connections, defaults.limits.body_bytes,
      seconds(defaults.limits.request_time), seconds(defaults.limits.idle_time),
      seconds(defaults.limits.write_stall), seconds(defaults.session_time));
}

int ServeHttp(const HttpFlags& flags, mcp::Catalog catalog, mcp::ServerInfo info,
              const mcp::ServerOptions& server_options) {
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
