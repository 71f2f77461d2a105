#include "app/install_edit.h"

#include <algorithm>
#include <array>

#include "app/install_json.h"
#include "app/install_toml.h"

namespace jarvis::app {
namespace {

Result<std::string> Edit(const Client& client, const std::string& text, const Json& entry) {
  const auto edit = client.format == ConfigFormat::kJson ? &EditJson : &EditToml;
  return edit(client.servers, text, entry);
}

}  // namespace

Result<std::string> WithEntry(const Client& client, const std::string& text, const Json& entry) {
  return Edit(client, text, entry);
}

Result<std::string> WithoutEntry(const Client& client, const std::string& text) {
  return Edit(client, text, Json());
}

std::string Snippet(const Client& client, const Json& entry) {
  return Edit(client, "", entry).value_or("");
}

bool IsPlaceMember(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "type", "command", "args", "url", "httpUrl", "headers", "bearer_token_env_var"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace jarvis::app
