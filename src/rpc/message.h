// JSON-RPC 2.0 messages: what kind a parsed value is, and how answers are put together.
#pragma once

#include <string>
#include <string_view>

#include "json/json.h"

namespace jarvis::rpc {

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;

// Ids are echoed, so their length bounds our answers.
inline constexpr std::size_t kIdBytesMax = 4096;

struct RpcError {
  int code = kInternalError;
  std::string message;
  Json data;  // null: none
};
template <typename T>
using RpcResult = Expected<T, RpcError>;

inline tl::unexpected<RpcError> FailRpc(int code, std::string message, Json data = {}) {
  return tl::make_unexpected(RpcError{code, std::move(message), std::move(data)});
}

enum class MessageKind {
  kRequest,
  kNotification,  // never answered, whatever is wrong with it
  kResponse,      // somebody's answer; never answered either
  kInvalid,       // to be answered with `error`
};

struct Message {
  MessageKind kind = MessageKind::kInvalid;
  Json id;  // a string or an integer as received; null: none that could be read
  std::string method;
  Json params = Json::object();  // always an object; absent and null read as empty
  Json result;                   // of kResponse; null: it is an error
  RpcError error;                // of kInvalid
};

// Takes one message, not a batch.
Message Classify(Json value);

// The id of a message that could not be read as JSON (half a surrogate pair will do), as far as it
// can be found: whoever sent it waits for an answer to it. Null: there is none.
Json IdInText(std::string_view text);

// Names a request among those in flight: 1 and "1" differ.
std::string IdKey(const Json& id);

Json MakeResult(const Json& id, Json result);
// A null id is left out of the answer.
Json MakeError(const Json& id, const RpcError& error);
Json MakeNotification(std::string_view method, Json params);

}  // namespace jarvis::rpc
