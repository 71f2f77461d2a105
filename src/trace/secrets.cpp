#include "trace/secrets.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include <simdjson.h>

#include "base/dom_parse.h"

namespace jarvis::trace {
namespace {

namespace dom = simdjson::dom;

// The words of a key, in small letters: HF_TOKEN and hfToken are "hf" and "token".
std::vector<std::string> WordsOf(std::string_view key) {
  std::vector<std::string> words(1);
  bool small = false;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 || (small && std::isupper(byte) != 0)) words.emplace_back();
    if (std::isalnum(byte) != 0) words.back() += static_cast<char>(std::tolower(byte));
    small = std::islower(byte) != 0;
  }
  std::erase(words, "");
  return words;
}

bool NamesSecret(std::string_view key) {
  const std::vector<std::string> words = WordsOf(key);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view secret : {"token", "secret", "password", "passwd", "passphrase",
                                          "credential", "credentials", "apikey"}) {
      if (words[i] == secret) return i + 1 == words.size() || words[i + 1] == "key";
    }
    if (words[i] == "key" && i > 0) {
      for (const std::string_view before : {"api", "access", "private", "secret", "auth"}) {
        if (words[i - 1] == before) return true;
      }
    }
  }
  return false;
}

// Prefixes that services give their tokens, followed by at least sixteen letters and digits.
bool LooksSecret(std::string_view value) {
  constexpr std::size_t kBodyMin = 16;
  for (const std::string_view prefix :
       {"hf_", "ghp_", "gho_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-", "AKIA", "AIza"}) {
    if (!value.starts_with(prefix)) continue;
    const std::string_view body = value.substr(prefix.size());
    if (body.size() >= kBodyMin && std::all_of(body.begin(), body.end(), [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
        }))
      return true;
  }
  return value.find("-----BEGIN") != std::string_view::npos &&
         value.find("PRIVATE KEY-----") != std::string_view::npos;
}

// Values that name a secret and hold none: emptied, blanked out, or switches and numbers.
bool IsBlank(std::string_view value) {
  if (value.size() < 6) return true;
  const bool same = value.find_first_not_of(value.front()) == std::string_view::npos;
  if (same || value.front() == '<' || value.front() == '[' || value.find("***") != value.npos)
    return true;
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

class SecretSearch {
 public:
  void Look(std::string_view key, dom::element value, int depth) {
    constexpr int kDepthMax = 16;
    if (depth > kDepthMax) return;
    std::string_view text;
    dom::object object;
    dom::array array;
    if (!value.get_string().get(text)) {
      Judge(key, text);
    } else if (!value.get_object().get(object)) {
      CountEnvironment(object);
      for (const dom::key_value_pair member : object)
        Look(member.key, member.value, depth + 1);
    } else if (!value.get_array().get(array)) {
      for (const dom::element element : array)
        Look(key, element, depth + 1);
    }
  }

  Secrets Take() { return {{keys_.begin(), keys_.end()}, environment_}; }

 private:
  void Judge(std::string_view key, std::string_view text) {
    if (LooksSecret(text) || (NamesSecret(key) && !IsBlank(text))) keys_.emplace(key);
    // Lists and texts of NAME=value, one a line.
    constexpr std::size_t kNameMax = 64;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      const std::size_t equals = line.find('=');
      if (equals != std::string_view::npos && equals > 0 && equals <= kNameMax) {
        const std::string_view name = line.substr(0, equals);
        const std::string_view value = line.substr(equals + 1);
        const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        });
        if (plain && (LooksSecret(value) || (NamesSecret(name) && !IsBlank(value))))
          keys_.emplace(name);
      }
      at = end + 1;
    }
  }

  // What every process has in its environment, and nothing else has together.
  void CountEnvironment(dom::object object) {
    constexpr int kMarksMin = 3;
    int marks = 0;
    std::uint64_t members = 0;
    for (const dom::key_value_pair member : object) {
      ++members;
      for (const std::string_view mark :
           {"PATH", "HOME", "PWD", "HOSTNAME", "SHELL", "USER", "LOGNAME", "TERM", "SHLVL"})
        marks += member.key == mark ? 1 : 0;
    }
    if (marks >= kMarksMin) environment_ = std::max(environment_, members);
  }

  std::set<std::string, std::less<>> keys_;
  std::uint64_t environment_ = 0;
};

}  // namespace

Secrets FindSecrets(const Metadata& metadata) {
  SecretSearch search;
  dom::parser parser;
  for (const TopLevelValue& value : metadata.values) {
    dom::element element;
    if (!ParseDom(&parser, value.json, &element)) search.Look(value.key, element, 0);
  }
  return search.Take();
}

}  // namespace jarvis::trace
