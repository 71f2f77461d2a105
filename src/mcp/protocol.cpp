#include "mcp/protocol.h"

namespace jarvis::mcp {

std::optional<Revision> FindRevision(std::string_view name) {
  for (const RevisionName& known : kRevisions) {
    if (known.name == name) return known.revision;
  }
  return std::nullopt;
}

std::string_view Name(Revision revision) {
  for (const RevisionName& known : kRevisions) {
    if (known.revision == revision) return known.name;
  }
  return {};
}

}  // namespace jarvis::mcp
