// All that a server offers. Does not change once a server has it, except what the sources list.
#pragma once

#include <memory>
#include <vector>

#include "mcp/resource.h"
#include "mcp/tool.h"

namespace jarvis::mcp {

struct Catalog {
  ToolSet tools;
  std::shared_ptr<const ResourceSource> resources = {};  // null: none
  std::vector<Prompt> prompts = {};
  Completer completer = {};
  bool views = false;  // some tools have a page; see apps.h
  // Does the list change while the server runs? Then it is announced.
  bool tools_change = false;
  bool prompts_change = false;
  bool resources_change = false;
};

}  // namespace jarvis::mcp
