#include "rpc/http_message.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

namespace jarvis::rpc {
namespace {

HttpRequest Head(const std::string& lines) {
  const auto head = ParseHttpHead("POST /mcp?x=1 HTTP/1.1\r\nHost: a" + lines);
  REQUIRE(head);
  return *head;
}

// The whole of a chunked body, arriving in pieces of this many bytes.
tl::expected<std::string, HttpStatus> Decode(const std::string& wire, std::size_t piece,
                                             std::size_t limit = 1000) {
  ChunkDecoder decoder(limit);
  std::string input;
  std::string body;
  for (std::size_t at = 0; at < wire.size(); at += piece) {
    input += wire.substr(at, piece);
    const auto state = decoder.Feed(input, body);
    if (!state) return tl::make_unexpected(state.error());
    if (*state == ChunkDecoder::State::kDone) {
      return body + "|" + input + wire.substr(std::min(wire.size(), at + piece));
    }
  }
  return tl::make_unexpected(0);
}

}  // namespace

TEST_CASE("a head is read as it is, and its names in lower case") {
  const HttpRequest head = Head("\r\nX-Name:  a%20b \r\nConnection: Upgrade, CLOSE\r\nX-Name: 2");
  CHECK(head.method == "POST");
  CHECK(head.path == "/mcp");
  REQUIRE(head.Find("x-name") != nullptr);
  CHECK(*head.Find("x-name") == "a%20b");
  CHECK(head.Count("x-name") == 2);
  CHECK(head.Lists("connection", "close"));
  CHECK(!head.Lists("connection", "clo"));
  CHECK(WantsClose(head));
}

TEST_CASE("what could be read in two ways is refused") {
  for (const char* text :
       {"GET / HTTP/1.1\r\nA : 1", "GET / HTTP/1.1\r\n folded: 1", "GET / HTTP/1.1\r\nA",
        "GET / HTTP/1.1\r\nA: 1\nB: 2", "GET  / HTTP/1.1", "GET http://a/ HTTP/1.1",
        "GET / HTTP/3.0", "", "GET", "GET /\x01 HTTP/1.1", "GET / HTTP/1.1\r\nA: \x7F"}) {
    CAPTURE(text);
    CHECK(!ParseHttpHead(text));
  }
}

TEST_CASE("one length and no more") {
  CHECK(ReadHttpFraming(Head("\r\nContent-Length: 12"))->length == 12);
  CHECK(ReadHttpFraming(Head("\r\nTransfer-Encoding: Chunked"))->chunked);
  CHECK(ReadHttpFraming(Head("")).error() == 411);
  CHECK(ReadHttpFraming(Head("\r\nContent-Length: 1\r\nContent-Length: 1")).error() == 400);
  CHECK(ReadHttpFraming(Head("\r\nContent-Length: 1\r\nTransfer-Encoding: chunked")).error() ==
        400);
  CHECK(ReadHttpFraming(Head("\r\nTransfer-Encoding: gzip, chunked")).error() == 501);
  for (const char* length : {"-1", "+1", "0x1", "1 2", "", "9999999999999999999999"}) {
    CHECK(ReadHttpFraming(Head(std::string("\r\nContent-Length: ") + length)).error() == 400);
  }
}

TEST_CASE("chunks come together however they are cut") {
  const std::string wire = "3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\nnext";
  for (std::size_t piece = 1; piece <= wire.size(); ++piece) {
    CAPTURE(piece);
    const auto body = Decode(wire, piece);
    REQUIRE(body);
    CHECK(*body == "abc0123456789|next");
  }
}

TEST_CASE("chunks are limited by what they cost on the wire") {
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "1\r\nx\r\n";
  CHECK(Decode(many + "0\r\n\r\n", 7, 700));
  CHECK(Decode(many + "0\r\n\r\n", 7, 500).error() == 413);
  CHECK(Decode("ffff\r\n", 100, 500).error() == 413);
  for (const char* bad : {"x\r\n", "\r\n", "-1\r\n", "1\r\nab\r\n", "1111111111111111\r\n"}) {
    CHECK(Decode(bad, 100).error() == 400);
  }
  CHECK(Decode("1;" + std::string(2000, 'a'), 2100, 5000).error() == 400);
}

}  // namespace jarvis::rpc
