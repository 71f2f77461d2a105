// Matrix products Y(M,N) = A(M,K) B(K,N), `batch` of them.
//
//   FLOPs = batch (2 M N K [+ M N for a bias])     one multiplication and one addition a term
//   bytes = batch ((M K + K N) in + M N out [+ N out for a bias])
//
// Bytes count every operand once and the result once: the least that any implementation moves, so
// FLOPs/bytes is the most intensity it can have. FLOPs do not depend on the implementation.
// Source: the definition of the product; perf models of PyTorch profilers count the same.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "perf/roofline.h"

namespace jarvis::perf {

// A number format of matrix units.
struct Precision {
  std::string_view name;    // bf16
  double bytes;             // an element
  std::string_view result;  // what products of it are usually written as
};
std::span<const Precision> Precisions();
const Precision* FindPrecision(std::string_view name);  // null: unknown

struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  bool bias = false;
  const Precision* in = nullptr;   // of both operands; null: not known
  const Precision* out = nullptr;  // of the result
};

double FlopsOf(const Gemm& gemm);
std::optional<double> BytesOf(const Gemm& gemm);  // absent: a precision is not known
Work WorkOf(const Gemm& gemm);                    // on the matrix units of its precision

// The two products of the backward pass of Y = X W^T, where X is (M,K), W (N,K) and Y (M,N):
//   dX = dY W     (M,N)(N,K): M, K, and N inside      dW = dY^T X   (N,M)(M,K): N, K, and M inside
// In this order. Both read dY in the precision of the forward operands.
std::array<Gemm, 2> BackwardOf(const Gemm& forward);

// The linear layers of a transformer's MLP: up (d_model to d_ff) and down (d_ff to d_model). All
// tokens of a prefill are rows of one product, M = batch_size seq_len; a decode step has one token
// of each sequence, M = batch_size, however long the sequences are.
struct MlpLayer {
  std::int64_t batch_size = 1;
  std::int64_t seq_len = 1;
  std::int64_t d_model = 0;
  std::int64_t d_ff = 0;
  bool decode = false;
};
struct MlpGemms {
  Gemm up;    // K = d_model, N = d_ff
  Gemm down;  // K = d_ff, N = d_model
};
MlpGemms GemmsOf(const MlpLayer& layer, const Precision& in, const Precision& out);

}  // namespace jarvis::perf
