#include "tools/catalog/resources.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/claims.h"
#include "findings/one/thresholds.h"
#include "io/text_file.h"
#include "mcp/apps.h"
#include "output/csv_writer.h"
#include "output/number_format.h"
#include "page/app_page.h"
#include "perf/platform.h"
#include "session/report.h"
#include "tools/catalog/schema_files.h"
#include "tools/catalog/skills.h"
#include "tools/catalog/uri.h"
#include "tools/shared/arguments.h"
#include "tools/shared/platform_choice.h"
#include "tools/trace/query_text.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using mcp::ResourceContent;

// What the names of schemas of files start with.
constexpr std::string_view kFileSchema = "file_";

constexpr const char* kQuerySchema = "query-schema";

// What the definitions of tools with a view name.
constexpr const char* kView = "ui://jarvis/view.html";

// A written file is read whole before a part of it is sent.
constexpr std::size_t kTextBytesMax = std::size_t{16} << 20;

struct Kind {
  const char* uri_template;
  const char* name;
  const char* title;
  const char* description;
  const char* mime_type;
};
constexpr Kind kKinds[] = {
    {"jarvis://trace/{trace}", "trace", "Trace", "What load_trace says of a loaded trace.",
     "text/markdown"},
    {"jarvis://trace/{trace}/table/{table}", "table", "Table of a trace",
     "A whole table of the report, with full precision; long ones in parts.", "text/csv"},
    {"jarvis://skill/{skill}", "skill", "Skill", "How to do a kind of analysis.", "text/markdown"},
    {"jarvis://platform/{platform}", "platform", "Platform",
     "Bandwidth and rates of a GPU, and where the figures come from.", "application/json"},
    {"jarvis://schema/{tool}", "schema", "Tool schema",
     "A tool's definition, or a written file's schema.", "application/json"},
    {"file:///{path}", "file", "Written file", "A file that a tool wrote.", "text/plain"}};

// Every table that a report can have; which ones a trace has depends on what it recorded.
constexpr std::string_view kTables[] = {
    "gpu_timeline",    "ops_summary_by_category", "ops_summary",
    "ops_unique_args", "unified_perf_summary",    "model_coverage",
    "coverage",        "kernel_summary",          "short_kernels_summary",
    "coll_analysis"};

// A part of a text that ends with a line, and where the next one is.
ResourceContent Part(std::string mime_type, const std::string& uri, const std::string& text,
                     std::uint64_t cursor, bool immutable) {
  ResourceContent content{std::move(mime_type), {}, false, immutable};
  const std::size_t begin = std::min<std::size_t>(cursor, text.size());
  std::size_t end = std::min(text.size(), begin + kResourceBytesMax);
  if (end < text.size()) {
    const std::size_t line = text.rfind('\n', end - 1);
    if (line != std::string::npos && line >= begin) end = line + 1;
  }
  content.data = text.substr(begin, end - begin);
  if (end < text.size()) {
    content.data += fmt::format("# more: {}?cursor={} of {} bytes\n", uri, end, text.size());
  }
  return content;
}

Json PlatformJson(const perf::Platform& platform) {
  Json json = {{"name", platform.name}, {"vendor", platform.vendor}};
  json["memory_gb"] = platform.memory_gb ? Json(*platform.memory_gb) : Json();
  json["mem_bw_gbps"] = platform.mem_bw_gbps ? Json(*platform.mem_bw_gbps) : Json();
  for (const auto& [key, rates] : {std::pair{"peak_tflops", &platform.peak_tflops},
                                   std::pair{"achievable_tflops", &platform.maf_tflops}}) {
    json[key] = Json::object();
    for (const auto& [spec, ceiling] : *rates) {
      json[key][spec] = {{"tflops", ceiling.tflops}, {"source", perf::SourceText(ceiling.source)}};
    }
  }
  json["confidence"] = platform.confidence;
  json["note"] = platform.note;
  return json;
}

// Tables that a report's judgements rest on, by the name in their URI.
struct Policy {
  const char* name;
  const char* title;
  const char* description;
  Json (*make)();
};

