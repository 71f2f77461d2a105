#include "analysis/tables/summary.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/attribution/arg_text.h"
#include "analysis/tables/ops_tables.h"
#include "base/text.h"

namespace jarvis::analysis {
namespace {

// Rows by key, filled launcher by launcher or event by event.
class Rows {
 public:
  SummaryRow& For(StringId key, std::string_view name) {
    const auto [found, added] = index_.try_emplace(key, rows_.size());
    if (added) rows_.emplace_back().name = name;
    return rows_[found->second];
  }
  std::vector<SummaryRow> Take() { return std::move(rows_); }

 private:
  std::unordered_map<StringId, std::size_t> index_;
  std::vector<SummaryRow> rows_;
};

class Summarizer {
 public:
  explicit Summarizer(const SummaryInput& input) : in_(input) {}

  Summary Run(GroupBy by) {
    switch (by) {
      case GroupBy::kOp:
      case GroupBy::kCategory:
      case GroupBy::kModule: ByLauncher(by); break;
      case GroupBy::kKernel: ByKernel(); break;
      case GroupBy::kStream:
      case GroupBy::kStep: ByPlace(by); break;
    }
    Summary summary;
    summary.rows = rows_.Take();
    if (by == GroupBy::kOp) AddShapes(&summary.rows);
    if (by != GroupBy::kStream && by != GroupBy::kStep) {
      std::stable_sort(summary.rows.begin(), summary.rows.end(), [](const auto& a, const auto& b) {
        return a.gpu_us != b.gpu_us ? a.gpu_us > b.gpu_us : a.name < b.name;
      });
    }
    for (std::size_t i = 0; i < summary.rows.size(); ++i) {
      SummaryRow& row = summary.rows[i];
      row.id = std::string(IdPrefix(by)) + std::to_string(i + 1);
      summary.gpu_us += row.gpu_us;
    }
    return summary;
  }

 private:
  std::span<const Launcher> launchers() const { return in_.attribution.launchers; }

  void ByLauncher(GroupBy by) {
    std::optional<ChainTree> own;
    if (by == GroupBy::kModule && in_.chains == nullptr) own.emplace(in_.events, in_.tree);
    ChainTree* chains = own ? &*own : in_.chains;
    std::unordered_map<ChainTree::Node, std::string> paths;
    for (std::uint32_t i = 0; i < launchers().size(); ++i) {
      const Launcher& launcher = launchers()[i];
      const auto kernels = in_.attribution.KernelsOf(launcher);
      std::string name;
      if (by == GroupBy::kCategory) {
        name = in_.attribution.CategoryOf(launcher);
      } else if (by == GroupBy::kModule) {
        name = ModuleOf(launcher, *chains, &paths);
      } else {
        name = LauncherName(in_.events, in_.attribution, launcher);
      }
      SummaryRow& row = rows_.For(keys_.Intern(name), name);
      row.launchers.push_back(i);
      row.gpu.insert(row.gpu.end(), kernels.begin(), kernels.end());
      row.gpu_us += launcher.direct_us;
      ++row.count;
      if (row.category.empty() && by != GroupBy::kModule)
        row.category = in_.attribution.CategoryOf(launcher);
    }
  }

  std::string ModuleOf(const Launcher& launcher, ChainTree& chains,
                       std::unordered_map<ChainTree::Node, std::string>* paths) {
    if (launcher.op == kNoEvent) return "(unlinked)";
    const ChainTree::Node node = chains.Of(launcher.op);
    const auto [found, added] = paths->try_emplace(node);
    if (added) {
      found->second = ModulePath(chains.Frames(node));
      if (found->second.empty()) found->second = "(no module)";
    }
    return found->second;
  }

  void ByKernel() {
    std::unordered_map<std::string_view, std::map<std::string_view, double>> times;  // by category
    for (std::uint32_t i = 0; i < launchers().size(); ++i) {
      for (const EventIndex e : in_.attribution.KernelsOf(launchers()[i])) {
        const double us = DurationUs(in_.events, e, Clock::kNanoseconds);
        SummaryRow& row = rows_.For(in_.events[e].name, in_.events.name(e));
        row.gpu.push_back(e);
        row.gpu_us += us;
        ++row.count;
        if (row.launchers.empty() || row.launchers.back() != i) row.launchers.push_back(i);
        times[in_.events.name(e)][in_.attribution.CategoryOf(launchers()[i])] += us;
      }
    }
    for (const auto& [name, by_category] : times) {
      const auto most = std::max_element(by_category.begin(), by_category.end(),
                                         [](auto& a, auto& b) { return a.second < b.second; });
      rows_.For(in_.events.strings.Find(name), name).category = most->first;
    }
  }

