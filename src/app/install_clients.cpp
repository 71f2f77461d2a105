#include "app/install_clients.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace jarvis::app {
namespace {

// @PROGRAM@ and @URL@ are texts, @ARGS@ is a list, @TOKEN_ENV@ the name of a variable. Headers are
// left out when there is no token, and so is what stands in [...] in a command.
constexpr Client kClients[] = {
    {
        .name = "claude-code",
        .title = "Claude Code",
        .format = ConfigFormat::kJson,
        .user_file = ".claude.json",
        .project_file = ".mcp.json",
        .servers = "mcpServers",
        .local_entry = R"({"type":"stdio","command":"@PROGRAM@","args":"@ARGS@"})",
        .http_entry = R"({"type":"http","url":"@URL@",
                          "headers":{"Authorization":"Bearer ${@TOKEN_ENV@}"}})",
        .local_command = "claude mcp add --scope @SCOPE@ --transport stdio jarvis -- @COMMAND@",
        .http_command = "claude mcp add --scope @SCOPE@ --transport http jarvis @URL@"
                        "[ --header 'Authorization: Bearer ${@TOKEN_ENV@}']",
    },
    {
        .name = "claude-desktop",
        .title = "Claude Desktop",
        .format = ConfigFormat::kJson,
        .user_file = ".config/Claude/claude_desktop_config.json",
        .project_file = "",
        .servers = "mcpServers",
        .local_entry = R"({"command":"@PROGRAM@","args":"@ARGS@"})",
        .http_entry = "",
        .local_command = "",
        .http_command = "",
    },
    {
        .name = "vscode",
        .title = "Visual Studio Code",
        .format = ConfigFormat::kJson,
        .user_file = ".config/Code/User/mcp.json",
        .project_file = ".vscode/mcp.json",
        .servers = "servers",
        .local_entry = R"({"type":"stdio","command":"@PROGRAM@","args":"@ARGS@"})",
        .http_entry = R"({"type":"http","url":"@URL@",
                          "headers":{"Authorization":"Bearer ${env:@TOKEN_ENV@}"}})",
        .local_command = "code --add-mcp @NAMED_ENTRY@",
        .http_command = "code --add-mcp @NAMED_ENTRY@",
    },
    {
        .name = "cursor",
        .title = "Cursor",
        .format = ConfigFormat::kJson,
        .user_file = ".cursor/mcp.json",
        .project_file = ".cursor/mcp.json",
        .servers = "mcpServers",
        .local_entry = R"({"type":"stdio","command":"@PROGRAM@","args":"@ARGS@"})",
        .http_entry = R"({"url":"@URL@",
                          "headers":{"Authorization":"Bearer ${env:@TOKEN_ENV@}"}})",
        .local_command = "",
        .http_command = "",
    },
    {
        .name = "codex",
        .title = "Codex",
        .format = ConfigFormat::kToml,
        .user_file = ".codex/config.toml",
        .project_file = ".codex/config.toml",
        .servers = "mcp_servers",
        .local_entry = R"({"command":"@PROGRAM@","args":"@ARGS@","startup_timeout_sec":10,
                           "tool_timeout_sec":300})",
        .http_entry = R"({"url":"@URL@","bearer_token_env_var":"@TOKEN_ENV@",
                          "startup_timeout_sec":10,"tool_timeout_sec":300})",
        .local_command = "codex mcp add jarvis -- @COMMAND@",
        .http_command = "codex mcp add jarvis --url @URL@[ --bearer-token-env-var @TOKEN_ENV@]",
    },
    {
        .name = "gemini",
        .title = "Gemini CLI",
        .format = ConfigFormat::kJson,
        .user_file = ".gemini/settings.json",
        .project_file = ".gemini/settings.json",
        .servers = "mcpServers",
        .local_entry = R"({"command":"@PROGRAM@","args":"@ARGS@","timeout":600000})",
        .http_entry = R"({"httpUrl":"@URL@",
                          "headers":{"Authorization":"Bearer $@TOKEN_ENV@"},"timeout":600000})",
        .local_command = "gemini mcp add --scope @SCOPE@ --timeout 600000 jarvis @PROGRAM@ -- "
                         "@ARGS@",
        .http_command = "gemini mcp add --scope @SCOPE@ --transport http --timeout 600000"
                        "[ --header 'Authorization: Bearer $@TOKEN_ENV@'] jarvis @URL@",
    },
};

std::vector<std::string> ArgumentsFor(const ServerPlace& place) {
  std::vector<std::string> arguments = {"serve"};
  for (const std::string& root : place.roots) {
    arguments.emplace_back("--allow-root");
    arguments.push_back(root);
  }
  return arguments;
}

std::string Replaced(std::string text, std::string_view word, std::string_view value) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
    text.replace(at, word.size(), value);
  return text;
}

// For a POSIX shell.
std::string Quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./:=,+@").find(c) != std::string_view::npos;
  });
  return plain ? word : "'" + Replaced(word, "'", "'\\''") + "'";
}

std::string QuotedAll(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") + Quoted(word);
  return line;
}

void Fill(Json& value, const ServerPlace& place) {
  if (value.is_object()) {
    for (auto& [name, member] : value.items())
      Fill(member, place);
    return;
  }
  if (!value.is_string()) return;
  const std::string text = value.get<std::string>();
  if (text == "@ARGS@") {
    value = ArgumentsFor(place);
  } else if (text == "@PROGRAM@") {
    value = place.program;
  } else if (text == "@URL@") {
    value = place.url;
  } else {
    value = Replaced(text, "@TOKEN_ENV@", place.token_env);
  }
}

// "a[ b] c": "a b c", or "a c" without.
std::string WithOptional(std::string text, bool with) {
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  if (begin == std::string::npos || end == std::string::npos) return text;
  const std::string inner = with ? text.substr(begin + 1, end - begin - 1) : std::string();
  return text.replace(begin, end + 1 - begin, inner);
}

}  // namespace

std::span<const Client> Clients() {
  return kClients;
}

Json EntryFor(const Client& client, const ServerPlace& place) {
  JV_CHECK(place.url.empty() || !client.http_entry.empty());
  Json entry = Json::parse(place.url.empty() ? client.local_entry : client.http_entry);
  if (place.token_env.empty()) {
    entry.erase("headers");
    entry.erase("bearer_token_env_var");
  }
  Fill(entry, place);
  return entry;
}

std::string CommandFor(const Client& client, const ServerPlace& place) {
  std::string line(place.url.empty() ? client.local_command : client.http_command);
  if (line.empty()) return line;
  Json named = {{"name", kServerName}};
  named.update(EntryFor(client, place));
  const std::string arguments = QuotedAll(ArgumentsFor(place));
  line = WithOptional(std::move(line), !place.token_env.empty());
  line = Replaced(std::move(line), "@TOKEN_ENV@", place.token_env);
  line = Replaced(std::move(line), "@SCOPE@", place.scope);
  line = Replaced(std::move(line), "@NAMED_ENTRY@", Quoted(DumpLine(named)));
  line = Replaced(std::move(line), "@COMMAND@", Quoted(place.program) + " " + arguments);
  line = Replaced(std::move(line), "@PROGRAM@", Quoted(place.program));
  line = Replaced(std::move(line), "@ARGS@", arguments);
  return Replaced(std::move(line), "@URL@", Quoted(place.url));
}

}  // namespace jarvis::app
