// What a tool is to the server: a definition that clients see and a function that answers.
//
// Threads: handlers run on any thread and at the same time as themselves. A ToolSet does not
// change once a server has it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "rpc/json.h"

namespace jarvis::mcp {

struct ToolReply {
  rpc::Json structured;   // an object, or null: none
  std::string text;       // stands alone: some clients show nothing else
  bool is_error = false;  // then `structured` is not sent
};

// The arguments fit the tool's inputSchema and have its defaults.
using ToolHandler = std::function<ToolReply(const rpc::Json& arguments, Job& job)>;

enum class ToolCost {
  kQuick,  // answers from what is in memory
  kLong,   // may read gigabytes; has its own few threads, so that the others never wait for it
};

struct Tool {
  std::string name;
  rpc::Json definition;  // an entry of tools/list
  ToolCost cost = ToolCost::kQuick;
  ToolHandler handler;

  const rpc::Json& input_schema() const { return definition.at("inputSchema"); }
};

class ToolSet {
 public:
  // `schema_text` is a file of tools_schema/. Fails (kInternal) on anything that clients could
  // stumble over: a bad or repeated name, no description, a keyword outside mcp/schema.h, a hint
  // left unstated.
  Status Add(std::string_view schema_text, ToolCost cost, ToolHandler handler);

  const Tool* Find(std::string_view name) const;             // null: no such tool
  const std::vector<Tool>& tools() const { return tools_; }  // in the order of Add
  std::vector<std::string> Names() const;

 private:
  std::vector<Tool> tools_;
};

}  // namespace jarvis::mcp
