// The commands, one file each. Arguments are those after the command's name; the result is the
// exit code. Adding one: a file, a line here, a line in kCommands.
#pragma once

#include <span>
#include <string_view>

#include "mcp/tool.h"

namespace jarvis::app {

using Arguments = std::span<const std::string_view>;

int Serve(Arguments arguments);                                  // serve.cpp
int Call(Arguments arguments);                                   // call.cpp
int Analyze(Arguments arguments);                                // analyze.cpp
int CategoryAnalysis(Arguments arguments);                       // category_analysis.cpp
int Install(Arguments arguments);                                // install.cpp
int Compare(Arguments arguments);                                // compare.cpp
int Sweep(Arguments arguments);                                  // sweep.cpp
int Query(Arguments arguments);                                  // query.cpp
int Export(Arguments arguments);                                 // export.cpp
int View(Arguments arguments);                                   // view.cpp
int RunToolCommand(std::string_view tool, Arguments arguments);  // tool_command.cpp; a tool's name

struct Command {
  std::string_view name;
  std::string_view usage;  // what comes after the name
  std::string_view summary;
  int (*run)(Arguments arguments);
};
inline constexpr Command kCommands[] = {
    {"serve", "[--http ADDR]", "Answer an MCP client on stdin and stdout, or over HTTP.", &Serve},
    {"analyze", "TRACE --output-dir DIR", "Analyze a trace: tables, findings and reports.",
     &Analyze},
    {"view", "TRACE [BASELINE]",
     "Write the report as a page, and open it where there is a desktop.", &View},
    {"category-analysis", "CATEGORY --output-dir DIR", "Print a category of a finished analysis.",
     &CategoryAnalysis},
    {"install", "--client NAME", "Put the server into an MCP client's configuration.", &Install},
    {"compare", "CANDIDATE BASELINE", "Compare two traces, or the reports of several runs.",
     &Compare},
    {"sweep", "NAME --output-dir DIR",
     "Plan, run and analyze runs over settings of the collectives.", &Sweep},
    {"query", "TRACE \"SELECT ...\" [--csv]", "Ask a trace in SQL.", &Query},
    {"export", "TRACE --sqlite FILE", "Write a trace's tables as a database.", &Export},
    {"call", "TOOL [JSON | -]", "Call a tool with JSON arguments; prints its JSON.", &Call},
};

}  // namespace jarvis::app
