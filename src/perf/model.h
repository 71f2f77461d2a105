// Evaluates performance models: an operator call's arguments in, its work out (FLOPs, bytes,
// precision, named parameters). Time is never part of a model.
//
// Rows are data (model_rows.h); their expressions run in a Lua sandbox that has no library, no
// files, a limit on memory and a limit on steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perf/model_rows.h"
#include "perf/value.h"

namespace jarvis::perf {

// One recorded call. The texts are raw JSON, as they stand in the trace; empty: not recorded.
struct OpCall {
  std::string_view name;
  std::string_view dims;                  // "Input Dims"
  std::string_view types;                 // "Input type"
  std::string_view strides;               // "Input Strides"
  std::string_view text;                  // "Concrete Inputs"
  std::vector<std::string_view> kernels;  // names of its kernels, by start
  std::string_view annotation;            // name of the iteration around it, such as execute_...
  std::vector<std::pair<std::string_view, std::string_view>> extra;  // further args, raw JSON
  std::string_view more;  // further args as they stand in the trace: "key": value, "key": value,
  // The forward call, of a backward call whose model asks for it; may be null.
  const OpCall* forward = nullptr;
  const ModelRow* forward_model = nullptr;
};

// The work of a call. Absent numbers are unknown, never 0.
struct OpWork {
  std::vector<Parameter> parameters;  // in the model's order
  std::optional<double> flops;
  std::optional<double> bytes;  // compulsory traffic: every tensor once
  std::string spec;             // unit and precision, such as matrix_bf16; empty: unknown

  // Why something is missing, if the model could not be evaluated to its end.
  enum class Failure : std::uint8_t {
    kNone,
    kFailed,       // the arguments do not fit the model
    kNotModelled,  // the model declines
    kBroken,       // the row itself is wrong: an extension's mistake
  };
  Failure failure = Failure::kNone;
  std::string stage;   // params, flops, bytes or compute
  std::string reason;  // for a reader

  const Value* Find(std::string_view key) const;
  std::optional<double> NumberOf(std::string_view key) const;
};

// A quantity by its name and a value as raw JSON: a number, a boolean, a text, null or an array.
using GivenQuantity = std::pair<std::string_view, std::string_view>;

// A quantity's value, or why it has none.
struct Quantity {
  Value value;
  OpWork::Failure failure = OpWork::Failure::kNone;
  std::string reason;  // for a reader
};

// Not thread-safe: one object a thread. Construction takes about a tenth of a millisecond.
class ModelSet {
 public:
  explicit ModelSet(const ModelRows& rows);  // `rows` must outlive this
  ~ModelSet();
  ModelSet(ModelSet&&) noexcept;
  ModelSet& operator=(ModelSet&&) noexcept;

  const ModelRows& rows() const;
  // The model of an op; null: none.
  const ModelRow* Find(std::string_view op) const;
  // `backward`: the work of the backward pass, from the forward call's arguments.
  OpWork Evaluate(const ModelRow& row, const OpCall& call, bool backward = false);
  // Quantities of a row by name, each for itself, where those in `given` stand in for the row's
  // own: flops of an attention with given B, N_Q, N_KV..., and no recorded arguments. FLOPs and
  // bytes are doubles as in Evaluate; everything else is as a parameter is. What no expression can
  // take from `given` comes from `call`, which may be empty. A name that the row does not have is
  // kBroken.
  std::vector<Quantity> Quantities(const ModelRow& row, std::span<const GivenQuantity> given,
                                   std::span<const std::string_view> wanted,
                                   const OpCall& call = {});
  // Compiles every expression of a row. Fails with the row and the key.
  Status Check(const ModelRow& row);

 private:
  class Sandbox;
  std::unique_ptr<Sandbox> sandbox_;
};

}  // namespace jarvis::perf
