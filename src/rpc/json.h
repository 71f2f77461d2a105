// The JSON of the wire: how it is read (limits before anything is built) and how it is printed
// (one line, never a failure).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

// Made once, in json.cpp: nobody else spends time on compiling it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace jarvis::rpc {

// Members keep the order in which they were written, so equal answers are equal bytes.
using Json = nlohmann::ordered_json;

// Copying, comparing and printing a value recurse once per level.
inline constexpr std::size_t kDepthMax = 128;
// Finding a member is a linear search and adding one searches first, so the members of one object
// cost quadratic time.
inline constexpr std::size_t kObjectMembersMax = 1000;

// kTooLarge: nested too deep or an object too wide. kBadValue: not JSON, which includes bytes that
// are not UTF-8 and lone surrogates. The message never repeats the text.
Result<Json> ParseJson(std::string_view text);

// The member, or null when there is none or the value is no object.
const Json* FindMember(const Json& object, const char* name);

// One line without its end. Bytes that are not UTF-8 become U+FFFD.
std::string DumpLine(const Json& value);

// The value as JSON for use in a message: at most `chars_max` characters, cut with "...".
std::string Excerpt(const Json& value, std::size_t chars_max = 40);

}  // namespace jarvis::rpc
