#include "findings/one/workload_batch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/workload_unet.h"

namespace jarvis::findings {
namespace {

class BatchTeller {
 public:
  BatchTeller(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out)
      : facts_(facts), sizes_(sizes), out_(*out) {}

  void Input() {
    if (!sizes_.image && sizes_.made) {
      out_.Set(WorkloadPart::kInput,
               fmt::format("output {} x {} pixels", sizes_.made->first, sizes_.made->second),
               Certainty::kRecorded, "convolution to three channels");
      return;
    }
    if (!sizes_.image) return;
    const ImageSizes& image = *sizes_.image;
    std::string text = fmt::format("{} x {} pixels", image.height, image.width);
    if (image.patch > 0) text += fmt::format(", patches of {0} x {0}", image.patch);
    out_.Set(WorkloadPart::kInput, std::move(text), Certainty::kRecorded,
             "input of the first convolution");
  }

  void Batch() {
    if (sizes_.image) return ImageBatch();
    const bool images = ContainsNoCase(out_[WorkloadPart::kFamily].value, "convolutional");
    if (images && BatchOfCopies()) return;
    if (sizes_.rows_are_no_batch) return;
    const AttentionSizes* attention = sizes_.Attention();
    const std::int64_t tokens = sizes_.tokens.value_or(0);
    if (attention != nullptr && attention->queries > 0) {
      const std::int64_t length = attention->queries;
      // Batch by tokens of one pass, where the products have all of them as rows.
      if (attention->batch && (*attention->batch * length == tokens || tokens % length != 0)) {
        return SetBatch(*attention->batch, length, attention->keys, "attention's operands");
      }
      if (tokens > 0 && tokens % length == 0 && tokens / length < 65536) {
        return SetBatch(tokens / length, length, attention->keys,
                        "rows of the GEMMs by length of the attention");
      }
      if (attention->batch)
        return SetBatch(*attention->batch, length, attention->keys, "attention's operands");
    }
    if (sizes_.has_experts && tokens > 0) {
      const bool shared = facts_.trace.trace().metadata.world_size.value_or(1) > 1;
      out_.Set(WorkloadPart::kBatch, fmt::format("{} tokens{}", tokens, shared ? " per rank" : ""),
               Certainty::kRecorded, "rows of the longest GEMMs");
    } else if (tokens > 0) {
      if (ContainsNoCase(out_[WorkloadPart::kFamily].value, "transformer")) {
        out_.Set(WorkloadPart::kBatch, fmt::format("{} tokens", tokens), Certainty::kInferred,
                 "rows of the longest GEMMs");
      } else {
        BatchOfRows(images, tokens);
      }
    } else {
      BatchOfTensor();
    }
  }

  // Rows of products are the batch unless convolutions have another one, as where products work on
  // time steps or places of maps.
  void BatchOfRows(bool images, std::int64_t rows) {
    const std::int64_t convolved = images ? BatchOfConvolutions(facts_) : 0;
    if (convolved > 0 && convolved != rows) {
      out_.Set(WorkloadPart::kBatch, fmt::format("batch {}", convolved), Certainty::kRecorded,
               "inputs of the convolutions");
      return;
    }
    const std::set<std::int64_t> others = OtherRows(rows);
    if (others.size() > 2) return;
    std::string text;
    for (const std::int64_t one : others)
      text += fmt::format("{}{}", text.empty() ? "batch " : " and ", one);
    out_.Set(WorkloadPart::kBatch, std::move(text), Certainty::kInferred,
             "rows of the longest GEMMs");
  }

  // With those that much of the products' time has: steps that act and steps that learn have
  // batches of their own. Widths of layers are rows of the products that make gradients.
  std::set<std::int64_t> OtherRows(std::int64_t rows) const {
    constexpr double kMuch = 0.3;  // of the time of the rows with the most
    std::map<std::int64_t, double> by_rows;
    std::set<std::int64_t> widths;
    for (const GemmSizes& gemm : sizes_.gemms) {
      by_rows[gemm.m] += gemm.gpu_us;
      if (gemm.m == rows) widths.insert({gemm.n, gemm.k});
    }
    std::set<std::int64_t> all = {rows};
    for (const auto& [other, us] : by_rows) {
      if (us >= kMuch * by_rows[rows] && !widths.contains(other)) all.insert(other);
    }
    return all;
  }

  static bool IsSquare(std::int64_t bytes, std::int64_t type_bytes) {
    constexpr std::int64_t kSideLeast = 32, kSideMost = 2048;
    const auto side = static_cast<std::int64_t>(
        std::llround(std::sqrt(static_cast<double>(bytes) / static_cast<double>(type_bytes))));
    return side * side * type_bytes == bytes && side >= kSideLeast && side <= kSideMost &&
           side % 8 == 0;
  }

  // Images and their labels, which are 8 bytes each, are copied to the device equally often: both
  // copies tell how many there are.
  bool BatchOfCopies() {
    constexpr std::int64_t kLabelBytes = 8;
    constexpr std::int64_t kTypeBytes[] = {4, 2, 1};
    for (const auto& [bytes, count] : facts_.uploads) {
      for (const auto& [labels, label_count] : facts_.uploads) {
        const std::int64_t images = labels / kLabelBytes;
        if (count != label_count || count < 2 || labels % kLabelBytes != 0 || images < 2 ||
            bytes <= labels || bytes % (3 * images) != 0) {
          continue;
        }
        const std::int64_t each = bytes / (3 * images);
        const bool square = std::any_of(std::begin(kTypeBytes), std::end(kTypeBytes),
                                        [&](std::int64_t type) { return IsSquare(each, type); });
        if (!square) continue;
        out_.Set(WorkloadPart::kBatch, fmt::format("batch {}", images), Certainty::kInferred,
                 fmt::format("{} copies each of {} and of {} bytes to the device", count, bytes,
                             labels));
        return true;
      }
    }
    return false;
  }

