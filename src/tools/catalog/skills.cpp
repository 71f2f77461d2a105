#include "tools/catalog/skills.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"

namespace jarvis::tools {
namespace {

constexpr std::string_view kFence = "---\n";

// "key: value" of the front matter; empty: not there.
std::string_view Member(std::string_view front, std::string_view key) {
  while (!front.empty()) {
    const std::string_view line = front.substr(0, front.find('\n'));
    front.remove_prefix(std::min(front.size(), line.size() + 1));
    if (line.starts_with(key) && line.substr(key.size()).starts_with(": ")) {
      return Trim(line.substr(key.size() + 2));
    }
  }
  return {};
}

// "[a, b]"
std::vector<std::string> SkillNames(std::string_view list) {
  std::vector<std::string> names;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return names;
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const std::string_view raw = list.substr(0, list.find(','));
    if (const std::string_view name = Trim(raw); !name.empty()) names.emplace_back(name);
    list.remove_prefix(std::min(list.size(), raw.size() + 1));
  }
  return names;
}

Skill ReadSkill(const EmbeddedFile& file) {
  Skill skill{std::string(file.name), {}, {}, file.text, file.text};
  if (!file.text.starts_with(kFence)) return skill;
  const std::size_t end = file.text.find("\n---\n");
  if (end == std::string_view::npos) return skill;
  const std::string_view front = file.text.substr(kFence.size(), end + 1 - kFence.size());
  skill.description = Member(front, "description");
  skill.tools = SkillNames(Member(front, "tools"));
  skill.body = Trim(file.text.substr(end + 5));
  return skill;
}

// What a person typed goes into the prompt as a value, in quotes and on one line.
std::string Quoted(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) plain += c;
  }
  return Json(plain).dump(-1, ' ', Json::BadUtf8::kReplace);
}

mcp::PromptReply PromptOf(std::string text, const Json& arguments) {
  for (const auto& [name, value] : arguments.items()) {
    if (name != "trace" && name != "question") continue;
    text += (name == "trace" ? "\n\nThe trace (a path or an id): " : "\n\nThe question: ") +
            Quoted(value.get<std::string>());
  }
  mcp::PromptReply reply;
  reply.messages.push_back({{"role", "user"}, {"content", {{"type", "text"}, {"text", text}}}});
  return reply;
}

// "<!-- with a, b -->": whether the reader has all of them; absent: it is another line.
std::optional<bool> OpensFor(std::string_view line, const std::vector<std::string>& tools) {
  constexpr std::string_view kWith = "<!-- with ";
  constexpr std::string_view kClose = " -->";
  if (!line.starts_with(kWith) || !line.ends_with(kClose)) return std::nullopt;
  line = line.substr(kWith.size(), line.size() - kWith.size() - kClose.size());
  const std::vector<std::string> needed = SkillNames("[" + std::string(line) + "]");
  return std::all_of(needed.begin(), needed.end(), [&](const std::string& tool) {
    return std::find(tools.begin(), tools.end(), tool) != tools.end();
  });
}

}  // namespace

std::string SkillFor(std::string_view text, const std::vector<std::string>& tools) {
  std::string kept;
  bool keeps = true;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t taken = std::min(text.size(), line.size() + 1);
    if (const auto opens = OpensFor(line, tools)) {
      keeps = *opens;
    } else if (line == "<!-- end -->") {
      keeps = true;
    } else if (keeps) {
      kept += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return kept;
}

const std::vector<Skill>& Skills() {
  static const std::vector<Skill> skills = [] {
    std::vector<Skill> read;
    for (const EmbeddedFile& file : SkillFiles())
      read.push_back(ReadSkill(file));
    std::sort(read.begin(), read.end(),
              [](const Skill& a, const Skill& b) { return a.name < b.name; });
    return read;
  }();
  return skills;
}

std::vector<mcp::Prompt> SkillPrompts(const mcp::ToolSet& tools) {
  std::vector<mcp::Prompt> prompts;
  for (const Skill& skill : Skills()) {
    const bool usable = std::all_of(skill.tools.begin(), skill.tools.end(),
                                    [&](const auto& tool) { return tools.Find(tool) != nullptr; });
    if (!usable) continue;
    mcp::Prompt prompt;
    prompt.name = skill.name;
    std::replace(prompt.name.begin(), prompt.name.end(), '-', '_');
    prompt.title = skill.name;
    std::replace(prompt.title.begin(), prompt.title.end(), '-', ' ');
    prompt.description = skill.description;
    prompt.arguments = {{"trace", "Path or id of the trace.", false},
                        {"question", "What you want to know.", false}};
    prompt.make = [text = SkillFor(skill.body, tools.Names())](const Json& arguments,
                                                               mcp::CallContext&) {
      return PromptOf(text, arguments);
    };
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

}  // namespace jarvis::tools
