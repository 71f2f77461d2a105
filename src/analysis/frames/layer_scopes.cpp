#include "analysis/frames/layer_scopes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"

namespace jarvis::analysis {
namespace {

constexpr double kInOrder = 0.9;    // of the pairs of neighbours are the same in each pass
constexpr double kOwnLayers = 0.5;  // of the parts has a layer at most

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The word that ends before `end`.
std::string_view WordBefore(std::string_view name, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && IsLetter(name[begin - 1]))
    --begin;
  return name.substr(begin, end - begin);
}

bool IsOneOfWords(std::string_view word, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view one) {
    return EqualsNoCase(word, one) ||
           (word.size() == one.size() + 1 && EqualsNoCase(word.substr(0, one.size()), one) &&
            (word.back() | 32) == 's');
  });
}

// What runs again and again, and is counted.
bool CountsRuns(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "step",        "iter",    "iteration", "epoch",  "batch", "microbatch",
      "micro_batch", "request", "req",       "sample", "frame", "token",
      "round",       "trial",   "run",       "pass",   "rank",  "stage"};
  return IsOneOfWords(word, kWords);
}

bool NamesLayers(std::string_view word) {
  static constexpr std::string_view kWords[] = {"layer", "block", "transformer_layer",
                                                "decoder_layer", "encoder_layer"};
  return IsOneOfWords(word, kWords);
}

}  // namespace

std::optional<std::int64_t> LayerNumberOf(std::string_view name) {
  for (std::size_t at = name.find_first_of("0123456789"); at != std::string_view::npos;) {
    std::size_t end = at;
    while (end < name.size() && IsDigit(name[end]))
      ++end;
    const bool apart = end == name.size() || !IsLetter(name[end]) || name[end] == '_';
    if (apart && at >= 2) {
      const bool path = name[at - 1] == '.';
      const bool joined = name[at - 1] == '_' || name[at - 1] == ' ' || name[at - 1] == '[';
      std::string_view word = WordBefore(name, path || joined ? at - 1 : at);
      const bool layer = NamesLayers(word) || (path && !word.empty() && !CountsRuns(word));
      if (layer) return ParseInt(name.substr(at, end - at));
    }
    at = name.find_first_of("0123456789", end);
  }
  return std::nullopt;
}

std::string WithoutDigits(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!IsDigit(c)) {
      out += c;
    } else if (out.empty() || out.back() != '*') {
      out += '*';
    }
  }
  return out;
}

LayerScopes::LayerScopes(const FrameFacts& facts) : facts_(facts) {
  std::map<std::string, std::vector<EventIndex>> by_kind;
  for (const EventIndex e : facts.on_thread) {
    const std::string_view name = facts.events.name(e);
    const trace::EventKind kind = facts.events[e].kind;
    const bool scope = kind == trace::EventKind::kUserAnnotation ||
                       (kind == trace::EventKind::kCpuOp && IsScopeName(name));
    if (scope && LayerNumberOf(name)) by_kind[WithoutDigits(name)].push_back(e);
  }
  std::int64_t longest = -1;
  for (auto& [kind, scopes] : by_kind) {
    const bool alone = std::all_of(
        scopes.begin(), scopes.end(),
        [&, first = scopes.front()](EventIndex scope) { return NameOf(scope) == NameOf(first); });
    if (alone) continue;
    kinds_.push_back(kind);
    const std::int64_t length = StartOf(scopes.back()) - StartOf(scopes.front());
    if (length > longest) scopes_ = std::move(scopes);
    longest = std::max(longest, length);
  }
}

bool LayerScopes::Has(std::string_view name) const {
  return !kinds_.empty() && LayerNumberOf(name) &&
         std::binary_search(kinds_.begin(), kinds_.end(), WithoutDigits(name));
}

bool LayerScopes::OfPartOfPass() const {
  std::set<StringId> seen;
  const auto again = std::find_if(scopes_.begin(), scopes_.end(), [&](EventIndex scope) {
    return !seen.insert(NameOf(scope)).second;
  });
  if (again == scopes_.end()) return LayerNumberOf(first()).value_or(0) > 1 || facts_.cut;
  // The GPU was still at work of the first pass when the recording ended.
  return facts_.cut && !facts_.launched.empty() &&
         facts_.launched.back().launch_ns < StartOf(*again);
}

// Backward passes run layers the other way, and so do calls of one layer for another.
bool LayerScopes::InOrder() const {
  std::map<StringId, StringId> next;
  std::size_t alike = 0;
  std::size_t all = 0;
  for (std::size_t i = 0; i + 1 < scopes_.size(); ++i) {
    const auto [known, added] = next.try_emplace(NameOf(scopes_[i]), NameOf(scopes_[i + 1]));
    if (added) continue;
    ++all;
    if (known->second == NameOf(scopes_[i + 1])) ++alike;
  }
  return static_cast<double>(alike) >= kInOrder * static_cast<double>(all);
}

std::vector<std::int64_t> LayerScopes::StartsOf(StringId name) const {
  std::vector<std::int64_t> starts;
  for (const EventIndex scope : scopes_) {
    if (NameOf(scope) == name) starts.push_back(StartOf(scope));
  }
  if (starts.size() < 2 || !InOrder()) return {};
  return starts;
}

std::vector<std::int64_t> LayerScopes::PassesFromLowest() const {
  const auto lowest =
      std::min_element(scopes_.begin(), scopes_.end(), [&](EventIndex a, EventIndex b) {
        return NaturallyBefore(facts_.events.name(a), facts_.events.name(b));
      });
  return StartsOf(NameOf(*lowest));
}

std::vector<std::int64_t> LayerScopes::PassesFromFirst() const {
  return StartsOf(NameOf(scopes_.front()));
}

bool LayerScopes::ArePartsOfPass(std::span<const std::int64_t> starts) const {
  std::set<std::pair<StringId, std::size_t>> runs;  // of a layer, in a part
  std::set<StringId> layers;
  std::set<std::size_t> parts;
  for (const EventIndex scope : scopes_) {
    const auto part = static_cast<std::size_t>(
        std::upper_bound(starts.begin(), starts.end(), StartOf(scope)) - starts.begin());
    if (part == 0) continue;
    runs.insert({NameOf(scope), part});
    layers.insert(NameOf(scope));
    parts.insert(part);
  }
  return parts.size() > 1 &&
         static_cast<double>(runs.size()) <=
             kOwnLayers * static_cast<double>(layers.size()) * static_cast<double>(parts.size());
}

}  // namespace jarvis::analysis
