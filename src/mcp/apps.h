// The extension by which hosts show a page of ours beside a tool's answer.
#pragma once

namespace jarvis::mcp {

inline constexpr const char* kAppsExtension = "io.modelcontextprotocol/ui";
// Of a tool's result: what the view shows first, which the model need not read.
inline constexpr const char* kMetaView = "jarvis/first";
inline constexpr const char* kAppMimeType = "text/html;profile=mcp-app";

}  // namespace jarvis::mcp
