// Which family of models the work is of. Internal to the layer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "findings/one/category_analysis.h"
#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

// Whether a module class is one of norms.
bool IsNormClass(std::string_view name);

struct FamilyTold {
  // By ops of its own: what sizes of products and attention tell of a model is none of this one's.
  bool by_signature = false;
  bool layers_are_modules = false;  // of one class, as far as there are some
  bool has_vocabulary = true;
  bool rows_are_nodes = false;  // those of products
  std::uint64_t calls = 0;      // of the model; 0: as its module or the steps tell
};

class FamilyTeller {
 public:
  // `main`: the module that owns the GPU time; null: none does. `passes`: how often the model ran.
  FamilyTeller(const WorkloadFacts& facts, const WorkloadSizes& sizes, const ModulePlace* main,
               std::uint64_t passes);

  // The family, and of some what else their own ops tell: batch, input, layers, widths.
  FamilyTold Tell(Workload* out) const;

  bool Causal() const;
  bool KeepsCache() const;
  // All work is of norms.
  bool OnlyNorms() const;
  double Time(Kind kind) const;  // of the GPU, in us

 private:
  NamedWork Ops(std::initializer_list<std::string_view> parts) const;
  NamedWork Kernels(std::initializer_list<std::string_view> parts) const;
  NamedWork Notes(std::initializer_list<std::string_view> parts) const;
  bool MainIs(std::initializer_list<std::string_view> lower_parts) const;

  FamilyTold TellBySignature(Workload* out) const;
  FamilyTold TellUnet(Workload* out) const;
  bool TellTables(Workload* out) const;
  bool IsRecurrent(double gpu_us) const;
  bool HasAttention() const;
  bool LooksLikeAttention() const;
  std::string TransformerFamily(std::string* why) const;
  std::string PartsText() const;
  bool HasTransformerParts() const;
  std::string PartsOnly(std::string* why) const;
  std::string VisionFamily(std::string* why) const;
  const ShapedOperation* SingleOp() const;

  const WorkloadFacts& facts_;
  const WorkloadSizes& sizes_;
  const ModulePlace* main_;
  std::uint64_t passes_;
  std::map<Kind, double> kinds_;
};

}  // namespace jarvis::findings
