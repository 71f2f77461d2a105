// Things with a URI that clients may read, and prompts that people may start a conversation with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "mcp/call_context.h"

namespace jarvis::mcp {

struct Resource {
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  std::optional<std::uint64_t> bytes;
};

struct ResourceTemplate {
  std::string uri_template;  // RFC 6570
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
};

struct ResourceContent {
  std::string mime_type;
  std::string data;
  bool binary = false;
  bool immutable = false;  // the same for ever under this URI
  Json meta = Json();      // an object, or null: none
};

// Threads: called from any, at the same time.
class ResourceSource {
 public:
  ResourceSource() = default;
  ResourceSource(const ResourceSource&) = delete;
  ResourceSource& operator=(const ResourceSource&) = delete;
  virtual ~ResourceSource() = default;

  virtual std::vector<Resource> List() const = 0;  // in an order that does not change by chance
  virtual std::vector<ResourceTemplate> Templates() const = 0;
  // Nothing: no such resource. An error is one of reading. May take as long as a tool.
  virtual Result<std::optional<ResourceContent>> Read(const std::string& uri, Job& job) const = 0;
};

struct PromptArgument {
  std::string name;
  std::string description;
  bool required = false;
};

struct PromptReply {
  Json messages = Json::array();        // {"role": ..., "content": one block}
  std::optional<InputNeeded> ask = {};  // instead
};

struct Prompt {
  std::string name;
  std::string title;
  std::string description;
  std::vector<PromptArgument> arguments;
  // Every argument is a string; required ones are there.
  std::function<PromptReply(const Json& arguments, CallContext& context)> make;
};

// What people may be about to type.
struct CompletionQuestion {
  bool of_prompt = false;  // else of a resource template
  std::string name;        // of the prompt, or the URI template
  std::string argument;
  std::string value;  // typed so far
  Json others;        // further arguments that are known, by name
};
// All values that fit, best first. Nothing: no such prompt, template or argument.
using Completer =
    std::function<std::optional<std::vector<std::string>>(const CompletionQuestion& question)>;

}  // namespace jarvis::mcp
