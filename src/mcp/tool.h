// What a tool is to the server: a definition that clients see and a function that answers.
//
// Threads: handlers run on any thread and at the same time as themselves. A ToolSet does not
// change once a server has it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "json/json.h"
#include "mcp/argument_alias.h"
#include "mcp/call_context.h"
#include "rpc/message.h"

namespace jarvis::mcp {

struct ToolReply {
  Json structured;        // an object, or null: none
  std::string text;       // stands alone: some clients show nothing else
  bool is_error = false;  // then `structured` is not sent
  // Further content after the text: images, links, embedded resources, in the newest form.
  std::vector<Json> blocks = {};
  Json view = {};  // for a host that shows views, not for the model; null: nothing
  std::optional<InputNeeded> ask = {};        // instead of an answer
  std::optional<rpc::RpcError> refusal = {};  // instead of an answer: not for the model to mend
};

// The arguments fit the tool's inputSchema and have its defaults.
using ToolHandler = std::function<ToolReply(const Json& arguments, Job& job)>;
// The same for a tool that talks with the client.
using TalkingHandler = std::function<ToolReply(const Json& arguments, CallContext& context)>;

enum class ToolCost {
  kQuick,  // answers from what is in memory
  kLong,   // may read gigabytes; has its own few threads, so that the others never wait for it
};

// May a call become a task that the client asks after? (2026-07-28, with the tasks extension)
enum class TaskUse {
  kNever,
  kAllowed,   // when it is not done soon
  kRequired,  // always; a client without the extension is refused
};

struct ToolOptions {
  ToolCost cost = ToolCost::kQuick;
  // Of a call with these arguments, as received; empty: always `cost`.
  std::function<ToolCost(const Json& arguments)> cost_of = {};
  TaskUse task = TaskUse::kNever;
  // Of a task: what it asks of the client it asks before it becomes one.
  bool asks_first = false;
  // The input schema is shown and not enforced; it may use any keyword.
  bool free_schema = false;
  // Further names of arguments, which no list shows.
  std::vector<ArgumentAlias> aliases = {};

  // Long calls may become tasks.
  static ToolOptions For(ToolCost cost) {
    ToolOptions options;
    options.cost = cost;
    if (cost == ToolCost::kLong) options.task = TaskUse::kAllowed;
    return options;
  }
};

struct Tool {
  std::string name;
  Json definition;  // an entry of tools/list
  ToolOptions options;
  TalkingHandler handler;

  const Json& input_schema() const { return definition.at("inputSchema"); }
};

class ToolSet {
 public:
  // `schema_text` is a file of tools_schema/, `definition` what it says. Fails (kInternal) on
  // anything that clients could stumble over: a bad or repeated name, no description, a keyword
  // outside mcp/schema.h, a hint left unstated.
  Status Add(std::string_view schema_text, ToolCost cost, ToolHandler handler);
  Status Add(std::string_view schema_text, const ToolOptions& options, TalkingHandler handler);
  Status AddDefinition(Json definition, const ToolOptions& options, TalkingHandler handler);

  const Tool* Find(std::string_view name) const;             // null: no such tool
  const std::vector<Tool>& tools() const { return tools_; }  // in the order of Add
  std::vector<std::string> Names() const;

 private:
  std::vector<Tool> tools_;
};

}  // namespace jarvis::mcp
