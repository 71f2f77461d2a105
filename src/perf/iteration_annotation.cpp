#include "perf/iteration_annotation.h"

#include <algorithm>

#include "base/text.h"

namespace jarvis::perf {
namespace {

// Reads a name from its start; every step says whether it matched.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool Skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  bool Number(std::int64_t* out) {
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] >= '0' && rest_[end] <= '9')
      ++end;
    const auto value = ParseInt(rest_.substr(0, end));
    if (!value) return false;
    *out = *value;
    rest_.remove_prefix(end);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool ReadSums(Cursor* at, std::int64_t* sq, std::int64_t* sk, std::int64_t* sqsq,
              std::int64_t* sqsk) {
  return at->Skip("(sq") && at->Number(sq) && at->Skip("sk") && at->Number(sk) &&
         at->Skip("sqsq") && at->Number(sqsq) && at->Skip("sqsk") && at->Number(sqsk) &&
         at->Skip(")");
}

// The integer at the start of the value of `key=` among words separated by blanks.
std::optional<std::int64_t> Member(std::string_view words, std::string_view key) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != '=') continue;
    Cursor value(word.substr(key.size() + 1));
    std::int64_t number = 0;
    if (value.Number(&number)) return number;
  }
  return std::nullopt;
}

std::optional<IterationSums> ParseVllm(std::string_view name) {
  IterationSums out;
  std::int64_t ignored = 0;
  Cursor detailed(name);
  if (detailed.Skip("execute_") && detailed.Number(&ignored) && detailed.Skip("_context_") &&
      detailed.Number(&out.context_requests) &&
      ReadSums(&detailed, &out.c_sq, &out.c_sk, &out.c_sqsq, &out.c_sqsk) &&
      detailed.Skip("_generation_") && detailed.Number(&out.generation_requests) &&
      ReadSums(&detailed, &out.g_sq, &out.g_sk, &out.g_sqsq, &out.g_sqsk)) {
    out.format = "vllm_detailed";
    out.has_products = true;
  } else {
    out = {};
    Cursor native(name);
    if (!native.Skip("execute_context_") || !native.Number(&out.context_requests) ||
        !native.Skip("(") || !native.Number(&out.c_sq) || !native.Skip(")_generation_") ||
        !native.Number(&out.generation_requests) || !native.Skip("(") ||
        !native.Number(&out.g_sq) || !native.Skip(")")) {
      return std::nullopt;
    }
    out.format = "vllm_native";
  }
  out.context_sum = out.c_sq;
  out.generation_sum = out.g_sq;
  out.batch_size = out.c_sq + out.g_sq;
  return out;
}

std::optional<IterationSums> ParseSglang(std::string_view name) {
  Cursor at(name);
  if (!at.Skip("step[")) return std::nullopt;
  std::string_view kind;
  for (const std::string_view known : {"EXTEND", "DECODE", "MIXED"}) {
    if (at.Skip(known)) kind = known;
  }
  const std::size_t end = at.rest().rfind(']');
  if (kind.empty() || end == std::string_view::npos) return std::nullopt;
  const std::string_view words = at.rest().substr(0, end);
  const auto value = [&](std::string_view key) { return Member(words, key).value_or(0); };
  const std::int64_t bs = value("bs");
  const std::int64_t tokens = value("toks");
  IterationSums out;
  if (words.find("sqsq=") != std::string_view::npos) {
    out.format = "sglang_detailed";
    out.has_products = true;
    out.c_sq = value("c_sq"), out.c_sk = value("c_sk");
    out.c_sqsq = value("c_sqsq"), out.c_sqsk = value("c_sqsk");
    out.g_sq = value("g_sq"), out.g_sk = value("g_sk");
    out.g_sqsq = value("g_sqsq"), out.g_sqsk = value("g_sqsk");
    if (kind == "MIXED") {
      out.context_requests = value("c");
      out.generation_requests = value("g");
    } else {
      (kind == "DECODE" ? out.generation_requests : out.context_requests) = bs;
    }
    out.batch_size = out.c_sq + out.g_sq;
    if (out.batch_size == 0) out.batch_size = tokens != 0 ? tokens : bs;
  } else {
    if (!Member(words, "bs")) return std::nullopt;
    out.format = "sglang_native";
    if (kind == "DECODE") {
      out.generation_requests = out.g_sq = bs;
    } else {
      out.context_requests = bs;
      out.c_sq = tokens;
    }
    out.batch_size = out.c_sq + out.g_sq;
    if (out.batch_size == 0) out.batch_size = bs;
  }
  out.context_sum = out.c_sq;
  out.generation_sum = out.g_sq;
  return out;
}

