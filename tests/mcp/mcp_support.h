// A client without a wire: sends lines to a Connection and keeps what comes back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "json/json.h"
#include "mcp/connection.h"
#include "mcp/server.h"
#include "mcp/tool.h"
#include "rpc/transport.h"

namespace jarvis::mcp {

// A definition with these properties (JSON text) and no required ones.
std::string DefinitionText(const std::string& name, const std::string& properties = "{}");

// What the tests call: echo, fail, throws, no_memory, and `gate`, which waits until it is opened
// or told to stop, reporting progress.
class Gate {
 public:
  void Open();
  // Until so many calls are inside.
  bool WaitForCalls(int calls);
  ToolReply Pass(const Json& arguments, Job& job);
  int stopped();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int inside_ = 0;
  int stopped_ = 0;
};
ToolSet TestTools(Gate& gate);
ServerInfo TestInfo();

class MemoryClient : public rpc::Channel {
 public:
  explicit MemoryClient(Server& server) : connection(server.Connect(*this)) {}
  ~MemoryClient() override { connection->Detach(); }

  void Send(const Json& message) override;
  // Sends one message; the calls it starts need not be done.
  void Put(const Json& message) { connection->OnMessage(DumpLine(message)); }
  // Sends, waits until every call is answered and takes what has come.
  std::vector<Json> Ask(const std::string& line);
  std::vector<Json> Ask(const Json& message) { return Ask(DumpLine(message)); }
  std::vector<Json> Take();
  // True: a message with this member came, or had come.
  bool WaitFor(const std::string& member, const Json& value);

  std::shared_ptr<Connection> connection;

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Json> received_;
};

Json Request(const Json& id, const std::string& method, Json params = Json::object());
Json Notification(const std::string& method, Json params = Json::object());
// The same with the envelope of 2026-07-28.
Json Stateless(const Json& id, const std::string& method, Json params = Json::object());
Json CallParams(const std::string& tool, Json arguments = Json::object());

}  // namespace jarvis::mcp
