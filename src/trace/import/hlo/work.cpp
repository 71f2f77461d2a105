#include "trace/import/hlo/work.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::hlo {
namespace {

using Numbers = Instruction::Numbers;

// A program's computations that one calls, each once: they may call each other in circles.
template <typename Visit>
void EachCalled(const Module& module, const Instruction& from, const Visit& visit) {
  constexpr std::size_t kCalledMax = 4096;
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> open(from.called.rbegin(), from.called.rend());
  while (!open.empty() && seen.size() < kCalledMax) {
    const std::int64_t id = open.back();
    open.pop_back();
    const Computation* computation = module.FindComputation(id);
    if (computation == nullptr || !seen.insert(id).second) continue;
    for (const Instruction& one : computation->instructions)
      if (visit(one)) open.insert(open.end(), one.called.rbegin(), one.called.rend());
  }
}

bool In(const Numbers& list, std::size_t at) {
  return std::ranges::find(list, static_cast<std::int64_t>(at)) != list.end();
}

// The product of the dimensions that are in none of the lists.
double Rest(const Shape& shape, const Numbers& a, const Numbers& b) {
  double product = 1;
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    if (!In(a, i) && !In(b, i)) product *= static_cast<double>(shape.dims[i]);
  }
  return product;
}

std::optional<double> Chosen(const Shape& shape, const Numbers& chosen) {
  double product = 1;
  for (const std::int64_t at : chosen) {
    if (at < 0 || static_cast<std::size_t>(at) >= shape.dims.size()) return std::nullopt;
    product *= static_cast<double>(shape.dims[static_cast<std::size_t>(at)]);
  }
  return product;
}

struct DotDimensions {
  Numbers lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};

std::optional<Product> ProductWith(const Shape& a, const Shape& b, const Shape& out,
                                   const DotDimensions& dot) {
  const auto k = Chosen(a, dot.lhs_contracting);
  const auto other_k = Chosen(b, dot.rhs_contracting);
  const auto batch = Chosen(a, dot.lhs_batch);
  if (!k || !other_k || !batch || *k != *other_k || dot.lhs_contracting.empty())
    return std::nullopt;
  return Product{.b = *batch,
                 .m = Rest(a, dot.lhs_contracting, dot.lhs_batch),
                 .n = Rest(b, dot.rhs_contracting, dot.rhs_batch),
                 .k = *k,
                 .type_a = a.type,
                 .type_b = b.type,
                 .type_out = out.type};
}

// Members of a JSON object, as MemberOf takes them.
std::string_view Inside(std::string_view object) {
  object = Trim(object);
  if (object.size() < 2 || object.front() != '{') return {};
  return object.substr(1, object.size() - 2);
}

Numbers NumbersAt(std::string_view members, std::string_view key) {
  Numbers numbers;
  for (const std::string_view one : trace::ElementsOf(trace::MemberOf(members, key)))
    numbers.push_back(trace::IntegerOf(one).value_or(-1));
  return numbers;
}

std::optional<Product> ProductOfLibrary(const Module& module, const Instruction& call) {
  if (call.operands.size() < 2) return std::nullopt;
  const Instruction* a = module.Find(call.operands[0]);
  const Instruction* b = module.Find(call.operands[1]);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const std::string_view gemm = Inside(trace::MemberOf(Inside(call.config), "gemm_backend_config"));
  const std::string_view dims = Inside(trace::MemberOf(gemm, "dot_dimension_numbers"));
  auto product = ProductWith(
      a->shape.First(), b->shape.First(), call.shape.First(),
      {NumbersAt(dims, "lhs_contracting_dimensions"), NumbersAt(dims, "rhs_contracting_dimensions"),
       NumbersAt(dims, "lhs_batch_dimensions"), NumbersAt(dims, "rhs_batch_dimensions")});
  if (!product) return std::nullopt;
  const auto beta = ParseDouble(Trim(trace::MemberOf(gemm, "beta")));
  const std::string_view epilogue = trace::Unquoted(trace::MemberOf(gemm, "epilogue"));
  product->bias = (beta && *beta != 0) || epilogue.find("BIAS") != std::string_view::npos;
  return product;
}

std::optional<Product> ProductOfDot(const Module& module, const Instruction& dot) {
  if (dot.operands.size() < 2) return std::nullopt;
  const Instruction* a = module.Find(dot.operands[0]);
  const Instruction* b = module.Find(dot.operands[1]);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return ProductWith(a->shape, b->shape, dot.shape,
                     {dot.lhs_contracting, dot.rhs_contracting, dot.lhs_batch, dot.rhs_batch});
}

bool IsArithmetic(std::string_view opcode) {
  static constexpr std::array<std::string_view, 44> kOpcodes = {"abs",
                                                                "add",
                                                                "and",
                                                                "atan2",
                                                                "cbrt",
                                                                "ceil",
                                                                "clamp",
                                                                "compare",
                                                                "complex",
                                                                "cosine",
                                                                "divide",
                                                                "erf",
                                                                "exponential",
                                                                "exponential-minus-one",
                                                                "floor",
                                                                "imag",
                                                                "is-finite",
                                                                "log",
                                                                "log-plus-one",
                                                                "logistic",
                                                                "maximum",
                                                                "minimum",
                                                                "multiply",
                                                                "negate",
                                                                "not",
                                                                "or",
                                                                "population-count",
                                                                "power",
                                                                "real",
                                                                "remainder",
                                                                "round-nearest-afz",
                                                                "round-nearest-even",
                                                                "rsqrt",
                                                                "select",
                                                                "shift-left",
                                                                "shift-right-arithmetic",
                                                                "shift-right-logical",
                                                                "sign",
                                                                "sine",
                                                                "sqrt",
                                                                "subtract",
                                                                "tan",
                                                                "tanh",
                                                                "xor"};
  return std::ranges::find(kOpcodes, opcode) != kOpcodes.end();
}

}  // namespace

