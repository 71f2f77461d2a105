// A trace that exists in memory alone, loaded as the program loads a file.
#pragma once

#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/require.h"
#include "session/loaded_trace.h"

namespace jarvis::testing {

// Errors: those of session::LoadTrace.
inline Result<std::shared_ptr<session::LoadedTrace>> LoadText(const std::string& text, Job& job) {
  io::InputFile file;
  file.fd = FileDescriptor(::memfd_create("trace", MFD_CLOEXEC));
  Require(file.fd.valid(), "there is memory for the trace");
  Require(::write(file.fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
          "the trace is written");
  Require(::lseek(file.fd.get(), 0, SEEK_SET) == 0, "the trace is read from its start");
  file.given = "trace.json";
  file.path = "/trace.json";
  file.size = text.size();
  return session::LoadTrace(std::move(file), {.threads = 1}, job);
}

}  // namespace jarvis::testing
