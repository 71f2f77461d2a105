// The kernels of a JAX profile as the reference's report for JAX sees them: through XLA's viewer
// and the text of its programs. Its oddities have the numbers of docs/differences.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::compat {

// What the text of a program says of an instruction.
struct JaxOp {
  std::string target;                 // custom_call_target="..."; empty: none
  std::vector<std::string> operands;  // shapes; a name with a comment where it counts operands
  std::string metadata;               // metadata={... without its end
  std::string output;                 // its shape
  std::string config;                 // of the backend: what the dimensions are taken from
  std::vector<std::int64_t> product;  // M, N, K, B of a product as it is
  bool bias = false;                  // of a product
  bool known = false;                 // the text has the instruction
};

struct JaxKernel {
  trace::EventIndex event = trace::kNoEvent;
  std::int64_t uid = 0, gpu_pid = 0;
  std::string_view category;
  const JaxOp* op = nullptr;  // null: not linked to the host, or no program is known
  std::optional<double> latency_us;
  std::string dims, types, concrete;  // as the tables print them
};

struct JaxGpu {
  std::int64_t pid = 0;  // the device's number + 1
  std::vector<trace::EventIndex> kernels, copies, all;
};

class JaxProfile {
 public:
  explicit JaxProfile(const trace::EventStore& events);
  JaxProfile(const JaxProfile&) = delete;
  JaxProfile& operator=(const JaxProfile&) = delete;

  const trace::EventStore& events() const { return events_; }
  const std::vector<JaxGpu>& gpus() const { return gpus_; }  // as a set of Python lists them
  const std::vector<JaxKernel>& kernels() const { return kernels_; }  // by uid

  double DurUs(const JaxKernel& kernel) const { return events_.dur_us(kernel.event); }

 private:
  void FindOps();
  void FindGpus();
  void AddKernel(trace::EventIndex e, std::int64_t uid, std::int64_t pid);
  void AddArguments(JaxKernel* kernel) const;

  const trace::EventStore& events_;
  std::vector<JaxGpu> gpus_;
  std::vector<JaxKernel> kernels_;
  struct Ops;
  std::shared_ptr<const Ops> ops_;
};

bool JaxHas(std::string_view text, std::string_view part);
// The pieces of an operand "bf16[2,3]{1,0}": type and dimensions; empty: it has no layout.
struct JaxOperand {
  std::string_view type, dims;
};
JaxOperand OperandOf(std::string_view text);

}  // namespace jarvis::compat
