// jarvis compare: runs against a baseline, as tables; of two traces also as an answer.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/compare_gate.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/flags.h"
#include "app/progress_line.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "documents/comparative_console.h"
#include "documents/comparison.h"
#include "findings/two/gate_condition.h"
#include "mcp/argument_alias.h"
#include "mcp/error_reply.h"
#include "page/page_files.h"
#include "rpc/signal_watcher.h"
#include "tools/catalog/argument_aliases.h"
#include "tools/compare/compare_source.h"
#include "tools/compare/pair_page_file.h"
#include "tools/shared/platform_choice.h"

namespace jarvis::app {
namespace {

constexpr std::string_view kCompareUsage =
    "Compare two traces, or the reports of several runs.\n\n"
    "usage: jarvis compare CANDIDATE BASELINE [--by op|category|kernel|module] [--json]\n"
    "                      [--output-dir DIR] [--fail-on CONDITION]\n"
    "       jarvis compare CANDIDATE... BASELINE --output-dir DIR [--names A,B...]\n"
    "                      [--sheets NAME,...] [--compat tracelens] [--overwrite]\n"
    "\n"
    "The candidate, which you want to improve, comes first, and the baseline last. Differences\n"
    "are candidate minus baseline.\n"
    "\n"
    "Two traces: prints where the difference of a step comes from, what takes longer in the\n"
    "candidate than in the baseline and longer than the two GPUs explain, and what to do about\n"
    "it. With --output-dir it also writes DIR/comparative_analysis_fair.md and ..._rough.md,\n"
    "DIR/comparison.html, DIR/compare_by_*.csv, and the tables of both side by side (DIR/*.csv,\n"
    "DIR/comparison.xlsx).\n"
    "\n"
    "More than two runs, reports (directories of CSV tables or workbooks, ours or TraceLens's),\n"
    "and the ranks of a job (directories of traces or digests): the tables alone. Only with\n"
    "--compat tracelens does the baseline come first, as in TraceLens. The first line that is\n"
    "printed names the sides.\n"
    "\n";

struct CompareArguments {
  std::vector<std::string> inputs;
  std::vector<std::string> names;
  std::vector<std::string> sheets;
  session::Compat compat = session::Compat::kNone;
  std::string output_dir;
  std::string workbook;          // its name in there; empty: the usual one
  Json answer = Json::object();  // arguments of the tool
  GateRequest gate;
  std::string image;  // a picture of the answer; empty: none
  bool overwrite = false;
  bool json = false;
  bool help = false;
};

// Of the gate: what makes the program fail, and the runs that say what is noise.
std::vector<Flag> GateFlags(CompareArguments* request) {
  const SetValue fail_on = [request](std::string_view, std::string_view value) -> Status {
    JV_ASSIGN(auto condition, findings::ParseGateCondition(value));
    request->gate.conditions.push_back(std::move(condition));
    return {};
  };
  return {
      {{"--fail-on"},
       fail_on,
       "  --fail-on CONDITION          exit with 3 if this holds for a step: 'total > +5%', "
       "'op:aten::mm > "
       "+10%',\n"
       "                               'category:* > +20% and > +0.1ms', 'idle > 3ms', 'window > "
       "+2ms',\n"
       "                               'unexpected > 1ms', 'comparability < 80'; may be "
       "repeated\n"},
      {{"--baseline-runs"},
       CommaList{&request->gate.baseline},
       "  --baseline-runs TRACE,...    further runs of the baseline, and\n"},
      {{"--runs"},
       CommaList{&request->gate.runs},
       "  --runs TRACE,...             of the candidate: a change must then exceed their noise\n"},
  };
}

// A directory, or a workbook in one, as the reference's program has it.
SetValue PlaceOf(CompareArguments* request) {
  return [request](std::string_view, std::string_view value) -> Status {
    if (!value.ends_with(".xlsx")) {
      request->output_dir = value;
      return {};
    }
    const std::size_t slash = value.rfind('/');
    const bool here = slash == std::string_view::npos;
    request->output_dir =
        here ? "." : std::string(value.substr(0, std::max<std::size_t>(slash, 1)));
    request->workbook = value.substr(here ? 0 : slash + 1);
    return {};
  };
}

// Flags by the former names of the tool's arguments, in both spellings.
const std::vector<std::string>& FormerFlags() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> flags;
    for (const mcp::ArgumentAlias& alias : tools::ArgumentAliases("compare")) {
      std::string flag = fmt::format("--{}", alias.old_name);
      flags.push_back(flag);
      std::replace(flag.begin(), flag.end(), '_', '-');
      if (flag != flags.back()) flags.push_back(std::move(flag));
    }
    return flags;
  }();
  return all;
}

