#include "mcp/results.h"

#include <utility>

#include "mcp/envelope.h"

namespace jarvis::mcp {
namespace {

using rpc::Json;

// Lists do not change while the process lives.
constexpr int kListTtlMs = 3'600'000;

Json Capabilities() {
  return {{"tools", Json::object()}};
}

Json Implementation(const ServerInfo& info, Revision revision) {
  Json json = {{"name", info.name}};
  if (revision >= Revision::k20250618) json["title"] = info.title;
  json["version"] = info.version;
  return json;
}

Json Finish(const ServerInfo& info, Json result, Revision revision) {
  if (!IsStateless(revision)) return result;
  result["resultType"] = "complete";
  result["_meta"][kMetaServerInfo] = Implementation(info, revision);
  return result;
}

Json Cacheable(Json result, Revision revision) {
  if (!IsStateless(revision)) return result;
  result["ttlMs"] = kListTtlMs;
  result["cacheScope"] = "public";
  return result;
}

Json Definition(const Tool& tool, Revision revision) {
  Json definition = tool.definition;
  if (revision != Revision::k20251125) definition.erase("execution");
  if (revision < Revision::k20251125) definition.erase("icons");
  if (revision < Revision::k20250618) {
    for (const char* key : {"title", "outputSchema", "_meta"})
      definition.erase(key);
  }
  if (revision < Revision::k20250326) definition.erase("annotations");
  return definition;
}

}  // namespace

Json InitializeResult(const ServerInfo& info, Revision revision) {
  Json result = {{"protocolVersion", Name(revision)}};
  result["capabilities"] = Capabilities();
  result["serverInfo"] = Implementation(info, revision);
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return result;
}

Json DiscoverResult(const ServerInfo& info, Revision revision) {
  Json result = {{"supportedVersions", RevisionNames(/*with_stateless=*/true)}};
  result["capabilities"] = Capabilities();
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return Finish(info, Cacheable(std::move(result), revision), revision);
}

Json EmptyResult(const ServerInfo& info, Revision revision) {
  return Finish(info, Json::object(), revision);
}

Json ToolListResult(const ServerInfo& info, const ToolSet& tools, Revision revision) {
  Json list = Json::array();
  for (const Tool& tool : tools.tools())
    list.push_back(Definition(tool, revision));
  Json result = Json::object();
  result["tools"] = std::move(list);
  return Finish(info, Cacheable(std::move(result), revision), revision);
}

Json ToolCallResult(const ServerInfo& info, const ToolReply& reply, Revision revision) {
  Json text = {{"type", "text"}, {"text", reply.text}};
  Json result = Json::object();
  result["content"] = Json::array({std::move(text)});
  const bool structured = revision >= Revision::k20250618 && !reply.structured.is_null();
  if (reply.is_error) {
    result["isError"] = true;
  } else if (structured) {
    result["structuredContent"] = reply.structured;
  }
  return Finish(info, std::move(result), revision);
}

Json ListenResult(const ServerInfo& info, const Json& request_id, Revision revision) {
  Json result = Json::object();
  result["_meta"][kMetaSubscription] = request_id;
  return Finish(info, std::move(result), revision);
}

}  // namespace jarvis::mcp
