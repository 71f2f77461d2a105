// A file that exists in memory alone; a trace that is loaded from one.
#pragma once

#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/require.h"
#include "session/loaded_trace.h"

namespace jarvis::testing {

inline io::InputFile FileOf(const std::string& text) {
  io::InputFile file;
  file.fd = FileDescriptor(::memfd_create("trace", MFD_CLOEXEC));
  Require(file.fd.valid(), "there is memory for the trace");
  Require(::write(file.fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
          "the trace is written");
  Require(::lseek(file.fd.get(), 0, SEEK_SET) == 0, "the trace is read from its start");
  file.given = "trace.json";
  file.path = "/trace.json";
  file.size = text.size();
  return file;
}

// Errors: those of session::LoadTrace.
inline Result<std::shared_ptr<session::LoadedTrace>> LoadText(const std::string& text, Job& job) {
  return session::LoadTrace(FileOf(text), {.threads = 1}, job);
}

}  // namespace jarvis::testing
