#include "app/tool_run.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/progress_line.h"
#include "base/check.h"
#include "io/atomic_file.h"
#include "mcp/call_tool.h"
#include "mcp/error_reply.h"
#include "rpc/base64.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {

namespace {

std::string TextOf(const mcp::ToolReply& reply, Output output) {
  if (reply.structured.is_null() || output == Output::kText) return reply.text;
  if (output == Output::kJson) return DumpLine(reply.structured);
  return reply.structured.value("summary", reply.text);
}

// The bytes of the answer's picture; nothing: it has none.
std::optional<std::string> ImageOf(const mcp::ToolReply& reply) {
  for (const Json& block : reply.blocks) {
    if (block.value("type", "") == "image") return rpc::DecodeBase64(block.value("data", ""));
  }
  return std::nullopt;
}

}  // namespace

namespace {

// The signal that stopped the work; 0: none.
template <typename Work>
int Watch(const Work& work) {
  JV_CHECK(rpc::SignalWatcher::Blocked());
  std::atomic<int> signal{0};
  ProgressLine line(STDERR_FILENO);
  Job job([&](std::uint64_t done, std::uint64_t total, std::string_view what) {
    line.Show(done, total, what);
  });
  const auto watcher = rpc::SignalWatcher::Start([&](int number) {
    signal = number;
    job.Stop();
  });
  work(job);
  return signal;
}

}  // namespace

int RunTool(const mcp::Tool& tool, const Json& arguments, mcp::ToolReply* reply) {
  const auto normalized = mcp::ArgumentsOf(tool, arguments);
  if (!normalized) {
    PrintError(mcp::ErrorReply(normalized.error()).text);
    PrintError("see jarvis " + tool.name + " --help");
    return kExitFailure;
  }
  mcp::CallOutcome outcome;
  const int signal = Watch([&](Job& job) { outcome = mcp::RunTool(tool, *normalized, job); });
  *reply = std::move(outcome.reply);
  if (!reply->is_error) return kExitOk;
  PrintError(reply->text);
  return signal == 0 ? kExitFailure : kExitSignal + signal;
}

int RunWatched(const std::function<Status(Job& job)>& work) {
  Status status;
  const int signal = Watch([&](Job& job) { status = work(job); });
  if (status) return kExitOk;
  PrintError(mcp::ErrorReply(status.error()).text);
  return signal == 0 ? kExitFailure : kExitSignal + signal;
}

int RunTool(const mcp::Tool& tool, const Json& arguments, Output output) {
  mcp::ToolReply reply;
  if (const int code = RunTool(tool, arguments, &reply); code != kExitOk) return code;
  NoteImage(reply);
  return PrintReply(reply, output);
}

void NoteImage(const mcp::ToolReply& reply) {
  if (ImageOf(reply))
    PrintError("the image goes to MCP clients; jarvis TOOL --image FILE writes it into a file");
}

int PrintReply(const mcp::ToolReply& reply, Output output) {
  return Print(TextOf(reply, output)) ? kExitOk : kExitFailure;
}

int SaveImage(const mcp::ToolReply& reply, const std::string& file) {
  const std::optional<std::string> image = ImageOf(reply);
  if (!image) {
    PrintError("--image: the answer has no image; its notes say why");
    return kExitFailure;
  }
  if (io::IsReplaced(file)) {
    PrintError("--image: " + file + " is there already");
    return kExitFailure;
  }
  if (const Status written = io::WriteGivenFile(file, *image); !written) {
    PrintError(mcp::ErrorReply(written.error()).text);
    return kExitFailure;
  }
  return kExitOk;
}

const mcp::Tool* FindTool(const mcp::ToolSet& tools, std::string_view name) {
  std::string spelled(name);
  std::replace(spelled.begin(), spelled.end(), '-', '_');
  return tools.Find(spelled);
}

}  // namespace jarvis::app
