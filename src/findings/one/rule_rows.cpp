#include "findings/one/rule_rows.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace jarvis::findings {
namespace {

constexpr RuleRow kRows[] = {
    {Pattern::kTf32Off,
     "Products of fp32 tensors whose kernels are fp32 ones by name (`sgemm`, `simt`, `ffma`, "
     "Tensile "
     "of type S) on a device with TF32 or XF32 units",
     "on fp32 kernels ({kernel})[[ at {tflops_achieved}]]; the TF32 rate of the device is "
     "{tf32_peak}",
     "[[Run it under `torch.autocast(\"cuda\", torch.bfloat16)`, where accuracy allows it; bf16 "
     "peaks at {bf16_peak}, and TF32, which one flag allows, is the smaller step.]]",
     "Set `torch.set_float32_matmul_precision(\"high\")` once at the start, which allows TF32. "
     "Without touching the code: {environment} in the environment. Inputs of products are then "
     "rounded to 10 bits of mantissa.",
     "Products of fewer bits; kernels that use TF32 already; devices without such units.",
     "35, 50 and 60 % of the TF32 peak, never faster than memory; without shapes from the fp32 "
     "peak, "
     "at most",
     "dense TF32 peak of the platform"},
    {Pattern::kAccidentalDouble,
     "Ops on fp64 tensors outside of products, in a trace whose products run in fewer bits",
     "on fp64 tensors, while the model's products run in {model_type}; the first of them is "
     "{first_op}{first_place}",
     "Make the value fp32 where it enters, at {first_op}: `dtype=torch.float32`. NumPy arrays and "
     "Python floats become fp64; one cast right after it does as well.",
     "", "Traces whose own products are fp64; scalars and single elements.",
     "half of the time: half of the bytes", "bytes of an element"},
    {Pattern::kOldKernel,
     "Products on kernels for operands that are not aligned (`align1`, `align2`) or of an older "
     "architecture than the trace's newest, with a size that 16 bytes do not divide",
     "on {kernel}, at {tflops_achieved}: size {sizes} is no multiple of {multiple_of}",
     "Pad {sizes} to {padded}. Then the library takes its regular kernels; where the size comes "
     "from the input (tokens, classes), pad it there once and mask the rest.",
     "", "Products that memory bounds; attention in parts, which is one finding of its own.",
     "the best aligned product of the trace of the same type, else a large product's share of the "
     "peak",
     "this trace; large-product share"},
    {Pattern::kUnfusedAttention,
     "A product, then scaling, mask, softmax, dropout and a second product in launch order whose "
     "shapes fit, forward or backward; module names are not needed. Without shapes a softmax "
     "between "
     "two products of one module",
     "as {kernels_per_instance} kernels, with scores [[of {score_shape} ]]through memory[[, "
     "{frames} "
     "frames of {patches} patches in a sequence]][[, head size {head_size}]][[; {odd} is no "
     "multiple "
     "of 8, so its products run on {odd_kernel}]],",
     "Call `torch.nn.functional.scaled_dot_product_attention`[[ in {file}]]. It replaces the "
     "product, softmax and product[[ of {place}]]; {masks}.",
     "[[Check `num_frames` first: the model cuts a video into {groups} sequences, and {frames} "
     "frames "
     "share each. A frame has {patches} patches; with {groups} frames in all, one in a sequence, "
     "this takes {option} less, other inputs given.]] [[{flag}.]]",
     "Attention that a flash or FMHA kernel does already; at most 32 queries or keys.",
     "what fused kernels reach on the device at this head size, and 60 % of it; without shapes the "
     "time between the products and at most half of theirs",
     "the table of published rates below"},
    {Pattern::kSlowAttentionKernel,
     "A fused attention kernel below 80 % of the published rate of another one for the device and "
     "head size",
     "with {kernel} at {tflops_achieved} (head size {head_size}); {reference} reach "
     "{target_tflops}",
     "Call {choice} in the module. [[The mask is not causal: if it is meant to be, "
     "`is_causal=True` halves the work, {causal_ms} of GPU time by itself.]]",
     "Use {switch}.", "Few queries; the published kernels themselves; short sequences.",
     "the published rate, and 85 % of it", "the table of published rates below"},
    {Pattern::kFewQueries,
     "Attention of at most 32 queries against at least 16 times as many keys, or the reverse, "
     "below "
     "half of the bandwidth",
     "for {queries} queries against {keys} keys at {tb_s_achieved}[[: few blocks walk through all "
     "{walk} keys]]",
     "Write this call as two batched products (`torch.bmm`) with the softmax between them. The "
     "scores of so few {few} are small; `sdpa_kernel(SDPBackend.MATH)` around this call alone "
     "computes it so.[[ A kernel that splits the {walk} keys (flash-decoding) does as well.]]",
     "", "Paged decoding, whose kernels split the keys already.",
     "25, 40 and 50 % of the bandwidth", "share of the platform's bandwidth"},
    {Pattern::kSlowerThanSiblings,
     "Products that arithmetic bounds, slower than another product of the trace of the same type "
     "and similar size",
     "at {tflops_achieved} with {kernel}; {reference} reach {target_tflops}",
     "[[Merge products that share their input: {merge}.]] [[Run them in fp8, where accuracy "
     "allows it: {option}.]]",
     "[[{tuning}.]]",
     "Short products, few rows, unaligned sizes (rules of their own); products that no sibling "
     "outruns (the next rule).",
     "the best sibling, at most the usual rate of large products; 85 % of it for the least saving",
     "this trace"},
    {Pattern::kBelowLargeProducts,
     "Products that arithmetic bounds, slower than large products on this device usually are, "
     "while none of the trace is faster",
     "at {tflops_achieved} with {kernel}; {reference} reach {target_tflops}[[; by clock or "
     "power [inferred] one kernel takes {fastest} to {slowest} for this one shape]]",
     "[[Merge products that share their input: {merge}.]] [[Run them in fp8, where accuracy "
     "allows it: {option}.]]",
     "[[{tuning}.]]", "Short products, few rows, unaligned sizes (rules of their own).",
     "the usual rate of large products; 85 % of it for the least saving",
     "measured or usual share of the peak"},
    {Pattern::kWeightBound,
     "Products of few rows against a large weight, below 80 % of the bandwidth",
     "for M = {rows}: weights are read at {tb_s_achieved}, {bandwidth_percent} of the bandwidth",
     "Store the weights in fp8, where accuracy allows it[[: {option}]]. A larger batch reads them "
     "once for more rows.",
     "[[{tuning}. ]]Kernels that split K give more of the GPU something to do.",
     "Weights that fit the caches; products below 5 µs.", "80 % of the bandwidth, and 68 %",
     "share of the platform's bandwidth"},
    {Pattern::kParameterCast,
     "A copy between number formats whose shape is that of a weight of a product, in many calls",
     "casting {shape} from {from} to {to} in {calls} calls: the shape is that of a weight",
     "Cast the parameter once, before the loop (`model.to(...)`, a cached copy). Inside autocast, "
     "keep its cache on.",
     "", "Training, where weights change in each step; fewer than four calls.",
     "all but one of the calls", "calls in this trace"},
    {Pattern::kParameterQuantised,
     "An op that quantises a tensor whose shape is that of a weight of a product, in many calls",
     "quantising {shape} in {calls} calls: the shape is that of a weight",
     "Quantise the weights once, when they are loaded, and keep them with their scales.", "",
     "Training, where weights change in each step; fewer than four calls.",
     "all but one of the calls", "calls in this trace"},
    {Pattern::kSumOfOne, "A sum, mean, max or similar over a dimension of size one",
     "reducing dimension {dimension} of {shape}, which has one element: it only copies",
     "Replace the reduction by `squeeze({dimension})`, which moves nothing.", "",
     "Reductions that change the type.", "all of its time", "it moves data and computes nothing"},
    {Pattern::kFewRowsNorm,
     "A normalisation whose grid has fewer blocks than a quarter of the compute units",
     "in grids of {blocks} blocks on {compute_units} compute units", "",
     "Compile the normalisation (`torch.compile`): its kernels split a row or channel over several "
     "blocks.",
     "Kernels of less than 10 µs.", "twice and four times as fast", "blocks against compute units"},
    {Pattern::kSlowDownProjection,
     "In replayed or unmodelled mixtures of experts: the product after the one with the gated "
     "activation takes more than 0.63 of its time, though gate and up have twice its weights",
     "with a down projection ({kernel}, {down_ms}) of {down_us} a call against {up_us} for gate "
     "and up, whose weights are twice as large[[: they are read at {down_tb_s} against {up_tb_s}, "
     "{hit}]]",
     "",
     "{knob}. At the rate at which gate and up read their weights it would take {target_us} a "
     "call.[[ Both products at 80 % of the bandwidth would save {option}: a bound, which other "
     "kernels would have to reach.]]",
     "Products whose sizes are known: they are held against the bandwidth.",
     "half of the time of gate and up", "the same layer's gate and up in this trace"},
    {Pattern::kTableCast,
     "In a replayed graph: a generated kernel that only casts, repeated with one shape in which no "
     "size is the number of rows of the step's products",
     "casting {shape} from {from} to {to} {calls} times a replay, once a layer or so: the shape "
     "does "
     "not depend on the requests",
     "Cast the table once when the model is loaded, and keep it as a buffer in {to}. [[{owner}.]]",
     "", "Training; shapes that have the rows of the step.", "all but one of the calls",
     "calls in this trace"},
    {Pattern::kShortKernelChain,
     "In a replayed graph: kernels of less than 10 µs, and pointwise ones of any length where "
     "nothing "
     "is compiled, that follow each other and are neither products nor attention nor communication",
     "in chains of kernels[[ of less than {short_us}]], {kernels} kernels in all: {chains}. The "
     "first "
     "takes "
     "{each_us}[[, {floor}]]",
     "{fusions}.", "", "Single short kernels between large ones.",
     "one kernel a chain that takes as long as the chain's longest; 85 % of that at most",
     "the chains in this trace"},
    {Pattern::kSlowDecodeAttention,
     "In a replayed graph: attention of a decode step whose cached tokens are known, below 60 % of "
     "the bandwidth",
     "reading {tokens} cached tokens of {requests} requests at {tb_s_achieved}, "
     "{bandwidth_percent} of "
     "the bandwidth{grid}",
     "Keep keys and values in fp8, where accuracy allows it[[: {option}]].", "{backend}.",
     "Prefill; layers of which some see a window alone; short kernels.",
     "70 % of the bandwidth, 65 % and 60 %", "share of the platform's bandwidth"},
    {Pattern::kNarrowNorm,
     "A normalisation over at most 256 elements a row, of many rows, below half of the bandwidth, "
     "as "
     "that of queries and keys by head (QK-norm) in a decoder",
     "over rows of {width} elements, {rows} of them, at {tb_s_achieved}: a block for so short a "
     "row "
     "leaves most of its threads without work [inferred]",
     "[[{by_hand}.]]", "[[{setting}.]]", "Rows of a whole hidden size.",
     "50, 65 and 80 % of the bandwidth", "share of the platform's bandwidth"},
    {Pattern::kEagerChains,
     "Chains of elementwise ops, reductions, norms and copies whose shapes fit, in the modules of "
     "a "
     "model that is not compiled",
     "as separate kernels, which hand data on through memory ({parts}),",
     "[[Call one kernel a chain in the model's code: {by_hand}.]]",
     "Compile {part}. One kernel a chain is left, and the code stays.",
     "Compiled models; servers with settings of their own; PyTorch before 2; chains of low "
     "confidence.",
     "the bytes of the chain without what only passes through, at the bandwidth of today and of "
     "the "
     "trace's best simple op",
     "traffic of the chain"},
    {Pattern::kHalfPrecisionOff,
     "Products and convolutions on fp32 kernels by name, those of replayed graphs and compiled "
     "functions too, on a device whose tensor cores take fp16 but no TF32 (Volta, Turing)",
     "on fp32 kernels, the longest {kernel}; the tensor cores, which take fp16, do nothing",
     "Run the fp32 work in fp16[[: {autocast}]][[ with {scaler}]][[; "
     "convolutions also in channels_last: {layout}]]. [[{capture}.]] [[Pad {sizes} to multiples of "
     "8, or the "
     "tensor cores are left out.]] [[{benchmark}]]",
     "", "Devices with TF32 (a flag is enough) or without tensor cores; products of fewer bits.",
     "40, 60 and 75 % of the time of these kernels",
     "published speedups of mixed precision on V100, 1.5 to 5.5 times (PyTorch blog on AMP, 2020)"},
    {Pattern::kGraphInputCopies,
     "Copies on the device that an op or function makes beside its launch of a CUDA or HIP graph, "
     "at least eight a launch",
     "beside {launches} replays of graphs, {copies_per_launch} a replay[[, {bytes} in all]]: they "
     "fill the graphs' fixed inputs and take their outputs out",
     "",
     "Capture the producers as well (`torch.cuda.make_graphed_callables` over a larger part). They "
     "then write into the graphs' input buffers; weights and saved activations go in as static "
     "inputs, which are not copied, with forward and backward captured together.",
     "Graphs of engines that copy a few indices; uploads from the host.",
     "50, 90 and 100 % of the copies", "copies in this trace"},
    {Pattern::kCollectiveCopies,
     "Copies on the device right before or behind a collective on its stream, at least eight",
     "right before and behind {collectives} collectives by {kernel}",
     "Reduce in place, in one buffer (`torch.distributed._symmetric_memory.empty`). The product "
     "before writes into it, and the op behind reads from it; with NCCL a registered buffer.",
     "[[{server}.]]", "Copies that other work hides; buckets of DDP and FSDP.",
     "50, 80 and 100 % of the copies", "copies in this trace"},
    {Pattern::kEpilogueLeft,
     "A pointwise kernel that a compiler generated for an activation, right behind a product on "
     "its "
     "stream",
     "right behind a product ({product}), whose output it reads again at {tb_s_achieved}", "",
     "Compile with `mode=\"max-autotune\"`[[, {joined}]]. Of its products Triton's compute the "
     "activation in their epilogue; it chooses them where they are as fast as the library's.",
     "Reductions; kernels below 10 µs; kernels that a library's op launches.",
     "up to 90 % of its time, what it reads again; nothing where the library's product is faster",
     "traffic of the kernel"},
    {Pattern::kEmbeddingBackward,
     "The backward pass of an embedding table on fp32 gradients: FBGEMM's, which updates the rows, "
     "or PyTorch's dense ones",
     "on {type} gradients[[, {sort_percent} of it in sorting indices]]",
     "Hold the rows and their gradients in 16 bits, where accuracy allows it[[: {setting}]]. "
     "[[{output}.]] [[{sparse}.]] Look up a larger batch at once: rows that occur again are "
     "updated "
     "once.",
     "", "Tables and gradients of 16 bits; short kernels.",
     "25, 40 and 50 % of the time outside of the sorts, for the most without the sorts",
     "bytes of an element, time in this trace"},
    {Pattern::kCutExperts,
     "A server whose mixture of experts is cut by tensor parallelism: each rank holds a slice of "
     "every expert",
     "on slices of the experts, 1/{ranks} of each on every rank, which kernels pad to whole "
     "tiles[[: padded weights are read at {tb_s_achieved}, {bandwidth_percent} of the bandwidth, "
     "if "
     "routing is even]]",
     "",
     "Start {setting}. Each rank then holds whole experts, whose sizes fill tiles; tokens are "
     "exchanged instead of sums, and which is faster only a run with both tells.",
     "Experts in parallel already; a smaller part of computing.", "none: no saving is claimed",
     "sizes of slices are not recorded"},
    {Pattern::kRecompute,
     "Host frames in which `torch.utils.checkpoint` runs the forward pass again during backward; "
     "without Python frames forward ops (convolution, linear, norm, attention) below an autograd "
     "node",
     "of GPU time and {host_ms} of host time, which counts where the host binds[[; the device has "
     "{memory} of memory, which the trace does not show to be full]]"
     "[[; {statistics}]]",
     "",
     "Switch checkpointing off where the activations fit, by the trainer's flag or without its "
     "wrappers. [[These are {wrapper} modules. ]]{effect}. Raise the batch only after that.",
     "Inference; a backward pass that is differentiated itself.", "all of the recomputed work",
     "time in this trace"},
    {Pattern::kRepeatedPass,
     "Inference: a root module called at least three times in a step, on inputs of equal shapes "
     "and "
     "batch 1, with host work of the same kind before each call",
     "in {passes} passes on inputs of equal shape, each with the same preparation on the host "
     "before "
     "it ({each_ms} a pass and its preparation)",
     "[[{call}. ]]Prepare and encode once what the passes share, and run what differs in one call. "
     "That they share an input is inferred from equal shapes: where each has its own, a batch "
     "saves "
     "launches only, each is prepared all the same.",
     "", "Steps of generation, denoising or training; passes on other shapes.",
     "all passes but one at most; without batching gains on the GPU at least the host's part",
     "time in this trace"},
    {Pattern::kEqualCopies,
     "Inference: `repeat_interleave` or `repeat` of a large tensor of one row to a batch, in at "
     "least "
     "four iterations, then products and simple ops over all copies until the first product that "
     "writes something of their width, or a normalisation of them",
     "in {iterations} iterations: {op} makes equal copies of {shape}, and {products} products, "
     "with "
     "adds and copies before them, compute on each copy before anything differs",
     "Compute these products once, before the tensor is repeated, and broadcast the results "
     "(`expand`). Keep them over the iterations if the tensor stays the same; that the copies are "
     "equal until then follows from shapes alone.",
     "", "Training; tensors that differ before the products (masks added to them).",
     "50, 80 and 95 % of this work", "copies of equal content, inferred from shapes"},
    {Pattern::kSharedInput,
     "Eager inference whose GPU has nothing to do for more than half of the step: products of "
     "equal "
     "sizes that follow each other in one module, two of them or, of square weights, three",
     "in {groups} groups of {products}, each group of one input {input}; all but the first of each "
     "take {host_each_ms} of the host",
     "Join the weights that read one input into one {layer} when the model is loaded; split its "
     "output. One call and one kernel then do the work of {products}.",
     "", "Training; compiled code and servers; layers of a Sequential.",
     "all but one of the products' host time and launches; a kernel as fast as a product of that "
     "width in this trace, and half of it all for the least saving",
     "calls of this trace"},
    {Pattern::kCpuCollectives,
     "A recording without GPU work: no op runs while a collective of a CPU library (gloo, MPI, "
     "UCC, oneCCL) is under way, for 5 % of the step",
     "in which no op runs: {calls}[[; {pace}]][[; {odd}]]",
     "[[Reduce gradients in every {kth} step only: `with model.no_sync():` around the others. With "
     "k = 2 half of it goes, with k = 4 three quarters. Or raise the batch of a rank. Both change "
     "the global batch, which its owner has to agree to; "
     "sending fewer bits helps only where bandwidth binds.]]",
     "Record the same steps on the fastest and the slowest ranks: `jarvis collectives` on them. It "
     "tells waiting for a late rank from the transfer. If none is late, fewer ranks or a reduction "
     "within hosts first make it shorter.",
     "Collectives that ops hide; recordings with GPU work.", "none: all of the wait is the bound",
     "time in this trace"},
    {Pattern::kCpuLoading,
     "A recording without GPU work: the loader's part takes 5 % of the step on the thread that "
     "computes",
     "before its ops can begin",
     "Load batches in processes of their own: `num_workers`, `persistent_workers=True`. The next "
     "batch is then ready when a step ends, if other cores are free for it.",
     "", "Loading below 5 % of the step; recordings with GPU work.",
     "none: all of the part is the bound", "time in this trace"},
    {Pattern::kCpuOptimizer,
     "A recording without GPU work: at least 20 ops a step in the optimizer's part, none of them "
     "foreach or fused, for 2 % of the step",
     "in {ops} ops: each parameter has ops of its own", "",
     "Build the optimizer with `fused=True`. On the CPU Adam, AdamW, SGD and Adagrad take it in "
     "recent PyTorch, and pass once over each parameter instead of once an op.",
     "Optimizers of foreach or fused ops; recordings with GPU work.",
     "none: all of its ops are the bound", "time in this trace"},
    {Pattern::kLayoutKernels,
     "A recording without ops: kernels that change NCHW to NHWC or back by name, beside "
     "convolution kernels, 3 % of computing",
     "between NCHW and NHWC, which the kernels of convolutions ask for",
     "Keep activations in NHWC: `model.to(memory_format=torch.channels_last)`, inputs as well. "
     "What writes or reads NCHW between convolutions brings transposes back.",
     "", "Recordings with ops, where the convolution's own rule tells it.",
     "60, 80 and 100 % of them", "names of kernels"},
    {Pattern::kPlanarBatchNorm,
     "A recording without ops: PyTorch's own batch norm kernels for NCHW, 3 % of computing",
     "of batch norm, whose statistics and gradients have one block a channel[[: {few_blocks}]]",
     "Run it in NHWC: `model.to(memory_format=torch.channels_last)`, inputs as well. Its kernels "
     "are others then, which cut rows among blocks, too.",
     "Compile the model: `torch.compile(model)`. Batch norm, its activation and the residual sum "
     "then become fewer kernels.",
     "Recordings with ops, where shapes tell more.", "20, 40 and 60 % of them",
     "an estimate: the trace holds no other kernel for them"},
    {Pattern::kAllocatorChurn,
     "Calls of the driver that give memory back (`cudaFree`, `hipFree`) again and again with "
     "launches between, and as many that take it",
     "in {calls} calls, {rounds} rounds of giving memory back and taking it again[[, most of it "
     "below {op}]]: {free} waits until the GPU is done, and the GPU then waits for the host",
     "Take what gives memory back out of the step; `torch.cuda.empty_cache()`, a tensor outside "
     "the caching allocator, a new stream or graph pool in each call.",
     "Set {setting}; the cache is then not flushed for lack of one large block. If memory is "
     "short, a smaller batch costs less than these calls.",
     "A cache that grows in the first steps; one flush.", "none of the calls",
     "the calls in this trace"},
    {Pattern::kInterpreterLock,
     "The launching thread is silent in Python for at least 0.1 ms, while another thread of the "
     "process runs a Python function for most of that time and not much longer",
     "in another thread of the process, in {stops} stretches of up to {longest} in which the main "
     "thread stands still: both need the interpreter's lock (GIL)",
     "Run {holder} in a process of its own, not in a thread; `multiprocessing` or `DataLoader` "
     "workers do, and so does code that releases the lock.",
     "", "Threads that wait (locks, queues, sockets) hold no lock.", "none of the stretches",
     "the stretches in this trace"},
    {Pattern::kPythonStops,
     "The launching thread is silent in Python between two calls for at least 0.1 ms and 20 times "
     "what it takes at that place as a rule, in at most a quarter of the visits",
     "in {stops} stops of up to {longest}, the longest in {place}, where as a rule there is almost "
     "nothing between the two calls",
     "Call `gc.freeze()` after set-up and `gc.disable()` around the loop; `gc.collect()` goes "
     "where "
     "a pause does no harm. If stops of this length stay, look for other work on these cores "
     "(`perf sched timehist`).",
     "Keep other programs off the cores (`taskset`, `numactl`), which tells the other cause apart.",
     "Places that are long each time; profiler events; first calls.", "none of the stops",
     "other visits of the place in this trace"},
    {Pattern::kClockDrop,
     "From one moment on the kernels that also run before it take longer, most of their time by "
     "about one factor of at least 1.08",
     "from {from} of {of} on: {kernels} kernels that run before it, too, take {factor} times as "
     "long, as they do when the GPU lowers its clock [inferred]",
     "",
     "Find what lowers the clock while the program runs; `nvidia-smi -q -d "
     "CLOCK,POWER,PERFORMANCE` "
     "(AMD: `rocm-smi --showclocks --showpower --showtemp`) says. Raise the power limit, improve "
     "cooling, take other work off the GPU, or lock a clock that it can hold (`nvidia-smi -lgc`), "
     "so that steps compare.",
     "Kernels of which some get slower and others do not.", "what the same kernels take before",
     "the same kernels in this trace"},
    {Pattern::kNarrowerPrecision,
     "Products or convolutions on TF32 kernels for at least 15 % of the GPU's time, next to none "
     "in "
     "16 bits, on a device whose bf16 rate is at least 1.5 times its TF32 rate",
     "with what memory bounds between them, all on operands of 32 bits: the device computes TF32 "
     "at "
     "{tf32_peak}, bf16 at {bf16_peak}, and 16 bits are half of the bytes",
     "Run the forward pass under `torch.autocast(\"cuda\", torch.bfloat16)`, where accuracy allows "
     "it[[; convolutions in NHWC as well: {layout}]].",
     "", "Fp32 kernels, which have a rule of their own; programs in mixed precision.",
     "twice the rate for products, half of the bytes for the rest, at best", "dense peaks"},
    {Pattern::kSlowCalls,
     "Calls of one op with equal sizes and types, of which at most 40 % take more than three times "
     "the median and the excess is at least 2 % of computing",
     "in {slow} of {calls} calls of equal sizes: {slow_us} against {usual_us}, {times} times as "
     "long[[; their strides are {strides}, those of the others {usual_strides}]][[; they run on "
     "{slow_kernel}, the others on {kernel}]][[; called in {where}]]",
     "Bring these calls to what the others take; compare layout, alignment and values of their "
     "inputs.[[ With strides {strides} they read across rows: make the input contiguous where it "
     "is "
     "made (`.contiguous()`, or a layout that the next op reads along).]]",
     "", "Ops whose work hangs on values: attention over lengths, experts, sorting, indexing.",
     "the other calls; half of the difference for the least saving", "the same op in this trace"},
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

namespace {

// A stretch of a rule's text without brackets; `all`: every key had a fact.
std::string FillPart(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&), bool* all) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
    out += text.substr(at, close == text.npos ? text.npos : open - at);
    if (close == text.npos) break;
    const std::string_view key = text.substr(open + 1, close - open - 1);
    const auto fact =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& one) { return one.key == key; });
    const std::string value = fact == facts.end() ? std::string() : write(*fact);
    // A place may be unknown: the sentence stands without it.
    *all = *all && fact != facts.end() && (!value.empty() || fact->unit == "place");
    out += fact == facts.end() ? "?" : value;
    at = close + 1;
  }
  return out;
}

}  // namespace

std::string FillRule(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&)) {
  std::string out;
  bool all = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("[[", at);
    const std::size_t close = open == text.npos ? text.npos : text.find("]]", open);
    out +=
        FillPart(text.substr(at, close == text.npos ? text.npos : open - at), facts, write, &all);
    if (close == text.npos) break;
    all = true;
    const std::string part = FillPart(text.substr(open + 2, close - open - 2), facts, write, &all);
    if (all) out += part;
    at = close + 2;
  }
  return std::string(Trim(out));
}

}  // namespace jarvis::findings
