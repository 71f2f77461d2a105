#include "session/category_names.h"

#include "base/text.h"

namespace jarvis::session {
namespace {

struct Alias {
  std::string_view name;
  std::string_view key;  // a whole key, or its beginning if it ends in '*'
};

constexpr Alias kAliases[] = {
    {"convolution", "conv_*"},
    {"conv", "conv_*"},
    {"conv", "convolution"},
    {"batchnorm", "norm_*"},
    {"batchnorm", "batch_norm*"},
    {"batchnorm", "rmsnorm"},
    {"norm", "norm_*"},
    {"norm", "batch_norm*"},
    {"norm", "rmsnorm"},
    {"sdpa", "sdpa_*"},
    {"sdpa", "inferenceattention"},
    {"attention", "sdpa_*"},
    {"attention", "inferenceattention"},
    {"moe", "moe_*"},
    {"rope", "rope_*"},
    {"rope", "fusedrope"},
    {"groupedgemm", "groupedgemm_*"},
    {"communication", "record_param_comms"},
    {"communication", "customcollective"},
    {"generic", "other"},
};

}  // namespace

std::string CategoryKey(std::string_view category) {
  std::string key = LowerAscii(Trim(category));
  for (char& c : key) {
    if (c == ' ' || c == '/') c = '_';
  }
  return key.empty() ? "other" : key;
}

bool CategoryMatches(std::string_view wanted, std::string_view category) {
  const std::string key = CategoryKey(category);
  const std::string name = CategoryKey(wanted);
  if (name == key) return true;
  for (const Alias& alias : kAliases) {
    if (alias.name != name) continue;
    const bool prefix = alias.key.ends_with('*');
    if (prefix ? key.starts_with(alias.key.substr(0, alias.key.size() - 1)) : key == alias.key)
      return true;
  }
  return false;
}

}  // namespace jarvis::session
