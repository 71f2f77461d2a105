#include "trace/rank_rewriter.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

// Ids of one rank lie in a space of this size: its own below half of it, odd ones (negative,
// larger, text) numbered above. 2^19 ranks fit into what a double holds exactly.
constexpr std::uint64_t kIdSpace = std::uint64_t{1} << 34;

// Places of one rank's processes in a viewer's list.
constexpr std::int64_t kProcessesMax = 1000;

bool IsBlank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',';
}

// One past the end of the value that starts at `at`, in text that is valid JSON.
std::size_t ValueEnd(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
      if (depth == 0) return std::min(at + 1, text.size());
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (IsBlank(c) || c == ',')) {
      return at;
    }
  }
  return at;
}

// Calls visit(key, value) for each member of a valid object; both raw, the key with its quotes.
template <typename Visit>
void ForEachMember(std::string_view object, const Visit& visit) {
  std::size_t at = object.find('{') + 1;
  while (at < object.size()) {
    while (at < object.size() && IsBlank(object[at]))
      ++at;
    if (at >= object.size() || object[at] != '"') return;
    const std::size_t key_end = ValueEnd(object, at);
    const std::string_view key = object.substr(at, key_end - at);
    at = object.find(':', key_end) + 1;
    while (at < object.size() && IsBlank(object[at]))
      ++at;
    const std::size_t end = ValueEnd(object, at);
    visit(key, object.substr(at, end - at));
    at = end;
  }
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> choices) {
  for (const std::string_view choice : choices) {
    if (text == choice) return true;
  }
  return false;
}

}  // namespace

// Whether a text is JSON: nothing else may reach the output.
class RankRewriter::Json {
 public:
  bool IsObject(std::string_view text) {
    padded_.assign(text);
    padded_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    simdjson::dom::element element;
    return !ButNoMemory(parser_.parse(padded_.data(), padded_.size(), false).get(element)) &&
           element.is_object();
  }

 private:
  simdjson::dom::parser parser_;
  std::string padded_;
};

RankRewriter::RankRewriter(const Options& options)
    : options_(options), json_(std::make_unique<Json>()), next_pid_(options.first_pid) {}
RankRewriter::~RankRewriter() = default;

void RankRewriter::Add(std::string_view elements, std::string* out) {
  std::size_t at = 0;
  while (at < elements.size()) {
    while (at < elements.size() && IsBlank(elements[at]))
      ++at;
    if (at >= elements.size()) break;
    const std::size_t end = std::max(ValueEnd(elements, at), at + 1);
    AddEvent(elements.substr(at, end - at), out);
    at = end;
  }
}

void RankRewriter::AddEvent(std::string_view event, std::string* out) {
  if (!json_->IsObject(event)) {
    ++dropped_;
    return;
  }
  if (options_.as_is) {
    ++events_;
    out->append(",\n").append(event);
    return;
  }
  std::string_view phase;
  std::string_view name;
  std::string_view category;
  bool has_args = false;
  ForEachMember(event, [&](std::string_view key, std::string_view value) {
    if (key == R"("ph")") phase = value;
    if (key == R"("name")") name = value;
    if (key == R"("cat")") category = value;
    has_args = has_args || key == R"("args")";
  });
  if (phase == R"("M")" &&
      IsOneOf(name, {R"("process_name")", R"("process_labels")", R"("process_sort_index")"})) {
    NoteName(event);
    return;
  }
  if (!options_.python_functions && category == R"("python_function")") return;
  ++events_;
  *out += ",\n{";
  bool first = true;
  const auto separate = [&] {
    if (!first) *out += ',';
    first = false;
  };
  std::string raw_pid;
  ForEachMember(event, [&](std::string_view key, std::string_view value) {
    separate();
    *out += key;
    *out += ':';
    if (key == R"("pid")") {
      raw_pid = value;
      *out += fmt::format("{}", ProcessOf(value).pid);
    } else if (key == R"("id")") {
      *out += Linked(value);
    } else if (key == R"("ts")" && options_.shift_ns != 0) {
      *out += Shifted(value);
    } else if (key == R"("args")" && value.starts_with('{')) {
      AddArgs(value, out);
    } else {
      *out += value;
    }
  });
  if (!has_args && phase != R"("s")" && phase != R"("f")" && phase != R"("t")") {
    separate();
    *out += fmt::format(R"("args":{{"rank":{}}})", options_.rank);
  }
  *out += '}';
}