std::vector<Flag> CompareFlags(CompareArguments* request) {
  // Arguments of the tool are called as it calls them.
  const SetValue answer = [request](std::string_view name, std::string_view value) -> Status {
    std::string argument(name.substr(2));
    std::replace(argument.begin(), argument.end(), '-', '_');
    request->answer[argument] = value;
    return {};
  };
  const SetValue compat = [request](std::string_view, std::string_view value) -> Status {
    if (value != "tracelens" && value != "none") {
      return Fail(ErrorCode::kBadValue, "--compat is tracelens or none");
    }
    if (value == "tracelens") request->compat = session::Compat::kTraceLens;
    return {};
  };
  std::vector<Flag> flags = {
      {{"--output-dir", "--output_dir", "-o", "--output", "--output_xlsx_path",
        "--output-xlsx-path"},
       PlaceOf(request)},
      {{"--names"},
       CommaList{&request->names},
       "  --names A,B...               names of the runs, in their order, in columns and file "
       "names\n"},
      {{"--sheets"},
       CommaList{&request->sheets,
                 {"gpu_timeline", "ops_summary", "kernel_summary", "ops_all", "roofline",
                  "collectives", "all"}},
       "  --sheets NAME,...            gpu_timeline, ops_summary, kernel_summary, ops_all, "
       "roofline,\n"
       "                               collectives; default: all\n"},
      {{"--compat"}, compat, "  --compat tracelens           write the tables as TraceLens does\n"},
      {{"--overwrite"},
       &request->overwrite,
       "  --overwrite                  replace files in DIR that jarvis did not write\n"},
      {{"--by"},
       answer,
       "  --by NAME                    what each printed row groups by; default: op\n"},
      {{"--limit", "--cursor"},
       answer,
       "  --limit N, --cursor TEXT     how many rows are printed (default: 10), and from where\n"},
      {{"--candidate", "--baseline"},
       answer,
       "  --candidate X, --baseline X  the two runs by name instead of by place\n"},
      {{"--platform"},
       answer,
       "  --platform NAME              the GPU of CANDIDATE: MI300X, H100... or a JSON file\n"},
      {{"--baseline-platform", "--baseline_platform"},
       answer,
       "  --baseline-platform NAME     the GPU of BASELINE\n"},
  };
  for (Flag& flag : GateFlags(request))
    flags.push_back(std::move(flag));
  flags.push_back({{"--image"},
                   &request->image,
                   "  --image FILE                 two runs: a PNG of what takes more and less "
                   "time\n"});
  flags.push_back({{"--json"},
                   &request->json,
                   "  --json                       print the answer as one line of JSON\n"});
  flags.push_back({{"--help", "-h"}, &request->help});
  for (const std::string& former : FormerFlags())
    flags.push_back({{former}, answer});
  return flags;
}

std::string CompareHelp() {
  CompareArguments request;
  return std::string(kCompareUsage) + FlagsHelp(CompareFlags(&request));
}

// What the flags do not say by themselves.
Status CheckCompare(const CompareArguments& request) {
  const std::vector<std::string>& inputs = request.inputs;
  if (!request.help && inputs.size() < 2) {
    return Fail(ErrorCode::kBadValue, "compare needs a candidate and a baseline");
  }
  if (!request.image.empty() && inputs.size() > 2) {
    return Fail(ErrorCode::kBadValue, "--image goes with two runs");
  }
  if (!request.help && inputs.size() > 2 && request.output_dir.empty()) {
    return Fail(ErrorCode::kBadValue, "compare needs --output-dir for more than two runs");
  }
  const bool gate = !request.gate.conditions.empty();
  if (gate && inputs.size() > 2) {
    return Fail(ErrorCode::kBadValue, "--fail-on judges one run against one baseline",
                "further runs of either go to --runs and --baseline-runs");
  }
  if (!gate && !(request.gate.runs.empty() && request.gate.baseline.empty())) {
    return Fail(ErrorCode::kBadValue, "--runs and --baseline-runs go with --fail-on");
  }
  return {};
}

// From the order in which people give runs, candidates and then the baseline, to that of tables.
// --compat stands for the reference's program, whose first run is the baseline. What is named need
// not be in its place.
void BaselineFirst(CompareArguments* request) {
  std::vector<std::string>& runs = request->inputs;
  const bool as_reference = request->compat != session::Compat::kNone;
  const bool named = request->answer.contains("candidate");
  if (named) runs.insert(runs.begin(), request->answer.at("candidate").get<std::string>());
  if (request->answer.contains("baseline")) {
    runs.insert(runs.begin(), request->answer.at("baseline").get<std::string>());
  } else if (!runs.empty() && (named || !as_reference)) {
    std::rotate(runs.begin(), runs.end() - 1, runs.end());
  }
  std::vector<std::string>& names = request->names;
  if (!names.empty() && !as_reference) std::rotate(names.begin(), names.end() - 1, names.end());
}

