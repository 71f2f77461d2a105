// jarvis serve: the MCP server on stdin and stdout, until the input ends or a signal comes; with
// --http over HTTP.
#include <chrono>
#include <memory>
#include <utility>

#include <unistd.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/serve_flags.h"
#include "app/serve_http.h"
#include "app/serve_stdio.h"
#include "rpc/signal_watcher.h"
#include "tools/catalog/resources.h"
#include "tools/catalog/skills.h"

namespace jarvis::app {
namespace {

constexpr std::chrono::milliseconds kLoadPatience(300);  // for loads that were told to stop

mcp::ServerInfo ServerFace(const mcp::ToolSet& tools) {
  return {"jarvis", "JARVIS", JARVIS_VERSION, tools::Instructions(tools),
          "Finds out why a PyTorch workload is slow on its GPU, from profiler traces."};
}

mcp::Catalog MakeCatalog(session::Workspace& workspace,
                         const std::shared_ptr<const tools::Shelf>& shelf, mcp::ToolSet tools) {
  mcp::Catalog catalog;
  catalog.resources = tools::MakeResources(workspace, shelf, tools);
  catalog.views = true;
  catalog.prompts = tools::SkillPrompts(tools);
  catalog.completer = tools::MakeCompleter(workspace, tools, catalog.prompts);
  catalog.resources_change = true;
  catalog.tools = std::move(tools);
  return catalog;
}

}  // namespace

int Serve(Arguments arguments) {
  const auto refuse = [](const Error& error) {
    return UsageError(error.message, "jarvis serve --help");
  };
  const auto flags = ParseServeFlags(arguments);
  if (!flags) return refuse(flags.error());
  if (flags->help) return Print(HttpFlagsHelp() + ServeFlagsHelp()) ? kExitOk : kExitFailure;
  HttpFlags http;
  if (!flags->rest.empty()) {
    auto parsed = ParseHttpFlags(flags->rest);
    if (!parsed) return refuse(parsed.error());
    http = std::move(*parsed);
    if (flags->allow_exec && http.token_file.empty()) {
      return UsageError(
          "--allow-exec over HTTP needs --token-file: without it every user of the "
          "machine could run programs as you",
          "jarvis serve --help");
    }
  }
  auto options = WorkspaceOptionsOf(*flags);
  if (!options) return refuse(options.error());
  static_cast<void>(rpc::SignalWatcher::Block());
  session::Workspace workspace(std::move(*options));
  tools::ToolChoice choice = flags->choice;
  const auto shelf = choice.shelf = std::make_shared<tools::Shelf>();
  auto tools = tools::ChooseTools(workspace, choice);
  if (!tools) return refuse(tools.error());
  mcp::ServerInfo face = ServerFace(*tools);
  mcp::Catalog catalog = MakeCatalog(workspace, shelf, std::move(*tools));
  mcp::ServerOptions server;
  server.eras = flags->eras;
  int code = kExitOk;
  if (flags->rest.empty()) {
    code = ServeStdio(std::move(catalog), std::move(face), server);
  } else {
    code = ServeHttp(http, std::move(catalog), std::move(face), server);
  }
  // Loads that nobody waits for any more.
  if (!workspace.StopLoads(kLoadPatience)) ::_exit(code);
  return code;
}

}  // namespace jarvis::app
