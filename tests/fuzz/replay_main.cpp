// Runs a fuzz target without a fuzzer: every file of a corpus, then a fixed number of mutations of
// them, the same ones in every run.
//
//   <target>_replay FOLDER [SECONDS]     at most so long for the mutations; default 3
//
// The input at work when the program dies is left in the file crash_input.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// In programs with a sanitizer.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr int kMutations = 20000;
constexpr std::size_t kSizeMax = 4096;

const std::string* at_work = nullptr;

void Save() {
  if (at_work == nullptr) return;
  const int file = ::open("crash_input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  static_cast<void>(!::write(file, at_work->data(), at_work->size()));
  ::close(file);
}

void SaveAndDie(int signal) {
  Save();
  std::signal(signal, SIG_DFL);
  static_cast<void>(std::raise(signal));
}

void Run(const std::string& input) {
  at_work = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  at_work = nullptr;
}

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& seeds) : seeds_(seeds) {}

  std::string Next() {
    std::string text = Seed();
    for (std::size_t edits = 1 + Below(6); edits > 0; --edits)
      Edit(&text);
    if (text.size() > kSizeMax) text.resize(kSizeMax);
    return text;
  }

 private:
  std::size_t Below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& Seed() { return seeds_[Below(seeds_.size())]; }

  void Edit(std::string* text) {
    static const char* const kTokens[] = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          "\"",
                                          "\\",
                                          ",",
                                          ":",
                                          "null",
                                          "NaN",
                                          "-",
                                          "1e308",
                                          "0.0001",
                                          "9223372036854775807",
                                          "\\ud83d",
                                          "\xff",
                                          "\xE2\x82",
                                          "\n",
                                          "{\"ph\":\"X\",\"ts\":1,\"dur\":2}",
                                          "\"traceEvents\":[",
                                          "]]]]",
                                          "[[[["};
    const std::size_t at = Below(text->size() + 1);
    const std::size_t length = Below(std::min<std::size_t>(text->size() - at, 40) + 1);
    switch (Below(6)) {
      case 0:
        if (at < text->size()) (*text)[at] = static_cast<char>(random_());
        break;
      case 1: text->erase(at, length); break;
      case 2: text->insert(at, kTokens[Below(std::size(kTokens))]); break;
      case 3: text->insert(Below(text->size()), text->substr(at, length)); break;
      case 4: {
        const std::string& other = Seed();
        *text = text->substr(0, at) + other.substr(Below(other.size()));
        break;
      }
      default:
        if (at < text->size()) (*text)[at] = static_cast<char>((*text)[at] ^ (1 << Below(8)));
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937 random_{20240101};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [SECONDS]\n", argv[0]);
    return 2;
  }
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(&Save);
  } else {
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL})
      std::signal(signal, &SaveAndDie);
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    Run(seeds.back());
  }
  Run("");
  if (seeds.empty()) {
    std::fprintf(stderr, "no files in %s\n", argv[1]);
    return 1;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 3;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  Mutator mutator(seeds);
  int done = 0;
  while (done < kMutations && std::chrono::steady_clock::now() < end) {
    Run(mutator.Next());
    ++done;
  }
  std::printf("%zu files, %d mutations\n", seeds.size(), done);
  return 0;
}
