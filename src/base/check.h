// Checks of our own bugs: what holds unless the program is wrong, whatever is in a file or a
// message. What a user can cause is an Error instead (base/result.h).
//
//   JV_CHECK(at < names.size());   in every build
//   JV_DCHECK(at < size_);         in debug and sanitizer builds only: for accessors in hot loops
//
// A check that fails throws CheckFailure. The walls around a tool call, a message and the program
// catch it, threads that work for a call carry it over to the caller, so that this one call fails
// and a server lives on.
#pragma once

#include <stdexcept>

namespace jarvis {

// what() has the place and the condition as they stand in the source: nothing from a file, so that
// it may be shown to anyone.
class CheckFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void FailCheck(const char* file, int line, const char* condition);

}  // namespace jarvis

#define JV_CHECK(condition)                                \
  do {                                                     \
    if (!(condition)) [[unlikely]] {                       \
      ::jarvis::FailCheck(__FILE__, __LINE__, #condition); \
    }                                                      \
  } while (false)

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define JV_DCHECK(condition) JV_CHECK(condition)
#else
// Compiled, so that it cannot rot, and never run.
#define JV_DCHECK(condition)                 \
  do {                                       \
    if (false) static_cast<void>(condition); \
  } while (false)
#endif
