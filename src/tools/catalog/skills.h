// The skills that the program carries: markdown for the model, in skills/NAME/SKILL.md. They are
// prompts and resources too.
//
// What lies between the lines "<!-- with TOOL, TOOL -->" and "<!-- end -->" is for servers that
// have these tools: a skill names no tool that its reader cannot call.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "mcp/resource.h"
#include "mcp/tool.h"

namespace jarvis::tools {

std::span<const EmbeddedFile> SkillFiles();

struct Skill {
  std::string name;                // "standalone-analysis"
  std::string description;         // of the front matter
  std::vector<std::string> tools;  // that it needs
  std::string_view text;           // the whole file
  std::string_view body;           // without the front matter
};
// By name.
const std::vector<Skill>& Skills();

// A skill's text, or its body, for a reader who has these tools.
std::string SkillFor(std::string_view text, const std::vector<std::string>& tools);

// A prompt for every skill whose tools are all there: the skill, and the trace that is meant.
std::vector<mcp::Prompt> SkillPrompts(const mcp::ToolSet& tools);

}  // namespace jarvis::tools