// What is printed first, so that nobody takes one side for the other.
std::string SidesLine(const CompareArguments& request) {
  const auto named = [&](std::size_t run) {
    if (run >= request.names.size()) return request.inputs[run];
    return fmt::format("{} ({})", request.names[run], request.inputs[run]);
  };
  std::string candidates;
  for (std::size_t run = 1; run < request.inputs.size(); ++run)
    candidates += (run == 1 ? "" : ", ") + named(run);
  return fmt::format("{}: {}; baseline: {}", request.inputs.size() > 2 ? "Candidates" : "Candidate",
                     candidates, named(0));
}

Result<CompareArguments> ParseCompare(Arguments arguments) {
  CompareArguments request;
  FlagRules rules;
  rules.other = [&](std::string_view word, bool last) -> Status {
    if (!word.starts_with("-")) {
      request.inputs.emplace_back(word);
      return {};
    }
    if (last && word.find('=') == std::string_view::npos) return NeedsValue(word);
    return Fail(ErrorCode::kBadValue,
                fmt::format("compare does not take \"{}\"", word.substr(0, word.find('='))));
  };
  JV_TRY(ParseFlags(CompareFlags(&request), arguments, rules));
  JV_ASSIGN(request.answer,
            mcp::RenameArguments(tools::ArgumentAliases("compare"), std::move(request.answer)));
  BaselineFirst(&request);
  JV_TRY(CheckCompare(request));
  return request;
}

// The platform that the user named for an input, or its device; only the first two have one.
std::string PlatformName(const CompareArguments& request, std::size_t input) {
  const char* const names[] = {"baseline_platform", "platform"};
  return input < std::size(names) ? request.answer.value(names[input], "") : "";
}

