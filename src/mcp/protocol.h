// Names and numbers of the Model Context Protocol that several files need.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace jarvis::mcp {

// Revisions in the order of their dates. Up to 2025-11-25 a connection starts with a handshake;
// from 2026-07-28 on every request says who it is.
enum class Revision { k20241105, k20250326, k20250618, k20251125, k20260728 };

struct RevisionName {
  Revision revision;
  std::string_view name;
};
// Newest first, as clients are told.
inline constexpr std::array kRevisions = {RevisionName{Revision::k20260728, "2026-07-28"},
                                          RevisionName{Revision::k20251125, "2025-11-25"},
                                          RevisionName{Revision::k20250618, "2025-06-18"},
                                          RevisionName{Revision::k20250326, "2025-03-26"},
                                          RevisionName{Revision::k20241105, "2024-11-05"}};
inline constexpr Revision kNewestHandshake = Revision::k20251125;

constexpr bool IsStateless(Revision revision) {
  return revision >= Revision::k20260728;
}
std::optional<Revision> FindRevision(std::string_view name);
std::string_view Name(Revision revision);

// Of the handshake era; newer clients are told kInvalidParams.
inline constexpr int kResourceNotFound = -32002;

// Codes of the stateless revision.
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;

inline constexpr std::size_t kPromptArgumentBytesMax = 4096;

// Keys of a request's _meta.
inline constexpr const char* kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr const char* kMetaServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

}  // namespace jarvis::mcp
