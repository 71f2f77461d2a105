// Any lines from a client of the stdio transport, to a server with every kind of tool: whatever
// they are, each answer is a message, and the connection goes on.
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "conformance/fixtures.h"
#include "fuzz/require.h"
#include "mcp/connection.h"
#include "mcp/http_headers.h"
#include "mcp/server.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

using testing::Require;

class Client : public rpc::Channel {
 public:
  void Send(const Json& message) override {
    const std::string line = DumpLine(message);
    Require(line.find('\n') == std::string::npos);
    const Json& first = message.is_array() ? message.front() : message;
    Require(first.at("jsonrpc") == "2.0");
    const std::lock_guard lock(mutex_);
    if (first.value("id", Json()) == "the last one") answered_ = true;
  }
  bool answered() {
    const std::lock_guard lock(mutex_);
    return answered_;
  }

 private:
  std::mutex mutex_;
  bool answered_ = false;
};

mcp::Catalog Fixtures() {
  mcp::Catalog catalog;
  AddConformanceFixtures(catalog);
  return catalog;
}

void Run(std::string_view lines) {
  // One server for all inputs, as in life; each input is a client.
  static mcp::Server server(Fixtures(), {"fuzz", "Fuzz", "1", ""});
  Client client;
  const auto connection = server.Connect(client);
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (!line.empty()) connection->OnMessage(line);
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  connection->StopCalls();
  Require(connection->WaitIdle(std::chrono::seconds(20)));
  connection->OnMessage(R"({"jsonrpc":"2.0","id":"the last one","method":"ping"})");
  connection->Detach();
  Require(client.answered());
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  jarvis::Run(text);
  static_cast<void>(jarvis::mcp::DecodeHeaderValue(text));
  return 0;
}
