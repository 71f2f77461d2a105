#include "query/relation.h"

#include <fmt/format.h>

#include "query/functions.h"

namespace jarvis::query {
namespace {

constexpr Type kInt = Type::kInteger;
constexpr Type kText = Type::kText;
constexpr bool kIndexed = true;

constexpr AttributeInfo kGpuWork[] = {
    {"id", kInt, "place of the event in the file; args.id, collectives.id", kIndexed},
    {"name", kText, "of the kernel or copy, whole"},
    {"kind", kText, "kernel, memcpy, memset"},
    {"start_ns", kInt, "on the trace's clock", kIndexed},
    {"end_ns", kInt, "", kIndexed},
    {"dur_ns", kInt, "", kIndexed},
    {"device", kText, "process of the event: the device's number"},
    {"stream", kInt, "", kIndexed},
    {"launch_id", kInt, "host_calls.id of the call that launched it", kIndexed},
    {"op_id", kInt, "ops.id of the op that it belongs to", kIndexed},
    {"kernel", kText, "kernels.row: \"k3\""},
    {"step", kInt, "number of the marked step; NULL: outside", kIndexed},
    {"bytes", kInt, "of copies and fills"},
    {"gb_per_s", Type::kReal, "of copies, as recorded"},
    {"copy_from", kText, "kind of memory: Pageable, Pinned, Device"},
    {"copy_to", kText, "likewise"},
    {"grid", kText, "blocks, a JSON list"},
    {"block", kText, "threads, a JSON list"},
    {"registers", kInt, "of a thread"},
    {"shared_bytes", kInt, "of a block"},
    {"graph_id", kInt, "of the GPU graph that it is a node of"}};

constexpr AttributeInfo kHostCalls[] = {
    {"id", kInt, "place of the event in the file", kIndexed},
    {"parent_id", kInt, "host_calls.id of the caller", kIndexed},
    {"kind", kText, "op, annotation, python, runtime, driver"},
    {"name", kText, ""},
    {"start_ns", kInt, "", kIndexed},
    {"end_ns", kInt, "", kIndexed},
    {"dur_ns", kInt, "", kIndexed},
    {"self_ns", kInt, "without the calls below it", kIndexed},
    {"pid", kText, ""},
    {"tid", kText, ""},
    {"depth", kInt, "0: nobody's callee"},
    {"correlation", kInt, "of launches and waits", kIndexed},
    {"gpu_ns", kInt, "sum of the GPU work launched here or below"},
    {"gpu_count", kInt, "how many pieces of it"}};

constexpr AttributeInfo kPythonFrames[] = {
    {"id", kInt, "host_calls.id", kIndexed},
    {"parent_id", kInt, "host_calls.id of the caller", kIndexed},
    {"module", kText, "class of the nn.Module; NULL: a plain function"},
    {"file", kText, "NULL: built in, or a module"},
    {"line", kInt, ""},
    {"function", kText, ""},
    {"name", kText, "as recorded"},
    {"start_ns", kInt, "", kIndexed},
    {"end_ns", kInt, "", kIndexed},
    {"dur_ns", kInt, "", kIndexed},
    {"self_ns", kInt, "without the calls below it"},
    {"tid", kText, ""},
    {"gpu_ns", kInt, "sum of the GPU work launched here or below"}};

constexpr AttributeInfo kOps[] = {
    {"id", kInt, "host_calls.id", kIndexed},
    {"parent_id", kInt, "host_calls.id of the caller", kIndexed},
    {"row", kText, "of ops_summary, parent_chain, make_replay: \"op3\"; NULL: launches nothing"},
    {"name", kText, ""},
    {"category", kText, "NULL: launches nothing itself"},
    {"start_ns", kInt, "", kIndexed},
    {"end_ns", kInt, "", kIndexed},
    {"dur_ns", kInt, "", kIndexed},
    {"self_ns", kInt, "without the calls below it"},
    {"tid", kText, ""},
    {"module", kText, "path of modules around it, instances folded"},
    {"dims", kText, "Input Dims, a JSON list: json_each takes it apart"},
    {"types", kText, "Input type, likewise"},
    {"strides", kText, "Input Strides, likewise"},
    {"concrete", kText, "Concrete Inputs, likewise"},
    {"sequence", kInt, "of autograd: forward and backward ops share it", kIndexed},
    {"forward_id", kInt, "ops.id of the forward op, of a backward node", kIndexed},
    {"gpu_ns", kInt, "sum of the GPU work that is its own"},
    {"gpu_count", kInt, "how many pieces of it"}};

constexpr AttributeInfo kKernels[] = {{"row", kText, "of ops_summary by kernel: \"k3\""},
                                      {"name", kText, "whole"},
                                      {"short_name", kText, "as answers show it"},
                                      {"category", kText, "of the op with the most of its time"},
                                      {"gpu_ns", kInt, "sum of durations"},
                                      {"count", kInt, ""}};

constexpr AttributeInfo kModules[] = {{"row", kText, "of ops_summary by module: \"m3\""},
                                      {"name", kText, "path, instances folded"},
                                      {"gpu_ns", kInt, "busy time of its GPU work"},
                                      {"count", kInt, "calls that launched"}};

constexpr AttributeInfo kSteps[] = {
    {"number", kInt, "as marked, else counted from 1", kIndexed},
    {"name", kText, ""},
    {"start_ns", kInt, "of the host", kIndexed},
    {"end_ns", kInt, "", kIndexed},
    {"dur_ns", kInt, ""},
    {"gpu_start_ns", kInt, "of the work that the step launched", kIndexed},
    {"gpu_end_ns", kInt, "", kIndexed},
    {"gpu_busy_ns", kInt, ""},
    {"computation_ns", kInt, ""},
    {"exposed_comm_ns", kInt, "communication, nothing computed meanwhile"},
    {"exposed_copy_ns", kInt, "copies, nothing else meanwhile"},
    {"gpu_count", kInt, "pieces of GPU work"},
    {"steady", kInt, "0: set apart"},
    {"odd_because", kText, "why it is set apart"}};

constexpr AttributeInfo kPhases[] = {
    {"name", kText, ""},
    {"kind", kText, "forward, backward, loader, wait..."},
    {"level", kInt, "0: these make up the step; 1: repeated within one of those"},
    {"within", kText, "of level 1: the name of that one"},
    {"count", kInt, ""},
    {"start_ns", kInt, "of the first", kIndexed},
    {"host_ns", kInt, "wall time of the frames' thread, all of them"},
    {"host_each_ns", kInt, "median"},
    {"gpu_busy_ns", kInt, "of the work launched there"},
    {"gpu_each_ns", kInt, "median"},
    {"gpu_idle_ns", kInt, "the GPU had nothing to do while the host was there"},
    {"gpu_count", kInt, ""}};

constexpr AttributeInfo kLedger[] = {
    {"book", kText, "wall: its lines add up to the base; gpu; host"},
    {"line", kText, "product, exposed communication transfer, idle: input, own: ops..."},
    {"kind", kText, "of work; idle; of the host own, wait or other"},
    {"ns", kInt, "in the base: the steps that figures are of"},
    {"exposed_ns", kInt, "of gpu: nothing else ran on the GPU"},
    {"share_percent", Type::kReal, "of the base"},
    {"bound_ns", kInt, "of wall: at most this could be saved; null: not assessed"},
    {"basis", kText, "what that rests on"}};

constexpr AttributeInfo kIterations[] = {
    {"name", kText, "as the server's annotation has it"},
    {"phase", kText, "prefill, decode or mixed"},
    {"start_ns", kInt, "of the annotation, on the trace's clock", kIndexed},
    {"end_ns", kInt, ""},
    {"context_requests", kInt, "in prefill"},
    {"context_tokens", kInt, "computed for them"},
    {"generation_requests", kInt, "in decode"},
    {"generation_tokens", kInt, "computed for them"},
    {"gpu_start_ns", kInt, "of the GPU work launched until the next one; null: none"},
    {"gpu_end_ns", kInt, ""},
    {"gpu_busy_ns", kInt, ""},
    {"gpu_count", kInt, ""},
    {"period_ns", kInt, "until the next one begins; null of the last"}};

constexpr AttributeInfo kGaps[] = {
    {"start_ns", kInt, "on the trace's clock", kIndexed},
    {"end_ns", kInt, "", kIndexed},
    {"dur_ns", kInt, "", kIndexed},
    {"cause", kText, "host_bound, synchronisation..."},
    {"op_before", kText, ""},
    {"op_after", kText, ""},
    {"next_id", kInt, "gpu_work.id of the work that ends it", kIndexed},
    {"host_did", kText, "the host event with most of the gap"},
    {"host_did_ns", kInt, ""},
    {"module", kText, "of the op after it"},
    {"step", kInt, "", kIndexed}};

constexpr AttributeInfo kLaunches[] = {
    {"call_id", kInt, "host_calls.id", kIndexed},
    {"work_id", kInt, "gpu_work.id; of several pieces the first to start", kIndexed},
    {"tid", kText, ""},
    {"stream", kText, ""},
    {"call_ns", kInt, "begin of the call", kIndexed},
    {"start_ns", kInt, "of the work", kIndexed},
    {"lead_ns", kInt, "from the call to the start of the work"},
    {"work_ns", kInt, "of all pieces"},
    {"pieces", kInt, "of GPU work; more than one: a graph"},
    {"stream_idle", kInt, "1: the stream had nothing left to do at the call"},
    {"device_idle", kInt, "1: no stream had"}};

constexpr AttributeInfo kCollectives[] = {
    {"id", kInt, "gpu_work.id", kIndexed},
    {"family", kText, "AllReduce, all_to_all...: by the kernel's name"},
    {"name", kText, "collective as recorded"},
    {"group_name", kText, "process group"},
    {"group_size", kInt, ""},
    {"dtype", kText, ""},
    {"in_elements", kInt, ""},
    {"out_elements", kInt, ""},
    {"start_ns", kInt, "", kIndexed},
    {"end_ns", kInt, "", kIndexed},
    {"dur_ns", kInt, "waiting for other ranks included"},
    {"stream", kInt, ""},
    {"step", kInt, "", kIndexed}};

constexpr AttributeInfo kFindings[] = {
    {"rank", kInt, "1: first", kIndexed},
    {"id", kText, "of write_findings, what_if and prioritize's plan"},
    {"title", kText, ""},
    {"category", kText, ""},
    {"priority", kText, ""},
    {"rows", kText, "ops it is about: \"op3 op7\""},
    {"gpu_ns", kInt, "GPU time of what it is about"},
    {"path", kText, "A or B: the way out that saves more"},
    {"saves_low_ns", kInt, "of wall time, over all steps looked at"},
    {"saves_high_ns", kInt, ""},
    {"after_others_ns", kInt, "once those ranked before it are done"}};

constexpr AttributeInfo kArgs[] = {
    {"id", kInt, "of the event: gpu_work.id, host_calls.id", kIndexed},
    {"key", kText, "what no other column has"},
    {"value", kText, "JSON"}};

constexpr RelationInfo kSchema[] = {
    {"gpu_work", "Kernels, copies and memsets, by start.", kGpuWork},
    {"host_calls", "What threads did: ops, annotations, Python frames, runtime calls.", kHostCalls},
    {"python_frames", "Python functions and modules alone, with file and line.", kPythonFrames},
    {"ops", "Ops (aten:: and custom) with shapes, module and the GPU time of each call.", kOps},
    {"kernels", "GPU time by kernel name.", kKernels},
    {"modules", "GPU time by module.", kModules},
    {"steps", "Steps that the user waits for.", kSteps},
    {"phases", "Parts of a step.", kPhases},
    {"iterations", "Steps of an inference server, by its annotations.", kIterations},
    {"ledger", "Where the time of the base goes: wall, GPU and host.", kLedger},
    {"gaps", "Stretches without GPU work and why, the longest first.", kGaps},
    {"launches", "Calls that launched GPU work, and how far they ran ahead.", kLaunches},
    {"collectives", "Communication on the GPU.", kCollectives},
    {"findings", "What to do, in order of what it saves.", kFindings},
    {"args", "All that was recorded with an event beside the columns above.", kArgs}};

struct Example {
  std::string_view question;
  std::string_view sql;
};
constexpr Example kExamples[] = {
    {"Which kernels vary most from call to call?",
     "SELECT kernel, count(*) AS n, min(dur_ns) AS shortest, max(dur_ns) AS longest FROM gpu_work "
     "GROUP BY kernel HAVING n > 10 ORDER BY longest - shortest DESC LIMIT 5"},
    {"What runs on the GPU while collectives run?",
     "SELECT w.kernel, sum(min(w.end_ns, c.end_ns) - max(w.start_ns, c.start_ns)) AS beside_ns "
     "FROM collectives c JOIN gpu_work w ON w.start_ns < c.end_ns AND w.start_ns > c.start_ns "
     "WHERE w.id <> c.id GROUP BY w.kernel ORDER BY 2 DESC LIMIT 5"},
    {"Which lines of Python wait longest in synchronising calls?",
     "SELECT f.file, f.line, count(*) AS n, sum(c.dur_ns) AS wait_ns FROM host_calls c "
     "JOIN host_calls o ON o.id = c.parent_id JOIN python_frames f ON f.id = o.parent_id "
     "WHERE c.name LIKE '%Synchronize' GROUP BY 1, 2 ORDER BY wait_ns DESC LIMIT 5"},
    {"How much of each op's time depends on the shape?",
     "SELECT row, name, dims, count(*) AS calls, sum(gpu_ns) AS gpu_ns FROM ops "
     "WHERE row IS NOT NULL GROUP BY name, dims ORDER BY gpu_ns DESC LIMIT 5"},
    {"What did the host do in the longest gap of the GPU?",
     "SELECT h.name, h.self_ns, h.start_ns - g.start_ns AS after_ns FROM "
     "(SELECT start_ns, end_ns FROM gaps ORDER BY dur_ns DESC LIMIT 1) g JOIN host_calls h "
     "ON h.start_ns BETWEEN g.start_ns AND g.end_ns ORDER BY h.self_ns DESC LIMIT 5"}};

}  // namespace

std::span<const RelationInfo> Schema() {
  return kSchema;
}

std::string SchemaText() {
  constexpr std::string_view kTypes[] = {"INTEGER", "REAL", "TEXT"};
  std::string text =
      "# Tables of a trace\n\nTimes are nanoseconds on the trace's clock; what was not recorded is "
      "NULL. `*`: comparisons with it find their rows without reading all.\n";
  for (const RelationInfo& relation : Schema()) {
    text += fmt::format("\n## {}\n\n{}\n\n", relation.name, relation.doc);
    for (const AttributeInfo& one : relation.attributes) {
      text += fmt::format("- {}{} {}{}{}\n", one.name, one.indexed ? "*" : "",
                          kTypes[static_cast<std::size_t>(one.type)], one.doc.empty() ? "" : ": ",
                          one.doc);
    }
  }
  text +=
      "\n# Functions\n\nAs in SQLite; others are refused. A value has at most 1,000,000 bytes, a "
      "pattern of LIKE or GLOB 1,000.\n\n";
  for (const std::string_view one : AllowedFunctions())
    text += fmt::format("{}`{}`", text.ends_with('\n') ? "" : ", ", one);
  text += "\n\n# Questions\n";
  for (const Example& one : kExamples)
    text += fmt::format("\n{}\n\n```sql\n{}\n```\n", one.question, one.sql);
  return text;
}

}  // namespace jarvis::query
