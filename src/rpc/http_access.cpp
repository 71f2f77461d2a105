#include "rpc/http_access.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/text.h"

namespace jarvis::rpc {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr std::array<std::string_view, 3> kLoopbackNames = {"localhost", "127.0.0.1", "[::1]"};

struct HostPort {
  std::string host;
  std::optional<int> port;
};

// "name", "name:1", "[::1]:1".
std::optional<HostPort> SplitHost(std::string_view text) {
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::size_t colon = text.find(':', bracket);
  HostPort split{LowerAscii(text.substr(0, colon)), std::nullopt};
  constexpr std::string_view kOdd = " \t/@,?#";
  if (split.host.empty() || split.host.find_first_of(kOdd) != std::string::npos) {
    return std::nullopt;
  }
  if (colon == std::string_view::npos) return split;
  const std::string_view digits = text.substr(colon + 1);
  int port = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || port < 0 ||
      port > 65535) {
    return std::nullopt;
  }
  split.port = port;
  return split;
}

bool IsLoopbackName(const std::string& host) {
  return std::find(kLoopbackNames.begin(), kLoopbackNames.end(), host) != kLoopbackNames.end();
}

bool IsExtraHost(const HttpAccess& access, const HostPort& host) {
  return std::any_of(access.hosts.begin(), access.hosts.end(), [&](const std::string& allowed) {
    const auto wanted = SplitHost(allowed);
    return wanted && wanted->host == host.host && (!wanted->port || wanted->port == host.port);
  });
}

bool IsAllowedHost(const HttpAccess& access, const HostPort& host) {
  if (IsLoopbackName(host.host)) return !host.port || *host.port == access.port;
  return IsExtraHost(access, host);
}

// Pages of our own hosts on any port, and those that were named.
bool IsAllowedOrigin(const HttpAccess& access, const std::string& origin) {
  if (std::find(access.origins.begin(), access.origins.end(), origin) != access.origins.end()) {
    return true;
  }
  const std::string lowered = LowerAscii(origin);
  std::string_view rest = lowered;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else {
    return false;
  }
  const auto host = SplitHost(rest);
  return host && (IsLoopbackName(host->host) || IsExtraHost(access, *host));
}

bool IsTokenText(std::string_view text) {
  return text.size() >= kTokenBytesMin && text.size() <= kTokenBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// Looks at every byte of both, wherever they differ.
bool SameSecret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < kTokenBytesMax; ++i) {
    const auto a = static_cast<unsigned char>(i < given.size() ? given[i] : 0);
    const auto b = static_cast<unsigned char>(i < secret.size() ? secret[i] : 0);
    difference |= static_cast<unsigned>(a ^ b);
  }
  return difference == 0;
}

Result<std::string> ReadPrivateFile(const std::string& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kIo, "cannot read the token file \"" + path + "\"");
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Fail(ErrorCode::kNotAllowed, "the token file \"" + path +
                                            "\" can be used by others than its owner; run: chmod "
                                            "600 " +
                                            path);
  }
  std::string text(kFileBytesMax, '\0');
  const ssize_t got = ::read(fd.get(), text.data(), text.size());
  if (got < 0 || static_cast<std::size_t>(got) == text.size()) {
    return Fail(ErrorCode::kIo, "cannot read the token file \"" + path + "\"");
  }
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace

Result<std::vector<HttpToken>> ReadTokenFile(const std::string& path) {
  JV_ASSIGN(const std::string text, ReadPrivateFile(path));
  std::vector<HttpToken> tokens;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t blank = line.find(' ');
    const std::string_view secret = line.substr(0, blank);
    if (!IsTokenText(secret)) {
      return Fail(ErrorCode::kBadValue,
                  "line " + std::to_string(number) + " of the token file \"" + path +
                      "\": a token has " + std::to_string(kTokenBytesMin) + " to " +
                      std::to_string(kTokenBytesMax) + " visible ASCII characters");
    }
    // Without a name, each token is somebody else.
    std::string name = blank == std::string_view::npos ? "line " + std::to_string(number)
                                                       : std::string(line.substr(blank + 1));
    tokens.push_back({std::string(secret), std::move(name)});
  }
  if (tokens.empty()) {
    return Fail(ErrorCode::kBadValue, "the token file \"" + path + "\" has no token");
  }
  return tokens;
}

HttpStatus CheckHostAndOrigin(const HttpAccess& access, const HttpRequest& request) {
  const std::string* host = request.Find("host");
  if (request.Count("host") > 1 || (host == nullptr && request.minor_version > 0)) return 400;
  if (host != nullptr) {
    const auto split = SplitHost(*host);
    if (!split) return 400;
    if (!IsAllowedHost(access, *split)) return 403;
  }
  if (request.Count("origin") > 1) return 403;
  const std::string* origin = request.Find("origin");
  if (origin != nullptr && !IsAllowedOrigin(access, *origin)) return 403;
  return 0;
}

std::optional<std::string> FindPrincipal(const HttpAccess& access, const HttpRequest& request) {
  const std::string* header = request.Find("authorization");
  if (header == nullptr || request.Count("authorization") > 1) return std::nullopt;
  const std::size_t blank = header->find(' ');
  const std::size_t first = header->find_first_not_of(' ', blank);
  if (first == std::string::npos || LowerAscii(header->substr(0, blank)) != "bearer") {
    return std::nullopt;
  }
  const std::string_view given = std::string_view(*header).substr(first);
  const HttpToken* found = nullptr;
  for (const HttpToken& token : access.tokens) {
    if (given.size() <= kTokenBytesMax && SameSecret(given, token.secret)) found = &token;
  }
  if (found == nullptr) return std::nullopt;
  return found->name;
}

}  // namespace jarvis::rpc
