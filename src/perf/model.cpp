#include "perf/model.h"

#include <memory>

#include "perf/sandbox.h"

namespace jarvis::perf {

const Value* OpWork::Find(std::string_view key) const {
  for (const Parameter& parameter : parameters) {
    if (parameter.key == key) return &parameter.value;
  }
  return nullptr;
}

std::optional<double> OpWork::NumberOf(std::string_view key) const {
  const Value* value = Find(key);
  return value == nullptr ? std::nullopt : value->as_double();
}

ModelSet::ModelSet(const ModelRows& rows) : sandbox_(std::make_unique<Sandbox>(rows)) {}
ModelSet::~ModelSet() = default;
ModelSet::ModelSet(ModelSet&&) noexcept = default;
ModelSet& ModelSet::operator=(ModelSet&&) noexcept = default;

const ModelRows& ModelSet::rows() const {
  return sandbox_->rows();
}

const ModelRow* ModelSet::Find(std::string_view op) const {
  const OpEntry* entry = rows().Find(op);
  return entry == nullptr || entry->row < 0 ? nullptr
                                            : &rows().rows()[static_cast<std::size_t>(entry->row)];
}

OpWork ModelSet::Evaluate(const ModelRow& row, const OpCall& call, bool backward) {
  return sandbox_->Evaluate(row, call, backward);
}

std::vector<Quantity> ModelSet::Quantities(const ModelRow& row,
                                           std::span<const GivenQuantity> given,
                                           std::span<const std::string_view> wanted,
                                           const OpCall& call) {
  return sandbox_->Quantities(row, given, wanted, call);
}

Status ModelSet::Check(const ModelRow& row) {
  return sandbox_->Check(row);
}

}  // namespace jarvis::perf
