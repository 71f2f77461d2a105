// The view that MCP hosts show beside a tool's answer (extension io.modelcontextprotocol/ui).
#pragma once

#include <string>

namespace jarvis::page {

// One HTML file: it asks its host for the answer, and tools for what is clicked at.
std::string RenderAppPage();

}  // namespace jarvis::page
