// What the rules of causes.cpp ask of a trace as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/shapes.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// The part of the rate of large products that one of so many rows, columns and batches can reach:
// fewer tiles than a few for each unit leave units idle. 1 where the device has no count of units.
double FilledPart(const Calls& calls, double m, double n, double batch);

class CauseContext {
 public:
  // Both must outlive the object.
  CauseContext(const Calls& calls, const WorkContext& work,
               const std::vector<CategoryAnalysis>& categories);

  // The type in which most of the time of products is spent: "bf16"; empty: no product.
  const std::string& model_type() const { return model_type_; }
  // Whether backward work or an optimizer is in the trace.
  bool training() const { return training_; }
  // Whether weights may change between steps all the same.
  bool may_train() const { return work_.may_train; }
  int newest_architecture() const { return newest_; }  // in kernel names; 0: none has one

  // The first host op on a fp64 tensor of more than one element, and "file.py(3): f" or "".
  const std::string& first_double_op() const { return double_op_; }
  const std::string& first_double_place() const { return double_place_; }

  // Whether a shape is that of the second operand of a product, either way round.
  bool IsWeight(const Shape& shape) const { return weights_.contains(shape); }
  // Whether rows of this width may be those of a head: no attention of known heads says otherwise.
  bool IsHeadSize(double width) const { return heads_.empty() || heads_.contains(width); }

  // TFLOPS/s that large products of this type reach on the platform; 0: not known.
  double LargeGemm(std::string_view spec) const;
  std::string LargeGemmSource(std::string_view spec) const;
  // The best rate of products of the same type on aligned kernels; 0: none.
  double BestAligned(const Operation& operation) const;
  // The rate of the one among them whose operands are as wide, whatever computes them, and whose
  // sizes are nearest, each within twice; 0: none.
  double NearestAligned(const Operation& operation) const;
  // How its library is tuned.
  struct TunedBy {
    std::string words;  // empty: not known
    ToldWay way = {};
  };
  TunedBy Tuning(const Operation& operation) const;
  // TFLOPS/s of large fp8 products in place of these; 0: no such unit, or no 16 bits.
  double Fp8Rate(std::string_view spec) const;
  // Products of one input that are not one product yet.
  struct Merge {
    double m = 0, k = 0, n = 0;  // each of them
    std::string text;            // "3 of (8944,1024) x (1024,1024)"
    double ms = 0;               // of GPU time: the launches that this saves
  };
  // Those of this one's sizes; null: none.
  const Merge* MergeOf(const Operation& product) const;

  std::uint32_t FirstCallOf(const Operation& operation) const { return first_.at(operation.id); }
  // The only dimension that a reduction names; absent: several, all, or not recorded.
  std::optional<std::int64_t> ReducedDimension(const trace::Args& args) const;

 private:
  TunedBy TuningElsewhere() const;
  bool IsUntuned(const Operation& operation) const;
  void LookAtEvents();
  void LookAtOperations(const std::vector<CategoryAnalysis>& categories);
  bool AddExpertWeights(const std::vector<Shape>& shapes);  // whether there are any

  void FindMerges(const std::vector<CategoryAnalysis>& categories);

  const Calls& calls_;
  const WorkContext& work_;
  std::vector<Merge> merges_;
  std::string model_type_;
  bool training_ = false;
  int newest_ = 0;
  std::string double_op_, double_place_;
  std::set<Shape> weights_;
  std::set<double> heads_;                                   // sizes of one
  std::map<std::string, double, std::less<>> best_aligned_;  // by spec
  struct SizedRate {
    int bytes = 0;                  // of an operand's element
    std::array<double, 3> sizes{};  // M, N, K
    double tflops = 0;
  };
  std::optional<SizedRate> SizesOf(const Operation& operation) const;
  std::vector<SizedRate> aligned_;
  std::map<std::string, std::uint32_t, std::less<>> first_;  // by operation id
};

// The part of a product's time that goes if matrix units of `rate` TFLOPS/s compute what now runs
// at `now` TFLOPS/s, at the usual shares of the rate; `least`: the part that memory keeps.
Range SavedAtTensorRate(double now, double rate, double least);

}  // namespace jarvis::findings
