// The processes of one run: those of its process group, and those that left the group (the workers
// of torchrun have groups of their own) but still carry the mark that the run's environment has.
// Signals go to these and to nobody else, whatever others are called.
//
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace jarvis::launch {

class RunGroup {
 public:
  // The variable that marks a run's processes.
  static constexpr const char* kMarkVariable = "JARVIS_SWEEP_RUN";
  // A value that no other run on this machine has.
  static std::string NewMark();

  // REQUIRES: `leader` leads a process group of its own and has not been waited for, so that its
  // number belongs to it until this object is gone.
  RunGroup(pid_t leader, std::string mark) : leader_(leader), mark_(std::move(mark)) {}

  // Living processes other than the leader.
  std::vector<pid_t> Others() const;
  // To all of them and the leader.
  void Signal(int signal) const;

 private:
  bool Marked(pid_t process) const;
  bool InGroup(pid_t process, bool* lives) const;

  pid_t leader_;
  std::string mark_;
};

}  // namespace jarvis::launch
