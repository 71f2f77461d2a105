#include "app/serve_flags.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"

namespace jarvis::app {
namespace {

// "8G", "512M", "1000000": the letters mean powers of 1024.
std::optional<std::uint64_t> Bytes(std::string_view text) {
  constexpr std::string_view kLetters = "KMGT";
  int shift = 0;
  if (!text.empty()) {
    const char last = text.back() >= 'a' ? static_cast<char>(text.back() - 'a' + 'A') : text.back();
    const std::size_t letter = kLetters.find(last);
    if (letter != std::string_view::npos) {
      shift = 10 * static_cast<int>(letter + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = ParseInt(text);
  if (!number || *number < 1 || *number > (std::int64_t{1} << 62) >> shift) return std::nullopt;
  return static_cast<std::uint64_t>(*number) << shift;
}

tl::unexpected<Error> Wrong(std::string_view flag, std::string_view expected,
                            std::string_view received) {
  return Fail(ErrorCode::kBadValue,
              fmt::format("{}: expected {}, received {}", flag, expected, received));
}

Status SetBytes(std::string_view flag, std::string_view value, std::uint64_t* bytes) {
  const auto read = Bytes(value);
  if (!read) return Wrong(flag, "bytes, such as 8G or 512M", value);
  *bytes = *read;
  return {};
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

Status SetPatience(std::string_view flag, std::string_view value, ServeFlags* flags) {
  const auto seconds = ParseDouble(value);
  if (!seconds || !(*seconds >= 0 && *seconds <= 1e6)) {
    return Wrong(flag, "seconds", value);
  }
  flags->answer_within = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  return {};
}

// False: no flag of these.
Result<bool> SetFlag(std::string_view name, const std::string& value, ServeFlags* flags) {
  if (name == "--allow-root") {
    flags->allow_roots.push_back(value);
  } else if (name == "--output-root") {
    flags->output_root = value;
  } else if (name == "--memory-limit") {
    JV_TRY(SetBytes(name, value, &flags->memory_limit));
  } else if (name == "--max-trace-bytes") {
    JV_TRY(SetBytes(name, value, &flags->max_trace_bytes));
  } else if (name == "--answer-within") {
    JV_TRY(SetPatience(name, value, flags));
  } else if (name == "--profile") {
    flags->choice.profile = value;
  } else if (name == "--tools") {
    flags->choice.tools = SplitAtCommas(value);
    if (flags->choice.tools.empty()) return Wrong(name, "names of tools", "nothing");
  } else {
    return false;
  }
  return true;
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
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--read-only") {
      flags.choice.read_only = true;
      continue;
    }
    if (word == "--allow-exec") {
      flags.allow_exec = true;
      continue;
    }
    if (word == "--legacy-only" || word == "--modern-only") {
      flags.eras = word == "--modern-only" ? mcp::Eras::kStateless : mcp::Eras::kHandshake;
      continue;
    }
    if (word == "--help" || word == "-h") {
      flags.help = true;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const bool has_next = equals == std::string_view::npos && i + 1 < arguments.size();
    const std::string value(equals != std::string_view::npos ? word.substr(equals + 1)
                            : has_next                       ? arguments[i + 1]
                                                             : std::string_view());
    // Asked with a value that fits anything, to tell our flags from the others'.
    ServeFlags ignored;
    const Result<bool> set = SetFlag(name, value, value.empty() ? &ignored : &flags);
    if (set && !*set) {
      flags.rest.push_back(word);
      continue;
    }
    if (value.empty()) {
      return Fail(ErrorCode::kBadValue, fmt::format("{} needs a value", name));
    }
    if (!set) return tl::make_unexpected(set.error());
    if (has_next) ++i;
    // Some hosts put a list of directories after one flag.
    while (name == "--allow-root" && i + 1 < arguments.size() && !arguments[i + 1].starts_with("-"))
      flags.allow_roots.emplace_back(arguments[++i]);
  }
  if (flags.allow_exec && flags.choice.read_only) {
    return Fail(ErrorCode::kBadValue, "--allow-exec and --read-only exclude each other");
  }
  return flags;
}

std::string ServeFlagsHelp() {
  std::string profiles;
  for (const std::string& name : tools::ProfileNames())
    profiles += (profiles.empty() ? "" : ", ") + name;
  return fmt::format(
      "\nFor either:\n\n"
      "  --allow-root DIR\n"
      "      Tools read traces and other files below this directory; repeat for more. Default: "
      "the\n"
      "      working directory, unless that is /.\n"
      "  --output-root DIR\n"
      "      Tools write files below this directory alone. Default: jarvis_out in the working\n"
      "      directory.\n"
      "  --read-only\n"
      "      No tool writes files.\n"
      "  --allow-exec\n"
      "      sweep_run may start programs. Whoever may call it can then run any command as the "
      "user\n"
      "      of this server. Over HTTP it needs --token-file.\n"
      "  --profile NAME (default core)\n"
      "      Which tools clients see: {}.\n"
      "  --tools NAME,NAME,...\n"
      "      These tools alone.\n"
      "  --memory-limit BYTES (default: half of the machine's memory, at least 1G)\n"
      "      Traces beyond this leave memory, the longest unused first, and are read again when\n"
      "      they are asked for. K, M, G and T are powers of 1024.\n"
      "  --max-trace-bytes BYTES (default {}G)\n"
      "      Text of one trace, decompressed.\n"
      "  --legacy-only, --modern-only\n"
      "      Answer clients of the handshake revisions, or of 2026-07-28, alone.\n"
      "  --answer-within SECONDS (default 45)\n"
      "      A tool whose trace takes longer answers \"loading\"; the load goes on.\n",
      profiles, limits::kTraceBytesMax >> 30);
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
  return options;
}

}  // namespace jarvis::app
