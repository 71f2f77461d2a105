// Any bytes as an HTTP request: what is read does not depend on how the network cut it.
#include <cstdint>
#include <string>
#include <utility>

#include "fuzz/require.h"
#include "rpc/http_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

struct Decoded {
  int status = 0;  // 0: no refusal
  bool done = false;
  std::string body;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded Decode(std::string_view wire, std::size_t piece) {
  rpc::ChunkDecoder decoder(512);
  Decoded decoded;
  std::string input;
  while (!wire.empty() && !decoded.done) {
    input += wire.substr(0, piece);
    wire.remove_prefix(std::min(piece, wire.size()));
    const auto state = decoder.Feed(input, decoded.body);
    if (!state) {
      decoded.status = state.error();
      break;
    }
    decoded.done = *state == rpc::ChunkDecoder::State::kDone;
  }
  // What came before a refusal is thrown away with the request.
  if (decoded.status != 0) decoded.body.clear();
  return decoded;
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jarvis;
  const std::string text(data, data + size);
  const std::size_t end = text.find("\r\n\r\n");
  const auto head = rpc::ParseHttpHead(text.substr(0, end));
  if (head) {
    testing::Require(!head->method.empty() && !head->path.empty(), "a request has both");
    for (const rpc::HttpHeader& header : head->headers) {
      testing::Require(header.name.find_first_of(" \t\r\n:") == std::string::npos,
                       "a name's bytes");
      testing::Require(header.value.find_first_of("\r\n") == std::string::npos,
                       "a value is a line");
      testing::Require(head->Find(header.name) != nullptr, "what is there is found");
    }
    const auto framing = rpc::ReadHttpFraming(*head);
    if (framing && framing->chunked) {
      testing::Require(head->Count("content-length") == 0, "never both lengths");
    }
    static_cast<void>(rpc::WantsClose(*head));
  }
  const std::string_view wire =
      end == std::string::npos ? std::string_view(text) : std::string_view(text).substr(end + 4);
  const Decoded whole = Decode(wire, std::max<std::size_t>(wire.size(), 1));
  const Decoded bytes = Decode(wire, 1);
  testing::Require(whole.done == bytes.done, "done, however it was cut");
  testing::Require((whole.status == 0) == (bytes.status == 0), "refused, however it was cut");
  if (whole.done) testing::Require(whole.body == bytes.body, "the same body");
  return 0;
}
