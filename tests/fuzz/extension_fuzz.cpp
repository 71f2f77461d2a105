// Any bytes as a user's extension: read, checked, and every row of it evaluated on calls that fit
// it and calls that do not. What the built-in rows say must stay the same. Its words over those of
// the fixes, too.
#include <cstdint>
#include <string>
#include <utility>

#include "fuzz/require.h"
#include "levers/fixes.h"
#include "perf/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis::perf {
namespace {

constexpr std::string_view kFile = "fuzzed extension";

using testing::Require;

// Few, so that an input takes little time.
bool Keep(std::string_view file) {
  return file == "base" || file == "tensors" || file == "beyond_softmax";
}

OpCall Call(std::string_view name) {
  OpCall call;
  call.name = name;
  call.dims = "[[128,512],[],[]]";
  call.types = R"(["c10::Half","Scalar","Scalar"])";
  call.strides = "[[512,1],[],[]]";
  call.text = R"(["","1","False"])";
  return call;
}

void Evaluate(ModelSet& models, const ModelRow& row) {
  const OpCall forward = Call("aten::_softmax");
  OpCall fits = Call("mylib::fused_softmax");
  fits.kernels = {"softmax_warp_forward"};
  fits.forward = &forward;
  fits.forward_model = models.Find(forward.name);
  const OpCall empty;
  for (const OpCall* call : {&std::as_const(fits), &empty}) {
    for (const bool backward : {false, true}) {
      const OpWork work = models.Evaluate(row, *call, backward);
      Require(!work.flops || *work.flops >= 0);
      Require(!work.bytes || *work.bytes >= 0);
      Require((work.failure == OpWork::Failure::kNone) == work.reason.empty());
    }
  }
}

}  // namespace
}  // namespace jarvis::perf

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace perf = jarvis::perf;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto words = jarvis::levers::ShippedWith(perf::kFile, text);
  perf::Require(words || words.error().message.starts_with(perf::kFile));
  const std::pair<std::string_view, std::string_view> overlay{perf::kFile, text};
  const auto rows = perf::RowsWith(&perf::Keep, {&overlay, 1});
  if (!rows) {
    perf::Require(rows.error().message.starts_with(perf::kFile) ||
                  rows.error().message.find(", row ") != std::string::npos);
    return 0;
  }
  perf::ModelSet models(*rows);
  bool changed = false;
  for (const perf::ModelRow& row : rows->rows()) {
    if (row.file != perf::kFile && row.changed_by != perf::kFile) continue;
    changed = changed || !row.changed_by.empty();
    if (models.Check(row)) perf::Evaluate(models, row);
  }
  // Rows that nothing in the input changed are as they were.
  const perf::OpCall call = perf::Call("aten::_softmax");
  const perf::ModelRow* row = rows->FindModel("softmax.fwd");
  if (changed) return 0;
  const perf::OpWork work = models.Evaluate(*row, call);
  perf::Require(work.flops == 5.0 * 128 * 512 && work.bytes == 2.0 * 2 * 128 * 512);
  return 0;
}
