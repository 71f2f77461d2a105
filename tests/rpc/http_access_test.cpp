#include "rpc/http_access.h"

#include <string>

#include <doctest/doctest.h>

namespace jarvis::rpc {
namespace {

HttpRequest With(const std::string& host, const std::string& origin = "") {
  HttpRequest request;
  request.headers.push_back({"host", host});
  if (!origin.empty()) request.headers.push_back({"origin", origin});
  return request;
}

HttpAccess Access() {
  HttpAccess access;
  access.port = 80;
  access.hosts = {"gpu.example", "two.example:81"};
  access.origins = {"https://tool.example"};
  return access;
}

}  // namespace

TEST_CASE("only our own names are answered to") {
  const HttpAccess access = Access();
  for (const char* host :
       {"localhost", "LocalHost:80", "127.0.0.1", "[::1]:80", "gpu.example:9", "two.example:81"}) {
    CAPTURE(host);
    CHECK(CheckHostAndOrigin(access, With(host)) == 0);
  }
  for (const char* host : {"localhost:81", "two.example", "evil", "127.0.0.1.evil", "localhost."}) {
    CAPTURE(host);
    CHECK(CheckHostAndOrigin(access, With(host)) == 403);
  }
  for (const char* host : {"", "a b", "localhost:", "localhost:x", "[::1", "a@localhost", "a,b"}) {
    CAPTURE(host);
    CHECK(CheckHostAndOrigin(access, With(host)) == 400);
  }
  CHECK(CheckHostAndOrigin(access, HttpRequest()) == 400);
}

TEST_CASE("only pages of our own names, or named ones, may ask") {
  const HttpAccess access = Access();
  for (const char* origin : {"http://localhost:5", "https://gpu.example", "https://tool.example"}) {
    CAPTURE(origin);
    CHECK(CheckHostAndOrigin(access, With("localhost", origin)) == 0);
  }
  for (const char* origin : {"null", "http://evil", "https://tool.example:1", "ftp://localhost",
                             "http://localhost.evil", "http://localhost/x", "localhost"}) {
    CAPTURE(origin);
    CHECK(CheckHostAndOrigin(access, With("localhost", origin)) == 403);
  }
}

TEST_CASE("a token opens for whoever has it") {
  HttpAccess access;
  access.tokens = {{"0123456789abcdef", "alice"}, {"0123456789abcdeg", "bob"}};
  const auto ask = [&](const std::string& value) {
    HttpRequest request;
    request.headers.push_back({"authorization", value});
    return FindPrincipal(access, request);
  };
  CHECK(ask("Bearer 0123456789abcdef") == "alice");
  CHECK(ask("bearer   0123456789abcdeg") == "bob");
  for (const char* value : {"Bearer 0123456789abcde", "Bearer 0123456789abcdefg", "Bearer", "",
                            "Bearer ", "Basic 0123456789abcdef", "0123456789abcdef"}) {
    CAPTURE(value);
    CHECK(!ask(value));
  }
  CHECK(!FindPrincipal(access, HttpRequest()));
}

}  // namespace jarvis::rpc
