// Any line as a JSON-RPC message, and the answers that repeat parts of it.
#include <cstdint>
#include <string>
#include <utility>

#include "fuzz/require.h"
#include "json/json.h"
#include "rpc/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using jarvis::testing::Require;

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using jarvis::DumpLine, jarvis::Excerpt, jarvis::ParseJson;
  namespace rpc = jarvis::rpc;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = ParseJson(text);
  if (!parsed) {
    Require(!parsed.error().message.empty());
    return 0;
  }
  const std::string line = DumpLine(*parsed);
  Require(line.find('\n') == std::string::npos);
  const auto again = ParseJson(line);
  Require(again.has_value() && DumpLine(*again) == line);
  Require(Excerpt(*parsed).size() <= 4 * 43);
  const rpc::Message message = rpc::Classify(*parsed);
  Require(message.params.is_object());
  Require(message.id.is_null() || message.id.is_string() || message.id.is_number_integer());
  if (message.kind == rpc::MessageKind::kRequest) Require(!rpc::IdKey(message.id).empty());
  if (message.kind == rpc::MessageKind::kInvalid) {
    const std::string answer = DumpLine(rpc::MakeError(message.id, message.error));
    Require(answer.size() < rpc::kIdBytesMax * 6 + 2000);
  }
  return 0;
}
