#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/frames/iteration_runs.h"
#include "base/text.h"
#include "io/gzip_file.h"
#include "io/output_folder.h"
#include "output/csv_writer.h"
#include "session/split_trace.h"
#include "session/trace_frames.h"
#include "tools/shared/arguments.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using analysis::Iteration;
using analysis::IterationRun;
using analysis::SteadyLoad;
using Iterations = std::vector<Iteration>;

// Each has a file and a compressor of its own while the trace is read.
constexpr std::size_t kMostParts = 256;
constexpr const char* kListName = "parts.csv";

struct Part {
  std::string name;
  IterationRun run;
};

// "10:20": from the tenth step on, before the twentieth; counted from 0.
Result<IterationRun> StepsAsked(const Json& arguments, std::size_t known) {
  const auto text = TextArgument(arguments, "steps");
  if (!text) return IterationRun{0, known};
  const std::size_t colon = text->find(':');
  const auto first = ParseInt(std::string_view(*text).substr(0, colon));
  std::optional<std::int64_t> end;
  if (colon != std::string::npos) {
    end = ParseInt(std::string_view(*text).substr(colon + 1));
  } else if (first) {
    end = *first + 1;
  }
  if (!first || !end || *first < 0 || *end <= *first || static_cast<std::size_t>(*end) > known) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("steps: \"{}\" is no range of the {} steps", *text, known),
                fmt::format("give FIRST:END, such as 0:{}", known));
  }
  return IterationRun{static_cast<std::size_t>(*first), static_cast<std::size_t>(*end - *first)};
}

Result<std::vector<Part>> EachStep(IterationRun asked) {
  if (asked.count > kMostParts) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{} steps are more than {} files", asked.count, kMostParts),
                "choose some with steps");
  }
  std::vector<Part> parts;
  for (std::size_t i = asked.first; i < asked.first + asked.count; ++i)
    parts.push_back({fmt::format("step_{:04}.json.gz", i), {i, 1}});
  return parts;
}

// What the caller knows of the benchmark; nothing: nothing.
Result<std::optional<SteadyLoad>> LoadAsked(const Json& arguments) {
  std::size_t given = 0;
  for (const char* name : {"conc", "osl", "r"})
    given += arguments.contains(name) ? 1u : 0u;
  if (given == 0) return std::nullopt;
  if (given < 3 || arguments.at("each").get<bool>()) {
    return Fail(ErrorCode::kBadValue, "conc, osl and r belong together, without each",
                "give all three: they choose among busy steps in a row");
  }
  return SteadyLoad{arguments.at("conc").get<std::int64_t>(), arguments.at("osl").get<double>(),
                    arguments.at("r").get<double>()};
}

// Other programs' steps have nothing that one would choose by.
Result<std::vector<Part>> SteadyRepeats(const Iterations& repeats, IterationRun asked,
                                        std::size_t count, bool load) {
  if (load) {
    return Fail(ErrorCode::kBadValue, "conc, osl and r are of an inference server's steps",
                "leave them out: the trace names no such steps");
  }
  IterationRun steady =
      analysis::SteadyRun(std::span(repeats).subspan(asked.first, asked.count), count);
  steady.first += asked.first;
  return std::vector<Part>{{"steady.json.gz", steady}};
}

std::vector<Part> SteadyParts(const Iterations& iterations, IterationRun asked, std::size_t count,
                              const std::optional<SteadyLoad>& load) {
  const auto within = std::span(iterations).subspan(asked.first, asked.count);
  IterationRun steady = load ? analysis::RunOfPromptShare(within, count, load->PromptShare())
                             : analysis::BusiestRun(within, count);
  steady.first += asked.first;
  std::vector<Part> parts = {{"steady.json.gz", steady}};
  for (const char* phase : {"decode", "mixed", "prefill"}) {
    const auto run = analysis::LongestRunOf(iterations, steady, phase);
    if (run && run->count < steady.count)
      parts.push_back({fmt::format("steady_{}.json.gz", phase), *run});
  }
  return parts;
}

// Whose annotation ends before its work does, so that its last step has all that follows.
bool IsServer(const Iterations& iterations) {
  return !iterations.front().sums.format.empty();
}

// The mark of a step begins with the step itself.
constexpr double kBeforeUs = 0.001;

session::TracePart SpanOf(const Iterations& iterations, const IterationRun& run) {
  session::TracePart part;
  part.begin_us = trace::MicrosOf(iterations[run.first].host.start) - kBeforeUs;
  const std::size_t next = run.first + run.count;
  if (next < iterations.size()) {
    part.end_us = trace::MicrosOf(iterations[next].host.start) - kBeforeUs;
  } else if (!IsServer(iterations)) {
    part.end_us = trace::MicrosOf(iterations.back().host.end);
  }
  return part;
}

std::string PhasesOf(const Iterations& iterations, const IterationRun& run) {
  const std::string_view first = perf::PhaseOf(iterations[run.first].sums);
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    if (perf::PhaseOf(iterations[i].sums) != first) return "several";
  }
  return std::string(first);
}

