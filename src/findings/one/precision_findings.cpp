#include "findings/one/precision_findings.h"

#include <utility>
#include <vector>

#include "findings/one/structure_maker.h"

namespace jarvis::findings {
namespace {

constexpr double kTf32Least = 0.15;           // of the GPU's time: else it is no workload in TF32
constexpr double kNarrowMost = 0.1;           // of the products' time, in 16 bits already
constexpr double kRateLeast = 1.5;            // of bf16 to TF32
constexpr Range kProductPart{0.2, 0.4, 0.5};  // twice the rate at best, as products reach it
constexpr Range kBytesPart{0, 0.3, 0.5};      // half of the bytes at best

// Autocast adds casts, and copies of what stays in 32 bits stay as they are.
bool IsOfBytes(ledger::WorkKind kind) {
  using ledger::WorkKind;
  const bool stays = kind == WorkKind::kCast || kind == WorkKind::kCopy;
  return kind == WorkKind::kPooling || (ledger::IsPass(kind) && !stays);
}

}  // namespace

std::optional<Finding> FindNarrowerPrecision(const Calls& calls, const ledger::KindsOfWork& kinds,
                                             const WorkContext& context) {
  using ledger::WorkKind;
  if (calls.platform == nullptr || context.before_torch2) return std::nullopt;
  const auto tf32 = perf::PeakFor(*calls.platform, "matrix_tf32");
  const auto bf16 = perf::PeakFor(*calls.platform, "matrix_bf16");
  if (!tf32 || !bf16 || bf16->tflops < kRateLeast * tf32->tflops) return std::nullopt;
  std::vector<trace::EventIndex> products, bytes;
  double all = 0, of_tf32 = 0, narrow = 0;
  bool convolutions = false;
  for (const trace::EventIndex e : calls.trace.attribution().timeline) {
    const trace::Event& event = calls.events()[e];
    if (event.kind != trace::EventKind::kKernel) continue;
    const ledger::KernelKind& kind = kinds.Of(e);
    const auto ns = static_cast<double>(event.dur_ns);
    all += ns;
    if (IsOfBytes(kind.kind)) bytes.push_back(e);
    if (kind.kind != WorkKind::kProduct && kind.kind != WorkKind::kConvolution) continue;
    if (kind.precision == "tf32") {
      of_tf32 += ns;
      products.push_back(e);
      convolutions = convolutions || kind.kind == WorkKind::kConvolution;
    } else if (kind.precision != "fp32") {
      narrow += ns;
    }
  }
  if (of_tf32 < kTf32Least * all || narrow > kNarrowMost * of_tf32) return std::nullopt;
  std::vector<Fact> facts = {NumberFact("tf32_peak", tf32->tflops, "TFLOPS/s"),
                             NumberFact("bf16_peak", bf16->tflops, "TFLOPS/s")};
  if (convolutions)
    facts.push_back(StructureWords("layout", "`model.to(memory_format=torch.channels_last)`"));
  const Target target{
      {}, "half of the bytes and twice the rate at best", "dense peaks of " + calls.platform->name};
  const char* subject = convolutions ? "TF32 convolutions and GEMMs" : "TF32 GEMMs";
  Finding f = StructureFinding(calls, Pattern::kNarrowerPrecision, "Precision", subject,
                               std::move(products), kProductPart, target, std::move(facts));
  Finding rest = StructureFinding(calls, Pattern::kNarrowerPrecision, "Precision", subject,
                                  std::move(bytes), kBytesPart, target, {});
  f.time_ms += rest.time_ms;
  f.exclusive_ms += rest.exclusive_ms;
  f.upper_bound_ms = f.exclusive_ms;
  f.count += rest.count;
  for (double Range::*x : {&Range::low, &Range::mid, &Range::high}) {
    (*f.savings_ms).*x += (*rest.savings_ms).*x;
    f.change_a->savings_ms.*x += rest.change_a->savings_ms.*x;
  }
  f.path_a.front().savings_ms = f.savings_ms;
  f.change_a->parts.push_back(std::move(rest.change_a->parts.front()));
  return f;
}

}  // namespace jarvis::findings
