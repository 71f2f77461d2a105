#include "options.h"

#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <string_view>

namespace make_trace {

const char* const kUsage =
    "make_trace --out FILE.json[.gz] [options]\n"
    "Writes a PyTorch profiler trace of a transformer training step, and FILE.truth.json with "
    "what\n"
    "was written. The same options give the same bytes.\n"
    "  --out PATH            file; with --ranks above 1 a folder, or a folder/x.json.gz whose "
    "ending\n"
    "                        counts: rank<i>.json[.gz] are written into the folder\n"
    "  --layers N            decoder layers (4)\n"
    "  --steps N             profiler steps (3)\n"
    "  --ranks N             traces of one job, one for each of N ranks (1)\n"
    "  --world N             size of the job (as many as ranks; 8 for one rank; 1: no "
    "collectives)\n"
    "  --seed S              of the noise (1)\n"
    "  --hidden H            width, a multiple of 128 (2048)\n"
    "  --seq S               tokens in a sequence (2048)\n"
    "  --batch B             sequences (4)\n"
    "  --vocab V             tokens known (32000)\n"
    "  --platform h100|mi300x\n"
    "  --python-frames, --no-python-frames\n"
    "  --planted, --clean    with or without the planted bottlenecks\n"
    "  --target-bytes SIZE   go on with steps until the JSON has SIZE bytes (suffix K, M, G)\n"
    "  --indent kineto|none  line breaks as the profiler writes them, or no white space at all\n";

namespace {

constexpr std::int64_t kSizeMax = std::int64_t{1} << 40;

bool ParseInteger(std::string_view text, std::int64_t min, std::int64_t max, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= min && value <= max;
}

bool ParseSize(std::string_view text, std::int64_t& value) {
  std::int64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K': unit = std::int64_t{1} << 10; break;
      case 'M': unit = std::int64_t{1} << 20; break;
      case 'G': unit = std::int64_t{1} << 30; break;
      default: break;
    }
    if (unit != 1) text.remove_suffix(1);
  }
  if (!ParseInteger(text, 0, kSizeMax / unit, value)) return false;
  value *= unit;
  return true;
}

using Setter = std::function<bool(std::string_view)>;

Setter Int(int& target, std::int64_t min, std::int64_t max) {
  return [&target, min, max](std::string_view text) {
    std::int64_t value = 0;
    if (!ParseInteger(text, min, max, value)) return false;
    target = static_cast<int>(value);
    return true;
  };
}

Setter Long(std::int64_t& target, std::int64_t min, std::int64_t max) {
  return
      [&target, min, max](std::string_view text) { return ParseInteger(text, min, max, target); };
}

std::map<std::string_view, Setter> Setters(Options& o) {
  return {
      {"--out", [&o](std::string_view text) { return !(o.out = text).empty(); }},
      {"--layers", Int(o.layers, 1, 1000)},
      {"--steps", Int(o.steps, 1, 1'000'000)},
      {"--ranks", Int(o.ranks, 1, 256)},
      {"--world", Int(o.world, 1, 100'000)},
      {"--seed",
       [&o](std::string_view text) {
         std::int64_t value = 0;
         const bool good = ParseInteger(text, 0, std::numeric_limits<std::int64_t>::max(), value);
         o.seed = static_cast<std::uint64_t>(value);
         return good;
       }},
      {"--hidden", Long(o.hidden, 128, 65536)},
      {"--seq", Long(o.seq, 16, 1 << 20)},
      {"--batch", Long(o.batch, 1, 4096)},
      {"--vocab", Long(o.vocab, 128, 1 << 20)},
      {"--target-bytes", [&o](std::string_view text) { return ParseSize(text, o.target_bytes); }},
      {"--platform",
       [&o](std::string_view text) {
         o.platform = text == "mi300x" ? Platform::kMi300x : Platform::kH100;
         return text == "mi300x" || text == "h100";
       }},
      {"--indent",
       [&o](std::string_view text) {
         o.compact = text == "none";
         return text == "none" || text == "kineto";
       }},
  };
}

}  // namespace

std::string ParseOptions(int argc, char** argv, Options& options) {
  const auto setters = Setters(options);
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--python-frames" || name == "--no-python-frames") {
      options.python_frames = name == "--python-frames";
    } else if (name == "--planted" || name == "--clean") {
      options.planted = name == "--planted";
    } else if (const auto found = setters.find(name); found == setters.end()) {
      return "unknown option " + std::string(name);
    } else if (++i == argc) {
      return std::string(name) + " needs a value";
    } else if (!found->second(argv[i])) {
      return std::string(name) + " does not take \"" + argv[i] + "\"";
    }
  }
  if (options.out.empty()) return "--out is needed";
  if (options.hidden % 128 != 0) return "--hidden must be a multiple of 128";
  if (options.world == 0) options.world = options.ranks > 1 ? options.ranks : 8;
  if (options.world < options.ranks) return "--world is smaller than --ranks";
  return {};
}

}  // namespace make_trace
