// jarvis install: puts this server into the configuration of an MCP client, or takes it out.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/flags.h"
#include "app/help.h"
#include "app/install_clients.h"
#include "app/install_edit.h"
#include "io/atomic_file.h"
#include "io/text_file.h"

namespace jarvis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kConfigBytesMax = std::size_t{32} << 20;
constexpr std::string_view kBackupSuffix = ".before-jarvis";
constexpr std::string_view kHelpCommand = "jarvis install --help";

constexpr std::string_view kInstallUsage =
    "install: put this server into the configuration of an MCP client.\n"
    "\n"
    "Usage: jarvis install --client NAME [...]\n"
    "       jarvis install --list\n"
    "\n";
constexpr std::string_view kInstallNotes =
    "\n"
    "Everything else in the file stays. A copy of the old file is kept beside it, with the suffix\n"
    ".before-jarvis, or .before-jarvis.2 and so on if that exists. A file that is not plain JSON\n"
    "(with comments) or TOML is not changed; what to add is printed instead.\n";

struct InstallArguments {
  const Client* client = nullptr;
  ServerPlace place;
  bool project = false;
  bool print = false;
  bool uninstall = false;
  bool list = false;
  bool help = false;
};

const Client* FindClient(std::string_view name) {
  const auto clients = Clients();
  const auto* found = std::find_if(clients.data(), clients.data() + clients.size(),
                                   [&](const Client& client) { return client.name == name; });
  return found == clients.data() + clients.size() ? nullptr : found;
}

Status SetClient(std::string_view name, InstallArguments& request) {
  request.client = FindClient(name);
  if (request.client != nullptr) return {};
  std::vector<std::string> known;
  for (const Client& client : Clients())
    known.emplace_back(client.name);
  return Fail(ErrorCode::kBadValue,
              fmt::format("{}; jarvis install --list shows them", Unknown("client", name, known)));
}

Status SetRoot(std::string_view value, InstallArguments& request) {
  std::error_code error;
  const fs::path root = fs::canonical(fs::path(value), error);
  if (error || !fs::is_directory(root, error)) {
    return Fail(ErrorCode::kBadValue, fmt::format("--allow-root: no directory \"{}\"", value));
  }
  request.place.roots.push_back(root.string());
  return {};
}

Status SetUrl(std::string_view value, InstallArguments& request) {
  const bool has_scheme = value.starts_with("http://") || value.starts_with("https://");
  const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
    return c > 0x20 && c < 0x7F && c != '"' && c != '\'' && c != '\\';
  });
  if (!has_scheme || !plain) {
    return Fail(ErrorCode::kBadValue, "--http: expected a URL such as http://127.0.0.1:8765/mcp");
  }
  request.place.url = value;
  return {};
}

Status SetTokenEnv(std::string_view value, InstallArguments& request) {
  const bool name = !value.empty() && std::isdigit(static_cast<unsigned char>(value[0])) == 0 &&
                    std::all_of(value.begin(), value.end(), [](char c) {
                      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
                    });
  if (!name) {
    return Fail(ErrorCode::kBadValue,
                "--token-env: expected the name of an environment variable (not the token)");
  }
  request.place.token_env = value;
  return {};
}

Status SetScope(std::string_view value, InstallArguments& request) {
  if (value != "user" && value != "project") {
    return Fail(ErrorCode::kBadValue,
                fmt::format("--scope: expected user or project, received \"{}\"", value));
  }
  request.project = value == "project";
  request.place.scope = value;
  return {};
}