Json ClaimsJson() {
  Json can = Json::array();
  for (const documents::Observable& one : documents::Observables())
    can.push_back({{"observable", one.what}, {"source", one.source}});
  Json cannot = Json::array();
  for (const documents::ClaimRule& rule : documents::ClaimRules()) {
    cannot.push_back({{"id", rule.id},
                      {"not_observable", rule.what},
                      {"why", rule.why},
                      {"instead_say", rule.instead}});
  }
  return {{"can_infer", can}, {"cannot_infer", cannot}};
}

Json ThresholdsJson() {
  Json all = Json::array();
  for (const findings::limits::Threshold& one : findings::limits::Thresholds())
    all.push_back({{"key", one.key}, {"value", one.value}, {"unit", one.unit}, {"use", one.use}});
  return all;
}

constexpr Policy kPolicies[] = {
    {"claims-policy", "Claims policy",
     "What a trace shows and what it cannot show, with the wording to use instead.", &ClaimsJson},
    {"thresholds", "Thresholds", "Every limit that a judgement about a trace depends on.",
     &ThresholdsJson},
};

// It loads nothing from anywhere: hosts need to allow nothing.
ResourceContent View() {
  return {mcp::kAppMimeType,
          page::RenderAppPage(),
          false,
          true,
          {{"ui", {{"csp", Json::object()}, {"prefersBorder", true}}}}};
}

class Resources : public mcp::ResourceSource {
 public:
  Resources(session::Workspace& workspace, std::shared_ptr<const Shelf> shelf,
            const mcp::ToolSet& tools)
      : workspace_(workspace), shelf_(std::move(shelf)) {
    const std::vector<std::string> names = tools.Names();
    for (const Skill& skill : Skills())
      skills_[skill.name] = SkillFor(skill.text, names);
    for (const mcp::Tool& tool : tools.tools())
      schemas_[tool.name] = tool.definition.dump(2);
    for (const EmbeddedFile& file : FileSchemaFiles())
      schemas_[std::string(kFileSchema) + std::string(file.name)] = file.text;
  }

  std::vector<mcp::Resource> List() const override;
  std::vector<mcp::ResourceTemplate> Templates() const override;
  Result<std::optional<ResourceContent>> Read(const std::string& uri, Job& job) const override;

 private:
  using Content = Result<std::optional<ResourceContent>>;

  Content ReadTrace(const std::string& uri, const ResourceUri& parsed, Job& job) const;
  Content ReadTable(const std::string& uri, const ResourceUri& parsed,
                    const session::LoadedTrace& trace, Job& job) const;
  Content ReadFile(const std::string& uri, const ResourceUri& parsed) const;
  bool IsKnown(const std::string& trace) const;

  session::Workspace& workspace_;
  const std::shared_ptr<const Shelf> shelf_;
  std::map<std::string, std::string> skills_;  // as this server's tools allow
  std::map<std::string, std::string> schemas_;
};

std::vector<mcp::Resource> Resources::List() const {
  std::vector<mcp::Resource> list;
  for (const Skill& skill : Skills()) {
    list.push_back({"jarvis://skill/" + skill.name,
                    skill.name,
                    {},
                    skill.description,
                    "text/markdown",
                    skills_.at(skill.name).size()});
  }
  list.push_back({"jarvis://platforms",
                  "platforms",
                  "Platforms",
                  "The GPUs whose limits are known, with their rates.",
                  "application/json",
                  {}});
  for (const Policy& policy : kPolicies) {
    list.push_back({std::string("jarvis://") + policy.name,
                    policy.name,
                    policy.title,
                    policy.description,
                    "application/json",
                    {}});
  }
  list.push_back({std::string("jarvis://") + kQuerySchema,
                  kQuerySchema,
                  "Tables for SQL",
                  "What the tool query can be asked: tables, columns, worked questions.",
                  "text/markdown",
                  {}});
  list.push_back({kView,
                  "view",
                  "View",
                  "Shows the answers of tools in hosts that can.",
                  mcp::kAppMimeType,
                  {}});
  for (const auto& [name, text] : schemas_) {
    list.push_back(
        {"jarvis://schema/" + name,
         name + " schema",
         {},
         name.starts_with(kFileSchema) ? "Of a file of an analysis." : "Definition of the tool.",
         "application/json",
         text.size()});
  }
  for (const auto& [id, path] : workspace_.Known()) {
    list.push_back({"jarvis://trace/" + id, id, {}, "Loaded trace " + path, "text/markdown", {}});
  }
  for (const FileLink& file : shelf_->Files()) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    list.push_back({FileUri(file.path), name, {}, file.what, MimeTypeOf(file.path), {}});
  }
  return list;
}

