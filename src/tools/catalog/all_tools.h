// The list of tools. Adding one: its schema in tools_schema/, its file here, its line in
// all_tools.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/tool.h"
#include "session/workspace.h"
#include "tools/catalog/shelf.h"

namespace jarvis::tools {

// Which tools clients see; it does not change while the process lives.
struct ToolChoice {
  std::string profile = "all";
  std::vector<std::string> tools{};  // these alone, whatever the profile; empty: the profile's
  // Leaves out what writes files: tools that do nothing else, arguments of those that can. The
  // workspace's files must not allow writing then.
  bool read_only = false;
  // Is told of what calls load and write; null: nobody wants to know.
  std::shared_ptr<Shelf> shelf{};
};

// In the order in which clients see them. The workspace must outlive the set. kBadValue: a profile
// or a tool that does not exist.
Result<mcp::ToolSet> ChooseTools(session::Workspace& workspace, const ToolChoice& choice);
// Every tool.
mcp::ToolSet AllTools(session::Workspace& workspace);

// "core", "min", "full", "sweep", "all".
std::vector<std::string> ProfileNames();

// How to work with the server, for the model at the other end. Names none but the tools given.
std::string Instructions(const mcp::ToolSet& tools);

}  // namespace jarvis::tools
