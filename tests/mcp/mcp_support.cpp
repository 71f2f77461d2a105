#include "mcp_support.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "mcp/error_reply.h"
#include "mcp/protocol.h"

namespace jarvis::mcp {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

}  // namespace

std::string DefinitionText(const std::string& name, const std::string& properties) {
  return R"({"name":")" + name + R"(","title":"Title","description":"What it does.",)" +
         R"("inputSchema":{"type":"object","properties":)" + properties +
         R"(,"additionalProperties":false},"outputSchema":{"type":"object"},)" +
         R"("annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,)" +
         R"("openWorldHint":false}})";
}

void Gate::Open() {
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
  }
  changed_.notify_all();
}

bool Gate::WaitForCalls(int calls) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return inside_ >= calls; });
}

ToolReply Gate::Pass(const Json& arguments, Job& job) {
  std::unique_lock lock(mutex_);
  ++inside_;
  changed_.notify_all();
  for (std::uint64_t step = 1; !open_; ++step) {
    changed_.wait_for(lock, std::chrono::milliseconds(2));
    if (job.stopped()) {
      ++stopped_;
      return ErrorReply(job.Check().error());
    }
    lock.unlock();
    job.Report(step, 1000, "waiting");
    lock.lock();
  }
  return ToolReply{arguments, "passed"};
}

int Gate::stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

ToolSet TestTools(Gate& gate) {
  ToolSet tools;
  const auto add = [&](const std::string& text, ToolCost cost, ToolHandler handler) {
    if (!tools.Add(text, cost, std::move(handler))) throw std::logic_error(text);
  };
  add(DefinitionText("echo",
                     R"({"text":{"type":"string","default":"hi"},)"
                     R"("limit":{"type":"integer","minimum":1,"maximum":200,"default":10}})"),
      ToolCost::kQuick, [](const Json& arguments, Job&) {
        return ToolReply{arguments, arguments.at("text").get<std::string>()};
      });
  add(DefinitionText("fail"), ToolCost::kQuick, [](const Json&, Job&) {
    return ErrorReply({ErrorCode::kTraceNotFound, "No file \"x\"", "load_trace {\"path\":\"y\"}"});
  });
  add(DefinitionText("throws"), ToolCost::kQuick,
      [](const Json&, Job&) -> ToolReply { throw std::runtime_error("secret"); });
  add(DefinitionText("breaks"), ToolCost::kQuick, [](const Json&, Job&) -> ToolReply {
    JV_CHECK(1 + 1 == 3);
    return {};
  });
  add(DefinitionText("no_memory"), ToolCost::kQuick,
      [](const Json&, Job&) -> ToolReply { throw std::bad_alloc(); });
  add(DefinitionText("gate", R"({"note":{"type":"string"}})"), ToolCost::kLong,
      [&gate](const Json& arguments, Job& job) { return gate.Pass(arguments, job); });
  return tools;
}

ServerInfo TestInfo() {
  return {"jarvis", "JARVIS", "1.2.3", "Use echo."};
}

void MemoryClient::Send(const Json& message) {
  {
    const std::lock_guard lock(mutex_);
    received_.push_back(message);
  }
  arrived_.notify_all();
}

std::vector<Json> MemoryClient::Ask(const std::string& line) {
  connection->OnMessage(line);
  connection->WaitIdle(kPatience);
  return Take();
}

std::vector<Json> MemoryClient::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(received_, {});
}

bool MemoryClient::WaitFor(const std::string& member, const Json& value) {
  std::unique_lock lock(mutex_);
  return arrived_.wait_for(lock, kPatience, [&] {
    for (const Json& message : received_) {
      if (message.is_object() && message.value(member, Json()) == value) return true;
    }
    return false;
  });
}

Json Request(const Json& id, const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

Json Notification(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

Json Stateless(const Json& id, const std::string& method, Json params) {
  params["_meta"][kMetaVersion] = "2026-07-28";
  params["_meta"][kMetaCapabilities] = Json::object();
  return Request(id, method, std::move(params));
}

Json CallParams(const std::string& tool, Json arguments) {
  return {{"name", tool}, {"arguments", std::move(arguments)}};
}

}  // namespace jarvis::mcp
