// What clients may read beside calling tools: traces and their tables, files that tools wrote,
// skills, platforms and schemas. Nothing is to be had here alone; tools answer it all.
#pragma once

#include <memory>
#include <vector>

#include "mcp/resource.h"
#include "mcp/tool.h"
#include "session/workspace.h"
#include "tools/catalog/shelf.h"

namespace jarvis::tools {

// Texts longer than this come in parts; each says where the next one is.
inline constexpr std::size_t kResourceBytesMax = std::size_t{256} << 10;
// Files that are no text are not read beyond this.
inline constexpr std::size_t kBlobBytesMax = std::size_t{1} << 20;

// The workspace must outlive the source, and the tools must be those of the server.
std::shared_ptr<const mcp::ResourceSource> MakeResources(session::Workspace& workspace,
                                                         std::shared_ptr<const Shelf> shelf,
                                                         const mcp::ToolSet& tools);

// Trace ids, names of tables, platforms, tools and skills; for the server's prompts and templates.
mcp::Completer MakeCompleter(session::Workspace& workspace, const mcp::ToolSet& tools,
                             const std::vector<mcp::Prompt>& prompts);

}  // namespace jarvis::tools
