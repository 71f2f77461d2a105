// Help texts, made from the table of commands and the tools' schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcp/tool.h"

namespace jarvis::app {

std::string ProgramHelp(const mcp::ToolSet& tools);
// `spelled`: what the command is called, if not by the tool's name.
std::string ToolHelp(const mcp::Tool& tool, std::string_view spelled = {});

// "unknown tool lod_trace; did you mean load_trace?" `spelled`: the name in the form of the known
// ones, if that differs.
std::string Unknown(std::string_view kind, std::string_view name,
                    const std::vector<std::string>& known, std::string_view spelled = {});

}  // namespace jarvis::app