  void SetBatch(std::int64_t batch, std::int64_t length, std::int64_t keys, std::string evidence) {
    std::string text = fmt::format("batch {} x {} token{}", batch, length, length == 1 ? "" : "s");
    if (keys != length && keys > 0) text += fmt::format(" over {} keys", keys);
    out_.Set(WorkloadPart::kBatch, std::move(text), Certainty::kRecorded, std::move(evidence));
  }

 private:
  std::string TokensText(const AttentionSizes& attention) const {
    const auto stages = StagesOf(sizes_.attentions, attention);
    return stages ? FromTo(stages->queries_least, stages->queries_most)
                  : fmt::to_string(attention.queries);
  }

  void ImageBatch() {
    const ImageSizes& image = *sizes_.image;
    std::string text = fmt::format("batch {}", image.images);
    if (image.frames > 0) text += fmt::format(" x {} frames", image.frames);
    const AttentionSizes* attention = sizes_.Attention();
    if (attention != nullptr && attention->queries > 1)
      text += fmt::format(", attention over {} tokens", TokensText(*attention)) +
              FramesText(*attention);
    text += PromptsText();
    out_.Set(WorkloadPart::kBatch, std::move(text), Certainty::kRecorded,
             "input of the first convolution");
  }

  // How many frames share a sequence, as attention over space and attention over time need not
  // cut a video alike.
  std::string FramesText(const AttentionSizes& attention) const {
    const ImageSizes& image = *sizes_.image;
    if (image.frames < 2 || image.patch <= 0) return "";
    const std::int64_t patches = (image.height / image.patch) * (image.width / image.patch);
    const std::int64_t frames = patches > 0 ? attention.queries / patches : 0;
    const bool whole = frames > 1 && attention.queries - frames * patches <= 1;
    if (!whole || frames == image.frames) return "";
    return fmt::format(" (a frame has {} patches: {} frames in one sequence)", patches, frames);
  }

  // How often a decoder enlarges its masks of `batch` prompts from one size: a pass does so several
  // times, from sizes of its own. Of other batches it is another pass, as one that results are
  // compared with. Absent: no transposed convolution has its shapes.
  std::optional<std::uint64_t> EnlargingPasses(std::int64_t batch) const {
    std::optional<std::uint64_t> any, own;
    for (const ShapedOperation& one : facts_.operations) {
      if (one.kind != Kind::kConvolution || one.shapes.size() < 2) continue;
      const Shape &input = one.shapes[0], &weight = one.shapes[1];
      if (input.size() != 4 || weight.size() != 4 || weight[0] == weight[1]) continue;
      // Weights of a transposed one have the input's channels first.
      if (input[1] != weight[0]) continue;
      std::optional<std::uint64_t>& most = input[0] == batch ? own : any;
      most = std::max<std::uint64_t>(most.value_or(0), one.operation->count);
    }
    return own ? own : any;
  }

  // A promptable decoder takes points or boxes in batches of its own.
  std::string PromptsText() const {
    const std::uint64_t enlarged = Containing(facts_.ops, {"aten::conv_transpose2d"}).count;
    for (const AttentionSizes& one : sizes_.attentions) {
      if (!one.IsOfPrompts() || !one.batch || *one.batch < 2 || enlarged == 0) continue;
      const std::uint64_t passes =
          std::gcd(one.calls, EnlargingPasses(*one.batch).value_or(enlarged));
      return passes > 1 ? fmt::format(", {} mask decoder passes of {} prompts", passes, *one.batch)
                        : fmt::format(", {} prompts at once", *one.batch);
    }
    return "";
  }

  // Without products: the tensor that ops of the most GPU time have.
  void BatchOfTensor() {
    for (const ShapedOperation& one : facts_.operations) {
      if (one.shapes.empty() || one.shapes[0].size() < 2 || one.kind == Kind::kCommunication)
        continue;
      const Shape& first = one.shapes[0];
      if (first.size() == 4 && first[1] == 3 && first[2] == first[3] && first[2] >= 32) {
        out_.Set(WorkloadPart::kBatch, fmt::format("batch {}", first[0]), Certainty::kInferred,
                 "images as the first operand of " + one.operation->name);
        out_.Set(WorkloadPart::kInput, fmt::format("{0} x {0} pixels", first[2]),
                 Certainty::kInferred, "images as the first operand of " + one.operation->name);
        return;
      }
      if (facts_.shapes_are_partial()) continue;
      std::string text;
      for (const std::int64_t axis : one.shapes[0])
        text += fmt::format("{}{}", text.empty() ? "tensors of " : " x ", axis);
      out_.Set(WorkloadPart::kBatch, std::move(text), Certainty::kInferred,
               "first operand of " + one.operation->name);
      return;
    }
  }

  const WorkloadFacts& facts_;
  const WorkloadSizes& sizes_;
  Workload& out_;
};

}  // namespace

void TellBatch(const WorkloadFacts& facts, const WorkloadSizes& sizes, bool server, Workload* out) {
  BatchTeller teller(facts, sizes, out);
  teller.Input();
  if (!server) teller.Batch();
}

}  // namespace jarvis::findings
