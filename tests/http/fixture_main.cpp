// jarvis serve with tools for tests instead of the real ones; takes the same flags.
//   echo   answers its arguments
//   slow   works for `ms` milliseconds in `steps` steps, each with progress
//   stats  says how many calls of slow run, were stopped and were completed
// and what the official conformance suite calls (tests/conformance).
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/serve_http.h"
#include "app/serve_stdio.h"
#include "conformance/fixtures.h"
#include "mcp/error_reply.h"
#include "mcp/server.h"
#include "mcp/tool.h"
#include "rpc/signal_watcher.h"

namespace jarvis {
namespace {

struct Counts {
  std::atomic<int> running{0};
  std::atomic<int> stopped{0};
  std::atomic<int> completed{0};
};

std::string Definition(const std::string& name, const std::string& properties) {
  return R"({"name":")" + name + R"(","title":"Title","description":"What it does.",)" +
         R"("inputSchema":{"type":"object","properties":)" + properties +
         R"(,"additionalProperties":false},"outputSchema":{"type":"object"},)" +
         R"("annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,)" +
         R"("openWorldHint":false}})";
}

mcp::ToolReply Slow(const Json& arguments, Job& job, Counts& counts) {
  const auto steps = arguments.at("steps").get<std::uint64_t>();
  const auto step_time = std::chrono::milliseconds(arguments.at("ms").get<std::uint64_t>() / steps);
  ++counts.running;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const auto until = std::chrono::steady_clock::now() + step_time;
    while (!job.stopped() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (job.stopped()) {
      --counts.running;
      ++counts.stopped;
      return mcp::ErrorReply(job.Check().error());
    }
    job.Report(step, steps, "working");
  }
  --counts.running;
  ++counts.completed;
  return {arguments, "done"};
}

void Add(mcp::ToolSet& tools, const std::string& text, mcp::ToolHandler handler) {
  if (!tools.Add(text, mcp::ToolCost::kQuick, std::move(handler))) throw std::logic_error(text);
}

int Run(app::Arguments arguments) {
  static_cast<void>(rpc::SignalWatcher::Block());
  const bool over_http = !arguments.empty();
  const auto flags = over_http ? app::ParseHttpFlags(arguments) : app::HttpFlags();
  if (!flags) return app::UsageError(flags.error().message);
  Counts counts;
  mcp::Catalog catalog;
  mcp::ToolSet& tools = catalog.tools;
  Add(tools, Definition("echo", R"({"text":{"type":"string","default":"hi"}})"),
      [](const Json& given, Job&) {
        return mcp::ToolReply{given, given.at("text").get<std::string>()};
      });
  Add(tools,
      Definition("slow", R"({"ms":{"type":"integer","default":1000},)"
                         R"("steps":{"type":"integer","minimum":1,"default":10}})"),
      [&](const Json& given, Job& job) { return Slow(given, job, counts); });
  Add(tools, Definition("stats", "{}"), [&](const Json&, Job&) {
    const Json now = {{"running", counts.running.load()},
                      {"stopped", counts.stopped.load()},
                      {"completed", counts.completed.load()}};
    return mcp::ToolReply{now, now.dump()};
  });
  AddConformanceFixtures(catalog);
  mcp::ServerInfo info = {"fixture", "Fixture", "1", "Use echo."};
  mcp::ServerOptions options;
  options.task_patience = std::chrono::milliseconds(20);
  if (!over_http) return app::ServeStdio(std::move(catalog), std::move(info), options);
  return app::ServeHttp(*flags, std::move(catalog), std::move(info), options);
}

}  // namespace
}  // namespace jarvis

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  return jarvis::Run(arguments);
}
