#pragma once

#include <cstdint>
#include <string>

namespace make_trace {

enum class Platform { kH100, kMi300x };

struct Options {
  int layers = 4;
  int steps = 3;
  int ranks = 1;
  int world = 0;  // 0: as many as ranks, or 8 when one rank is written
  std::uint64_t seed = 1;
  std::int64_t hidden = 2048;
  std::int64_t seq = 2048;
  std::int64_t batch = 4;
  std::int64_t vocab = 32000;
  std::string out;
  bool python_frames = true;
  bool planted = true;
  std::int64_t target_bytes = 0;
  Platform platform = Platform::kH100;
  bool compact = false;  // --indent none

  std::int64_t tokens() const { return batch * seq; }
  std::int64_t heads() const { return hidden / 128; }
  // The width between the two halves of a gated feed-forward block: 8/3 of hidden, by 256.
  std::int64_t inner() const { return (hidden * 8 / 3 + 255) / 256 * 256; }
};

extern const char* const kUsage;

// Fills options from the command line; empty text, or what is wrong with it.
std::string ParseOptions(int argc, char** argv, Options& options);

}  // namespace make_trace
