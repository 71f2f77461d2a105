#include "conformance/fixtures.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "conformance/fixture_text.h"
#include "mcp/error_reply.h"
#include "mcp/protocol.h"

namespace jarvis {
namespace {

using mcp::CallContext;
using mcp::TaskUse;
using mcp::ToolReply;
using std::chrono::milliseconds;

Json Schema(Json properties) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

const Json kText = {{"type", "string"}};

class Adder {
 public:
  explicit Adder(mcp::Catalog& catalog) : catalog_(catalog) {}

  void operator()(const std::string& name, mcp::TalkingHandler handler,
                  Json schema = Schema(Json::object()), const mcp::ToolOptions& options = {}) {
    const Json definition = {{"name", name},
                             {"title", name},
                             {"description", "A fixture of the conformance suite."},
                             {"inputSchema", std::move(schema)},
                             {"annotations",
                              {{"readOnlyHint", true},
                               {"destructiveHint", false},
                               {"idempotentHint", true},
                               {"openWorldHint", false}}}};
    const auto added = catalog_.tools.Add(definition.dump(), options, std::move(handler));
    if (!added) throw std::logic_error(added.error().message);
  }

 private:
  mcp::Catalog& catalog_;
};

// False: told to stop.
bool Sleep(Job& job, milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    if (job.stopped()) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

ToolReply Logging(const Json&, CallContext& context) {
  for (const char* text :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    if (context.log) context.log(mcp::LogLevel::kInfo, text);
    Sleep(context.job, milliseconds(50));
  }
  return TextReply("logged");
}

ToolReply Progress(const Json&, CallContext& context) {
  // Reports closer together than 100 ms are dropped.
  for (const std::uint64_t done : {1U, 50U, 99U}) {
    Sleep(context.job, milliseconds(120));
    context.job.Report(done, 100, "working");
  }
  return TextReply("done");
}

void AddContentTools(Adder& add) {
  add("test_simple_text", [](const Json&, CallContext&) {
    return TextReply("This is a simple text response for testing.");
  });
  add("test_image_content", [](const Json&, CallContext&) { return Blocks({ImageBlock()}); });
  add("test_audio_content", [](const Json&, CallContext&) {
    return Blocks({{{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}});
  });
  add("test_embedded_resource", [](const Json&, CallContext&) {
    return Blocks({ResourceBlock("test://embedded-resource", "text/plain",
                                 "This is an embedded resource content.")});
  });
  add("test_multiple_content_types", [](const Json&, CallContext&) {
    return Blocks({TextBlock("Multiple content types test:"), ImageBlock(),
                   ResourceBlock("test://mixed-content-resource", "application/json",
                                 R"({"test":"data","value":123})")});
  });
  add("test_tool_with_logging", Logging);
  add("test_logging_tool", Logging);
  add("test_tool_with_progress", Progress);
  add("test_error_handling", [](const Json&, CallContext&) {
    return ToolReply{Json(), "This tool intentionally returns an error for testing", true};
  });
  add("test_reconnection", [](const Json&, CallContext& context) {
    context.hang_up();
    Sleep(context.job, milliseconds(300));
    return TextReply("Reconnection test completed");
  });
}

const Json kForeignSchema = Json::parse(R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {"address": {"$anchor": "addressDef", "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
  "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"}, "email": {"type": "string"}},
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "anyOf": [{"required": ["name"]}, {"required": ["address"]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false})");

void AddSchemaTools(Adder& add) {
  add("json_schema_2020_12_tool",
      [](const Json& given, CallContext&) { return TextReply(given.dump()); }, kForeignSchema,
      {.free_schema = true});
  const Json deep = {{"type", "object"},
                     {"properties", {{"flag", {{"type", "boolean"}, {"x-mcp-header", "Flag"}}}}}};
  add(
      "test_header_tool", [](const Json& given, CallContext&) { return TextReply(given.dump()); },
      Schema({{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
              {"n", {{"type", "integer"}, {"x-mcp-header", "Count"}}},
              {"deep", deep}}));
}

// Whatever the client has to say, as it was in a request of the server's.
ToolReply UserResponse(const Json& answer) {
  return TextReply("User response: action=" + answer.value("action", "") +
                   ", content=" + answer.value("content", Json::object()).dump());
}

mcp::TalkingHandler AskOnce(Json form) {
  return [form = std::move(form)](const Json&, CallContext& context) {
    if (!context.inputs.contains("form")) return AskFor({{"form", form}});
    return UserResponse(context.inputs.at("form"));
  };
}

Json Choices(const char* const_prefix, const char* title_suffix) {
  Json choices = Json::array();
  const char* ordinals[] = {"First", "Second", "Third"};
  for (int i = 0; i < 3; ++i) {
    choices.push_back({{"const", const_prefix + std::to_string(i + 1)},
                       {"title", std::string(ordinals[i]) + " " + title_suffix}});
  }
  return choices;
}

Json DefaultsForm() {
  return Form(
      "Please check the defaults",
      {{"name", {{"type", "string"}, {"default", "John Doe"}}},
       {"age", {{"type", "integer"}, {"default", 30}}},
       {"score", {{"type", "number"}, {"default", 95.5}}},
       {"status",
        {{"type", "string"}, {"enum", {"active", "inactive", "pending"}}, {"default", "active"}}},
       {"verified", {{"type", "boolean"}, {"default", true}}}},
      Json::array());
}

Json EnumsForm() {
  return Form(
      "Please choose",
      {{"untitledSingle", {{"type", "string"}, {"enum", {"option1", "option2", "option3"}}}},
       {"titledSingle", {{"type", "string"}, {"oneOf", Choices("value", "Option")}}},
       {"legacyEnum",
        {{"type", "string"},
         {"enum", {"opt1", "opt2", "opt3"}},
         {"enumNames", {"Option One", "Option Two", "Option Three"}}}},
       {"untitledMulti",
        {{"type", "array"},
         {"items", {{"type", "string"}, {"enum", {"option1", "option2", "option3"}}}}}},
       {"titledMulti", {{"type", "array"}, {"items", {{"anyOf", Choices("value", "Choice")}}}}}},
      Json::array());
}

void AddAskingTools(Adder& add) {
  add(
      "test_sampling",
      [](const Json& given, CallContext& context) {
        if (!context.inputs.contains("sample")) {
          return AskFor({{"sample", Sampling(given.value("prompt", "Hello"), 100)}});
        }
        return TextReply("LLM response: " + Sampled(context.inputs, "sample"));
      },
      Schema({{"prompt", kText}}));
  add(
      "test_elicitation",
      [](const Json& given, CallContext& context) {
        if (!context.inputs.contains("form")) {
          return AskFor(
              {{"form", Form(given.value("message", "Please enter"),
                             {{"username", kText}, {"email", kText}}, {"username", "email"})}});
        }
        return UserResponse(context.inputs.at("form"));
      },
      Schema({{"message", kText}}));
  add("test_elicitation_sep1034_defaults", AskOnce(DefaultsForm()));
  add("test_elicitation_sep1330_enums", AskOnce(EnumsForm()));
  add("test_missing_capability", [](const Json&, CallContext& context) {
    if (context.ClientCan("sampling")) return TextReply("The client can sample.");
    ToolReply reply;
    reply.refusal = rpc::RpcError{mcp::kMissingCapability,
                                  "this tool needs sampling",
                                  {{"requiredCapabilities", {{"sampling", Json::object()}}}}};
    return reply;
  });
}

const Json kNameForm = Form("What is your name?", {{"name", kText}}, {"name"});

ToolReply Greet(const Json&, CallContext& context) {
  const std::string name = Entered(context.inputs, "user_name", "name");
  if (name.empty()) return AskFor({{"user_name", kNameForm}});
  return TextReply("Hello, " + name + "!");
}

ToolReply Stateful(const Json&, CallContext& context) {
  if (!context.inputs.contains("confirm") || context.state.is_null()) {
    return AskFor({{"confirm", Form("Go on?", {{"ok", {{"type", "boolean"}}}}, {"ok"})}},
                  "confirm-round");
  }
  return TextReply("state-ok");
}

ToolReply Rounds(const Json&, CallContext& context) {
  const int round = context.state.is_number_integer() ? context.state.get<int>() : 0;
  if (round == 2 && context.inputs.contains("step2")) return TextReply("All rounds are done.");
  if (round >= 1 && (context.inputs.contains("step1") || round == 2)) {
    return AskFor({{"step2", Form("Second step", {{"color", kText}}, {"color"})}}, 2);
  }
  return AskFor({{"step1", Form("First step", {{"name", kText}}, {"name"})}}, 1);
}

ToolReply Several(const Json&, CallContext& context) {
  const Json& inputs = context.inputs;
  if (inputs.contains("user_name") && inputs.contains("greeting") &&
      inputs.contains("client_roots")) {
    return TextReply(Sampled(inputs, "greeting") + " for " + Entered(inputs, "user_name", "name"));
  }
  return AskFor({{"user_name", kNameForm},
                 {"greeting", Sampling("Make a greeting", 50)},
                 {"client_roots", ListRoots()}},
                "several");
}

ToolReply OnlyDeclared(const Json&, CallContext& context) {
  if (!context.inputs.empty()) return TextReply("Thank you.");
  Json requests = Json::object();
  if (context.ClientCan("elicitation")) requests["user_name"] = kNameForm;
  if (context.ClientCan("sampling")) requests["greeting"] = Sampling("Make a greeting", 50);
  if (context.ClientCan("roots")) requests["client_roots"] = ListRoots();
  if (requests.empty()) return TextReply("There is nothing that you can be asked.");
  return AskFor(std::move(requests));
}

ToolReply Roots(const Json&, CallContext& context) {
  if (!context.inputs.contains("client_roots")) return AskFor({{"client_roots", ListRoots()}});
  std::string names = "Roots:";
  const Json roots = context.inputs.at("client_roots").value("roots", Json::array());
  for (const Json& root : roots)
    names += " " + root.value("name", root.value("uri", ""));
  return TextReply(std::move(names));
}

void AddRoundTripTools(Adder& add) {
  add("test_streaming_elicitation", Greet);
  add("test_input_required_result_elicitation", Greet);
  add("test_input_required_result_sampling", [](const Json&, CallContext& context) {
    if (!context.inputs.contains("capital_question")) {
      return AskFor({{"capital_question", Sampling("What is the capital of France?", 100)}});
    }
    return TextReply(Sampled(context.inputs, "capital_question"));
  });
  add("test_input_required_result_list_roots", Roots);
  add("test_input_required_result_request_state", Stateful);
  add("test_input_required_result_tampered_state", Stateful);
  add("test_input_required_result_multiple_inputs", Several);
  add("test_input_required_result_multi_round", Rounds);
  add("test_input_required_result_capabilities", OnlyDeclared);
  for (const auto& [name, kind] :
       {std::pair{"test_trigger_tool_change", mcp::Change::Kind::kTools},
        std::pair{"test_trigger_prompt_change", mcp::Change::Kind::kPrompts}}) {
    add(name, [kind = kind](const Json&, CallContext& context) {
      context.announce({kind, {}, {}, {}});
      return TextReply("announced");
    });
  }
}

ToolReply SlowCompute(const Json& given, CallContext& context) {
  const double seconds = given.value("seconds", 1.0);
  if (!Sleep(context.job, milliseconds(static_cast<int>(seconds * 1000)))) {
    return mcp::ErrorReply(context.job.Check().error());
  }
  return TextReply(given.value("label", "slow_compute") + " is done.");
}

ToolReply ConfirmDelete(const Json& given, CallContext& context) {
  const std::string file = given.value("filename", "file");
  if (!context.inputs.contains("confirm")) {
    return AskFor({{"confirm", Form("Delete " + file + "?", {{"confirm", {{"type", "boolean"}}}},
                                    {"confirm"})}});
  }
  const bool sure = Entered(context.inputs, "confirm", "confirm") == "true";
  return TextReply((sure ? "Deleted " : "Kept ") + file);
}

ToolReply MultiInput(const Json&, CallContext& context) {
  if (!context.inputs.contains("name") || !context.inputs.contains("color")) {
    return AskFor({{"name", Form("Your name?", {{"name", kText}}, {"name"})},
                   {"color", Form("Your colour?", {{"color", kText}}, {"color"})}});
  }
  return TextReply(Entered(context.inputs, "name", "name") + " likes " +
                   Entered(context.inputs, "color", "color"));
}

const mcp::ToolOptions kAsTask = {.task = TaskUse::kRequired};

void AddTaskTools(Adder& add) {
  add(
      "greet",
      [](const Json& given, CallContext&) {
        return TextReply("Hello, " + given.value("name", "you") + "!");
      },
      Schema({{"name", kText}}));
  add("slow_compute", SlowCompute, Schema({{"seconds", {{"type", "number"}}}, {"label", kText}}),
      {.task = TaskUse::kAllowed});
  add(
      "failing_job",
      [](const Json&, CallContext& context) {
        Sleep(context.job, milliseconds(1000));
        return ToolReply{Json(), "The job failed.", true};
      },
      Schema(Json::object()), kAsTask);
  add(
      "protocol_error_job",
      [](const Json&, CallContext& context) {
        Sleep(context.job, milliseconds(200));
        ToolReply reply;
        reply.refusal = rpc::RpcError{rpc::kInternalError, "The job broke.", {}};
        return reply;
      },
      Schema(Json::object()), kAsTask);
  add("confirm_delete", ConfirmDelete, Schema({{"filename", kText}}), kAsTask);
  add("multi_input", MultiInput, Schema(Json::object()), kAsTask);
  add("test_tool_with_task", Greet, Schema(Json::object()),
      {.task = TaskUse::kRequired, .asks_first = true});
}

class Resources : public mcp::ResourceSource {
 public:
  std::vector<mcp::Resource> List() const override {
    return {{"test://static-text", "static-text", "Text", "A text.", "text/plain", {}},
            {"test://static-binary", "static-binary", "Image", "An image.", "image/png", {}},
            {"test://watched-resource", "watched", "Watched", "It changes.", "text/plain", {}}};
  }
  std::vector<mcp::ResourceTemplate> Templates() const override {
    return {{"test://template/{id}/data", "template", "Data", "Data by id.", "application/json"}};
  }
  Result<std::optional<mcp::ResourceContent>> Read(const std::string& uri, Job&) const override {
    const std::string before = "test://template/";
    const std::string after = "/data";
    if (uri == "test://static-text") {
      return Text("text/plain", "This is the content of the static text resource.");
    }
    if (uri == "test://watched-resource") return Text("text/plain", "Watched.");
    if (uri == "test://static-binary") {
      return mcp::ResourceContent{"image/png", "\x89PNG\r\n\x1a\n", true, true};
    }
    if (uri.size() > before.size() + after.size() && uri.starts_with(before) &&
        uri.ends_with(after)) {
      const std::string id = uri.substr(before.size(), uri.size() - before.size() - after.size());
      const Json data = {{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
      return Text("application/json", data.dump());
    }
    return std::nullopt;
  }

 private:
  static std::optional<mcp::ResourceContent> Text(std::string mime_type, std::string text) {
    return mcp::ResourceContent{std::move(mime_type), std::move(text)};
  }
};

Json UserMessage(Json content) {
  return {{"role", "user"}, {"content", std::move(content)}};
}

void AddPrompts(mcp::Catalog& catalog) {
  const auto add = [&](const char* name, std::vector<mcp::PromptArgument> arguments, auto make) {
    catalog.prompts.push_back(
        {name, name, "A fixture of the conformance suite.", std::move(arguments), std::move(make)});
  };
  add("test_simple_prompt", {}, [](const Json&, CallContext&) {
    return mcp::PromptReply{
        Json::array({UserMessage(TextBlock("This is a simple prompt for testing."))})};
  });
  add("test_prompt_with_arguments",
      {{"arg1", "The first one.", true}, {"arg2", "The second one.", true}},
      [](const Json& given, CallContext&) {
        return mcp::PromptReply{Json::array({UserMessage(
            TextBlock("Prompt with arguments: arg1='" + given.at("arg1").get<std::string>() +
                      "', arg2='" + given.at("arg2").get<std::string>() + "'"))})};
      });
  add("test_prompt_with_embedded_resource", {{"resourceUri", "Of the resource.", true}},
      [](const Json& given, CallContext&) {
        const std::string uri = given.at("resourceUri").get<std::string>();
        return mcp::PromptReply{Json::array(
            {UserMessage(ResourceBlock(uri, "text/plain", "Embedded resource content.")),
             UserMessage(TextBlock("Please process the embedded resource above."))})};
      });
  add("test_prompt_with_image", {}, [](const Json&, CallContext&) {
    return mcp::PromptReply{Json::array(
        {UserMessage(ImageBlock()), UserMessage(TextBlock("Please analyze the image above."))})};
  });
  add("test_input_required_result_prompt", {}, [](const Json&, CallContext& context) {
    mcp::PromptReply reply;
    const std::string entered = Entered(context.inputs, "user_context", "context");
    if (entered.empty()) {
      reply.ask = mcp::InputNeeded{
          {{"user_context", Form("What is it about?", {{"context", kText}}, {"context"})}}, {}};
    } else {
      reply.messages.push_back(UserMessage(TextBlock("It is about: " + entered)));
    }
    return reply;
  });
}

std::optional<std::vector<std::string>> CompleteArgument(const mcp::CompletionQuestion& question) {
  if (!question.of_prompt || question.name != "test_prompt_with_arguments") return std::nullopt;
  std::vector<std::string> values;
  for (const char* value : {"paris", "park", "party", "london"}) {
    if (std::string(value).starts_with(question.value)) values.emplace_back(value);
  }
  return values;
}

}  // namespace

void AddConformanceFixtures(mcp::Catalog& catalog) {
  Adder add(catalog);
  AddContentTools(add);
  AddSchemaTools(add);
  AddAskingTools(add);
  AddRoundTripTools(add);
  AddTaskTools(add);
  AddPrompts(catalog);
  catalog.resources = std::make_shared<Resources>();
  catalog.completer = CompleteArgument;
  catalog.tools_change = catalog.prompts_change = catalog.resources_change = true;
}

}  // namespace jarvis
