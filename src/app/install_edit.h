// One server's entry in a client's configuration: put in, taken out, everything else left as it is.
// Text in, text out; no file is touched here.
#pragma once

#include <string>
#include <string_view>

#include "app/install_clients.h"
#include "base/result.h"
#include "json/json.h"

namespace jarvis::app {

// The whole configuration with our entry in it. What a user added to an entry of ours stays
// there; only how the server is reached is replaced. The same text: nothing was to be done.
// Errors: kBadValue where the text is not what the client would read, or holds the servers in a
// form that cannot be edited safely.
Result<std::string> WithEntry(const Client& client, const std::string& text, const Json& entry);
Result<std::string> WithoutEntry(const Client& client, const std::string& text);

// A configuration with our entry alone.
std::string Snippet(const Client& client, const Json& entry);

// True for the members that say how a server is reached, as opposed to how it is treated.
bool IsPlaceMember(std::string_view name);

}  // namespace jarvis::app
