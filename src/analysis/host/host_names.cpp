#include "analysis/host/host_names.h"

#include <algorithm>
#include <array>

#include "analysis/attribution/call_stack.h"

namespace jarvis::analysis {
namespace {

bool NameHolds(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

template <std::size_t kCount>
bool NameHoldsAny(std::string_view name, const std::array<std::string_view, kCount>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return NameHolds(name, part); });
}

// "/usr/lib/python3.10/threading.py(320): wait" -> file "threading.py", function "wait". Both are
// empty for what is no frame of a Python file.
struct FrameParts {
  std::string_view path;
  std::string_view file;
  std::string_view function;
};
FrameParts PartsOf(std::string_view frame) {
  const std::size_t line = frame.find(".py(");
  const std::size_t function = frame.rfind("): ");
  if (line == std::string_view::npos || function == std::string_view::npos) return {};
  FrameParts parts;
  parts.path = frame.substr(0, line + 3);
  const std::size_t slash = parts.path.rfind('/');
  parts.file = slash == std::string_view::npos ? parts.path : parts.path.substr(slash + 1);
  parts.function = frame.substr(function + 3);
  return parts;
}

// Of a JAX profile: "$threading.py:320 wait".
FrameParts PartsOfJax(std::string_view frame) {
  const std::size_t line = frame.find(".py:");
  const std::size_t function = frame.find(' ', line == frame.npos ? 0 : line);
  if (!frame.starts_with('$') || line == frame.npos || function == frame.npos) return {};
  const std::string_view file = frame.substr(1, line + 2);
  return {file, file, frame.substr(function + 1)};
}

struct WaitingPlace {
  std::string_view file;
  std::string_view function;
};
constexpr std::array<WaitingPlace, 16> kWaitingPlaces = {{{"threading.py", "wait"},
                                                          {"threading.py", "wait_for"},
                                                          {"threading.py", "acquire"},
                                                          {"threading.py", "join"},
                                                          {"threading.py", "_wait_for_tstate_lock"},
                                                          {"queue.py", "get"},
                                                          {"queue.py", "put"},
                                                          {"selectors.py", "select"},
                                                          {"connection.py", "poll"},
                                                          {"connection.py", "_poll"},
                                                          {"connection.py", "wait"},
                                                          {"connection.py", "_recv"},
                                                          {"queues.py", "get"},
                                                          {"popen_fork.py", "poll"},
                                                          {"subprocess.py", "wait"},
                                                          {"_base.py", "result"}}};

// Methods and functions of C that only wait; as they stand after "<built-in method ".
constexpr std::array<std::string_view, 13> kWaitingBuiltins = {"acquire ",
                                                               "poll ",
                                                               "select ",
                                                               "select>",
                                                               "wait ",
                                                               "wait>",
                                                               "recv ",
                                                               "recv_into ",
                                                               "sleep",
                                                               "accept ",
                                                               "waitpid",
                                                               "run_backward",
                                                               "__enter__ of _thread.lock"};

// Files of the standard library that stand in a trace without a folder.
constexpr std::array<std::string_view, 16> kStandardFiles = {
    "threading.py", "contextlib.py", "functools.py", "runpy.py",     "queue.py",   "abc.py",
    "selectors.py", "enum.py",       "typing.py",    "copy.py",      "inspect.py", "socket.py",
    "random.py",    "_base.py",      "warnings.py",  "connection.py"};

bool IsStandardLibrary(const FrameParts& parts) {
  if (parts.path.starts_with("<frozen")) return true;
  const std::size_t lib = parts.path.find("lib/python");
  if (lib != std::string_view::npos) {
    return !NameHolds(parts.path, "site-packages") && !NameHolds(parts.path, "dist-packages");
  }
  return parts.path == parts.file && std::find(kStandardFiles.begin(), kStandardFiles.end(),
                                               parts.file) != kStandardFiles.end();
}

}  // namespace

bool IsWaitingFrame(std::string_view frame) {
  constexpr std::string_view kMethod = "<built-in method ";
  constexpr std::string_view kFunction = "<built-in function ";
  for (const std::string_view start : {kMethod, kFunction}) {
    if (!frame.starts_with(start)) continue;
    const std::string_view rest = frame.substr(start.size());
    return std::any_of(kWaitingBuiltins.begin(), kWaitingBuiltins.end(),
                       [&](std::string_view name) { return rest.starts_with(name); });
  }
  const FrameParts parts = frame.starts_with('$') ? PartsOfJax(frame) : PartsOf(frame);
  return std::any_of(kWaitingPlaces.begin(), kWaitingPlaces.end(), [&](const WaitingPlace& place) {
    return parts.file == place.file && parts.function == place.function;
  });
}

bool IsGpuWaitFrame(std::string_view frame) {
  const std::string_view function = PartsOfJax(frame).function;
  return function == "block_until_ready" || function == "try_to_block";
}

bool IsLoaderName(std::string_view name) {
  constexpr std::array<std::string_view, 4> kLoader = {"DataLoader", "torch/utils/data/",
                                                       "DistributedSampler", "pin_memory.py"};
  return NameHoldsAny(name, kLoader);
}

bool IsWaitForWorkers(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)") &&
         name.find("_MultiProcessing") != std::string_view::npos;
}

bool IsProfilerName(std::string_view name) {
  constexpr std::array<std::string_view, 4> kProfiler = {
      "torch/profiler/", "torch/autograd/profiler.py", "_record_function_enter",
      "_record_function_exit"};
  return NameHoldsAny(name, kProfiler);
}

bool IsAutogradNode(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function")) return true;
  // Producers before those marks name the nodes alone: "CudnnConvolutionBackward", "MulBackward0".
  if (name.starts_with("torch::autograd::")) return true;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9')
    name.remove_suffix(1);
  return name.ends_with("Backward") && NameHolds(name, "::") == false;
}

bool IsRangeName(std::string_view name) {
  return (NameHolds(name, "#") && !NameHolds(name, "::")) || name.starts_with("## Call ") ||
         name.starts_with("Torch-Compiled Region");
}

bool IsUserFrame(std::string_view frame) {
  const FrameParts parts = PartsOf(frame);
  if (parts.path.empty() || IsWrapperFrame(frame) || IsStandardLibrary(parts)) return false;
  return !parts.path.starts_with("torch/") && !NameHolds(parts.path, "/torch/");
}

std::string ShownHostName(trace::EventKind kind, std::string_view name) {
  if (kind != trace::EventKind::kPythonFunction) return std::string(name);
  if (name.starts_with("nn.Module")) return WithoutNumbers(name);
  const std::size_t address = name.find(" at 0x");
  if (!name.starts_with("<") || address == std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, address)) + ">";
}

const HostNames::Meaning& HostNames::Of(trace::EventIndex e) {
  const trace::Event& event = events_[e];
  Meaning& meaning = meanings_[event.name];
  if (meaning.known) return meaning;
  const std::string_view name = events_.name(e);
  meaning.known = true;
  meaning.waiting_frame = IsWaitingFrame(name);
  meaning.gpu_wait_frame = IsGpuWaitFrame(name);
  meaning.loader = IsLoaderName(name);
  meaning.profiler = IsProfilerName(name);
  meaning.autograd = IsAutogradNode(name);
  meaning.range = IsRangeName(name);
  meaning.user_frame = IsUserFrame(name);
  meaning.call = RuntimeKindOf(name);
  meaning.sync_call = IsSyncCall(name);
  return meaning;
}

}  // namespace jarvis::analysis
