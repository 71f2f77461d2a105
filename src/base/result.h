// Errors as values. Three kinds, never mixed: an Error (this call cannot be done), an oddity
// (this event of the trace is strange: counted, work goes on; see trace/oddities.h) and a failed
// JV_CHECK (our own bug; see base/check.h). Nothing here throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tl/expected.hpp>

namespace jarvis {

// The printed name (ErrorCodeName) stands in brackets at the start of a tool's error text and is
// part of the product's face: names are added, never changed.
enum class ErrorCode {
  kUnknownArgument,  // an argument name that the tool does not have
  kBadValue,         // wrong type, out of range, not one of the allowed values
  kUnknownTrace,     // a trace id that is not loaded
  kTraceNotFound,    // no such file
  kNotAllowed,       // outside the allowed directories
  kNotATrace,        // readable, but not a profiler trace
  kTooLarge,         // over a stated limit
  kOutOfMemory,      //
  kUnknownRow,       // a row id that this trace does not have
  kStaleCursor,      // a cursor of another question
  kNoGpuEvents,      // the question needs GPU work and the trace has none
  kNoShapes,         // the question needs what was not recorded
  kNoStacks,         //
  kExists,           // a file in the way that we did not write
  kCancelled,        // the caller asked us to stop
  kTimeout,          //
  kBusy,             // the queue is full
  kLoading,          // not there yet: a tool answers it as a result, not as an error
  kExecDisabled,     // this server starts no programs
  kIo,               // the operating system said no
  kInternal,         // our bug
};

std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // what was wrong and what exists, for a person
  std::string hint;     // the next call, for an agent: "tool {...}", or words; may be empty
  std::optional<double> percent = std::nullopt;  // of kLoading: how much is done; absent: unknown
};

// tl::expected, but for copying: there the library promises that nothing throws, so that refused
// memory would end the program.
template <typename T, typename E>
class [[nodiscard]] Expected : public tl::expected<T, E> {
  using Base = tl::expected<T, E>;
  static constexpr bool kCopies = std::is_void_v<T> || std::is_copy_constructible_v<T>;

 public:
  using Base::Base;
  Expected() = default;
  Expected(Expected&&) = default;
  Expected& operator=(Expected&&) = default;
  Expected(const Expected& other) requires kCopies : Base(Copied(other)) {}
  Expected& operator=(const Expected& other) requires kCopies { return *this = Expected(other); }
  ~Expected() = default;

 private:
  static Base Copied(const Base& other) {
    if (!other) return Base(tl::unexpect, E(other.error()));
    if constexpr (std::is_void_v<T>) {
      return Base();
    } else {
      return Base(tl::in_place, T(*other));
    }
  }
};
template <typename T>
using Result = Expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, std::string hint = {}) {
  return tl::make_unexpected(Error{code, std::move(message), std::move(hint)});
}

}  // namespace jarvis

#define JV_CONCAT_INNER(a, b) a##b
#define JV_CONCAT(a, b) JV_CONCAT_INNER(a, b)

// JV_TRY(Foo()): returns Foo()'s error, if it has one.
#define JV_TRY(expression)                                      \
  do {                                                          \
    if (auto jv_status = (expression); !jv_status) {            \
      return tl::make_unexpected(std::move(jv_status.error())); \
    }                                                           \
  } while (false)

// JV_ASSIGN(auto x, Foo()): binds Foo()'s value, or returns its error.
#define JV_ASSIGN(declaration, expression)                                          \
  auto JV_CONCAT(jv_result_, __LINE__) = (expression);                              \
  if (!JV_CONCAT(jv_result_, __LINE__)) {                                           \
    return tl::make_unexpected(std::move(JV_CONCAT(jv_result_, __LINE__).error())); \
  }                                                                                 \
  declaration = std::move(*JV_CONCAT(jv_result_, __LINE__))
