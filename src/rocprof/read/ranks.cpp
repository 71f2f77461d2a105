#include "rocprof/read/ranks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::rocprof {
namespace {

using Group = std::vector<Process*>;  // of one execution
using Rule = std::function<std::optional<std::int64_t>(const Process&)>;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Every process has a rank by this rule, and no two the same.
bool Apply(const Group& group, const Rule& rule, const char* source, bool* conflict) {
  std::set<std::int64_t> seen;
  bool all = true;
  for (const Process* process : group) {
    const auto rank = rule(*process);
    all = all && rank && *rank < 1'000'000;
    if (rank && !seen.insert(*rank).second) *conflict = true;
  }
  if (!all || seen.size() != group.size()) return false;
  for (Process* process : group) {
    process->rank = rule(*process);
    process->rank_source = source;
  }
  return true;
}

// The index of the one GPU that the process uses; kUnknown: it uses several, or none is known.
std::int64_t GpuOf(const Process& process) {
  std::int64_t gpu = kUnknown;
  for (const Dispatch& dispatch : process.dispatches) {
    const Agent* agent = process.AgentOf(dispatch);
    if (agent == nullptr || !agent->gpu) return kUnknown;
    if (gpu != kUnknown && gpu != agent->type_index) return kUnknown;
    gpu = agent->type_index;
  }
  return gpu;
}

// One process that drives several GPUs: each of them is a rank.
bool IsMultiGpu(const Process& process) {
  std::set<std::int32_t> agents;
  for (const Dispatch& dispatch : process.dispatches)
    agents.insert(dispatch.agent);
  return agents.size() > 1 && !agents.contains(-1);
}

bool ByGpu(const Group& group, Capture* capture) {
  std::set<std::string> hosts;
  std::int64_t last = 0;
  for (const Process* process : group) {
    hosts.insert(process->host);
    last = std::max(last, GpuOf(*process));
  }
  const Rule rule = [&](const Process& process) -> std::optional<std::int64_t> {
    const std::int64_t gpu = GpuOf(process);
    if (gpu == kUnknown) return std::nullopt;
    return std::distance(hosts.begin(), hosts.find(process.host)) * (last + 1) + gpu;
  };
  bool conflict = false;
  if (!Apply(group, rule, "agent", &conflict)) return false;
  if (hosts.size() > 1) {
    capture->warnings.push_back({group.front()->config.name(),
                                 {},
                                 "",
                                 "RANK_GUESSED",
                                 fmt::format("{} hosts: ranks are counted host by host in the "
                                             "order of their names",
                                             hosts.size())});
  }
  return true;
}

void ByOrder(Group group, Capture* capture) {
  std::sort(group.begin(), group.end(), [](const Process* a, const Process* b) {
    return std::tuple(a->host, a->pid.value_or(0), a->prefix) <
           std::tuple(b->host, b->pid.value_or(0), b->prefix);
  });
  for (std::size_t i = 0; i < group.size(); ++i) {
    group[i]->rank = static_cast<std::int64_t>(i);
    group[i]->rank_source = "order";
  }
  capture->warnings.push_back(
      {group.front()->config.name(),
       {},
       "",
       "RANK_GUESSED",
       "neither names, commands nor GPUs tell the ranks: they are the order "
       "of the process ids"});
}

void AssignGroup(const Group& group, Capture* capture) {
  bool conflict = false;
  const auto in_name = [](const Process& process) {
    const auto rank = RankInText(process.prefix);
    return rank ? rank : RankInText(process.host);
  };
  if (Apply(group, in_name, "name", &conflict)) return;
  // Names that differ in 0, 1, 2... alone are no process ids.
  const auto bare = [&](const Process& process) -> std::optional<std::int64_t> {
    const std::string_view prefix = process.prefix;
    const std::size_t digits = prefix.find_last_not_of("0123456789") + 1;
    const std::string& first = group.front()->prefix;
    const bool same = prefix.substr(0, digits) == std::string_view(first).substr(0, digits);
    const auto number = ParseInt(prefix.substr(digits));
    if (!same || !number || *number >= static_cast<std::int64_t>(group.size())) return std::nullopt;
    return number;
  };
  bool ignored = false;
  if (Apply(group, bare, "name", &ignored)) return;
  const auto in_command = [](const Process& process) { return RankInText(process.command); };
  if (Apply(group, in_command, "command", &conflict)) return;
  if (conflict) {
    capture->warnings.push_back({group.front()->config.name(),
                                 {},
                                 "",
                                 "RANK_CONFLICT",
                                 "two processes name the same rank: names and commands are not "
                                 "believed"});
  }
  if (ByGpu(group, capture)) return;
  if (group.size() == 1 && IsMultiGpu(*group.front())) {
    group.front()->rank_source = "agent";
    return;
  }
  if (group.size() == 1 && group.front()->dispatches.empty()) return;
  ByOrder(group, capture);
}

}  // namespace

std::optional<std::int64_t> RankInText(std::string_view text) {
  const std::string lower = LowerAscii(text);
  for (std::size_t at = lower.find("rank"); at != std::string::npos;
       at = lower.find("rank", at + 1)) {
    std::size_t digits = at + 4;
    if (at > 0 && IsLetter(lower[at - 1])) continue;
    if (digits < lower.size() &&
        std::string_view("_-=[ ").find(lower[digits]) != std::string_view::npos) {
      ++digits;
    }
    std::size_t end = digits;
    while (end < lower.size() && IsDigit(lower[end]))
      ++end;
    if (end > digits && end - digits < 10) return ParseInt(lower.substr(digits, end - digits));
  }
  return std::nullopt;
}

void AssignRanks(Capture* capture) {
  std::map<std::pair<Config, std::int32_t>, Group> groups;
  for (Process& process : capture->processes)
    groups[{process.config, process.pass}].push_back(&process);
  for (const auto& [key, group] : groups)
    AssignGroup(group, capture);
  std::stable_sort(capture->processes.begin(), capture->processes.end(),
                   [](const Process& a, const Process& b) {
                     return std::tie(a.config, a.pass, a.rank) < std::tie(b.config, b.pass, b.rank);
                   });
}

}  // namespace jarvis::rocprof
