// Any arguments to every tool that writes nothing, on a small trace: an answer that fits its
// budget, or an error with words; never one of our own promises broken. The first byte chooses the
// tool.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "fuzz/require.h"
#include "fuzz/trace_recipe.h"
#include "mcp/call_tool.h"
#include "support/temp_folder.h"
#include "tools/catalog/all_tools.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

// What a server with --read-only has.
session::WorkspaceOptions Options(const std::string& folder) {
  auto files = io::FilePolicy::Limit({.allow_roots = {folder}, .output_root = {}});
  testing::Require(files.has_value(), "the folder can be read");
  session::WorkspaceOptions options;
  options.threads = 1;
  options.files = std::move(*files);
  return options;
}

// One for all inputs, as in life.
struct Server {
  testing::TempFolder folder;
  session::Workspace workspace;
  mcp::ToolSet tools;

  Server() : workspace(Options(folder.path())) {
    std::string recipe;
    for (int i = 0; i < 20; ++i)
      recipe += std::string("\x0a\x00\x00\x01\x03\x06\x00\x05\x21\x03\x09\x01\x22\x03", 14);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(recipe.data());
    folder.Write("t.json", testing::DocumentOf(testing::ElementsOf({bytes, recipe.size()})));
    std::filesystem::current_path(folder.path());
    auto chosen = tools::ChooseTools(workspace, {.read_only = true});
    testing::Require(chosen.has_value(), "there are tools");
    tools = std::move(*chosen);
  }
};

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jarvis;
  static Server server;
  if (size == 0) return 0;
  const auto arguments =
      ParseJson(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  if (!arguments || !arguments->is_object()) return 0;
  const std::vector<mcp::Tool>& tools = server.tools.tools();
  Job job;
  const mcp::CallOutcome outcome = mcp::CallTool(tools[data[0] % tools.size()], *arguments, job);
  testing::Require(outcome.incident.empty(), "no promise of ours is broken");
  testing::Require(!outcome.reply.text.empty() || outcome.reply.ask || outcome.reply.refusal,
                   "an answer has words");
  return 0;
}
