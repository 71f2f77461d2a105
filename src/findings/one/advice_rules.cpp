#include "findings/one/advice_rules.h"

#include <algorithm>

#include "findings/one/estimates.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

class Advisor {
 public:
  Advisor(Kind kind, std::string_view category, Finding* finding)
      : kind_(kind), category_(category), f_(*finding) {}

  void Run() {
    switch (kind_) {
      case Kind::kGemm: Gemm(); break;
      case Kind::kElementwise: Elementwise(); break;
      case Kind::kSdpa: Attention(); break;
      case Kind::kReduce: Reduce(); break;
      case Kind::kNorm: Norm(); break;
      case Kind::kConvolution: Convolution(); break;
      case Kind::kMoe:
        if (Memory()) A(Advice::kLargerBatch);
        B(Advice::kKernelSelection);
        break;
      case Kind::kTriton: A(Advice::kFuseNeighbours); break;
      case Kind::kCommunication: A(Advice::kOverlapCommunication); break;
      case Kind::kOther: Other(); break;
    }
    Kernel();
    if (f_.path_a.empty()) A(Advice::kNoneKnown);
    if (f_.path_b.empty()) B(Advice::kNoneKnown);
  }

 private:
  const PatternHit* Find(Pattern pattern) const {
    const auto hit = std::find_if(f_.patterns.begin(), f_.patterns.end(),
                                  [&](const PatternHit& one) { return one.pattern == pattern; });
    return hit == f_.patterns.end() ? nullptr : &*hit;
  }
  bool Has(Pattern pattern) const { return Find(pattern) != nullptr; }
  bool Memory() const { return f_.bound == Bound::kMemory; }

  void A(Advice advice, const PatternHit* hit = nullptr) { Add(&f_.path_a, advice, hit); }
  void B(Advice advice, const PatternHit* hit = nullptr) { Add(&f_.path_b, advice, hit); }
  static void Add(std::vector<Remedy>* path, Advice advice, const PatternHit* hit) {
    for (const Remedy& remedy : *path) {
      if (remedy.advice == advice) return;
    }
    Remedy remedy{advice, {}, {}};
    if (hit != nullptr) remedy.facts = hit->facts;
    path->push_back(std::move(remedy));
  }

  void Gemm() {
    if (Has(Pattern::kTinyBatchedGemm)) {
      if (f_.subject.find("bmm") == std::string::npos)
        A(Advice::kBatchGemms, Find(Pattern::kTinyBatchedGemm));
      A(Advice::kCompile);
      B(Advice::kKernelSelection);
    }
    if (Has(Pattern::kMisaligned)) A(Advice::kPadDimensions, Find(Pattern::kMisaligned));
    if (Has(Pattern::kFewTiles)) B(Advice::kSplitK, Find(Pattern::kFewTiles));
    if (Has(Pattern::kDecodeGemm)) A(Advice::kLargerBatch, Find(Pattern::kDecodeGemm));
    if (Has(Pattern::kTransposedOperandCopy))
      A(Advice::kPreTransposeWeight, Find(Pattern::kTransposedOperandCopy));
    if (Memory()) {
      // Batched products are of activations, which have no weights to store in fewer bits.
      const bool weights = f_.subject.find("bmm") == std::string::npos;
      if (weights && !Has(Pattern::kQuantisedGemm)) A(Advice::kQuantise);
      A(Advice::kFuseEpilogue);
    }
    B(Advice::kTuneGemm);
  }

  void Elementwise() {
    if (Has(Pattern::kStridedOperand)) A(Advice::kContiguousInputs, Find(Pattern::kStridedOperand));
    if (Has(Pattern::kDtypeCast)) A(Advice::kAvoidCasts, Find(Pattern::kDtypeCast));
    A(Advice::kFuseNeighbours);
    A(Advice::kCompile);
    B(Advice::kBandwidthTuning);
  }

  void Attention() {
    // What a library's attention kernel does is fused already.
    if (f_.subject.find("flash") == std::string::npos && !Has(Pattern::kPagedAttention) &&
        (f_.library.empty() || f_.library == "PyTorch Native")) {
      A(Advice::kFlashAttention);
    }
    if (Has(Pattern::kPrefillHeavy)) A(Advice::kChunkedPrefill, Find(Pattern::kPrefillHeavy));
    if (Has(Pattern::kDecodeHeavy)) A(Advice::kLargerBatch, Find(Pattern::kDecodeHeavy));
    if (Has(Pattern::kShortSequence)) A(Advice::kPackSequences, Find(Pattern::kShortSequence));
    B(Advice::kKernelSelection);
  }

  void Reduce() {
    if (Has(Pattern::kSoftmaxOfAttention))
      A(Advice::kFlashAttention, Find(Pattern::kSoftmaxOfAttention));
    A(Advice::kFuseNeighbours);
    A(Advice::kCompile);
    B(Advice::kBandwidthTuning);
  }

  void Norm() {
    if (Has(Pattern::kBatchNorm)) {
      A(Advice::kChannelsLast, Find(Pattern::kBatchNorm));
      A(Advice::kFuseNeighbours);
    } else {
      A(Advice::kFusedNorm);
    }
    B(Advice::kBandwidthTuning);
  }

  void Convolution() {
    if (const PatternHit* hit = Find(Pattern::kLayoutTransposes)) {
      A(Advice::kChannelsLast, hit);
      for (const Fact& fact : hit->facts) {
        const double* ms = std::get_if<double>(&fact.value);
        if (fact.key == "transpose_ms" && ms != nullptr)
          f_.path_a.back().savings_ms = SavingsOf(std::min(*ms, f_.exclusive_ms));
      }
    }
    if (Has(Pattern::kDepthwise)) A(Advice::kFuseNeighbours);
    B(Advice::kKernelSelection);
  }

  void Other() {
    if (f_.subject.find("index_put") != std::string::npos ||
        f_.subject.find("scatter") != std::string::npos) {
      A(Advice::kGatherInstead);
    }
    if (f_.subject == "aten::cat" || f_.subject == "aten::stack") A(Advice::kPreallocate);
    if (category_ == "multi_tensor_apply") A(Advice::kFusedOptimizer);
    if (Has(Pattern::kManySmallCalls)) A(Advice::kFuseNeighbours);
  }

  // What holds for every kernel.
  void Kernel() {
    if (Has(Pattern::kUnlinked) || Has(Pattern::kGraphLaunch)) return;
    if (Has(Pattern::kMissingModel)) B(Advice::kAddModel);
    const bool slow = !f_.efficiency || *f_.efficiency < limits::kGood;
    // A reproducer is for whoever writes the kernel: not the compiler, and no simple op's kernel.
    const bool generated = kind_ == Kind::kTriton || f_.library == "Triton" ||
                           kind_ == Kind::kElementwise || kind_ == Kind::kReduce ||
                           f_.library == "PyTorch Native" || f_.library == "CUB";
    if (slow && !generated) B(Advice::kReplay);
    f_.replay_recommended = f_.replay_recommended && !generated;
    if (f_.replay_recommended) B(Advice::kProfileCounters);
  }

  const Kind kind_;
  const std::string_view category_;
  Finding& f_;
};

}  // namespace

void AddAdvice(Kind kind, std::string_view category, Finding* finding) {
  Advisor(kind, category, finding).Run();
}

}  // namespace jarvis::findings
