#include "analysis/attribution/call_stack.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"
#include "table/py_text.h"

namespace jarvis::analysis {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

constexpr std::size_t kModuleNameLength = 256;

constexpr std::array kWrapperStarts = {"<built-in", "pybind11_builtins", "nn.Module:"};
constexpr std::array kWrapperFiles = {"torch/_ops.py",
                                      "torch/nn/modules/module.py",
                                      "torch/utils/_contextlib.py",
                                      "torch/utils/_device.py",
                                      "torch/_tensor.py",
                                      "torch/functional.py",
                                      "torch/overrides.py",
                                      "torch/_inductor/",
                                      "torch/_functorch/",
                                      "torch/distributed/c10d_logger.py",
                                      "triton/backends/"};
constexpr std::array kWrapperFunctions = {"__torch_function__",
                                          "_call_impl",
                                          "_wrapped_call_impl",
                                          "decorate_context",
                                          "dispatch_wrapper",
                                          "handle_torch_function",
                                          "wrapper",
                                          "custom_wrapper",
                                          "wrapper_custom",
                                          "outer_wrapper"};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "file.py(12): function" -> "function"; the whole frame if it is no such thing.
std::string_view FunctionOf(std::string_view frame) {
  constexpr std::string_view kSeparator = "): ";
  const std::size_t at = frame.rfind(kSeparator);
  return at == std::string_view::npos ? frame : frame.substr(at + kSeparator.size());
}

// Without one "_<digits>" at the end.
std::string_view WithoutLastNumber(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1]))
    --end;
  if (end == name.size() || end == 0 || name[end - 1] != '_') return name;
  return name.substr(0, end - 1);
}

std::string_view LocalName(std::string_view op) {
  const std::size_t at = op.rfind("::");
  return at == std::string_view::npos ? op : op.substr(at + 2);
}

