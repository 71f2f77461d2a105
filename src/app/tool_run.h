// One tool call from the command line, with a progress line and Ctrl-C.
#pragma once

#include <functional>
#include <string>

#include "base/job.h"
#include "json/json.h"
#include "mcp/tool.h"

namespace jarvis::app {

// Which half of the reply, the text if there is no other; or its headline alone.
enum class Output { kText, kJson, kSummary };

// The exit code: kExitFailure when the arguments do not fit or the tool says no.
// REQUIRES: rpc::SignalWatcher::Block() before any thread was started.
int RunTool(const mcp::Tool& tool, const Json& arguments, Output output);

// The same without printing the answer. REQUIRES: as above.
int RunTool(const mcp::Tool& tool, const Json& arguments, mcp::ToolReply* reply);

// Runs work with that progress line and Ctrl-C, and prints its error. An exit code. REQUIRES: as
// above.
int RunWatched(const std::function<Status(Job& job)>& work);

// Says where a picture goes that this answer has and a terminal does not show.
void NoteImage(const mcp::ToolReply& reply);

// Prints an answer; kExitFailure when stdout cannot be written.
int PrintReply(const mcp::ToolReply& reply, Output output);

// Writes the picture of an answer, which --image asked for. kExitFailure: the answer has none, or
// the file is there already.
int SaveImage(const mcp::ToolReply& reply, const std::string& file);

// The tool of this name, dashes counting as underscores; null if there is none.
const mcp::Tool* FindTool(const mcp::ToolSet& tools, std::string_view name);

}  // namespace jarvis::app
