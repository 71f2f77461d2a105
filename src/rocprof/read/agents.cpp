#include "rocprof/read/agents.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace jarvis::rocprof {
namespace {

std::int32_t By(const std::vector<Agent>& agents, std::int64_t Agent::*field, std::int64_t value,
                std::optional<bool> gpu = {}) {
  const auto found = std::find_if(agents.begin(), agents.end(), [&](const Agent& agent) {
    return agent.*field == value && (!gpu || agent.gpu == *gpu);
  });
  return found == agents.end() ? -1 : static_cast<std::int32_t>(found - agents.begin());
}

}  // namespace

void NumberByType(std::vector<Agent>* agents) {
  for (Agent& agent : *agents) {
    const auto before = [&](const Agent& other) {
      if (other.gpu != agent.gpu) return false;
      return other.node_id != agent.node_id ? other.node_id < agent.node_id : &other < &agent;
    };
    agent.type_index = std::count_if(agents->begin(), agents->end(), before);
  }
}

std::int32_t FindAgent(const std::vector<Agent>& agents, std::string_view text) {
  const std::size_t blank = text.rfind(' ');
  const std::string_view kind = blank == std::string_view::npos ? "" : text.substr(0, blank);
  const auto number = ParseInt(text.substr(blank + 1));
  if (!number || *number < 0) return -1;
  if (kind == "handle") return By(agents, &Agent::handle, *number);
  if (EqualsNoCase(kind, "GPU")) return By(agents, &Agent::type_index, *number, true);
  if (EqualsNoCase(kind, "CPU")) return By(agents, &Agent::type_index, *number, false);
  for (const auto field : {&Agent::logical_id, &Agent::node_id, &Agent::handle}) {
    if (const std::int32_t found = By(agents, field, *number); found >= 0) return found;
  }
  return -1;
}

}  // namespace jarvis::rocprof
