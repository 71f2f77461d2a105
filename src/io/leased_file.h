// A file that is mapped and cannot change while it is: whoever opens it to write, or cuts it, waits
// until what is mapped has been copied into memory of its own (fcntl(2): leases). Only then does it
// take time and memory to hold a copy.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <span>

#include "base/file_descriptor.h"

namespace jarvis::io {

// The first `bytes` bytes of a regular file, to be read. Empty: the file system has no leases
// (network ones), somebody has the file open to write, or it is shorter.
std::span<std::byte> MapLeased(FileDescriptor file, std::size_t bytes);

// Of what was mapped, so or otherwise; once.
void Unmap(std::span<std::byte> bytes);

}  // namespace jarvis::io