std::optional<IterationSums> ParseAtom(std::string_view name) {
  Cursor at(name);
  const bool prefill = at.Skip("prefill[");
  if (!prefill && !at.Skip("decode[")) return std::nullopt;
  const std::size_t end = at.rest().rfind(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view words = at.rest().substr(0, end);
  const std::optional<std::int64_t> sqsq = Member(words, "sqsq");
  const std::optional<std::int64_t> sqsk = Member(words, "sqsk");
  IterationSums out;
  out.has_products = sqsq && sqsk;
  out.format = sqsq ? "atom_detailed" : "atom_native";
  const std::int64_t tokens = Member(words, "tok").value_or(0);
  (prefill ? out.context_requests : out.generation_requests) = Member(words, "bs").value_or(0);
  (prefill ? out.c_sq : out.g_sq) = tokens;
  (prefill ? out.c_sk : out.g_sk) = Member(words, "sk").value_or(0);
  (prefill ? out.c_sqsq : out.g_sqsq) = sqsq.value_or(0);
  (prefill ? out.c_sqsk : out.g_sqsk) = sqsk.value_or(0);
  out.context_sum = out.c_sq;
  out.generation_sum = out.g_sq;
  out.batch_size = tokens;
  return out;
}

std::optional<IterationSums> ParseDiffusion(std::string_view name) {
  Cursor at(name);
  IterationSums out;
  std::int64_t ignored = 0;
  if (!at.Skip("execute_diffusion_") || !at.Number(&out.batch_size) || !at.Skip("_") ||
      !at.Number(&ignored) || !at.Skip("x") || !at.Number(&ignored)) {
    return std::nullopt;
  }
  out.format = "diffusion_native";
  return out;
}

// "execute_context_1(888_788544)_generation_0(0)": tokens, then further sums.
std::optional<IterationSums> ParseShortened(std::string_view name) {
  IterationSums out;
  Cursor at(name);
  if (!at.Skip("execute_context_") || !at.Number(&out.context_requests) || !at.Skip("(") ||
      !at.Number(&out.c_sq)) {
    return std::nullopt;
  }
  constexpr std::string_view kGeneration = ")_generation_";
  const std::size_t middle = at.rest().find(kGeneration);
  if (middle == std::string_view::npos) return std::nullopt;
  Cursor generation(at.rest().substr(middle + kGeneration.size()));
  if (!generation.Number(&out.generation_requests) || !generation.Skip("(") ||
      !generation.Number(&out.g_sq)) {
    return std::nullopt;
  }
  out.format = "vllm_shortened";
  out.context_sum = out.c_sq;
  out.generation_sum = out.g_sq;
  out.batch_size = out.c_sq + out.g_sq;
  return out;
}

}  // namespace

std::optional<IterationSums> ParseIteration(std::string_view name) {
  for (const auto parse : {&ParseVllm, &ParseSglang, &ParseAtom, &ParseDiffusion}) {
    if (auto sums = parse(name)) return sums;
  }
  return std::nullopt;
}

std::optional<IterationSums> TellIteration(std::string_view name) {
  auto sums = ParseIteration(name);
  if (!sums) return ParseShortened(name);
  if (sums->format.starts_with("diffusion")) return std::nullopt;
  return sums;
}

std::string_view PhaseOf(const IterationSums& sums) {
  if (sums.context_requests > 0) return sums.generation_requests > 0 ? "mixed" : "prefill";
  return "decode";
}

std::optional<IterationSums> SumsOf(std::string_view name) {
  auto sums = ParseIteration(name);
  if (sums && !sums->has_products) return std::nullopt;
  return sums;
}

std::optional<CaptureName> ParseCapture(std::string_view name) {
  Cursor at(name);
  CaptureName out;
  if (!at.Skip("capture_") || !at.Number(&out.batch_size) || !at.Skip("_")) return std::nullopt;
  for (const std::string_view mode : {"decode", "prefill", "mixed_prefill"}) {
    if (at.rest() == mode) {
      out.mode = mode;
      return out;
    }
  }
  return std::nullopt;
}

}  // namespace jarvis::perf
