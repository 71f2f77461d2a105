// A part of a list, and where the next one starts.
#pragma once

#include <cstddef>
#include <string>

#include "rpc/message.h"

namespace jarvis::mcp {

struct Page {
  Json items = Json::array();
  std::string next_cursor;  // empty: this was the last
};

// `cursor` as received; null: from the start. A cursor belongs to one list as it is now: when the
// list has changed, or the cursor is not ours, the request is refused. REQUIRES: size > 0
rpc::RpcResult<Page> TakePage(const std::string& list, const Json& items, const Json& cursor,
                              std::size_t size);

}  // namespace jarvis::mcp