void AddRow(const Iterations& iterations, const Part& part, const session::TracePart& written,
            Answer* answer) {
  std::int64_t requests = 0;
  std::int64_t busy_ns = 0;
  for (std::size_t i = part.run.first; i < part.run.first + part.run.count; ++i) {
    const perf::IterationSums& sums = iterations[i].sums;
    requests = std::max(requests, sums.context_requests + sums.generation_requests);
    busy_ns += iterations[i].busy_ns;
  }
  const bool server = IsServer(iterations);
  answer->rows.push_back(
      {part.name, static_cast<std::int64_t>(part.run.first),
       static_cast<std::int64_t>(part.run.count),
       server ? Cell(PhasesOf(iterations, part.run)) : Cell(), server ? Cell(requests) : Cell(),
       static_cast<std::int64_t>(written.gpu_events), static_cast<double>(busy_ns) / 1e6});
}

std::string SummaryOf(const Iterations& iterations, const std::vector<Part>& parts, bool each,
                      const std::string& directory) {
  const IterationRun& first = parts.front().run;
  const bool server = IsServer(iterations);
  const std::string what =
      each ? fmt::format("{} from step {} on are a trace each", parts.size(), first.first)
           : fmt::format("{} {} in a row begin with step {}", server ? "the busiest" : "steady",
                         first.count, first.first);
  const std::string steps = server ? fmt::format("The server ran {} steps", iterations.size())
                                   : fmt::format("The trace has {} steps, the first \"{}\"",
                                                 iterations.size(), iterations.front().name);
  return fmt::format("{}; {}, in {}.", steps, what, directory);
}

// With fewer steps a run may have none with a prompt.
std::size_t StepsFor(const Json& arguments, const std::optional<SteadyLoad>& load) {
  const auto count = arguments.at("count").get<std::size_t>();
  if (!load) return count;
  constexpr double kMostSteps = 1e6;
  const double least = std::min(std::ceil(1 / load->PromptShare()), kMostSteps);
  return std::max(count, static_cast<std::size_t>(least));
}

std::vector<std::string> NotesOf(const Iterations& iterations, const Part& steady,
                                 const SteadyLoad& load) {
  std::int64_t most = 0;
  for (const Iteration& step : iterations)
    most = std::max(most, step.sums.context_requests + step.sums.generation_requests);
  std::vector<std::string> notes = {
      fmt::format("{} of the {} steps process a prompt; of the benchmark's {:.1f} % do.",
                  analysis::CountPromptSteps(iterations, steady.run), steady.run.count,
                  100 * load.PromptShare())};
  if (most != load.requests) {
    notes.push_back(
        fmt::format("The most requests of a step are {}, not {}: the recording is not "
                    "of the benchmark's full load.",
                    most, load.requests));
  }
  return notes;
}

Result<std::vector<Part>> PartsOf(const Iterations& iterations, const Json& arguments,
                                  const std::optional<SteadyLoad>& load) {
  if (iterations.empty()) {
    return Fail(ErrorCode::kBadValue,
                "the trace has no steps to split by: none of an inference server, and no others "
                "that repeat",
                "record several; a server's own profiler names them, and so does "
                "torch.profiler's step()");
  }
  JV_ASSIGN(const IterationRun asked, StepsAsked(arguments, iterations.size()));
  if (arguments.at("each").get<bool>()) return EachStep(asked);
  const auto count = arguments.at("count").get<std::size_t>();
  if (!IsServer(iterations)) return SteadyRepeats(iterations, asked, count, load.has_value());
  return SteadyParts(iterations, asked, StepsFor(arguments, load), load);
}

}  // namespace

Result<Answer> Split(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const auto frames, session::FramesOf(*trace, job));
  const Iterations& iterations = frames->iterations.empty() ? frames->repeats : frames->iterations;
  JV_ASSIGN(const std::optional<SteadyLoad> load, LoadAsked(arguments));
  JV_ASSIGN(const std::vector<Part> parts, PartsOf(iterations, arguments, load));
  JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, *trace));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  std::vector<std::string> names;
  for (const Part& part : parts)
    names.push_back(part.name);
  names.push_back(kListName);
  JV_TRY(folder->Claim(names, MayOverwrite(arguments)));
  std::vector<std::unique_ptr<io::GzipFile>> open;
  std::vector<session::TracePart> written;
  for (const Part& part : parts) {
    JV_ASSIGN(auto file, io::GzipFile::Create(*folder, part.name));
    open.push_back(std::move(file));
    written.push_back(SpanOf(iterations, part.run));
    written.back().out = open.back().get();
  }
  JV_TRY(session::WriteTraceParts(workspace.files(), *trace, workspace.options().trace_bytes_max,
                                  &written, job));
  Answer answer;
  answer.trace = trace->id();
  answer.columns = {"file", "first_step", "steps", "phase", "requests", "gpu_events", "gpu_ms"};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    AddRow(iterations, parts[i], written[i], &answer);
    answer.files.push_back({open[i]->path(), "trace of these steps", 0});
  }
  const Table list = {"parts", answer.columns, answer.rows};
  JV_ASSIGN(std::string listed, folder->Write(kListName, output::ToCsv(list)));
  answer.files.push_back({std::move(listed), "what each part holds", list.rows.size()});
  JV_TRY(folder->Commit());
  answer.total = answer.rows.size();
  answer.summary = SummaryOf(iterations, parts, arguments.at("each").get<bool>(), directory);
  if (load) answer.notes = NotesOf(iterations, parts.front(), *load);
  answer.next = {{"load_trace", {{"trace", answer.files.front().path}}, "a part by itself"}};
  return answer;
}

}  // namespace jarvis::tools
