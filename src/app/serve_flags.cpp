#include "app/serve_flags.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "app/cache_options.h"
#include "app/flags.h"
#include "base/text.h"

namespace jarvis::app {
namespace {

tl::unexpected<Error> Wrong(std::string_view flag, std::string_view expected,
                            std::string_view received) {
  return Fail(ErrorCode::kBadValue,
              fmt::format("{}: expected {}, received {}", flag, expected, received));
}

SetValue BytesOf(std::uint64_t* bytes) {
  return [bytes](std::string_view flag, std::string_view value) -> Status {
    const auto read = ParseBytes(value);
    if (!read) return Wrong(flag, "bytes, such as 8G or 512M", value);
    *bytes = *read;
    return {};
  };
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = Trim(text.substr(0, text.find(',')));
    text.remove_prefix(
        std::min(text.size(), text.find(',') == text.npos ? text.size() : text.find(',') + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

SetValue SecondsOf(std::chrono::milliseconds* time) {
  return [time](std::string_view flag, std::string_view value) -> Status {
    const auto seconds = ParseDouble(value);
    if (!seconds || !(*seconds >= 0 && *seconds <= 1e6)) return Wrong(flag, "seconds", value);
    *time = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    return {};
  };
}

SetValue NamesOfTools(std::vector<std::string>* names) {
  return [names](std::string_view flag, std::string_view value) -> Status {
    *names = SplitAtCommas(value);
    if (names->empty()) return Wrong(flag, "names of tools", "nothing");
    return {};
  };
}

std::string NamesOfProfiles() {
  std::string profiles;
  for (const std::string& name : tools::ProfileNames())
    profiles += (profiles.empty() ? "" : ", ") + name;
  return profiles;
}

std::vector<Flag> FlagsOfServe(ServeFlags* flags) {
  const auto answer = [flags](mcp::Eras eras) -> SetSwitch {
    return [flags, eras] { flags->eras = eras; };
  };
  return {
      {{"--allow-root"},
       Repeated{&flags->allow_roots, /*words=*/true},  // as some hosts write a list of directories
       "  --allow-root DIR\n"
       "      Tools read traces and other files below this directory; repeat for more. Default: "
       "the\n"
       "      working directory, unless that is /.\n"},
      {{"--output-root"},
       &flags->output_root,
       "  --output-root DIR\n"
       "      Tools write files below this directory alone. Default: jarvis_out in the working\n"
       "      directory.\n"},
      {{"--read-only"},
       &flags->choice.read_only,
       "  --read-only\n"
       "      No tool writes files.\n"},
      {{"--allow-exec"},
       &flags->allow_exec,
       "  --allow-exec\n"
       "      sweep_run may start programs. Whoever may call it can then run any command as the "
       "user\n"
       "      of this server. Over HTTP it needs --token-file.\n"},
      {{"--profile"},
       &flags->choice.profile,
       fmt::format("  --profile NAME (default core)\n"
                   "      Which tools clients see: {}.\n",
                   NamesOfProfiles())},
      {{"--tools"},
       NamesOfTools(&flags->choice.tools),
       "  --tools NAME,NAME,...\n"
       "      Clients see these tools alone.\n"},
      {{"--memory-limit"},
       BytesOf(&flags->memory_limit),
       "  --memory-limit BYTES (default: half of the machine's memory, at least 1G)\n"
       "      Above this, the least recently used traces leave memory, and are read again on\n"
       "      demand. K, M, G and T are powers of 1024.\n"},
      {{"--max-trace-bytes"},
       BytesOf(&flags->max_trace_bytes),
       fmt::format("  --max-trace-bytes BYTES (default {}G)\n"
                   "      Maximum size of one trace after decompression.\n",
                   limits::kTraceBytesMax >> 30)},
      {{"--cache"},
       &flags->cache,
       "  --cache DIR|off (default: JARVIS_CACHE, else ~/.cache/jarvis)\n"
       "      Large traces are kept there after reading, and open at once the next time.\n"},
      {{"--cache-limit"},
       BytesOf(&flags->cache_limit),
       "  --cache-limit BYTES (default: JARVIS_CACHE_LIMIT, else 8G)\n"
       "      Above this, the least recently used kept traces are deleted.\n"},
      {{"--legacy-only"},
       answer(mcp::Eras::kHandshake),
       "  --legacy-only, --modern-only\n"
       "      Answer only clients of the handshake revisions, or only those of 2026-07-28.\n"},
      {{"--modern-only"}, answer(mcp::Eras::kStateless)},
      {{"--answer-within"},
       SecondsOf(&flags->answer_within),
       "  --answer-within SECONDS (default 45)\n"
       "      If loading a trace takes longer, a tool answers \"loading\", and the load goes "
       "on.\n"},
      {{"--help", "-h"}, &flags->help},
  };
}

std::uint64_t HalfOfMemory() {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kLeast;
  return std::max(kLeast, static_cast<std::uint64_t>(pages) / 2 * static_cast<std::uint64_t>(page));
}

}  // namespace

Result<ServeFlags> ParseServeFlags(Arguments arguments) {
  ServeFlags flags;
  FlagRules rules;
  rules.no_value = FlagRules::NoValue::kRefuseEmpty;
  rules.other = [&](std::string_view word, bool) -> Status {
    flags.rest.push_back(word);
    return {};
  };
  JV_TRY(ParseFlags(FlagsOfServe(&flags), arguments, rules));
  if (flags.allow_exec && flags.choice.read_only) {
    return Fail(ErrorCode::kBadValue, "--allow-exec and --read-only exclude each other");
  }
  return flags;
}

std::string ServeFlagsHelp() {
  ServeFlags flags;
  return "\nFor either:\n\n" + FlagsHelp(FlagsOfServe(&flags));
}

Result<session::WorkspaceOptions> WorkspaceOptionsOf(const ServeFlags& flags) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string();
  const bool here_is_ours = !here.empty() && here != "/";
  io::FileRules rules{flags.allow_roots, flags.output_root};
  if (rules.allow_roots.empty() && here_is_ours) rules.allow_roots = {here};
  if (rules.output_root.empty() && here_is_ours) rules.output_root = here + "/jarvis_out";
  if (flags.choice.read_only) rules.output_root.clear();
  session::WorkspaceOptions options;
  JV_ASSIGN(options.files, io::FilePolicy::Limit(rules));
  options.memory_bytes_max = flags.memory_limit > 0 ? flags.memory_limit : HalfOfMemory();
  options.trace_bytes_max = flags.max_trace_bytes;
  options.patience = flags.answer_within;
  options.may_execute = flags.allow_exec;
  options.loads_give_way = true;
  options.cache = CacheOptions(flags.cache);
  if (flags.cache_limit > 0) options.cache.bytes_max = flags.cache_limit;
  options.cache.writes = !flags.choice.read_only;
  return options;
}

}  // namespace jarvis::app
