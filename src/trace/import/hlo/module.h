// A compiled program as XLA keeps it in a profile: HloProto, as far as a profile's reader needs it.
// Messages: xla/service/hlo.proto.
//
// Everything is a view into the bytes that it was read from. Threads: const after reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/import/hlo/shape.h"

namespace jarvis::hlo {

struct Instruction {
  using Numbers = std::vector<std::int64_t>;
  std::int64_t id = 0;
  std::string_view name, opcode;
  Shape shape{};
  std::string_view op_type, op_name, source_file;  // of its metadata
  std::int64_t source_line = 0, stack_frame = 0;
  std::string_view fusion, target, config;  // fusion kind, custom call target, backend config
  Numbers operands{}, called{};             // ids of instructions, of computations
  Numbers lhs_contracting{}, rhs_contracting{}, lhs_batch{}, rhs_batch{};  // of a dot
  std::vector<Numbers> groups{};                                           // replicas
  std::int64_t channel = 0;
  // Of a convolution: which dimension of its filter and of its output holds output features; -1:
  // it does not say.
  std::int64_t filter_features = -1, output_features = -1;
};

struct Computation {
  std::string_view name;
  std::int64_t id = 0, root = 0;
  std::vector<Instruction> instructions{};
};

class Module {
 public:
  // HloProto. Absent: a message in it cannot be read; `problem` says what is wrong.
  static std::optional<Module> Read(std::string_view proto, std::string* problem);
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;

  std::string_view name() const { return name_; }
  const std::vector<Computation>& computations() const { return computations_; }
  // Null: there is none. By name: the first in the file.
  const Instruction* Find(std::string_view name) const;
  const Instruction* Find(std::int64_t id) const;
  const Computation* FindComputation(std::int64_t id) const;
  // "file.py:12 function" of a frame; empty: there is none.
  std::string FrameText(std::int64_t frame) const;

 private:
  struct Location {
    std::int64_t file = 0, function = 0, line = 0;
  };

  Module() = default;
  bool ReadModule(std::string_view message);
  bool ReadFrames(std::string_view message);
  void Index();

  std::string_view name_;
  std::vector<Computation> computations_;
  std::vector<std::string_view> files_, functions_;
  std::vector<Location> locations_;
  std::vector<std::int64_t> frames_;  // places in locations_, counted from 1
  std::unordered_map<std::string_view, const Instruction*> by_name_;
  std::unordered_map<std::int64_t, const Instruction*> by_id_;
  std::unordered_map<std::int64_t, const Computation*> computation_by_id_;
};

}  // namespace jarvis::hlo
