// The MCP clients that `jarvis install` knows: where each keeps its servers, and what ours looks
// like there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace jarvis::app {

enum class ConfigFormat { kJson, kToml };

// Texts hold words in @...@, which are filled in; see the table in install_clients.cpp.
struct Client {
  std::string_view name;
  std::string_view title;
  ConfigFormat format;
  std::string_view user_file;      // below HOME
  std::string_view project_file;   // below the working directory; empty: the client has none
  std::string_view servers;        // the object or table that holds the servers by name
  std::string_view local_entry;    // JSON: how the client starts the program
  std::string_view http_entry;     // JSON: how it reaches a running one; empty: it cannot
  std::string_view local_command;  // the client's own way of doing the same; empty: it has none
  std::string_view http_command;
};

std::span<const Client> Clients();

// What an entry says.
struct ServerPlace {
  std::string program;             // absolute path; used if `url` is empty
  std::vector<std::string> roots;  // directories for --allow-root
  std::string url;
  std::string token_env;  // the environment variable with the token; empty: no token
  std::string scope = "user";
};

inline constexpr std::string_view kServerName = "jarvis";

// REQUIRES: client.http_entry is not empty if place.url is not.
Json EntryFor(const Client& client, const ServerPlace& place);

// A line for a shell; empty: the client has no command for it.
std::string CommandFor(const Client& client, const ServerPlace& place);

}  // namespace jarvis::app