std::vector<mcp::ResourceTemplate> Resources::Templates() const {
  std::vector<mcp::ResourceTemplate> templates;
  for (const Kind& kind : kKinds) {
    templates.push_back(
        {kind.uri_template, kind.name, kind.title, kind.description, kind.mime_type});
  }
  return templates;
}

Result<std::optional<ResourceContent>> Resources::Read(const std::string& uri, Job& job) const {
  if (uri == kView) return View();
  const auto parsed = ParseResourceUri(uri);
  if (!parsed) return std::nullopt;
  if (!parsed->path.empty()) return ReadFile(uri, *parsed);
  const std::vector<std::string>& parts = parsed->parts;
  if (parts.front() == "trace" && parts.size() >= 2) return ReadTrace(uri, *parsed, job);
  if (parts.front() == "platforms" && parts.size() == 1) {
    Json all = Json::array();
    for (const perf::Platform& platform : perf::Platforms())
      all.push_back(PlatformJson(platform));
    return Part("application/json", uri, DumpLine(all), parsed->cursor, true);
  }
  for (const Policy& policy : kPolicies) {
    if (parts.size() == 1 && parts[0] == policy.name) {
      return ResourceContent{"application/json", policy.make().dump(1), false, true};
    }
  }
  if (parts.size() == 1 && parts[0] == kQuerySchema)
    return ResourceContent{"text/markdown", QuerySchema(), false, true};
  if (parts.size() != 2) return std::nullopt;
  if (parts[0] == "skill") {
    const auto skill = skills_.find(parts[1]);
    if (skill != skills_.end()) return ResourceContent{"text/markdown", skill->second, false, true};
  } else if (parts[0] == "platform") {
    const perf::Platform* platform = perf::FindPlatform(parts[1]);
    if (platform == nullptr) return std::nullopt;
    return ResourceContent{"application/json", PlatformJson(*platform).dump(2), false, true};
  } else if (parts[0] == "schema") {
    const auto schema = schemas_.find(parts[1]);
    if (schema == schemas_.end()) return std::nullopt;
    return ResourceContent{"application/json", schema->second, false, true};
  }
  return std::nullopt;
}

bool Resources::IsKnown(const std::string& trace) const {
  const auto known = workspace_.Known();
  return std::any_of(known.begin(), known.end(),
                     [&](const auto& entry) { return entry.first == trace; });
}

// By id only: a path in a URI would be a second way to load.
Result<std::optional<ResourceContent>> Resources::ReadTrace(const std::string& uri,
                                                            const ResourceUri& parsed,
                                                            Job& job) const {
  if (!IsKnown(parsed.parts[1])) return std::nullopt;
  JV_ASSIGN(const TracePtr trace, workspace_.Open(parsed.parts[1], job));
  // An id that stood for what the file held before it changed is no resource any more.
  if (trace->id() != parsed.parts[1]) return std::nullopt;
  if (parsed.parts.size() == 4 && parsed.parts[2] == "table") {
    return ReadTable(uri, parsed, *trace, job);
  }
  if (parsed.parts.size() != 2) return std::nullopt;
  JV_ASSIGN(const Answer answer, LoadTrace(workspace_, {{"trace", trace->id()}}, job));
  return ResourceContent{"text/markdown", Render(answer).text, false, true};
}