const Instruction* FindInside(const Module& module, const Instruction& instruction,
                              std::string_view opcode) {
  const Instruction* found = nullptr;
  EachCalled(module, instruction, [&](const Instruction& one) {
    if (found == nullptr && one.opcode == opcode) found = &one;
    return found == nullptr;
  });
  return found;
}

std::optional<Product> ProductOf(const Module& module, const Instruction& instruction) {
  if (instruction.opcode == "dot") return ProductOfDot(module, instruction);
  if (instruction.opcode == "custom-call") return ProductOfLibrary(module, instruction);
  const Instruction* dot = FindInside(module, instruction, "dot");
  return dot == nullptr ? std::nullopt : ProductOfDot(module, *dot);
}

std::optional<double> FusedFlops(const Module& module, const Instruction& fusion) {
  double flops = 0;
  bool known = true;
  EachCalled(module, fusion, [&](const Instruction& one) {
    std::optional<double> elements = 0;
    const bool reduces = one.opcode == "reduce" || one.opcode == "reduce-window";
    if (IsArithmetic(one.opcode)) {
      elements = ElementsOf(one.shape.First().dims);
    } else if (reduces) {
      const Instruction* in = one.operands.empty() ? nullptr : module.Find(one.operands[0]);
      elements = in == nullptr ? std::nullopt : ElementsOf(in->shape.First().dims);
    }
    known = known && elements.has_value();
    flops += elements.value_or(0);
    return !reduces && one.opcode != "scatter" &&
           one.opcode != "sort";  // what those call is an element's
  });
  return known ? std::optional(flops) : std::nullopt;
}

namespace {

// Of a fusion's operand of which only slices are read: the bytes of these.
std::optional<double> SlicedBytes(const Computation& inside, std::size_t parameter) {
  // Parameters are in the order of the fusion's operands.
  std::size_t at = 0;
  const Instruction* wanted = nullptr;
  for (const Instruction& one : inside.instructions) {
    if (one.opcode == "parameter" && at++ == parameter) wanted = &one;
  }
  if (wanted == nullptr) return std::nullopt;
  double bytes = 0;
  bool used = false;
  for (const Instruction& one : inside.instructions) {
    if (std::ranges::find(one.operands, wanted->id) == one.operands.end()) continue;
    const auto slice = BytesOf(one.shape);
    if (one.opcode != "dynamic-slice" || one.operands[0] != wanted->id || !slice)
      return std::nullopt;
    bytes += *slice;
    used = true;
  }
  return used ? std::optional(bytes) : std::nullopt;
}

}  // namespace

std::optional<double> MovedBytes(const Module& module, const Instruction& instruction) {
  const bool library = instruction.opcode == "custom-call";
  auto bytes = BytesOf(library ? instruction.shape.First() : instruction.shape);
  if (!bytes) return std::nullopt;
  const Computation* inside = instruction.opcode == "fusion" && instruction.called.size() == 1
                                  ? module.FindComputation(instruction.called[0])
                                  : nullptr;
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    if (!seen.insert(instruction.operands[i]).second) continue;
    const Instruction* operand = module.Find(instruction.operands[i]);
    if (operand == nullptr) return std::nullopt;
    auto part = inside == nullptr ? std::nullopt : SlicedBytes(*inside, i);
    if (!part) part = BytesOf(operand->shape);
    if (!part) return std::nullopt;
    *bytes += *part;
  }
  return bytes;
}

std::optional<double> ConvolutionFlops(const Module& module, const Instruction& call,
                                       ConvolutionPart part) {
  if (call.operands.size() < 2) return std::nullopt;
  const Instruction* first = module.Find(call.operands[0]);
  const Instruction* second = module.Find(call.operands[1]);
  if (first == nullptr || second == nullptr) return std::nullopt;
  const Shape& written = call.shape.First();
  // Backward calls get the gradient of the output: the first operand, or the second beside the
  // input.
  const Shape& output = part == ConvolutionPart::kForward         ? written
                        : part == ConvolutionPart::kInputGradient ? first->shape.First()
                                                                  : second->shape.First();
  const Shape& filter = part == ConvolutionPart::kFilterGradient ? written : second->shape.First();
  // Where the program does not say which dimensions are features: as cuDNN has them, if that fits.
  const auto at = [](const Shape& shape, std::int64_t dim) -> std::optional<std::int64_t> {
    if (dim < 0 || static_cast<std::size_t>(dim) >= shape.dims.size()) return std::nullopt;
    return shape.dims[static_cast<std::size_t>(dim)];
  };
  const bool said = call.filter_features >= 0;
  const auto features = at(filter, said ? call.filter_features : 0);
  const auto channels = at(output, said ? call.output_features : 1);
  const auto weights = ElementsOf(filter.dims);
  const auto points = ElementsOf(output.dims);
  if (!features || !channels || *features != *channels || *features <= 0 || !weights || !points)
    return std::nullopt;
  return 2 * *points * *weights / static_cast<double>(*features);
}

}  // namespace jarvis::hlo