std::optional<std::size_t> FindFromEnd(std::span<const std::string> flat, std::string_view name) {
  for (std::size_t i = flat.size(); i-- > 0;) {
    if (flat[i] == name) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string WithoutNumbers(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i + 1;
    if (name[i] == '_') {
      while (end < name.size() && IsDigit(name[end]))
        ++end;
    }
    if (end == i + 1) out.push_back(name[i]);
    i = end;
  }
  return out;
}

bool StandsOnCallStack(trace::EventKind kind, std::string_view name) {
  return kind == trace::EventKind::kCpuOp || Contains(name, "nn.Module") || Contains(name, "::") ||
         Contains(name, "/");
}

std::string ListText(std::span<const std::string> names) {
  std::string text = "[";
  for (const std::string& name : names) {
    if (text.size() > 1) text += ", ";
    text += PyString(name);
  }
  return text + "]";
}

namespace {

// As CallStack::Text() lists frames.
std::string EndsText(std::span<const std::string> frames, std::size_t frames_max) {
  if (frames.size() <= frames_max) return ListText(frames);
  const std::size_t first = frames_max / 2;
  const std::size_t last = frames_max - first;
  std::vector<std::string> ends(frames.begin(),
                                frames.begin() + static_cast<std::ptrdiff_t>(first));
  ends.push_back("... " + std::to_string(frames.size() - frames_max) + " more ...");
  ends.insert(ends.end(), frames.end() - static_cast<std::ptrdiff_t>(last), frames.end());
  return ListText(ends);
}

}  // namespace

std::string CallStack::Text(std::size_t frames_max) const {
  if (frames.empty() && tails.empty()) return std::string(kNotFound);
  std::string text = EndsText(frames, frames_max);
  text.pop_back();
  for (const std::vector<std::string>& tail : tails) {
    if (text.size() > 1) text += ", ";
    text += EndsText(tail, frames_max);
  }
  return text + "]";
}

std::vector<std::string> CallStack::Flat() const {
  std::vector<std::string> flat = frames;
  for (const std::vector<std::string>& tail : tails)
    flat.insert(flat.end(), tail.begin(), tail.end());
  return flat;
}

std::vector<std::string> FramesDownTo(const trace::EventStore& events, EventIndex op,
                                      const ParentFunction& parent) {
  std::vector<std::string> frames;
  for (EventIndex e = op; e != trace::kNoEvent; e = parent(e)) {
    if (StandsOnCallStack(events[e].kind, events.name(e)))
      frames.push_back(WithoutNumbers(events.name(e)));
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

KernelStack StackBelow(const trace::EventStore& events, EventIndex op, EventIndex kernel,
                       const ParentFunction& parent) {
  KernelStack stack{{}, events.name(kernel)};
  for (EventIndex e = parent(kernel); e != trace::kNoEvent && e != op; e = parent(e)) {
    if (StandsOnCallStack(events[e].kind, events.name(e)))
      stack.below.push_back(WithoutNumbers(events.name(e)));
  }
  std::reverse(stack.below.begin(), stack.below.end());
  return stack;
}

CallStack JoinCallStacks(std::span<const std::string> op, std::span<const KernelStack> kernels) {
  CallStack stack;
  if (kernels.empty()) return stack;
  std::vector<std::vector<std::string>> paths;  // below the op, each distinct one once
  std::set<std::vector<std::string>> known;
  for (const KernelStack& kernel : kernels) {
    std::vector<std::string> path = kernel.below;
    path.emplace_back(kernel.kernel);
    if (known.insert(path).second) paths.push_back(std::move(path));
  }
  auto common = static_cast<std::ptrdiff_t>(paths[0].size());
  for (const std::vector<std::string>& path : std::span(paths).subspan(1)) {
    const auto parts =
        std::mismatch(paths[0].begin(), paths[0].begin() + common, path.begin(), path.end());
    common = parts.first - paths[0].begin();
  }
  stack.frames.assign(op.begin(), op.end());
  stack.frames.insert(stack.frames.end(), paths[0].begin(), paths[0].begin() + common);
  if (paths.size() == 1) return stack;
  for (const std::vector<std::string>& path : paths)
    stack.tails.emplace_back(path.begin() + common, path.end());
  return stack;
}

bool IsWrapperFrame(std::string_view frame) {
  const auto starts = [&](std::string_view start) { return frame.starts_with(start); };
  const auto holds = [&](std::string_view part) { return Contains(frame, part); };
  const auto is = [&, function = FunctionOf(frame)](std::string_view name) {
    return function == name;
  };
  return std::any_of(kWrapperStarts.begin(), kWrapperStarts.end(), starts) ||
         std::any_of(kWrapperFiles.begin(), kWrapperFiles.end(), holds) ||
         std::any_of(kWrapperFunctions.begin(), kWrapperFunctions.end(), is);
}

EntryPoint FindEntryPoint(std::span<const std::string> flat, std::string_view op) {
  std::optional<std::size_t> at = FindFromEnd(flat, op);
  if (!at) at = FindFromEnd(flat, WithoutLastNumber(op));
  if (!at) return {std::string(kNotFound)};
  const std::string local = LowerAscii(LocalName(op));
  for (std::size_t i = *at + 1; i < flat.size(); ++i) {
    if (!Contains(flat[i], ".py") || !Contains(LowerAscii(FunctionOf(flat[i])), local)) continue;
    return {flat[i], EntryPoint::Direction::kInward, static_cast<int>(i - *at - 1)};
  }
  for (std::size_t i = *at; i-- > 0;) {
    if (!Contains(flat[i], ".py") || IsWrapperFrame(flat[i])) continue;
    return {flat[i], EntryPoint::Direction::kOutward, static_cast<int>(*at - i - 1)};
  }
  return {std::string(kNotFound)};
}

std::vector<std::string> ModuleStack(const trace::EventStore& events, EventIndex e,
                                     std::string_view name, const ParentFunction& parent) {
  const auto shown = [](std::string_view whole) {
    const std::string_view start = Utf8Characters(whole, kModuleNameLength);
    return start.size() < whole.size() ? std::string(start) + ".." : std::string(whole);
  };
  std::vector<std::string> stack = {shown(name)};
  for (EventIndex up = parent(e); up != trace::kNoEvent; up = parent(up)) {
    if (Contains(events.name(up), "nn.Module")) stack.push_back(shown(events.name(up)));
  }
  return stack;
}

std::string ParentModule(std::span<const std::string> module_stack) {
  return module_stack.size() < 2 ? "NA" : WithoutNumbers(module_stack[1]);
}

}  // namespace jarvis::analysis
