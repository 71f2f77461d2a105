#include "mcp/http_headers.h"

#include <doctest/doctest.h>

namespace jarvis::mcp {

TEST_CASE("header values are plain or strict base64") {
  CHECK(DecodeHeaderValue("plain %20 text") == "plain %20 text");
  CHECK(DecodeHeaderValue("=?base64?WsO8cmljaA==?=") == "Z\xC3\xBCrich");
  CHECK(DecodeHeaderValue("=?base64?"
                          "?=") == "");
  CHECK(DecodeHeaderValue("=?BASE64?eA==?=") == "=?BASE64?eA==?=");  // no mark of ours
  for (const char* bad : {"=?base64?eA?=", "=?base64?eA=?=", "=?base64?eB==?=", "=?base64?e===?=",
                          "=?base64?e-==?=", "=?base64?eA==eA==?=", "caf\xC3\xA9", "\x7F"}) {
    CAPTURE(bad);
    CHECK(!DecodeHeaderValue(bad));
  }
}

}  // namespace jarvis::mcp
