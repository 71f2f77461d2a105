#include "trace/import/hlo/module.h"

#include <utility>

#include <fmt/format.h>

#include "trace/import/proto/wire.h"

namespace jarvis::hlo {
namespace {

using proto::AppendIntegers;
using proto::Cursor;
using proto::Field;

bool ReadMetadata(std::string_view message, Instruction* out) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(1)) out->op_type = field.bytes;
    if (field.IsBytes(2)) out->op_name = field.bytes;
    if (field.IsBytes(3)) out->source_file = field.bytes;
    if (field.IsVarint(4)) out->source_line = field.Signed();
    if (field.IsVarint(15)) out->stack_frame = field.Signed();
  }
  return !cursor.broken();
}

bool ReadDotDimensions(std::string_view message, Instruction* out) {
  Instruction::Numbers* const lists[] = {&out->lhs_contracting, &out->rhs_contracting,
                                         &out->lhs_batch, &out->rhs_batch};
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.number <= std::size(lists) && !AppendIntegers(field, lists[field.number - 1]))
      return false;
  }
  return !cursor.broken();
}

// ConvolutionDimensionNumbers: a number that is not there is 0.
bool ReadConvolution(std::string_view message, Instruction* out) {
  out->filter_features = 0;
  out->output_features = 0;
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsVarint(4)) out->filter_features = field.Signed();
    if (field.IsVarint(10)) out->output_features = field.Signed();
  }
  return !cursor.broken();
}

bool ReadGroup(std::string_view message, Instruction* out) {
  Instruction::Numbers& group = out->groups.emplace_back();
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.number == 1 && !AppendIntegers(field, &group)) return false;
  }
  return !cursor.broken();
}

bool ReadBytes(const Field& field, Instruction* out) {
  switch (field.number) {
    case 1: out->name = field.bytes; return true;
    case 2: out->opcode = field.bytes; return true;
    case 3: {
      auto shape = ReadShape(field.bytes);
      if (shape) out->shape = std::move(*shape);
      return shape.has_value();
    }
    case 7: return ReadMetadata(field.bytes, out);
    case 11: out->fusion = field.bytes; return true;
    case 16: return ReadConvolution(field.bytes, out);
    case 28: out->target = field.bytes; return true;
    case 30: return ReadDotDimensions(field.bytes, out);
    case 36: return AppendIntegers(field, &out->operands);
    case 38: return AppendIntegers(field, &out->called);
    case 43: out->config = field.bytes; return true;
    case 49: return ReadGroup(field.bytes, out);
    default: return true;
  }
}

bool ReadInstruction(std::string_view message, Instruction* out) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.wire == proto::Wire::kBytes && !ReadBytes(field, out)) return false;
    if (field.wire != proto::Wire::kVarint) continue;
    if (field.number == 26) out->channel = field.Signed();
    if (field.number == 35) out->id = field.Signed();
    if (field.number == 36) out->operands.push_back(field.Signed());
    if (field.number == 38) out->called.push_back(field.Signed());
  }
  return !cursor.broken();
}

bool ReadComputation(std::string_view message, Computation* out) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(1)) out->name = field.bytes;
    if (field.IsBytes(2) && !ReadInstruction(field.bytes, &out->instructions.emplace_back()))
      return false;
    if (field.IsVarint(5)) out->id = field.Signed();
    if (field.IsVarint(6)) out->root = field.Signed();
  }
  return !cursor.broken();
}

}  // namespace

std::optional<Module> Module::Read(std::string_view proto, std::string* problem) {
  Module module;
  Cursor cursor(proto);
  Field field;
  bool whole = true;
  while (whole && cursor.Next(&field)) {
    if (field.IsBytes(1)) whole = module.ReadModule(field.bytes);
  }
  if (!whole || cursor.broken()) {
    *problem = module.name_.empty() ? "an HLO module cannot be read"
                                    : fmt::format("the HLO module {} cannot be read", module.name_);
    return std::nullopt;
  }
  module.Index();
  return module;
}

bool Module::ReadModule(std::string_view message) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(1)) name_ = field.bytes;
    if (field.IsBytes(3) && !ReadComputation(field.bytes, &computations_.emplace_back()))
      return false;
    if (field.IsBytes(17) && !ReadFrames(field.bytes)) return false;
  }
  return !cursor.broken();
}

bool Module::ReadFrames(std::string_view message) {
  Cursor cursor(message);
  Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(1)) files_.push_back(field.bytes);
    if (field.IsBytes(2)) functions_.push_back(field.bytes);
    if (!field.IsBytes(3) && !field.IsBytes(4)) continue;
    const bool location = field.number == 3;
    Location at;
    Cursor inner(field.bytes);
    Field number;
    while (inner.Next(&number)) {
      if (number.IsVarint(1)) at.file = number.Signed();
      if (number.IsVarint(2)) at.function = number.Signed();
      if (number.IsVarint(3)) at.line = number.Signed();
    }
    if (inner.broken()) return false;
    if (location) {
      locations_.push_back(at);
    } else {
      frames_.push_back(at.file);  // a frame's first number is its location
    }
  }
  return !cursor.broken();
}

void Module::Index() {
  for (const Computation& computation : computations_) {
    computation_by_id_.emplace(computation.id, &computation);
    for (const Instruction& instruction : computation.instructions) {
      by_name_.emplace(instruction.name, &instruction);
      by_id_.emplace(instruction.id, &instruction);
    }
  }
}

const Instruction* Module::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Instruction* Module::Find(std::int64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

const Computation* Module::FindComputation(std::int64_t id) const {
  const auto found = computation_by_id_.find(id);
  return found == computation_by_id_.end() ? nullptr : found->second;
}

std::string Module::FrameText(std::int64_t frame) const {
  const auto in = [](std::int64_t n, const auto& list) {
    return n >= 1 && static_cast<std::size_t>(n) <= list.size();
  };
  if (!in(frame, frames_) || !in(frames_[static_cast<std::size_t>(frame - 1)], locations_))
    return {};
  const Location& at =
      locations_[static_cast<std::size_t>(frames_[static_cast<std::size_t>(frame - 1)] - 1)];
  const auto name = [&](std::int64_t n, const std::vector<std::string_view>& list) {
    return in(n, list) ? list[static_cast<std::size_t>(n - 1)] : std::string_view("?");
  };
  return fmt::format("{}:{} {}", name(at.file, files_), at.line, name(at.function, functions_));
}

}  // namespace jarvis::hlo
