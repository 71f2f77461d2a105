#include "findings/one/rule_rows.h"

#include <algorithm>
#include <iterator>

namespace jarvis::findings {
namespace {

constexpr RuleRow kRows[] = {
    {Pattern::kTf32Off,
     "Products of fp32 tensors whose kernels are fp32 ones by name (`sgemm`, `simt`, `ffma`, "
     "Tensile "
     "of type S) on a device with TF32 or XF32 units",
     "on fp32 kernels ({kernel}) at {tflops_achieved}; the TF32 rate of the device is {tf32_peak}",
     "Allow TF32: `torch.set_float32_matmul_precision(\"high\")`, or "
     "`torch.backends.cuda.matmul.allow_tf32 = True`. Inputs of products are then rounded to 10 "
     "bits of mantissa. Autocast to bf16 goes further where accuracy allows it.",
     "The same without touching the code: set {environment} before the program starts.",
     "Products of fewer bits; kernels that use TF32 already; devices without such units.",
     "35, 50 and 60 % of the TF32 peak, never faster than memory",
     "dense TF32 peak of the platform"},
    {Pattern::kAccidentalDouble,
     "Ops on fp64 tensors outside of products, in a trace whose products run in fewer bits",
     "on fp64 tensors, while the model's products run in {model_type}; the first of them is "
     "{first_op}{first_place}",
     "Make the value fp32 where it enters, at {first_op}: `dtype=torch.float32` (NumPy arrays and "
     "Python floats become fp64), or one cast right after it.",
     "", "Traces whose own products are fp64; scalars and single elements.",
     "half of the time: half of the bytes", "bytes of an element"},
    {Pattern::kOldKernel,
     "Products on kernels for operands that are not aligned (`align1`, `align2`) or of an older "
     "architecture than the trace's newest, with a size that 16 bytes do not divide",
     "on {kernel}, at {tflops_achieved}: size {sizes} is no multiple of {multiple_of}",
     "Pad {sizes} to {padded}: then the library takes its regular kernels. Where the size comes "
     "from "
     "the input (tokens, classes), pad it there once and mask the rest.",
     "", "Products that memory bounds; attention in parts, which is one finding of its own.",
     "the best aligned product of the trace of the same type, else a large product's share of the "
     "peak",
     "this trace; large-product share"},
    {Pattern::kUnfusedAttention,
     "A product, then scaling, mask, softmax, dropout and a second product in launch order whose "
     "shapes fit, forward or backward; module names are not needed",
     "as {kernels_per_instance} kernels, with scores of {score_shape} through memory (head size "
     "{head_size}),",
     "Use `torch.nn.functional.scaled_dot_product_attention` (for transformers: "
     "`attn_implementation=\"sdpa\"`); masks and biases go in as `attn_mask`.",
     "", "Attention that a flash or FMHA kernel does already; at most 32 queries or keys.",
     "what fused kernels reach on the device at this head size, and 60 % of it",
     "the table of published rates below"},
    {Pattern::kSlowAttentionKernel,
     "A fused attention kernel below 80 % of the published rate of another one for the device and "
     "head size",
     "with {kernel} at {tflops_achieved} (head size {head_size}); {reference} reach "
     "{target_tflops}",
     "Choose the backend: {choice}. If the attention is meant to be causal, pass "
     "`is_causal=True`: that halves the work.",
     "{switch}", "Few queries; the published kernels themselves; short sequences.",
     "the published rate, and 85 % of it", "the table of published rates below"},
    {Pattern::kFewQueries,
     "Attention of at most 32 queries against at least 16 times as many keys, or the reverse, "
     "below "
     "half of the bandwidth",
     "for {queries} queries against {keys} keys at {tb_s_achieved}: few blocks walk through all "
     "keys",
     "Use a kernel that splits the keys (flash-decoding, `torch.nn.attention.flex_attention`), or "
     "fold heads and batch into the rows of two products.",
     "Try the other backends of `scaled_dot_product_attention` (`torch.nn.attention.sdpa_kernel`): "
     "for such shapes the one that is chosen by default is often not the fastest.",
     "Paged decoding, whose kernels split the keys already.", "25, 40 and 50 % of the bandwidth",
     "share of the platform's bandwidth"},
    {Pattern::kSlowerThanSiblings,
     "Products that arithmetic bounds, slower than another product of the trace of the same type "
     "and "
     "similar size, or than large products on this device usually are",
     "at {tflops_achieved} with {kernel}; {reference} reach {target_tflops}",
     "Merge products that share their input (Q, K and V; gate and up). {fp8}",
     "Tune the library for these sizes: {tuning}.",
     "Short products, few rows, unaligned sizes (rules of their own).",
     "the best sibling, at most the usual rate of large products; 85 % of it for the least saving",
     "this trace; measured or usual share of the peak"},
    {Pattern::kWeightBound,
     "Products of few rows against a large weight, below 80 % of the bandwidth",
     "for M = {rows}: weights are read at {tb_s_achieved}, {bandwidth_percent} of the bandwidth",
     "More rows for each reading of the weights (larger batch), or fewer bits a weight (fp8, "
     "int4), "
     "where accuracy allows it.",
     "Tune the library for few rows: {tuning}; kernels that split K.",
     "Weights that fit the caches; products below 5 us.", "80 % of the bandwidth, and 68 %",
     "share of the platform's bandwidth"},
    {Pattern::kParameterCast,
     "A copy between number formats whose shape is that of a weight of a product, in many calls",
     "casting {shape} from {from} to {to} in {calls} calls: the shape is that of a weight",
     "Cast the parameter once, before the loop (`model.to(...)`, a cached copy); inside autocast, "
     "keep its cache on.",
     "", "Training, where weights change in each step; fewer than four calls.",
     "all but one of the calls", "calls in this trace"},
    {Pattern::kSumOfOne, "A sum, mean, max or similar over a dimension of size one",
     "reducing dimension {dimension} of {shape}, which has one element: it only copies",
     "Replace the reduction by `squeeze({dimension})`, which moves nothing.", "",
     "Reductions that change the type.", "all of its time", "it moves data and computes nothing"},
    {Pattern::kFewRowsNorm,
     "A normalisation whose grid has fewer blocks than a quarter of the compute units",
     "in grids of {blocks} blocks on {compute_units} compute units",
     "Let `torch.compile` generate a reduction that splits the rows, or normalise more rows in one "
     "call.",
     "Use a kernel that gives several blocks to a row.", "Short kernels.",
     "twice and four times as fast", "blocks against compute units"},
    {Pattern::kSlowDownProjection,
     "In replayed or unmodelled mixtures of experts: the product after the one with the gated "
     "activation takes more than 0.63 of its time, though gate and up have twice its weights",
     "with a down projection ({kernel}, {down_ms}) of {down_us} a call against {up_us} for gate "
     "and "
     "up, whose weights are twice as large",
     "",
     "Give the down projection a kernel for its own sizes: other block sizes, K split over more "
     "blocks. At the rate at which gate and up read their weights it would take {target_us} a "
     "call.",
     "Products whose sizes are known: they are held against the bandwidth.",
     "half of the time of gate and up", "the same layer's gate and up in this trace"},
    {Pattern::kTableCast,
     "In a replayed graph: a generated kernel that only casts, repeated with one shape in which no "
     "size is the number of rows of the step's products",
     "casting {shape} from {from} to {to} {calls} times a replay, once a layer or so: the shape "
     "does "
     "not depend on the requests",
     "Cast the table once when the model is loaded, and keep the result (a buffer in {to}, "
     "registered with the module).",
     "", "Training; shapes that have the rows of the step.", "all but one of the calls",
     "calls in this trace"},
    {Pattern::kShortKernelChain,
     "In a replayed graph: kernels of less than 10 us that follow each other and are neither "
     "products nor attention nor communication",
     "in chains of kernels of less than {short_us}, {kernels} in all: {chains}. A chain takes "
     "{each_us}, each kernel about as long as starting one does, whatever it computes",
     "Fuse each chain into one kernel: {fusions}.", "", "Single short kernels between large ones.",
     "one kernel a chain that takes as long as the chain's longest; 85 % of that at most",
     "the chains in this trace"},
    {Pattern::kSlowDecodeAttention,
     "In a replayed graph: attention of a decode step whose cached tokens are known, below 60 % of "
     "the bandwidth",
     "reading {tokens} cached tokens of {requests} requests at {tb_s_achieved}, "
     "{bandwidth_percent} of "
     "the bandwidth{grid}",
     "Keep keys and values in fp8, where accuracy allows it: half of the bytes.",
     "Size the splits of the keys for the context that there is, not for the longest that the "
     "server "
     "allows (a graph is captured with one grid for all), or try another attention backend.",
     "Prefill; layers of which some see a window alone; short kernels.",
     "70 % of the bandwidth, 65 % and 60 %", "share of the platform's bandwidth"},
    {Pattern::kGraphInputCopies,
     "Copies on the device that the op around a graph launch starts beside it",
     "in copies on the device around {replays} replays, {copies} in all: a graph reads and writes "
     "at "
     "fixed addresses, so what comes from elsewhere, or goes there, is copied each time",
     "Keep what does not change from call to call (weights) and what one graph writes and another "
     "reads (saved activations) at fixed addresses: `torch.cuda.make_graphed_callables` with one "
     "memory pool for forward and backward, `torch._dynamo.mark_static_address`; then only the new "
     "batch is copied.",
     "", "Copies from and to the host; copies beside no replay.", "all of the copies, and 40 %",
     "copies in this trace"},
};

}  // namespace

std::span<const RuleRow> RuleRows() {
  return kRows;
}

const RuleRow* RuleOf(Pattern pattern) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const RuleRow& row) { return row.pattern == pattern; });
  return found == std::end(kRows) ? nullptr : found;
}

std::string FillRule(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&)) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
    out += text.substr(at, close == text.npos ? text.npos : open - at);
    if (close == text.npos) break;
    const std::string_view key = text.substr(open + 1, close - open - 1);
    const auto fact =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& one) { return one.key == key; });
    out += fact == facts.end() ? "?" : write(*fact);
    at = close + 1;
  }
  return out;
}

}  // namespace jarvis::findings
