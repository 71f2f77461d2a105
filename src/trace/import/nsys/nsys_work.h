// GPU work and synchronisations of an export.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "trace/import/nsys/nsys_scope.h"
#include "trace/import/shared/args_text.h"

namespace jarvis::trace {

class NsysWork : public NsysPart {
 public:
  using NsysPart::NsysPart;
  Status Run();

  std::uint64_t whole_graphs() const { return whole_graphs_; }

 private:
  // A row's place on a GPU; false: it is on none.
  bool Placed(std::int64_t device, std::int64_t global_pid, const char* what, OwnerId* gpu);
  // A piece of GPU work, without its name. Times are nanoseconds of the export.
  struct Work {
    std::int64_t start = 0, end = 0, device = 0;
    OwnerId gpu = 0;
    Args args;
  };
  // Reads what all tables of GPU work begin with; false: the row has no time or no GPU.
  bool Begin(io::SqliteRows& row, const char* what, Work* work);
  Status Add(EventKind kind, StringId name, const Work& work);
  Status Kernels();
  Status Copies();
  Status Fills();
  Status Graphs();
  Status Synchronisations();

  // grid, block, registers, static and dynamic shared memory, context, cluster, local memory,
  // graph, node, device; kNoCell: absent.
  using KernelArgs = MadeTexts<17>;
  StringId ArgsOf(const KernelArgs::Key& key);
  StringId KernelName(io::SqliteRows& row);

  KernelArgs kernel_args_;
  ArgsText text_;
  std::unordered_set<std::int64_t> graphs_by_node_;  // correlations of graphs recorded node by node
  std::uint64_t whole_graphs_ = 0;
  OwnerId last_process_of_gpu_ = 0;
  std::int64_t last_device_ = kNoCell;
  OwnerId last_gpu_ = 0;
};

}  // namespace jarvis::trace
