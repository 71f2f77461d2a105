// Prints the trace that a recipe stands for (fuzz/trace_recipe.h), to look at what a fuzzer found:
//
//   fuzz_recipe FILE >trace.json
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/trace_recipe.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto* recipe = reinterpret_cast<const std::uint8_t*>(bytes.data());
  using namespace jarvis::testing;
  std::puts(DocumentOf(ElementsOf({recipe, bytes.size()})).c_str());
  return 0;
}
