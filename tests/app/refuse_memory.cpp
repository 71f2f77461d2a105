// A library to load before the C library: it refuses some of a program's requests for memory, so
// that a test can see what the program makes of it. Counted are the requests from the start of
// main() to its end, of all threads.
//
//   REFUSE_FIRST=N  the first that is refused, from 1; absent: none
//   REFUSE_COUNT=N  how many are, one after the other; default 1
//   REFUSE_TELL=F   a file into which the number of requests is written at the end of main()
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

std::atomic<bool> counting{false};
std::atomic<unsigned long long> requests{0};
unsigned long long first = 0;
unsigned long long count = 1;
int (*program)(int, char**, char**) = nullptr;

unsigned long long NumberIn(const char* name, unsigned long long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool Refused() {
  if (!counting.load(std::memory_order_relaxed)) return false;
  const unsigned long long number = ++requests;
  if (first == 0 || number < first || number - first >= count) return false;
  errno = ENOMEM;
  return true;
}

int CountedMain(int argc, char** argv, char** environment) {
  first = NumberIn("REFUSE_FIRST", 0);
  count = NumberIn("REFUSE_COUNT", 1);
  counting = true;
  const int result = program(argc, argv, environment);
  counting = false;
  if (const char* const path = std::getenv("REFUSE_TELL"); path != nullptr) {
    if (std::FILE* const file = std::fopen(path, "w"); file != nullptr) {
      std::fprintf(file, "%llu\n", requests.load());
      std::fclose(file);
    }
  }
  return result;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  return Refused() ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
  return Refused() ? nullptr : __libc_calloc(number, size);
}

void* realloc(void* block, std::size_t size) {
  return Refused() ? nullptr : __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return Refused() ? nullptr : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  void* const got = memalign(alignment, size);
  if (got == nullptr) return ENOMEM;
  *block = got;
  return 0;
}

// Stands in for what starts the program, to be there when main() begins.
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  using Start =
      int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  program = main;
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(&CountedMain, argc, argv, init, fini, rtld_fini, stack_end);
}

}  // extern "C"
