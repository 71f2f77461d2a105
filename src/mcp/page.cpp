#include "mcp/page.h"

#include <algorithm>

#include "base/check.h"
#include "base/string_pool.h"
#include "mcp/refusals.h"
#include "rpc/base64.h"

namespace jarvis::mcp {
namespace {

std::string CursorText(const std::string& list, std::uint64_t digest, std::size_t offset) {
  return rpc::EncodeBase64Url(list + ":" + std::to_string(offset) + ":" + std::to_string(digest));
}

// The start of one of the pages, or the end of the list.
std::size_t OffsetOf(const std::string& list, std::uint64_t digest, std::size_t count,
                     std::size_t size, const std::string& cursor) {
  for (std::size_t offset = size; offset < count; offset += size) {
    if (CursorText(list, digest, offset) == cursor) return offset;
  }
  return count;
}

}  // namespace

rpc::RpcResult<Page> TakePage(const std::string& list, const Json& items, const Json& cursor,
                              std::size_t size) {
  JV_CHECK(size > 0);
  std::size_t offset = 0;
  // Most lists have one page and need no digest.
  std::uint64_t digest = 0;
  if (items.size() > size || !cursor.is_null()) digest = HashText(DumpLine(items));
  if (!cursor.is_null()) {
    offset = items.size();
    if (cursor.is_string()) {
      offset = OffsetOf(list, digest, items.size(), size, cursor.get<std::string>());
    }
    if (offset == items.size()) {
      return WrongMember("cursor", "a nextCursor of this list as it is now", cursor);
    }
  }
  Page page;
  const std::size_t end = std::min(items.size(), offset + size);
  for (std::size_t i = offset; i < end; ++i)
    page.items.push_back(items[i]);
  if (end < items.size()) page.next_cursor = CursorText(list, digest, end);
  return page;
}

}  // namespace jarvis::mcp
