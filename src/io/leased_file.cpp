#include "io/leased_file.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jarvis::io {
namespace {

// Sent to the watching thread alone when a lease is to be given back. The system sends SIGIO
// instead when too many signals wait.
int LeaseSignal() {
  return SIGRTMIN + 5;
}

class Leases {
 public:
  // Never destroyed, as its thread goes on until the process ends.
  static Leases& All() {
    static Leases* const leases = new Leases();
    return *leases;
  }

  std::span<std::byte> Map(FileDescriptor file, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    if (!Start(lock) || !Lease(file.get())) return {};
    // The size is looked at once nobody can change it.
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::uint64_t>(status.st_size) < bytes)
      return {};
    std::list<Mapped> place(1);  // before there is anything to lose
    void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (memory == MAP_FAILED) return {};
    place.front() = {std::move(file), {static_cast<std::byte*>(memory), bytes}};
    mapped_.splice(mapped_.end(), place);
    return mapped_.back().bytes;
  }

  void Unmap(std::span<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    ::munmap(bytes.data(), bytes.size());
    mapped_.remove_if([&](const Mapped& mapped) { return mapped.bytes.data() == bytes.data(); });
  }

 private:
  struct Mapped {
    FileDescriptor file;  // not valid: the lease was given back
    std::span<std::byte> bytes;
  };

  // False: there is no thread to watch.
  bool Start(std::unique_lock<std::mutex>& lock) {
    if (watcher_ == 0) {
      try {
        std::thread([this] { Watch(); }).detach();
      } catch (const std::exception&) {
        return false;
      }
      started_.wait(lock, [this] { return watcher_ != 0; });
    }
    return true;
  }

  bool Lease(int file) const {
    const f_owner_ex watcher = {F_OWNER_TID, watcher_};
    return ::fcntl(file, F_SETSIG, LeaseSignal()) == 0 &&
           ::fcntl(file, F_SETOWN_EX, &watcher) == 0 && ::fcntl(file, F_SETLEASE, F_RDLCK) == 0;
  }

  void Watch() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    {
      const std::lock_guard lock(mutex_);
      watcher_ = ::gettid();
      started_.notify_all();
    }
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, LeaseSignal());
    sigaddset(&wanted, SIGIO);
    for (;;) {
      if (::sigwaitinfo(&wanted, nullptr) < 0) continue;
      const std::lock_guard lock(mutex_);
      for (Mapped& mapped : mapped_) {
        if (mapped.file.valid() && ::fcntl(mapped.file.get(), F_GETLEASE) == F_UNLCK)
          GiveBack(mapped);
      }
    }
  }

  // Puts a copy in the place of what is mapped, at once for all who read it. Without memory for
  // that whoever waits goes on waiting, as long as the system lets us keep the lease.
  static void GiveBack(Mapped& mapped) {
    const std::size_t size = mapped.bytes.size();
    void* const copy =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return;
    ::madvise(copy, size, MADV_HUGEPAGE);
    std::memcpy(copy, mapped.bytes.data(), size);
    if (::mprotect(copy, size, PROT_READ) != 0 ||
        ::mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, mapped.bytes.data()) ==
            MAP_FAILED) {
      ::munmap(copy, size);
      return;
    }
    ::fcntl(mapped.file.get(), F_SETLEASE, F_UNLCK);
    mapped.file = FileDescriptor();
  }

  std::mutex mutex_;  // guards what follows
  std::condition_variable started_;
  pid_t watcher_ = 0;  // the thread; 0: not yet
  std::list<Mapped> mapped_;
};

}  // namespace

std::span<std::byte> MapLeased(FileDescriptor file, std::size_t bytes) {
  return Leases::All().Map(std::move(file), bytes);
}

void Unmap(std::span<std::byte> bytes) {
  Leases::All().Unmap(bytes);
}

}  // namespace jarvis::io
