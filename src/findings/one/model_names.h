// What published models are told by: their depth, their sizes, their class in a library. Internal
// to the layer.
#pragma once

#include <cstdint>
#include <string_view>

namespace jarvis::findings {

// All: empty where none is known.
std::string_view ResNetOf(std::uint64_t convolutions);  // of a forward pass
std::string_view VggOf(std::uint64_t convolutions);
std::string_view VitOf(std::int64_t hidden, std::int64_t heads);
// What those who publish a model call it, where its class does not say it.
std::string_view PublishedName(std::string_view module_class);

}  // namespace jarvis::findings
