// A tool's arguments from command line flags, by its inputSchema and its aliases alone.
//
//   --name value, --name=value     underscores and dashes in names are the same
//   --flag, --no-flag              for booleans
//   --image FILE                   a picture of the answer, where the tool draws one
//   --name a --name b, --name a,b, --name a b
//                                  for arrays; words behind the first are of the list if they fit
//                                  it: numbers, known words, or anything once the trace is named
//   --name '{"row": "op3"}'        for arrays of objects; a list of such, too
//   value                          the first one fills the trace (or the first required argument);
//                                  an array takes all that follow; the second one fills `sql`
//   --old-name value               former names as the tool takes them; it says if two contradict
//   --trace                        short for --trace-id; --profile-json-path, --output-xlsx-path,
//                                  --output-csvs-dir, --extension-file, --gpu-arch-json-path and
//                                  --input-csv are the reference's names
#pragma once

#include <string>

#include "app/commands.h"
#include "base/result.h"
#include "json/json.h"
#include "mcp/tool.h"

namespace jarvis::app {

struct ToolFlags {
  Json arguments = Json::object();  // values as written; mcp::ArgumentsOf converts them
  std::string image;                // --image; empty: not given
  bool json = false;                // --json
  bool help = false;                // --help, -h
};

Result<ToolFlags> ParseToolFlags(const mcp::Tool& tool, Arguments arguments);

// The argument that a value without a name fills; empty: none.
std::string PositionalName(const Json& schema);
bool HasSchemaType(const Json& property, std::string_view type);

}  // namespace jarvis::app
