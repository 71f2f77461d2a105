#include "findings/one/causal_mask.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "findings/one/launched_ops.h"

namespace jarvis::findings {
namespace {

constexpr std::ptrdiff_t kMakingMost = 14;  // calls from the first of the mask to the softmax

enum class Part : std::uint8_t { kNone, kPast, kFuture };  // of the keys of a query

// Follows a mask of ones (or of minus infinity) from call to call.
class MaskReader {
 public:
  MaskReader(const FusionCalls& in, const Shape& scores)
      : in_(in), rows_(scores[scores.size() - 2]), scores_(Elements(scores)) {}

  // `scored`: there are scores already, so that what is as large may be these. False: no mask that
  // is known to be causal alone.
  bool Take(std::uint32_t call, bool scored) {
    const std::string_view name = in_.NameOf(call);
    const OpArguments op = ArgumentsOf(in_.events(), in_.calls().calls[call].op);
    if (op.shapes.empty()) return true;
    if (scored && std::ranges::any_of(op.shapes, [&](const Shape& one) { return AreScores(one); }))
      return OnScores(name, op);
    return !IsMask(op.shapes[0]) || OnMask(name, op);
  }
  bool applied() const { return applied_; }

 private:
  static bool Is(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  }
  bool IsMask(const Shape& shape) const {
    return shape.size() >= 2 && shape.back() == rows_ && shape[shape.size() - 2] == rows_ &&
           Elements(shape) == static_cast<double>(rows_ * rows_);
  }
  bool AreScores(const Shape& shape) const { return Elements(shape) == scores_; }
  static std::optional<std::int64_t> DiagonalOf(const OpArguments& op) {
    if (op.values.size() < 2) return std::nullopt;
    return ParseInt(op.values[1]);
  }
  static bool IsZero(const OpArguments& op) {
    return op.values.size() > 1 && (op.values[1] == "0" || op.values[1] == "False");
  }

  bool OnMask(std::string_view name, const OpArguments& op) {
    if (Is(name, {"aten::fill_", "aten::ones", "aten::full", "aten::ones_like"})) {
      filled_ = true;
      negative_ = op.values.size() > 1 && op.values[1].starts_with("-");
      part_ = Part::kNone;
      return !applied_;
    }
    if (Is(name, {"aten::copy_", "aten::to", "aten::_to_copy", "aten::clone"})) return true;
    const auto diagonal = DiagonalOf(op);
    const bool lower = Is(name, {"aten::tril", "aten::tril_"});
    if (lower || Is(name, {"aten::triu", "aten::triu_"})) {
      if (!filled_ || part_ != Part::kNone || diagonal != (lower ? 0 : 1)) return false;
      part_ = lower ? Part::kPast : Part::kFuture;
      return true;
    }
    const bool turns = Is(name, {"aten::bitwise_not", "aten::bitwise_not_", "aten::logical_not",
                                 "aten::logical_not_"}) ||
                       (name == "aten::eq" && IsZero(op));
    if (!turns || part_ == Part::kNone) return false;
    part_ = part_ == Part::kPast ? Part::kFuture : Part::kPast;
    return true;
  }

  bool OnScores(std::string_view name, const OpArguments& op) {
    const auto tensors =
        std::ranges::count_if(op.shapes, [](const Shape& shape) { return !shape.empty(); });
    const bool copies = Is(name, {"aten::copy_", "aten::clone", "aten::to", "aten::_to_copy"});
    if (copies || tensors < 2) return true;  // scales, casts
    const auto mask =
        std::ranges::find_if(op.shapes, [&](const Shape& shape) { return IsMask(shape); });
    if (applied_ || mask == op.shapes.end()) return false;
    Part wanted = Part::kNone;
    if (Is(name, {"aten::masked_fill", "aten::masked_fill_"})) wanted = Part::kFuture;
    if (name == "aten::where" && op.shapes.size() == 3 && mask == op.shapes.begin())
      wanted = AreScores(op.shapes[1]) ? Part::kPast : Part::kFuture;
    if (Is(name, {"aten::add", "aten::add_"}) && negative_) wanted = Part::kFuture;
    applied_ = wanted != Part::kNone && part_ == wanted;
    return applied_;
  }

  const FusionCalls& in_;
  std::int64_t rows_;
  double scores_;
  bool filled_ = false, negative_ = false, applied_ = false;
  Part part_ = Part::kNone;
};

}  // namespace

bool HasCausalMask(const FusionCalls& in, const FusionInstance& attention) {
  const Shape& scores = attention.scores;
  if (scores.size() < 3 || scores.back() != scores[scores.size() - 2]) return false;
  const auto is_softmax = [&](std::uint32_t call) {
    return ContainsNoCase(in.NameOf(call), "softmax");
  };
  const auto softmax = std::ranges::find_if(attention.calls, is_softmax);
  if (softmax == attention.calls.end() || attention.scope.backward) return false;
  for (const std::vector<std::uint32_t>& thread : in.threads()) {
    const auto end = std::ranges::find(thread, *softmax);
    if (end == thread.end()) continue;
    MaskReader reader(in, scores);
    bool scored = false;
    for (auto at = end - std::min(end - thread.begin(), kMakingMost); at != end; ++at) {
      if (*at == attention.calls.front())
        scored = true;
      else if (!reader.Take(*at, scored))
        return false;
    }
    return reader.applied();
  }
  return false;
}

}  // namespace jarvis::findings
