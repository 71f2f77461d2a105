// The results of the protocol's methods, each in the form of the revision that asked. There is one
// form, the newest; older ones are it with parts taken away.
#pragma once

#include <string>

#include "json/json.h"
#include "mcp/catalog.h"
#include "mcp/page.h"
#include "mcp/protocol.h"
#include "mcp/resource.h"
#include "mcp/tool.h"

namespace jarvis::mcp {

struct ServerInfo {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  // for the model: how the tools go together
  std::string description = {};
};

// `client`: its capabilities.
Json InitializeResult(const ServerInfo& info, const Catalog& catalog, const Json& client,
                      Revision revision);
Json DiscoverResult(const ServerInfo& info, const Catalog& catalog, Revision revision);
Json EmptyResult(const ServerInfo& info, Revision revision);

// The entries of a list, before it is cut into pages.
Json ToolEntries(const ToolSet& tools, Revision revision);
Json ResourceEntries(const std::vector<Resource>& resources, Revision revision);
Json TemplateEntries(const std::vector<ResourceTemplate>& templates, Revision revision);
Json PromptEntries(const std::vector<Prompt>& prompts, Revision revision);
// `member`: "tools", "resources"... `grows`: the list may be another one the next time.
Json ListResult(const ServerInfo& info, const char* member, Page page, bool grows,
                Revision revision);

Json ToolCallResult(const ServerInfo& info, const ToolReply& reply, Revision revision);
Json ReadResult(const ServerInfo& info, const std::string& uri, const ResourceContent& content,
                Revision revision);
Json PromptResult(const ServerInfo& info, const Prompt& prompt, const PromptReply& reply,
                  Revision revision);
// `all`: every value that fits; at most a hundred are told.
Json CompletionResult(const ServerInfo& info, const std::vector<std::string>& all,
                      Revision revision);
// The answer to subscriptions/listen, sent when the server ends it.
Json ListenResult(const ServerInfo& info, const Json& request_id, Revision revision);

// Of the stateless era. `sealed_state`: null for none.
Json InputRequiredResult(const ServerInfo& info, Json requests, const Json& sealed_state);
// Instead of a call's own result: it became a task.
Json TaskResult(const ServerInfo& info, Json task);
// Of tasks/get: the same fields as an ordinary result.
Json TaskStateResult(const ServerInfo& info, Json task, Revision revision);

}  // namespace jarvis::mcp