  void ByPlace(GroupBy by) {
    std::map<std::int64_t, std::vector<EventIndex>> groups;
    for (const EventIndex e : in_.attribution.timeline) {
      const std::int64_t key = by == GroupBy::kStream ? std::int64_t{in_.events[e].track}
                                                      : StepOf(in_.events, in_.tree, in_.steps, e);
      groups[key].push_back(e);
    }
    for (auto& [key, work] : groups) {
      SummaryRow& row = rows_.For(static_cast<StringId>(key), PlaceName(by, key));
      row.gpu_us = BusyUs(in_.events, work, Clock::kNanoseconds);
      row.count = work.size();
      row.gpu = std::move(work);
    }
  }

  std::string PlaceName(GroupBy by, std::int64_t key) const {
    if (by == GroupBy::kStep) return key < 0 ? "outside of steps" : "step " + std::to_string(key);
    const trace::Track& track = in_.events.tracks[static_cast<std::size_t>(key)];
    std::string tid(track.tid);
    if (!tid.starts_with("stream")) tid = "stream " + tid;
    return "device " + std::string(track.pid) + " " + tid;
  }

  // The arguments that took most of each op's time.
  void AddShapes(std::vector<SummaryRow>* rows) {
    for (SummaryRow& row : *rows) {
      std::map<StringId, double> time_of_dims;
      for (const std::uint32_t i : row.launchers) {
        const Launcher& launcher = launchers()[i];
        if (launcher.op == kNoEvent) continue;
        const StringId dims = in_.events.args_of(launcher.op).dims;
        if (dims != kNoString) time_of_dims[dims] += launcher.direct_us;
      }
      const auto costliest =
          std::max_element(time_of_dims.begin(), time_of_dims.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (costliest != time_of_dims.end())
        row.shape = TupleText(in_.events.strings[costliest->first]);
    }
  }

  const SummaryInput& in_;
  StringPool keys_;
  Rows rows_;
};

// Cuts what stands in balanced brackets.
std::string WithoutGroups(std::string_view text, char open, char close) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == open) ++depth;
    if (depth == 0) out += c;
    if (c == close && depth > 0) --depth;
  }
  return out;
}

std::string_view LastName(std::string_view qualified) {
  const std::size_t at = qualified.rfind("::");
  return at == std::string_view::npos ? qualified : qualified.substr(at + 2);
}

// The first template argument that names something ("CUDAFunctor_add", "GeluCUDAKernelImpl"), which
// is what tells ATen's generic kernels apart.
std::string Functor(std::string_view arguments) {
  static constexpr std::string_view kMarks[] = {
      "CUDAFunctor", "Functor", "_kernel_cuda", "_kernel_impl", "KernelImpl",
      "ReduceOp",    "Ops<",    "_functor",     "BinaryOp",     "_kernel"};
  const auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::string generic;  // wrappers around the functor that says what is done
  for (const std::string_view mark : kMarks) {
    for (std::size_t at = arguments.find(mark); at != std::string_view::npos;
         at = arguments.find(mark, at + 1)) {
      std::size_t begin = at;
      std::size_t end = at;
      while (begin > 0 && word(arguments[begin - 1]))
        --begin;
      while (end < arguments.size() && word(arguments[end]))
        ++end;
      std::string found(arguments.substr(begin, end - begin));
      if (!found.ends_with("naryFunctor")) return found;
      if (generic.empty()) generic = std::move(found);
    }
  }
  return generic;
}

// "AUnary " where a scalar is bound to one side of the functor, which is another kernel.
std::string_view Bound(std::string_view arguments) {
  if (arguments.find("AUnaryFunctor") != std::string_view::npos) return "AUnary ";
  if (arguments.find("BUnaryFunctor") != std::string_view::npos) return "BUnary ";
  return {};
}

// The floating-point type named first among template arguments, as "bf16"; empty: none.
std::string_view TypeCode(std::string_view arguments) {
  struct Spelling {
    std::string_view word;
    std::string_view code;
  };
  static constexpr Spelling kSpellings[] = {
      {"BFloat16", "bf16"},       {"bfloat16_t", "bf16"}, {"__nv_bfloat16", "bf16"},
      {"__hip_bfloat16", "bf16"}, {"Half", "fp16"},       {"half_t", "fp16"},
      {"__half", "fp16"},         {"float", "fp32"},      {"double", "fp64"}};
  const auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = 0; at < arguments.size();) {
    std::size_t end = at;
    while (end < arguments.size() && word(arguments[end]))
      ++end;
    const std::string_view found = arguments.substr(at, end - at);
    if (found.starts_with("Float8_") || found.starts_with("float8_")) return "fp8";
    for (const Spelling& spelling : kSpellings) {
      if (found == spelling.word) return spelling.code;
    }
    at = std::max(end, at + 1);
  }
  return {};
}

// What the template arguments say that tells instances of a kernel apart: "<MulFunctor, bf16>".
std::string InstanceText(std::string_view name, std::string_view arguments) {
  std::string text;
  if (const std::string functor = Functor(arguments); !functor.empty() && functor != name)
    text = std::string(Bound(arguments)) + functor;
  const std::string_view type = TypeCode(arguments);
  if (!type.empty() && name.find(type) == std::string_view::npos)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", type);
  return text.empty() ? text : "<" + text + ">";
}

