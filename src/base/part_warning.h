// What was wrong with one of many inputs: it costs that part, never the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace jarvis {

struct PartWarning {
  std::string config;                // label of the configuration; empty: the whole
  std::optional<std::int64_t> rank;  // absent: not of one rank
  std::string file;                  // below the directory that was given; empty: of none
  std::string code;                  // stable
  std::string message;               // one sentence
};

}  // namespace jarvis