Result<std::optional<ResourceContent>> Resources::ReadTable(const std::string& uri,
                                                            const ResourceUri& parsed,
                                                            const session::LoadedTrace& trace,
                                                            Job& job) const {
  session::ReportOptions options;
  options.kernel_summary = true;
  options.short_kernel_study = true;
  JV_ASSIGN(PlatformChoice choice, ChoosePlatform(workspace_.files(), "", &trace));
  options.platform = std::move(choice.platform);
  JV_ASSIGN(const std::vector<Table> tables, session::MakeReport(trace, options, job));
  for (const Table& table : tables) {
    if (table.name != parsed.parts[3]) continue;
    const std::string bare = uri.substr(0, uri.find('?'));
    return Part("text/csv", bare, output::ToCsv(table), parsed.cursor, true);
  }
  return std::nullopt;
}

Result<std::optional<ResourceContent>> Resources::ReadFile(const std::string& uri,
                                                           const ResourceUri& parsed) const {
  // What is not on the shelf is nobody's business, whether it exists or not.
  const auto file = shelf_->Find(parsed.path);
  if (!file) return std::nullopt;
  const std::string type = MimeTypeOf(file->path);
  // A link that somebody has put in its place, or in that of a directory on the way, must not lead
  // away.
  const bool is_text =
      type.starts_with("text/") || type == "application/json" || type == "image/svg+xml";
  if (!is_text) {
    JV_ASSIGN(std::string bytes, io::ReadUnchangedFile(file->path, kBlobBytesMax));
    return ResourceContent{type, std::move(bytes), true, false};
  }
  JV_ASSIGN(const std::string text, io::ReadUnchangedFile(file->path, kTextBytesMax));
  const std::string bare = uri.substr(0, uri.find('?'));
  return Part(type, bare, text, parsed.cursor, false);
}

std::vector<std::string> Matching(const std::vector<std::string>& all, const std::string& typed) {
  std::vector<std::string> values;
  for (const std::string& value : all) {
    if (value.size() >= typed.size() &&
        EqualsNoCase(std::string_view(value).substr(0, typed.size()), typed)) {
      values.push_back(value);
    }
  }
  return values;
}

}  // namespace

std::shared_ptr<const mcp::ResourceSource> MakeResources(session::Workspace& workspace,
                                                         std::shared_ptr<const Shelf> shelf,
                                                         const mcp::ToolSet& tools) {
  return std::make_shared<Resources>(workspace, std::move(shelf), tools);
}

mcp::Completer MakeCompleter(session::Workspace& workspace, const mcp::ToolSet& tools,
                             const std::vector<mcp::Prompt>& prompts) {
  std::vector<std::string> skills;
  for (const Skill& skill : Skills())
    skills.push_back(skill.name);
  std::vector<std::string> prompt_names;
  for (const mcp::Prompt& prompt : prompts)
    prompt_names.push_back(prompt.name);
  std::vector<std::string> platforms;
  for (const perf::Platform& platform : perf::Platforms())
    platforms.push_back(platform.name);
  return [&workspace, names = tools.Names(), skills, prompt_names, platforms](
             const mcp::CompletionQuestion& question) -> std::optional<std::vector<std::string>> {
    const auto is_template = [&](const Kind& kind) { return kind.uri_template == question.name; };
    std::vector<std::string> all;
    if (question.of_prompt) {
      // Nothing fits the arguments of a prompt that this profile leaves out.
      if (std::find(prompt_names.begin(), prompt_names.end(), question.name) == prompt_names.end())
        return all;
    } else if (std::none_of(std::begin(kKinds), std::end(kKinds), is_template)) {
      return std::nullopt;
    }
    if (question.argument == "trace") {
      for (const auto& [id, path] : workspace.Known()) {
        all.push_back(id);
        if (question.of_prompt) all.push_back(path);
      }
    } else if (question.argument == "table") {
      all.assign(std::begin(kTables), std::end(kTables));
    } else if (question.argument == "platform") {
      all = platforms;
    } else if (question.argument == "skill") {
      all = skills;
    } else if (question.argument == "tool") {
      all = names;
    }
    return Matching(all, question.value);
  };
}

}  // namespace jarvis::tools
