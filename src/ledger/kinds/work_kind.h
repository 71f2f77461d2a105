// What a GPU kernel, copy or fill does, by its name alone.
//
// The names stand in names/*.json, one file per library: docs/kinds.md describes the rows. Rows are
// compiled when the first name needs them, and kept for the process.
//
// Errors: none; whatever the bytes of a name, its kind may be unknown. Time is linear in the length
// of the name. Threads: any number.
#pragma once

#include <cstdint>
#include <string_view>

namespace jarvis::ledger {

enum class WorkKind : std::uint8_t {
  kProduct,
  kConvolution,
  kAttention,
  kNormalisation,
  kSoftmax,
  kPooling,
  kElementwise,
  kReduction,
  kCast,
  kLayout,
  kCopy,      // on one device, and fills
  kHostCopy,  // between host and device: occupies no compute units
  kGather,
  kOptimizer,
  kSampling,
  kRandom,
  kCommTransfer,  // between devices, peer copies as well: bound by links, not by one GPU's memory
  kCommWait,
  kUnknown,
};
inline constexpr int kWorkKinds = static_cast<int>(WorkKind::kUnknown) + 1;

// As tables and reports print it; the rows of names/*.json spell kinds the same way.
std::string_view WorkKindText(WorkKind kind);
bool IsCommunication(WorkKind kind);
// Casts, layouts, copies: it only moves or rewrites what is there.
bool ComputesNothing(WorkKind kind);
// A pass over whole tensors, bound by memory, which neighbours on the same tensor could share.
bool IsPass(WorkKind kind);

// What decided the kind, the best evidence first.
enum class KindBasis : std::uint8_t {
  kName,         // the name of a known library's kernel
  kWords,        // only words of the name; no known library
  kOp,           // the op that launched it
  kLaunchShape,  // registers, shared memory and grid of the launch
  kNone,         // the kind is unknown
};

// Of a product: the part of its result that a block makes. The launch's grid counts blocks, so that
// both together give the sizes of the result (session/grid_sizes.h).
struct ResultTile {
  std::int64_t columns = 0, rows = 0;  // 0: the name does not tell
  bool rows_first = false;             // the grid's x counts rows
  bool of_layer = false;               // rows by a matrix of weights as layers keep it: forward
};

// Of attention: the head's size that the kernel is made for, and how many queries a block has.
struct AttentionTile {
  std::int64_t head = 0, queries = 0;  // 0: the name does not tell
  bool whole_head = false;             // the head has that size, else it is not above it
  bool whole_blocks = false;           // no block has fewer queries
  bool causal = false;                 // half of the scores are left out
};

// What a name proves of the memory that a launch must move, whatever was not recorded; 0: nothing.
struct KernelSizes {
  std::int64_t group_bytes = 0;   // of the matrix that is read for each group that has rows
  std::int64_t groups = 1;        // at most so many have rows: experts
  std::int64_t thread_bytes = 0;  // each thread moves so many, those of the last block apart
  ResultTile result;
  AttentionTile attention;
};

// All texts are views of static tables, or empty where nothing is known.
struct KernelKind {
  WorkKind kind = WorkKind::kUnknown;
  KindBasis basis = KindBasis::kNone;
  std::string_view sub;        // a finer class: "gemm", "rms norm"
  std::string_view precision;  // of the operands, only where the name proves it: "bf16"
  std::string_view library;    // the stem of the file in names/
  KernelSizes sizes;
};

// A fill, cast or copy that a library of convolutions or GEMMs runs as a part of its own call: it
// goes with the algorithm that the library chooses, and with nothing else.
bool IsLibraryHelper(const KernelKind& kind);

KernelKind ClassifyKernelName(std::string_view name);

}  // namespace jarvis::ledger
