#include "mcp/envelope.h"

#include <algorithm>
#include <array>
#include <string>

namespace jarvis::mcp {
namespace {

using rpc::FailRpc;

// In the order of LogLevel.
constexpr std::array<std::string_view, 8> kLogLevels = {"debug", "info",     "notice", "warning",
                                                        "error", "critical", "alert",  "emergency"};

rpc::RpcResult<Revision> ReadStateless(const Json* meta) {
  const Json* version = meta == nullptr ? nullptr : FindMember(*meta, kMetaVersion);
  if (version == nullptr || !version->is_string()) {
    return FailRpc(rpc::kInvalidParams,
                   std::string("params._meta[\"") + kMetaVersion + "\"]: expected a string");
  }
  const Json* capabilities = FindMember(*meta, kMetaCapabilities);
  if (capabilities == nullptr || !capabilities->is_object()) {
    return FailRpc(rpc::kInvalidParams,
                   std::string("params._meta[\"") + kMetaCapabilities + "\"]: expected an object");
  }
  const auto revision = FindRevision(version->get<std::string>());
  if (revision && IsStateless(*revision)) return *revision;
  const std::string requested = Excerpt(*version);
  return FailRpc(kUnsupportedVersion,
                 revision ? "Version " + requested + " starts with initialize"
                          : "Version " + requested + " is not supported",
                 {{"supported", RevisionNames(/*with_stateless=*/true)},
                  {"requested", version->get<std::string>().substr(0, 64)}});
}

}  // namespace

bool LooksStateless(const Json& params) {
  const Json* meta = FindMember(params, "_meta");
  return meta != nullptr && FindMember(*meta, kMetaVersion) != nullptr;
}

bool LooksStateless(const rpc::Message& message) {
  return LooksStateless(message.params) || message.method == "server/discover" ||
         message.method == "subscriptions/listen";
}

rpc::RpcResult<Envelope> ReadEnvelope(const rpc::Message& request, Revision negotiated) {
  Envelope envelope;
  envelope.revision = negotiated;
  const Json* meta = FindMember(request.params, "_meta");
  if (meta != nullptr && !meta->is_object()) {
    return FailRpc(rpc::kInvalidParams,
                   "params._meta: expected an object, received " + Excerpt(*meta));
  }
  if (LooksStateless(request)) {
    const auto revision = ReadStateless(meta);
    if (!revision) return tl::make_unexpected(revision.error());
    envelope.revision = *revision;
    envelope.capabilities = meta->at(kMetaCapabilities);
  }
  const Json* token = meta == nullptr ? nullptr : FindMember(*meta, "progressToken");
  if (token == nullptr || token->is_null()) return envelope;
  const bool fits =
      token->is_string() && token->get_ref<const std::string&>().size() <= rpc::kIdBytesMax;
  if (!fits && !token->is_number_integer()) {
    return FailRpc(
        rpc::kInvalidParams,
        "params._meta.progressToken: expected a string or an integer, received " + Excerpt(*token));
  }
  envelope.progress_token = *token;
  return envelope;
}

std::string_view Name(LogLevel level) {
  return kLogLevels.at(static_cast<std::size_t>(level));
}

std::optional<LogLevel> FindLogLevel(std::string_view name) {
  const auto found = std::find(kLogLevels.begin(), kLogLevels.end(), name);
  if (found == kLogLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLogLevels.begin());
}

bool KnowsExtension(const Json& capabilities, const char* extension) {
  const Json* extensions = FindMember(capabilities, "extensions");
  return extensions != nullptr && FindMember(*extensions, extension) != nullptr;
}

rpc::RpcResult<LogLevel> ReadLogLevel(const Json& level, std::string_view where) {
  if (level.is_string()) {
    if (const auto found = FindLogLevel(level.get<std::string>())) return *found;
  }
  std::string names;
  for (const std::string_view name : kLogLevels) {
    names += names.empty() ? "" : ", ";
    names += name;
  }
  return FailRpc(rpc::kInvalidParams, std::string(where) + ": expected one of " + names +
                                          ", received " + Excerpt(level));
}

Json RevisionNames(bool with_stateless) {
  Json names = Json::array();
  for (const RevisionName& known : kRevisions) {
    if (with_stateless || !IsStateless(known.revision)) names.push_back(known.name);
  }
  return names;
}

}  // namespace jarvis::mcp
