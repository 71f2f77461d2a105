// What an instruction of a compiled program is as an op: the one interface to HLO that importers
// ask. The result is what an op's event carries: the name by which models know it, shapes, types,
// and further args.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/import/hlo/module.h"

namespace jarvis::hlo {

// The exchange that a collective does, as profilers of NCCL name it.
struct Exchange {
  std::string_view name;  // "allreduce"
  double in_elements = 0, out_elements = 0;
  std::string_view dtype{};
  std::string groups{};         // "[[0,1],[2,3]]"; empty: not known
  std::int64_t group_size = 0;  // 0: not known
};

struct OpFacts {
  std::string known_as;              // "xla::gemm": see perf/models/xla.json
  std::string dims, types, strides;  // JSON lists, one entry an operand; empty: not known
  std::vector<std::pair<std::string_view, std::string>> args;  // key, raw JSON
  std::optional<Exchange> exchange;

  void Add(std::string_view key, std::string_view text);  // quoted; of an empty text nothing
  void AddNumber(std::string_view key, double value);
};

// Where an event's instruction is in its module: by its name, without a trailing ".0" one of them
// may have, or as the other half of an asynchronous one. Null: it is not there.
struct FoundInstruction {
  const Instruction* instruction = nullptr;
  bool inferred = false;  // by something else than its whole name
};
FoundInstruction FindInstruction(const Module& module, std::string_view op);

OpFacts FactsOf(const Module& module, const FoundInstruction& found);

// Of a line of HLO text ("%fusion.8 = bf16[4096,8192]{1,0} fusion(bf16[4096,8192]{1,0} %x), ..."),
// which is all that a TPU's profile has: category, FLOPs and bytes are the profile's own.
struct CountedOp {
  std::string_view text, category;
  std::optional<double> flops, bytes;
};
OpFacts FactsOfText(const CountedOp& op);

}  // namespace jarvis::hlo