std::vector<Flag> InstallFlags(InstallArguments* request) {
  const auto with = [request](Status (*set)(std::string_view, InstallArguments&)) -> SetValue {
    return
        [request, set](std::string_view, std::string_view value) { return set(value, *request); };
  };
  return {
      {{"--client"},
       with(&SetClient),
       "  --client NAME\n"
       "      claude-code, claude-desktop, vscode, cursor, codex or gemini.\n"},
      {{"--scope"},
       with(&SetScope),
       "  --scope user|project (default user)\n"
       "      Your own configuration, or the one of the project in the working directory.\n"},
      {{"--allow-root"},
       with(&SetRoot),
       "  --allow-root DIR\n"
       "      The server may only use files below DIR; repeat for more.\n"},
      {{"--http"},
       with(&SetUrl),
       "  --http URL\n"
       "      Use a server that is running (jarvis serve --http) instead of one that the client\n"
       "      starts, for example http://127.0.0.1:8765/mcp.\n"},
      {{"--token-env"},
       with(&SetTokenEnv),
       "  --token-env NAME\n"
       "      With --http: the environment variable that holds the token.\n"},
      {{"--print"},
       &request->print,
       "  --print\n"
       "      Change nothing; print what to add and where.\n"},
      {{"--uninstall"},
       &request->uninstall,
       "  --uninstall\n"
       "      Remove the server from the configuration.\n"},
      {{"--list"},
       &request->list,
       "  --list\n"
       "      List the clients, their files, and whether the server is in them.\n"},
      {{"--help", "-h"}, &request->help},
  };
}

std::string InstallHelp() {
  InstallArguments request;
  return std::string(kInstallUsage) + FlagsHelp(InstallFlags(&request)) +
         std::string(kInstallNotes);
}

Status Check(const InstallArguments& request) {
  if (request.help || request.list) return {};
  const auto bad = [](std::string message) {
    return Fail(ErrorCode::kBadValue, std::move(message));
  };
  if (request.client == nullptr) return bad("install needs --client NAME");
  const Client& client = *request.client;
  if (request.project && client.project_file.empty()) {
    return bad(
        fmt::format("{} has no configuration of a project; leave out --scope", client.title));
  }
  if (request.place.url.empty()) {
    if (!request.place.token_env.empty()) return bad("--token-env goes with --http URL");
    return {};
  }
  if (client.http_entry.empty()) {
    return bad(
        fmt::format("the configuration of {} holds only programs that it starts itself; "
                    "leave out --http",
                    client.title));
  }
  if (!request.place.roots.empty()) {
    return bad(
        "--allow-root is given to the running server: jarvis serve --http ... "
        "--allow-root DIR");
  }
  return {};
}

Result<InstallArguments> ParseInstall(Arguments arguments) {
  InstallArguments request;
  FlagRules rules;
  rules.other = [](std::string_view word, bool) -> Status {
    return Fail(ErrorCode::kBadValue, fmt::format("install does not take \"{}\"", word));
  };
  JV_TRY(ParseFlags(InstallFlags(&request), arguments, rules));
  JV_TRY(Check(request));
  return request;
}

Result<std::string> ConfigPath(const Client& client, bool project) {
  if (project) return (fs::current_path() / client.project_file).string();
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') {
    return Fail(ErrorCode::kBadValue,
                "HOME is not set, so there is no place for your own "
                "configuration; set it, or use --scope project");
  }
  return (fs::path(home) / client.user_file).string();
}

// Empty if there is no such file yet.
Result<std::string> ReadConfig(const std::string& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return std::string();
  return io::ReadTextFile(io::FilePolicy(), path, kConfigBytesMax);
}

// A copy that was kept before, and a file that only has such a name, stay.
Status KeepCopy(const std::string& path, const std::string& old, std::string& backup) {
  constexpr int kCopiesMax = 1000;
  Status written;
  for (int number = 1; number <= kCopiesMax; ++number) {
    backup = number == 1 ? path : fmt::format("{}.{}", path, number);
    const auto there = io::ReadUnchangedFile(backup, kConfigBytesMax);
    if (there && *there == old) return {};
    written = io::WriteFileAtomically(backup, old, io::Existing::kKeep);
    if (written || written.error().code != ErrorCode::kExists) break;
  }
  return written;
}

// With the mode that the file had: some hold secrets, and never does a copy show more than they.
// Through a link, not over it: people keep such files elsewhere and link to them.
Status WriteConfig(const std::string& path, const std::string& old, const std::string& text,
                   std::string& backup) {
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  if (error) return io::WriteFileAtomically(path, text, io::Existing::kKeep);
  struct stat info = {};
  if (::stat(resolved.c_str(), &info) != 0) {
    return Fail(ErrorCode::kIo, fmt::format("cannot look at \"{}\"", path));
  }
  const mode_t mode = info.st_mode & 0777U;
  const mode_t old_mask = ::umask(0777U & ~mode);
  Status written = KeepCopy(resolved.string() + std::string(kBackupSuffix), old, backup);
  const auto now = ReadConfig(path);
  if (written && (!now || *now != old))
    written = Fail(ErrorCode::kIo, fmt::format("\"{}\" was changed meanwhile; try again", path));
  if (written) written = io::WriteFileAtomically(resolved.string(), text);
  ::umask(old_mask);
  if (written) ::chmod(resolved.c_str(), mode);
  return written;
}

