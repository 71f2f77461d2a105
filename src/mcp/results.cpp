#include "mcp/results.h"

#include <utility>

#include "mcp/apps.h"
#include "mcp/envelope.h"
#include "mcp/tasks.h"
#include "rpc/base64.h"

namespace jarvis::mcp {
namespace {

// Lists that do not change while the process lives.
constexpr int kListTtlMs = 3'600'000;
// What a URI with a content's hash in it stands for.
constexpr int kImmutableTtlMs = 86'400'000;
constexpr std::size_t kCompletionsMax = 100;

Json Announced(bool changes) {
  return changes ? Json{{"listChanged", true}} : Json::object();
}

Json Capabilities(const Catalog& catalog, Revision revision) {
  Json json = {{"tools", Announced(catalog.tools_change)}, {"logging", Json::object()}};
  if (catalog.resources) {
    json["resources"] = Announced(catalog.resources_change);
    if (!IsStateless(revision)) json["resources"]["subscribe"] = true;
  }
  if (!catalog.prompts.empty()) json["prompts"] = Announced(catalog.prompts_change);
  if (catalog.completer && revision >= Revision::k20250326) json["completions"] = Json::object();
  if (IsStateless(revision)) {
    json["extensions"][kTasksExtension] = Json::object();
    if (catalog.views) json["extensions"][kAppsExtension] = Json::object();
  }
  return json;
}

Json Implementation(const ServerInfo& info, Revision revision) {
  Json json = {{"name", info.name}};
  if (revision >= Revision::k20250618) json["title"] = info.title;
  json["version"] = info.version;
  if (revision >= Revision::k20251125 && !info.description.empty()) {
    json["description"] = info.description;
  }
  return json;
}

Json Finish(const ServerInfo& info, Json result, Revision revision) {
  if (!IsStateless(revision)) return result;
  result["resultType"] = "complete";
  result["_meta"][kMetaServerInfo] = Implementation(info, revision);
  return result;
}

// Public is only what says nothing about anybody's traces.
Json Cacheable(Json result, int ttl_ms, bool is_public, Revision revision) {
  if (!IsStateless(revision)) return result;
  result["ttlMs"] = ttl_ms;
  result["cacheScope"] = is_public ? "public" : "private";
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

// A block of content for a client that may know fewer kinds of them.
Json Block(Json block, Revision revision) {
  const std::string type = block.value("type", "");
  if (type == "resource_link" && revision < Revision::k20250618) {
    return {{"type", "text"}, {"text", block.value("name", "") + ": " + block.value("uri", "")}};
  }
  if (type == "audio" && revision < Revision::k20250326) {
    return {{"type", "text"}, {"text", "(audio, " + block.value("mimeType", "") + ")"}};
  }
  return block;
}

void AddText(Json& entry, const char* key, const std::string& text) {
  if (!text.empty()) entry[key] = text;
}

}  // namespace

Json InitializeResult(const ServerInfo& info, const Catalog& catalog, const Json& client,
                      Revision revision) {
  Json result = {{"protocolVersion", Name(revision)}};
  result["capabilities"] = Capabilities(catalog, revision);
  // Handshakes know extensions only between those who both have them.
  if (catalog.views && KnowsExtension(client, kAppsExtension)) {
    result["capabilities"]["extensions"][kAppsExtension] = Json::object();
  }
  result["serverInfo"] = Implementation(info, revision);
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return result;
}

Json DiscoverResult(const ServerInfo& info, const Catalog& catalog, Revision revision) {
  Json result = {{"supportedVersions", RevisionNames(/*with_stateless=*/true)}};
  result["capabilities"] = Capabilities(catalog, revision);
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return Finish(info, Cacheable(std::move(result), kListTtlMs, true, revision), revision);
}

Json EmptyResult(const ServerInfo& info, Revision revision) {
  return Finish(info, Json::object(), revision);
}

Json ToolEntries(const ToolSet& tools, Revision revision) {
  Json list = Json::array();
  for (const Tool& tool : tools.tools())
    list.push_back(Definition(tool, revision));
  return list;
}

Json ResourceEntries(const std::vector<Resource>& resources, Revision revision) {
  Json list = Json::array();
  for (const Resource& resource : resources) {
    Json entry = {{"uri", resource.uri}, {"name", resource.name}};
    if (revision >= Revision::k20250618) AddText(entry, "title", resource.title);
    AddText(entry, "description", resource.description);
    AddText(entry, "mimeType", resource.mime_type);
    if (resource.bytes) entry["size"] = *resource.bytes;
    list.push_back(std::move(entry));
  }
  return list;
}

Json TemplateEntries(const std::vector<ResourceTemplate>& templates, Revision revision) {
  Json list = Json::array();
  for (const ResourceTemplate& known : templates) {
    Json entry = {{"uriTemplate", known.uri_template}, {"name", known.name}};
    if (revision >= Revision::k20250618) AddText(entry, "title", known.title);
    AddText(entry, "description", known.description);
    AddText(entry, "mimeType", known.mime_type);
    list.push_back(std::move(entry));
  }
  return list;
}

Json PromptEntries(const std::vector<Prompt>& prompts, Revision revision) {
  Json list = Json::array();
  for (const Prompt& prompt : prompts) {
    Json entry = {{"name", prompt.name}};
    if (revision >= Revision::k20250618) AddText(entry, "title", prompt.title);
    AddText(entry, "description", prompt.description);
    Json arguments = Json::array();
    for (const PromptArgument& argument : prompt.arguments) {
      arguments.push_back({{"name", argument.name},
                           {"description", argument.description},
                           {"required", argument.required}});
    }
    if (!arguments.empty()) entry["arguments"] = std::move(arguments);
    list.push_back(std::move(entry));
  }
  return list;
}

Json ListResult(const ServerInfo& info, const char* member, Page page, bool grows,
                Revision revision) {
  Json result = Json::object();
  result[member] = std::move(page.items);
  if (!page.next_cursor.empty()) result["nextCursor"] = page.next_cursor;
  result = Cacheable(std::move(result), grows ? 0 : kListTtlMs, !grows, revision);
  return Finish(info, std::move(result), revision);
}

Json ToolCallResult(const ServerInfo& info, const ToolReply& reply, Revision revision) {
  Json result = Json::object();
  Json& content = result["content"] = Json::array();
  if (!reply.text.empty() || reply.blocks.empty()) {
    content.push_back({{"type", "text"}, {"text", reply.text}});
  }
  for (const Json& block : reply.blocks)
    content.push_back(Block(block, revision));
  const bool structured = revision >= Revision::k20250618 && !reply.structured.is_null();
  if (reply.is_error) {
    result["isError"] = true;
  } else if (structured) {
    result["structuredContent"] = reply.structured;
  }
  return Finish(info, std::move(result), revision);
}

Json ReadResult(const ServerInfo& info, const std::string& uri, const ResourceContent& content,
                Revision revision) {
  Json entry = {{"uri", uri}, {"mimeType", content.mime_type}};
  if (content.binary) {
    entry["blob"] = rpc::EncodeBase64(content.data);
  } else {
    entry["text"] = content.data;
  }
  if (!content.meta.is_null() && revision >= Revision::k20250618) entry["_meta"] = content.meta;
  Json result = Json::object();
  result["contents"] = Json::array({std::move(entry)});
  result = Cacheable(std::move(result), content.immutable ? kImmutableTtlMs : 0, false, revision);
  return Finish(info, std::move(result), revision);
}

Json PromptResult(const ServerInfo& info, const Prompt& prompt, const PromptReply& reply,
                  Revision revision) {
  Json result = {{"description", prompt.description}};
  Json& messages = result["messages"] = Json::array();
  for (Json message : reply.messages) {
    message["content"] = Block(message.at("content"), revision);
    messages.push_back(std::move(message));
  }
  return Finish(info, std::move(result), revision);
}

Json CompletionResult(const ServerInfo& info, const std::vector<std::string>& all,
                      Revision revision) {
  Json values = Json::array();
  for (std::size_t i = 0; i < all.size() && i < kCompletionsMax; ++i)
    values.push_back(all[i]);
  Json result = Json::object();
  result["completion"] = {{"values", std::move(values)},
                          {"total", all.size()},
                          {"hasMore", all.size() > kCompletionsMax}};
  return Finish(info, std::move(result), revision);
}

Json ListenResult(const ServerInfo& info, const Json& request_id, Revision revision) {
  Json result = Json::object();
  result["_meta"][kMetaSubscription] = request_id;
  return Finish(info, std::move(result), revision);
}

Json InputRequiredResult(const ServerInfo& info, Json requests, const Json& sealed_state) {
  Json result = Finish(info, Json::object(), Revision::k20260728);
  result["resultType"] = "input_required";
  if (!requests.empty()) result["inputRequests"] = std::move(requests);
  if (!sealed_state.is_null()) result["requestState"] = sealed_state;
  return result;
}

Json TaskResult(const ServerInfo& info, Json task) {
  Json result = Finish(info, std::move(task), Revision::k20260728);
  result["resultType"] = "task";
  return result;
}

Json TaskStateResult(const ServerInfo& info, Json task, Revision revision) {
  return Finish(info, std::move(task), revision);
}

}  // namespace jarvis::mcp