Result<std::vector<session::ReportSource>> OpenAll(session::Workspace& workspace,
                                                   const CompareArguments& request, Job& job) {
  const io::FilePolicy& files = workspace.files();
  std::vector<session::ReportSource> sources;
  for (const std::string& input : request.inputs) {
    JV_ASSIGN(session::ReportSource source, tools::OpenSource(workspace, input, job));
    if (source.trace != nullptr) {
      JV_ASSIGN(
          const tools::PlatformChoice choice,
          tools::ChoosePlatform(files, PlatformName(request, sources.size()), source.trace.get()));
      source.platform = choice.platform;
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

documents::ComparativeSide SideOf(const CompareArguments& request,
                                  const std::vector<session::ReportSource>& sources,
                                  std::size_t input, const char* name) {
  const bool given = request.names.size() > input;
  return {{*sources[input].trace, sources[input].platform}, given ? request.names[input] : name};
}

// Of two traces the comparison is a page, too.
bool HasPage(const CompareArguments& request, const std::vector<session::ReportSource>& sources) {
  return request.compat == session::Compat::kNone && sources.size() == 2 &&
         sources[0].trace != nullptr && sources[1].trace != nullptr;
}

Result<documents::WrittenComparison> WriteFiles(session::Workspace& workspace,
                                                const CompareArguments& request, Job& job) {
  documents::ComparisonRequest comparison;
  comparison.reports.names = request.names;
  comparison.reports.sheets = request.sheets;
  comparison.reports.compat = request.compat;
  comparison.overwrite = request.overwrite;
  if (!request.workbook.empty()) comparison.place.workbook = request.workbook;
  JV_ASSIGN(comparison.place.directory, workspace.files().ResolveOutput(request.output_dir));
  JV_ASSIGN(comparison.reports.sources, OpenAll(workspace, request, job));
  const std::vector<session::ReportSource>& sources = comparison.reports.sources;
  std::string page;
  if (HasPage(request, sources)) {
    JV_ASSIGN(page, tools::WritePairPage(workspace.files(), comparison.place.directory,
                                         SideOf(request, sources, 1, "candidate"),
                                         SideOf(request, sources, 0, "baseline"), request.overwrite,
                                         job));
  }
  JV_ASSIGN(documents::WrittenComparison written,
            documents::WriteComparisonOf(workspace.files(), comparison, job));
  if (!page.empty())
    written.files.push_back({std::move(page), std::string(page::kPairPageFile), 0});
  return written;
}

int WriteAndSay(session::Workspace& workspace, const CompareArguments& request) {
  Result<documents::WrittenComparison> written;
  {
    ProgressLine line(STDERR_FILENO);
    Job job([&](std::uint64_t done, std::uint64_t total, std::string_view what) {
      line.Show(done, total, what);
    });
    const auto watcher = rpc::SignalWatcher::Start([&](int) { job.Stop(); });
    written = WriteFiles(workspace, request, job);
  }
  if (!written) {
    PrintError(mcp::ErrorReply(written.error()).text);
    return kExitFailure;
  }
  std::string first;  // what is read before tables
  for (const documents::WrittenFile& file : written->files) {
    if (file.what == "comparative_analysis_fair.md" || file.what == page::kPairPageFile)
      first += request.output_dir + "/" + file.what + "\n";
  }
  std::string text =
      fmt::format("{}Wrote {} tables and {} to {}; {} is the baseline.", first, written->tables,
                  request.workbook.empty() ? "comparison.xlsx" : request.workbook,
                  request.output_dir, written->tags.front());
  for (const std::string& note : written->notes)
    text += "\nNote: " + note;
  // With --json stdout is one line of JSON.
  if (request.json) {
    PrintError(text);
    return kExitOk;
  }
  return Print(text) ? kExitOk : kExitFailure;
}

// Nobody asked for rows: the answer for people.
bool WantsProse(const CompareArguments& request) {
  return !request.json && !request.answer.contains("by") && !request.answer.contains("limit") &&
         !request.answer.contains("cursor");
}

Result<std::string> ProseOf(session::Workspace& workspace, const CompareArguments& request,
                            Job& job) {
  JV_ASSIGN(const std::vector<session::ReportSource> sources, OpenAll(workspace, request, job));
  JV_ASSIGN(std::string text, documents::PairConsole(SideOf(request, sources, 1, "candidate"),
                                                     SideOf(request, sources, 0, "baseline"), job));
  if (request.output_dir.empty())
    text += "\n\nAs a page: jarvis view with the same two traces; as files: --output-dir DIR";
  return text;
}

int SayProse(session::Workspace& workspace, const CompareArguments& request) {
  Result<std::string> text;
  {
    ProgressLine line(STDERR_FILENO);
    Job job([&](std::uint64_t done, std::uint64_t total, std::string_view what) {
      line.Show(done, total, what);
    });
    const auto watcher = rpc::SignalWatcher::Start([&](int) { job.Stop(); });
    text = ProseOf(workspace, request, job);
  }
  if (!text) {
    PrintError(mcp::ErrorReply(text.error()).text);
    return kExitFailure;
  }
  return Print(*text) ? kExitOk : kExitFailure;
}

// The tool's answer: its rows, its picture.
int AskTool(const Toolbox& toolbox, const CompareArguments& request, bool print) {
  Json arguments = request.answer;
  arguments["baseline"] = request.inputs[0];
  arguments["candidate"] = request.inputs[1];
  arguments["image"] = !request.image.empty();
  mcp::ToolReply reply;
  int code = RunTool(*toolbox.tools.Find("compare"), arguments, &reply);
  if (code == kExitOk && print)
    code = PrintReply(reply, request.json ? Output::kJson : Output::kText);
  if (code == kExitOk && !request.image.empty()) code = SaveImage(reply, request.image);
  return code;
}

int JudgeRequest(session::Workspace& workspace, const CompareArguments& request) {
  GateRequest gate = request.gate;
  gate.baseline.insert(gate.baseline.begin(), request.inputs[0]);
  gate.runs.insert(gate.runs.begin(), request.inputs[1]);
  gate.platform = request.answer.value("platform", "");
  gate.comparison_platform = request.answer.value("baseline_platform", "");
  return RunGate(workspace, gate, request.json);
}

}  // namespace

int Compare(Arguments arguments) {
  Result<CompareArguments> request = ParseCompare(arguments);
  if (!request) return UsageError(request.error().message, "jarvis compare --help");
  if (request->help) return Print(CompareHelp()) ? kExitOk : kExitFailure;
  static_cast<void>(rpc::SignalWatcher::Block());
  Toolbox toolbox;
  const std::string sides = SidesLine(*request);
  if (request->json) {
    PrintError(sides);
  } else if (!Print(sides)) {
    return kExitFailure;
  }
  const bool prose = WantsProse(*request) && request->inputs.size() == 2 &&
                     tools::AreTraceFiles(toolbox.workspace.files(), request->inputs);
  if (prose) {
    const int code = SayProse(toolbox.workspace, *request);
    if (code != kExitOk) return code;
  }
  if (!request->output_dir.empty()) {
    const int code = WriteAndSay(toolbox.workspace, *request);
    if (code != kExitOk || request->inputs.size() > 2) return code;
    // Of reports all that there is to say stands in the files.
    const bool all_said = !request->json && request->gate.conditions.empty() &&
                          !tools::AreTraceFiles(toolbox.workspace.files(), request->inputs);
    if (all_said) return kExitOk;
  }
  int code = kExitOk;
  if (!prose || !request->image.empty()) code = AskTool(toolbox, *request, !prose);
  if (code != kExitOk || request->gate.conditions.empty()) return code;
  return JudgeRequest(toolbox.workspace, *request);
}

}  // namespace jarvis::app