// CUTLASS's entries are all called Kernel, Kernel2 or device_kernel: which one it is stands in the
// first template argument, itself a template at times. Empty: no such entry.
std::string_view InsideEntry(std::string_view name, std::string_view arguments) {
  static constexpr std::string_view kEntries[] = {"Kernel", "Kernel2", "device_kernel",
                                                  "enable_3x_kernel_for_sm9x", "kernel_entry"};
  if (std::find(std::begin(kEntries), std::end(kEntries), name) == std::end(kEntries)) return {};
  if (arguments.empty()) return {};
  std::string_view inner = arguments.substr(1);
  int depth = 0;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == '<' || inner[i] == '(') ++depth;
    const bool ends = depth == 0 && (inner[i] == ',' || inner[i] == '>');
    if (ends) return inner.substr(0, i);
    if (inner[i] == '>' || inner[i] == ')') --depth;
  }
  return inner;
}

// "_ZN5aiter24add_rmsnorm_quant_kernelI...": the last name of the nested ones, which is the
// kernel's; of ck_tile's entry the name behind it. Names stand behind their lengths. Empty: no such
// name.
std::string MangledName(std::string_view name) {
  if (!name.starts_with("_ZN")) return {};
  std::string_view last;
  std::size_t at = 3;
  const auto next = [&] {
    std::size_t length = 0;
    const std::size_t digits = at;
    while (at < name.size() && at < digits + 4 &&
           std::isdigit(static_cast<unsigned char>(name[at])) != 0) {
      length = 10 * length + static_cast<std::size_t>(name[at++] - '0');
    }
    if (at == digits || length == 0 || length > name.size() - at) return false;
    last = name.substr(at, length);
    at += length;
    return true;
  };
  while (next()) {
  }
  if (last != "kentry") return std::string(last);
  // Template arguments: the first nested name that starts upper case.
  for (++at; at < name.size(); ++at) {
    const std::size_t here = at;
    if (std::isdigit(static_cast<unsigned char>(name[at])) != 0 && next() && last.size() > 2 &&
        std::isupper(static_cast<unsigned char>(last.front())) != 0) {
      return std::string(last);
    }
    at = here;
  }
  return "kentry";
}

// The name without its return type and entries around what says which kernel it is.
std::string_view Unwrapped(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  constexpr int kDeep = 3;
  for (int level = 0; level < kDeep; ++level) {
    const std::size_t arguments = name.find('<');
    if (arguments == std::string_view::npos) break;
    const std::string_view inner =
        InsideEntry(LastName(name.substr(0, arguments)), name.substr(arguments));
    if (inner.empty()) break;
    name = inner;
  }
  return name;
}

// Tensile: "Cijk_Alik_Bljk_BBS_BH_..._MT128x128x32_MI16x16x16x1_..." -> layout, types and tiles.
std::string TensileName(std::string_view name) {
  std::string out;
  std::size_t parts = 0;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (parts < 4 || part.starts_with("MT") || part.starts_with("MI") || part.starts_with("GSU")) {
      if (!out.empty()) out += '_';
      out += part;
    }
    ++parts;
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string_view IdPrefix(GroupBy by) {
  switch (by) {
    case GroupBy::kOp: return "op";
    case GroupBy::kCategory: return "cat";
    case GroupBy::kKernel: return "k";
    case GroupBy::kModule: return "m";
    case GroupBy::kStream: return "s";
    case GroupBy::kStep: return "step";
  }
  return "op";
}

Summary Summarize(const SummaryInput& input, GroupBy by) {
  return Summarizer(input).Run(by);
}

std::string ShortKernelName(std::string_view name) {
  constexpr std::size_t kLength = 64;
  std::string text;
  if (name.starts_with("Cijk_")) {
    text = TensileName(name);
  } else if (std::string plain = MangledName(name); !plain.empty()) {
    text = std::move(plain);
  } else if (name.find('<') == std::string_view::npos && name.find('(') == std::string_view::npos) {
    text = name;
  } else if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
    text = name;
  } else {
    name = Unwrapped(name);
    const std::size_t arguments = name.find('<');
    text = LastName(WithoutGroups(WithoutGroups(name, '(', ')'), '<', '>'));
    while (!text.empty() && text.back() == ' ')
      text.pop_back();
    if (arguments != std::string_view::npos) {
      text += InstanceText(text, name.substr(arguments));
    }
    if (text.empty()) text = name;
  }
  // The end says as much as the beginning: tile, layout, alignment.
  if (text.size() > kLength) {
    constexpr std::size_t kTail = 26;
    std::size_t tail = text.size() - kTail;
    while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xC0U) == 0x80U)
      ++tail;
    text = std::string(Utf8Prefix(text, kLength - 3 - kTail)) + "..." + text.substr(tail);
  }
  return text;
}

}  // namespace jarvis::analysis
