// The command lines of the scripts that `jarvis sweep` stands for, as their users paste them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/commands.h"

namespace jarvis::app {

// The flags of one of the tools behind `jarvis sweep`, from those of the script that did the same.
// What no script has stays as it is.
//
//   sweep_pipeline  --base-path, --tracelens-path: the sweep's directory, or the tracelens_analysis
//                   in it; --csv-path, --input-csv: a table in there, top5_...csv for --top-k 5;
//                   --threads 256 512 --channels 28 42: configurations. With --csv-path, of the
//                   script for plots, pictures are PNG too, and --output-dir may end in /plots.
//   sweep_compare   --sweep1 A --label1 B --sweep2 ...; --output PAGE.html
//   rocprof_yaml    --input-csv, --output-yaml
std::vector<std::string> FromScriptFlags(std::string_view tool, Arguments arguments);

}  // namespace jarvis::app