std::string Indented(const std::string& text) {
  std::string indented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    indented += "  " + text.substr(at, end - at);
    at = end;
  }
  return indented;
}

std::string HowToAdd(const Client& client, const ServerPlace& place, const std::string& path) {
  std::string text = fmt::format("For {}, in {}:\n\n{}", client.title, path,
                                 Indented(Snippet(client, EntryFor(client, place))));
  if (const std::string line = CommandFor(client, place); !line.empty()) {
    text += fmt::format("\nOr let the client do it:\n\n  {}\n", line);
  }
  return text;
}

int CannotEdit(const InstallArguments& request, const std::string& path, const Error& error) {
  PrintError(fmt::format("{} was not changed: {}", path, error.message));
  if (request.uninstall) {
    PrintError(fmt::format("take the entry \"{}\" out of it by hand", kServerName));
  } else {
    PrintError("add this by hand:\n\n" + HowToAdd(*request.client, request.place, path));
  }
  return kExitFailure;
}

int Change(const InstallArguments& request, const std::string& path) {
  const Client& client = *request.client;
  const auto old = ReadConfig(path);
  if (!old) return CannotEdit(request, path, old.error());
  const auto text = request.uninstall ? WithoutEntry(client, *old)
                                      : WithEntry(client, *old, EntryFor(client, request.place));
  if (!text) return CannotEdit(request, path, text.error());
  if (*text == *old) {
    Print(fmt::format("{}: nothing to do, {} {} {}", client.title, kServerName,
                      request.uninstall ? "is not in" : "is already in", path));
    return kExitOk;
  }
  Print(fmt::format("{}: {} {} {} {}", client.title, request.uninstall ? "taking" : "putting",
                    kServerName, request.uninstall ? "out of" : "into", path));
  if (!request.uninstall) Print(Indented(Snippet(client, EntryFor(client, request.place))));
  std::string backup;
  if (const auto written = WriteConfig(path, *old, *text, backup); !written) {
    PrintError(written.error().message);
    return kExitFailure;
  }
  if (!backup.empty()) Print("The file as it was: " + backup);
  return Print(fmt::format("Done. Start {} anew to see it.", client.title)) ? kExitOk
                                                                            : kExitFailure;
}

std::string StateOf(const Client& client, const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return "no file";
  const auto text = ReadConfig(path);
  const auto without = text ? WithoutEntry(client, *text) : text;
  if (!without) return "unreadable: " + without.error().message;
  return *without == *text ? "not installed" : "installed";
}

int List() {
  std::string text;
  for (const Client& client : Clients()) {
    text += fmt::format("{:<15} {}\n", client.name, client.title);
    for (const bool project : {false, true}) {
      if (project && client.project_file.empty()) continue;
      const auto path = ConfigPath(client, project);
      text += fmt::format(
          "  {:<8} {}\n", project ? "project" : "user",
          path ? fmt::format("{} ({})", *path, StateOf(client, *path)) : path.error().message);
    }
  }
  return Print(text) ? kExitOk : kExitFailure;
}

}  // namespace

int Install(Arguments arguments) {
  auto request = ParseInstall(arguments);
  if (!request) return UsageError(request.error().message, kHelpCommand);
  if (request->help) return Print(InstallHelp()) ? kExitOk : kExitFailure;
  if (request->list) return List();
  std::error_code error;
  request->place.program = fs::read_symlink("/proc/self/exe", error).string();
  if (error) {
    PrintError("cannot find out where this program is: " + error.message());
    return kExitFailure;
  }
  const auto path = ConfigPath(*request->client, request->project);
  if (!path) {
    PrintError(path.error().message);
    return kExitFailure;
  }
  if (!request->print) return Change(*request, *path);
  return Print(HowToAdd(*request->client, request->place, *path)) ? kExitOk : kExitFailure;
}

}  // namespace jarvis::app
