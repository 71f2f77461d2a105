// Bytes as text: RFC 4648, with padding, and its URL-safe variant without.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jarvis::rpc {

std::string EncodeBase64(std::string_view bytes);
// Strict: nothing but the alphabet, whole groups, no bits left over, so that no two texts mean the
// same bytes.
std::optional<std::string> DecodeBase64(std::string_view text);

std::string EncodeBase64Url(std::string_view bytes);
std::optional<std::string> DecodeBase64Url(std::string_view text);

// So many random bytes from the system, in hexadecimal. Empty: it has none to give.
std::string RandomHex(std::size_t bytes);

}  // namespace jarvis::rpc
