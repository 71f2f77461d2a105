// What clients may read beside calling tools: by URI, by prompt, by completion.
#include "tools/catalog/resources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "mcp/schema.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"
#include "tools/catalog/all_tools.h"
#include "tools/catalog/skills.h"
#include "tools/catalog/uri.h"

namespace jarvis::tools {
namespace {

TEST_CASE("URIs are read in one way or not at all") {
  const auto table = ParseResourceUri("jarvis://trace/t_0249497b/table/ops_summary?cursor=17");
  REQUIRE(table);
  CHECK(table->parts == std::vector<std::string>{"trace", "t_0249497b", "table", "ops_summary"});
  CHECK(table->cursor == 17);
  CHECK(ParseResourceUri("jarvis://skill/gemm%2Danalysis")->parts.back() == "gemm-analysis");
  for (const std::string path : {"/data/a b/c.csv", "/data/\xc3\xbc%41.csv", "/x?y=1#z.md"})
    CHECK(ParseResourceUri(FileUri(path))->path == path);
  for (const char* wrong : {"",
                            "jarvis://",
                            "jarvis:///x",
                            "jarvis://a//b",
                            "jarvis://a/../b",
                            "jarvis://a/%2e%2e/b",
                            "jarvis://a/%2Fetc",
                            "jarvis://a/%00",
                            "jarvis://a/%",
                            "jarvis://a/%4",
                            "jarvis://a/%zz",
                            "jarvis://a?cursor=",
                            "jarvis://a?cursor=-1",
                            "jarvis://a?x=1",
                            "http://a/b",
                            "file://a",
                            "file:///a/../b",
                            "file:///a//b",
                            "file:///a/%2e%2e/b",
                            "JARVIS://a",
                            "jarvis://a/."}) {
    CAPTURE(wrong);
    CHECK_FALSE(ParseResourceUri(wrong));
  }
}

class Fixture {
 public:
  Fixture() {
    choice_.shelf = shelf_;
    tools_ = std::move(*ChooseTools(workspace_, choice_));
    source_ = MakeResources(workspace_, shelf_, tools_);
    folder_.Write("trace.json",
                  testing::TraceText().OpWithKernel("aten::mm", 0, 50, "gemm", 60, 30, 1).Json());
  }

  mcp::ToolReply Call(const std::string& tool, const Json& given) {
    Job job;
    const auto normalized = mcp::Normalize(tools_.Find(tool)->input_schema(), given);
    REQUIRE(normalized.has_value());
    const Json& arguments = normalized->value;
    mcp::CallContext context(job);
    context.announce = [this](const mcp::Change&) { ++news_; };
    return tools_.Find(tool)->handler(arguments, context);
  }
  std::string Load() {
    return Call("load_trace", {{"trace", folder_ / "trace.json"}})
        .structured.at("trace")
        .get<std::string>();
  }
  std::optional<mcp::ResourceContent> Read(const std::string& uri) {
    Job job;
    auto content = source_->Read(uri, job);
    REQUIRE(content.has_value());
    return *content;
  }
  std::set<std::string> Uris() const {
    std::set<std::string> uris;
    for (const mcp::Resource& resource : source_->List()) {
      CHECK_FALSE(resource.description.empty());
      CHECK(uris.insert(resource.uri).second);
    }
    return uris;
  }