void RankRewriter::AddArgs(std::string_view args, std::string* out) {
  *out += fmt::format(R"({{"rank":{})", options_.rank);
  ForEachMember(args, [&](std::string_view key, std::string_view value) {
    if (key == R"("rank")") return;
    *out += ',';
    *out += key;
    *out += ':';
    const bool links = IsOneOf(
        key, {R"("correlation")", R"("External id")", R"("external id")", R"("Sequence number")"});
    *out += links ? Linked(value) : std::string(value);
  });
  *out += '}';
}

RankRewriter::Process& RankRewriter::ProcessOf(std::string_view raw_pid) {
  const auto found = processes_.find(raw_pid);
  if (found != processes_.end()) return found->second;
  order_.emplace_back(raw_pid);
  Process& process = processes_[order_.back()];
  process.pid = next_pid_++;
  return process;
}

// Unique in all ranks, and 0 stays apart from all others.
std::string RankRewriter::Linked(std::string_view raw_id) {
  const std::uint64_t base = options_.ordinal * kIdSpace;
  const auto whole = ParseInt(raw_id);
  if (whole && *whole >= 0 && static_cast<std::uint64_t>(*whole) < kIdSpace / 2)
    return fmt::format("{}", base + static_cast<std::uint64_t>(*whole));
  if (raw_id == "null") return "null";
  const auto number = odd_ids_.try_emplace(std::string(raw_id), odd_ids_.size()).first->second;
  return fmt::format("{}", base + kIdSpace / 2 + number);
}

std::string RankRewriter::Shifted(std::string_view raw_time) const {
  const auto time = TimeOf(raw_time);
  std::int64_t ns = 0;
  if (!time || __builtin_add_overflow(time->ns, options_.shift_ns, &ns) ||
      ns == std::numeric_limits<std::int64_t>::min())
    return std::string(raw_time);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

void RankRewriter::NoteName(std::string_view event) {
  std::string_view pid;
  std::string_view args;
  ForEachMember(event, [&](std::string_view key, std::string_view value) {
    if (key == R"("pid")") pid = value;
    if (key == R"("args")") args = value;
  });
  if (pid.empty() || !args.starts_with('{')) return;
  Process& process = ProcessOf(pid);
  ForEachMember(args, [&](std::string_view key, std::string_view value) {
    if (key == R"("name")" && value.starts_with('"')) process.name = value;
    if (key == R"("labels")" && value.starts_with('"')) process.label = value;
  });
}

void RankRewriter::AddNames(std::string* out) const {
  const auto add = [&](std::string_view what, std::int64_t pid, std::string_view args) {
    *out += fmt::format(R"x(,{}{{"ph":"M","name":"{}","pid":{},"tid":0,"args":{{{}}}}})x", '\n',
                        what, pid, args);
  };
  auto place = static_cast<std::int64_t>(options_.ordinal) * kProcessesMax;
  for (const std::string& raw : order_) {
    const Process& process = processes_.at(raw);
    const std::string_view name = Unquoted(process.name);
    const std::string_view label = Unquoted(process.label);
    add("process_name", process.pid,
        fmt::format(R"x("name":"rank {}: {} (pid {}{}{})")x", options_.rank,
                    name.empty() ? "process" : name, Unquoted(raw), label.empty() ? "" : ", ",
                    label));
    add("process_sort_index", process.pid, fmt::format(R"x("sort_index":{})x", place++));
    if (!label.empty())
      add("process_labels", process.pid, fmt::format(R"x("labels":"{}")x", label));
  }
}

}  // namespace jarvis::trace
