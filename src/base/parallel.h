// Runs independent pieces of work on the machine's cores.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/job.h"

namespace jarvis {

// Why a thread that is needed could not be started, for an error's text.
inline constexpr const char* kNoThread = "no thread can be started: out of memory or of threads";

// Threads that long work uses unless told otherwise: one per core, at most 16.
int DefaultThreads();

// Calls work(i) for every i below count, on `threads` threads (0: DefaultThreads()), the caller's
// among them; returns when all are done. Pieces are handed out in order; their results must not
// depend on that order. The first exception of a piece (memory, a check) is rethrown here.
void ParallelFor(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

// Runs `own` on this thread, which may pass on progress, and `other` on another meanwhile; returns
// when both are done. An exception is rethrown here.
void RunBeside(const std::function<void()>& own, const std::function<void()>& other);

// Pieces as of ParallelFor that take long: they run on other threads while this one passes on the
// progress (pieces done, as `what`) and the wish to stop. A piece is handed a job of its own, which
// reports nothing. The error of a stopped call if `job` was stopped.
Status ParallelJob(std::size_t count, int threads, std::string_view what, Job& job,
                   const std::function<void(std::size_t, Job&)>& piece);

}  // namespace jarvis