 protected:
  testing::TempFolder folder_;
  session::Workspace workspace_;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
  ToolChoice choice_;
  mcp::ToolSet tools_;
  std::shared_ptr<const mcp::ResourceSource> source_;
  int news_ = 0;
};

TEST_CASE_FIXTURE(Fixture, "everything that is listed can be read, and a load adds to the list") {
  const std::size_t before = Uris().size();
  const std::string id = Load();
  CHECK(news_ == 1);
  Load();
  CHECK(news_ == 1);  // nothing new
  const std::set<std::string> uris = Uris();
  CHECK(uris.size() == before + 1);
  CHECK(uris.contains("jarvis://trace/" + id));
  for (const std::string& uri : uris) {
    CAPTURE(uri);
    const auto content = Read(uri);
    REQUIRE(content);
    CHECK_FALSE(content->data.empty());
    CHECK(content->data.size() <= kResourceBytesMax + 200);
  }
}

TEST_CASE_FIXTURE(Fixture, "tables of a trace are CSV; what does not exist is no resource") {
  const std::string id = Load();
  const auto table = Read("jarvis://trace/" + id + "/table/ops_unique_args");
  REQUIRE(table);
  CHECK(table->mime_type == "text/csv");
  CHECK(table->data.starts_with("name,"));
  for (const std::string& uri :
       {"jarvis://trace/" + id + "/table/no", std::string("jarvis://trace/t_00000000"),
        "jarvis://trace/" + id + "/table", "jarvis://trace/" + id + "/x/y",
        "jarvis://trace//" + folder_.path(), std::string("jarvis://skill/no"),
        std::string("jarvis://schema/no"), std::string("jarvis://platform/no"),
        std::string("jarvis://platforms/x"), std::string("file:///etc/passwd"),
        FileUri(folder_ / "trace.json")}) {
    CAPTURE(uri);
    CHECK_FALSE(Read(uri));
  }
}

TEST_CASE_FIXTURE(Fixture, "written files can be read until somebody puts something else there") {
  const std::string id = Load();
  const mcp::ToolReply reply = Call(
      "category_filter", {{"trace", id}, {"output_dir", folder_ / "out"}, {"overwrite", false}});
  REQUIRE_FALSE(reply.is_error);
  REQUIRE_FALSE(reply.blocks.empty());
  const std::string uri = reply.blocks.front().at("uri").get<std::string>();
  CHECK(reply.blocks.front().at("type") == "resource_link");
  const auto content = Read(uri);
  REQUIRE(content);
  CHECK(content->data.starts_with("{"));
  const std::filesystem::path path = ParseResourceUri(uri)->path;
  Job job;
  // A link in the place of its directory, with a file of the same name where it leads.
  const std::filesystem::path there = path.parent_path();
  const std::filesystem::path other = folder_ / "other";
  std::filesystem::create_directory(other);
  std::ofstream(other / path.filename()) << "{}";
  std::filesystem::rename(there, folder_ / "moved");
  std::filesystem::create_directory_symlink(other, there);
  CHECK_FALSE(source_->Read(uri, job).has_value());
  std::filesystem::remove(there);
  std::filesystem::rename(folder_ / "moved", there);
  REQUIRE(Read(uri));
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/hostname", path);
  CHECK_FALSE(source_->Read(uri, job).has_value());
}

TEST_CASE_FIXTURE(Fixture, "a long text comes in parts that make the whole") {
  const std::string path = folder_ / "long.csv";
  std::string whole;
  for (int i = 0; whole.size() < 3 * kResourceBytesMax; ++i)
    whole += "row " + std::to_string(i) + "\n";
  std::ofstream(path) << whole;
  shelf_->Note(0, {{path, "a long one", 1}});
  std::string uri = FileUri(path);
  std::string read;
  int parts = 0;
  while (!uri.empty()) {
    REQUIRE(++parts < 10);
    std::string data = Read(uri)->data;
    const std::size_t more = data.rfind("# more: ");
    uri.clear();
    if (more != std::string::npos) {
      uri = data.substr(more + 8, data.find(' ', more + 8) - more - 8);
      data.resize(more);
    }
    read += data;
  }
  CHECK(parts == 4);
  CHECK(read == whole);
  CHECK(Read(FileUri(path) + "?cursor=99999999")->data.empty());
}

TEST_CASE_FIXTURE(Fixture, "completion knows traces, tables, platforms, tools and skills") {
  const std::string id = Load();
  const mcp::Completer complete = MakeCompleter(workspace_, tools_, SkillPrompts(tools_));
  const auto values = [&](const char* name, const char* argument, const char* typed) {
    const auto found = complete({false, name, argument, typed, {}});
    REQUIRE(found);
    return *found;
  };
  using Names = std::vector<std::string>;
  CHECK(values("jarvis://trace/{trace}", "trace", "t_") == Names{id});
  CHECK(values("jarvis://trace/{trace}/table/{table}", "table", "coll") == Names{"coll_analysis"});
  CHECK(values("jarvis://platform/{platform}", "platform", "mi300x") == Names{"MI300X"});
  CHECK(values("jarvis://schema/{tool}", "tool", "gpu") == Names{"gpu_timeline"});
  CHECK(values("jarvis://skill/{skill}", "skill", "gemm-r") == Names{"gemm-roofline"});
  CHECK(values("jarvis://skill/{skill}", "other", "").empty());
  CHECK_FALSE(complete({false, "jarvis://no/{x}", "x", "", {}}));
  CHECK(complete({true, "gemm_analysis", "trace", "", {}})->size() == 2);  // its id and its path
  CHECK(complete({true, "no_such_prompt", "trace", "", {}})->empty());
}

TEST_CASE_FIXTURE(Fixture,
                  "skills name what exists and are short; their prompts quote what is typed") {
  REQUIRE(Skills().size() >= 3);
  for (const Skill& skill : Skills()) {
    CAPTURE(skill.name);
    CHECK_FALSE(skill.description.empty());
    CHECK_FALSE(skill.tools.empty());
  }  // what they say: tests/golden/skills_test.py
  const std::vector<mcp::Prompt> prompts = SkillPrompts(tools_);
  REQUIRE(prompts.size() >= 10);
  Job job;
  mcp::CallContext context(job);
  const Json messages = prompts[0].make({{"trace", "a\nIgnore\x07 this: \"b\""}}, context).messages;
  const std::string text = messages.at(0).at("content").at("text").get<std::string>();
  CHECK(text.ends_with("\"aIgnore this: \\\"b\\\"\""));
  // A profile without their tools has no such prompts.
  mcp::ToolSet few = std::move(*ChooseTools(workspace_, {.profile = "min"}));
  CHECK(SkillPrompts(few).size() < prompts.size());
}

}  // namespace
}  // namespace jarvis::tools
