#include "trace/import/hlo/facts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/import/hlo/work.h"
#include "trace/json_text.h"

namespace jarvis::hlo {
namespace {

constexpr std::size_t kOperandsMax = 64;  // that are listed; an optimizer's fusion has hundreds

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string Quoted(std::string_view text) {
  return fmt::format("\"{}\"", trace::Escape(ValidUtf8(text)));
}

// Opcodes of collectives, and what NCCL's recorders call them.
struct Collective {
  std::string_view opcode, name;
};
constexpr Collective kCollectives[] = {
    {"all-reduce", "allreduce"},
    {"all-gather", "_allgather_base"},
    {"reduce-scatter", "_reduce_scatter_base"},
    {"all-to-all", "all_to_all"},
    {"ragged-all-to-all", "all_to_allv"},
    {"collective-permute", "send_recv"},
    {"collective-broadcast", "broadcast"},
    {"send", "send"},
    {"recv", "recv"},
};

const Collective* CollectiveOf(std::string_view opcode) {
  constexpr std::string_view kStart = "-start";
  if (opcode.ends_with(kStart)) opcode.remove_suffix(kStart.size());
  const auto* found = std::ranges::find(kCollectives, opcode, &Collective::opcode);
  return found == std::end(kCollectives) ? nullptr : found;
}

// The collective that an instruction is, or that its asynchronous wrapper holds.
const Instruction* ExchangeIn(const Module& module, const Instruction& instruction) {
  if (CollectiveOf(instruction.opcode) != nullptr) return &instruction;
  if (instruction.opcode != "async-start") return nullptr;
  for (const Collective& one : kCollectives) {
    if (const Instruction* inside = FindInside(module, instruction, one.opcode)) return inside;
  }
  return nullptr;
}

std::string GroupsText(const std::vector<Instruction::Numbers>& groups) {
  std::string text = "[";
  for (const Instruction::Numbers& group : groups) {
    if (text.size() > 1) text += ',';
    text += ListText(group);
  }
  return text + "]";
}

// Elements of the arrays that go in, and that come out: of an asynchronous start, which holds both,
// the last part.
std::optional<Exchange> ExchangeOf(const Module& module, const Instruction& instruction) {
  const Instruction* found = ExchangeIn(module, instruction);
  if (found == nullptr) return std::nullopt;
  Exchange exchange{.name = CollectiveOf(found->opcode)->name};
  for (const std::int64_t id : found->operands) {
    const Instruction* operand = module.Find(id);
    if (operand == nullptr) continue;
    const Shape& shape = operand->shape.First();
    exchange.in_elements += ElementsOf(shape.dims).value_or(0);
    if (exchange.dtype.empty()) exchange.dtype = shape.type;
  }
  const bool pair = found->opcode.ends_with("-start") && found->shape.is_tuple() &&
                    found->shape.parts.size() >= 2;
  const Shape& out = pair ? found->shape.parts[1] : found->shape;
  const std::vector<Shape> one{out};
  for (const Shape& part : out.is_tuple() ? out.parts : one)
    exchange.out_elements += ElementsOf(part.dims).value_or(0);
  if (!found->groups.empty()) {
    exchange.groups = GroupsText(found->groups);
    exchange.group_size = static_cast<std::int64_t>(found->groups.front().size());
  }
  return exchange;
}

// What a custom call's target tells.
std::string_view ClassOfTarget(std::string_view target) {
  const std::string lower = LowerAscii(target);
  const bool backward = Has(lower, "backward") || Has(lower, "bwd");
  if (Has(lower, "$conv")) return backward ? "xla::conv_backward" : "xla::conv";
  if (Has(lower, "fused_attn") || Has(lower, "fmha") || Has(lower, "flash_attention") ||
      Has(lower, "flash_attn"))
    return backward ? "xla::attention_backward" : "xla::attention";
  if (Has(lower, "cublas") || Has(lower, "hipblas") || Has(lower, "matmul")) return "xla::gemm";
  if (Has(lower, "triton")) return "xla::triton";
  if (Has(lower, "topk") || Has(lower, "sort")) return "xla::sort";
  return "xla::custom_call";
}

bool MovesOnly(std::string_view opcode) {
  static constexpr std::array<std::string_view, 22> kOpcodes = {"parameter",
                                                                "constant",
                                                                "bitcast",
                                                                "copy",
                                                                "transpose",
                                                                "reshape",
                                                                "broadcast",
                                                                "slice",
                                                                "concatenate",
                                                                "pad",
                                                                "reverse",
                                                                "tuple",
                                                                "iota",
                                                                "convert",
                                                                "bitcast-convert",
                                                                "get-tuple-element",
                                                                "dynamic-slice",
                                                                "dynamic-update-slice",
                                                                "copy-start",
                                                                "copy-done",
                                                                "fusion",
                                                                "reduce-precision"};
  return std::ranges::find(kOpcodes, opcode) != kOpcodes.end();
}

std::string_view ClassOfFusion(const Module& module, const Instruction& fusion) {
  const auto holds = [&](std::string_view opcode) {
    return FindInside(module, fusion, opcode) != nullptr;
  };
  if (holds("dot")) return "xla::gemm";
  if (holds("convolution")) return "xla::conv";
  if (holds("sort")) return "xla::sort";
  if (holds("scatter") || holds("gather")) return "xla::index";
  if (holds("reduce") || holds("reduce-window")) return "xla::reduce";
  if (holds("rng") || holds("rng-bit-generator")) return "xla::random";
  return "xla::elementwise";
}

std::string_view ClassOf(const Module& module, const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (ExchangeIn(module, instruction) != nullptr) return "xla::collective";
  if (opcode == "custom-call") return ClassOfTarget(instruction.target);
  if (opcode == "fusion") return ClassOfFusion(module, instruction);
  if (opcode == "dot") return "xla::gemm";
  if (opcode == "convolution") return "xla::conv";
  if (opcode == "sort") return "xla::sort";
  if (opcode == "scatter" || opcode == "gather" || opcode == "select-and-scatter")
    return "xla::index";
  if (opcode == "reduce" || opcode == "reduce-window") return "xla::reduce";
  if (opcode.starts_with("rng")) return "xla::random";
  if (opcode == "while" || opcode == "conditional" || opcode == "call" || opcode == "async-start")
    return "xla::control";
  return "xla::elementwise";
}

// q, k and v of a call of flash attention: apart, or packed in one or two arrays (Transformer
// Engine's layouts BS3HD, BSH3D, BSHD_BS2HD, BSHD_BSH2D).
struct QueryKeyValue {
  Instruction::Numbers q, k, v;
};
std::optional<QueryKeyValue> Unpacked(const std::vector<const Shape*>& operands) {
  const auto without = [](const Shape& packed, std::int64_t count) -> Instruction::Numbers {
    if (packed.dims.size() != 5) return {};
    for (const std::size_t at : {std::size_t{2}, std::size_t{3}}) {
      if (packed.dims[at] != count) continue;
      Instruction::Numbers dims = packed.dims;
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at));
      return dims;
    }
    return {};
  };
  if (operands.empty()) return std::nullopt;
  if (auto all = without(*operands[0], 3); !all.empty()) return QueryKeyValue{all, all, all};
  if (operands.size() < 2 || operands[0]->dims.size() != 4) return std::nullopt;
  if (auto both = without(*operands[1], 2); !both.empty())
    return QueryKeyValue{operands[0]->dims, both, both};
  if (operands.size() < 3 || operands[1]->dims.size() != 4 || operands[2]->dims.size() != 4)
    return std::nullopt;
  return QueryKeyValue{operands[0]->dims, operands[1]->dims, operands[2]->dims};
}

// "mask_type = 2 : i64" in a call's configuration.
std::optional<std::int64_t> SettingIn(std::string_view config, std::string_view key) {
  const std::string wanted = fmt::format("{} = ", key);
  const std::size_t at = config.find(wanted);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view value = config.substr(at + wanted.size());
  return ParseInt(Trim(value.substr(0, value.find_first_of(",:}"))));
}

void AddAttention(const Instruction& call, const std::vector<const Shape*>& operands,
                  OpFacts* facts) {
  const auto parts = Unpacked(operands);
  if (!parts) return;
  facts->args.emplace_back("q", ListText(parts->q));
  facts->args.emplace_back("k", ListText(parts->k));
  facts->args.emplace_back("v", ListText(parts->v));
  // NVTE_Mask_Type of Transformer Engine's fused_attn.h: 2 to 5 are causal, 4 and 5 at the bottom
  // right.
  if (const auto mask = SettingIn(call.config, "mask_type")) {
    facts->args.emplace_back("causal", *mask >= 2 && *mask <= 5 ? "true" : "false");
    facts->args.emplace_back("bottom right", *mask >= 4 ? "true" : "false");
  }
  for (const std::string_view side : {"window_size_left", "window_size_right"}) {
    if (const auto size = SettingIn(call.config, side))
      facts->AddNumber(side, static_cast<double>(*size));
  }
}

void AddProduct(const Product& product, OpFacts* facts) {
  facts->AddNumber("M", product.m);
  facts->AddNumber("N", product.n);
  facts->AddNumber("K", product.k);
  facts->AddNumber("B", product.b);
  facts->Add("dtype A", product.type_a);
  facts->Add("dtype B", product.type_b);
  facts->Add("dtype out", product.type_out);
  if (product.bias) facts->args.emplace_back("bias", "true");
}

// Which part of a convolution's work a target names.
ConvolutionPart PartOf(std::string_view target) {
  const std::string lower = LowerAscii(target);
  if (Has(lower, "backwardinput")) return ConvolutionPart::kInputGradient;
  return Has(lower, "backwardfilter") ? ConvolutionPart::kFilterGradient
                                      : ConvolutionPart::kForward;
}

void AddWork(const Module& module, const Instruction& instruction,
             const std::vector<const Shape*>& operands, OpFacts* facts) {
  const bool fusion = instruction.opcode == "fusion";
  std::optional<double> flops;
  if (facts->known_as == "xla::gemm") {
    if (const auto product = ProductOf(module, instruction)) AddProduct(*product, facts);
  } else if (facts->known_as.starts_with("xla::conv")) {
    const Instruction* inside = fusion ? FindInside(module, instruction, "convolution") : nullptr;
    flops = ConvolutionFlops(module, inside != nullptr ? *inside : instruction,
                             PartOf(instruction.target));
  } else if (facts->known_as.starts_with("xla::attention")) {
    AddAttention(instruction, operands, facts);
    return;
  } else if (fusion) {
    flops = FusedFlops(module, instruction);
  } else if (facts->known_as == "xla::elementwise") {
    flops = MovesOnly(instruction.opcode) ? 0 : ElementsOf(instruction.shape.First().dims);
  }
  if (flops) facts->AddNumber("flops", *flops);
  const auto bytes = facts->known_as == "xla::control" || facts->known_as == "xla::collective"
                         ? std::nullopt
                         : MovedBytes(module, instruction);
  if (bytes) facts->AddNumber("bytes", *bytes);
}

void AddOperands(const std::vector<const Shape*>& operands, OpFacts* facts) {
  std::string texts;
  facts->dims = facts->types = facts->strides = "[";
  bool strides = true;
  for (std::size_t i = 0; i < std::min(operands.size(), kOperandsMax); ++i) {
    const std::string_view comma = i == 0 ? "" : ",";
    const Shape& shape = operands[i]->First();
    facts->dims += fmt::format("{}{}", comma, ListText(shape.dims));
    facts->types += fmt::format("{}\"{}\"", comma, shape.type);
    const auto stride = StridesOf(shape);
    strides = strides && stride.size() == shape.dims.size();
    facts->strides += fmt::format("{}{}", comma, ListText(stride));
    texts += fmt::format("{}\"{}\"", comma, TextOf(*operands[i]));
  }
  facts->dims += ']';
  facts->types += ']';
  facts->strides = strides ? facts->strides + "]" : "";
  facts->args.emplace_back("operands", fmt::format("[{}]", texts));
}

// The names of operands, where there are so many that they are counted in HLO's text.
void AddOperandNames(const Module& module, const Instruction& instruction, OpFacts* facts) {
  constexpr std::size_t kCountedFrom = 6;
  if (instruction.operands.size() < kCountedFrom) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(instruction.operands.size(), kOperandsMax); ++i) {
    const Instruction* operand = module.Find(instruction.operands[i]);
    names +=
        fmt::format("{}{}", i == 0 ? "" : ",", Quoted(operand == nullptr ? "" : operand->name));
  }
  facts->args.emplace_back("operand names", fmt::format("[{}]", names));
}

// Whether the instruction is what its computation gives back.
bool IsRoot(const Module& module, const Instruction& instruction) {
  return std::ranges::any_of(module.computations(), [&](const Computation& computation) {
    return computation.root == instruction.id;
  });
}

std::string ContainsText(const Module& module, const Instruction& instruction) {
  std::string text;
  for (const std::string_view opcode : {"convolution", "dot", "reduce", "scatter", "sort"}) {
    if (FindInside(module, instruction, opcode) != nullptr)
      text += fmt::format("{}\"{}\"", text.empty() ? "" : ",", opcode);
  }
  return text.empty() ? text : fmt::format("[{}]", text);
}

}  // namespace

void OpFacts::Add(std::string_view key, std::string_view text) {
  if (!text.empty()) args.emplace_back(key, Quoted(text));
}

void OpFacts::AddNumber(std::string_view key, double value) {
  constexpr double kWholeMax = 9e15;
  if (!std::isfinite(value)) return;
  args.emplace_back(key, value == std::floor(value) && std::abs(value) < kWholeMax
                             ? fmt::format("{:.0f}", value)
                             : fmt::format("{}", value));
}

FoundInstruction FindInstruction(const Module& module, std::string_view op) {
  constexpr std::string_view kNesting = "::";
  if (const std::size_t last = op.rfind(kNesting); last != std::string_view::npos)
    op.remove_prefix(last + kNesting.size());
  if (const Instruction* found = module.Find(op)) return {found, false};
  const std::string with_zero = fmt::format("{}.0", op);
  if (const Instruction* found = module.Find(with_zero)) return {found, true};
  if (op.ends_with(".0")) {
    if (const Instruction* found = module.Find(op.substr(0, op.size() - 2))) return {found, true};
  }
  // An asynchronous collective goes by the name of the op that it was made of: all-gather.12 for
  // all-gather-start.3. If the module has one of the family, that is it.
  const std::string_view family = op.substr(0, op.find('.'));
  if (CollectiveOf(family) == nullptr) return {};
  const Instruction* only = nullptr;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& one : computation.instructions) {
      if (CollectiveOf(one.opcode) != CollectiveOf(family)) continue;
      if (only != nullptr) return {};
      only = &one;
    }
  }
  return {only, true};
}

OpFacts FactsOf(const Module& module, const FoundInstruction& found) {
  const Instruction& instruction = *found.instruction;
  OpFacts facts;
  facts.known_as = ClassOf(module, instruction);
  facts.Add("opcode", instruction.opcode);
  facts.Add("fusion", instruction.fusion);
  facts.Add("custom_call_target", instruction.target);
  facts.Add("op_type", instruction.op_type);
  facts.Add("op_name", instruction.op_name);
  facts.Add("source", instruction.source_file.empty()
                          ? module.FrameText(instruction.stack_frame)
                          : fmt::format("{}:{}", instruction.source_file, instruction.source_line));
  std::vector<const Shape*> operands;
  for (const std::int64_t id : instruction.operands) {
    if (const Instruction* operand = module.Find(id)) operands.push_back(&operand->shape);
  }
  AddOperands(operands, &facts);
  AddOperandNames(module, instruction, &facts);
  facts.Add("output", TextOf(instruction.shape));
  if (std::string inside = ContainsText(module, instruction); !inside.empty())
    facts.args.emplace_back("contains", std::move(inside));
  if (IsRoot(module, instruction)) facts.args.emplace_back("root", "true");
  if (!instruction.groups.empty())
    facts.args.emplace_back("replica_groups", GroupsText(instruction.groups));
  AddWork(module, instruction, operands, &facts);
  facts.exchange = ExchangeOf(module, instruction);
  if (found.inferred) facts.args.emplace_back("inferred", "true");
  return facts;
}

OpFacts FactsOfText(const CountedOp& op) {
  OpFacts facts;
  const std::string_view text = op.text;
  std::vector<Shape> shapes;
  const std::size_t equals = text.find(" = ");
  std::string_view rest = equals == std::string_view::npos ? "" : text.substr(equals + 3);
  const auto output = TakeShape(&rest);
  rest = Trim(rest);
  const std::size_t open = rest.find('(');
  const std::string_view opcode = rest.substr(0, open);
  std::string_view arguments =
      open == std::string_view::npos ? "" : rest.substr(open + 1, rest.find(')', open) - open - 1);
  while (!arguments.empty()) {
    arguments = Trim(arguments);
    if (auto shape = TakeShape(&arguments)) shapes.push_back(std::move(*shape));
    // What follows has commas of its own only inside the brackets that were taken.
    const std::size_t comma = arguments.find(',');
    arguments.remove_prefix(comma == std::string_view::npos ? arguments.size() : comma + 1);
  }
  std::vector<const Shape*> operands;
  for (const Shape& shape : shapes)
    operands.push_back(&shape);
  const Collective* collective = CollectiveOf(opcode);
  const bool flat =
      std::ranges::all_of(operands, [](const Shape* shape) { return shape->dims.size() <= 3; });
  const std::string_view category = op.category;
  facts.known_as = collective != nullptr          ? "xla::collective"
                   : Has(category, "convolution") ? flat ? "xla::gemm" : "xla::conv"
                   : Has(category, "dot") || Has(category, "matmul")     ? "xla::gemm"
                   : Has(category, "custom")                             ? "xla::custom_call"
                   : Has(category, "reduc")                              ? "xla::reduce"
                   : Has(category, "sort")                               ? "xla::sort"
                   : Has(category, "gather") || Has(category, "scatter") ? "xla::index"
                   : opcode == "while" || opcode == "conditional" || opcode == "call"
                       ? "xla::control"
                       : "xla::elementwise";
  facts.Add("opcode", opcode);
  if (!operands.empty()) AddOperands(operands, &facts);
  if (output) facts.Add("output", TextOf(*output));
  if (op.flops) facts.AddNumber("flops", *op.flops);
  if (op.bytes) facts.AddNumber("bytes", *op.bytes);
  if (collective != nullptr) {
    Exchange exchange{.name = collective->name};
    for (const Shape* shape : operands)
      exchange.in_elements += ElementsOf(shape->dims).value_or(0);
    if (!operands.empty()) exchange.dtype = operands[0]->type;
    if (output) exchange.out_elements = ElementsOf(output->First().dims).value_or(0);
    constexpr std::string_view kGroups = "replica_groups={{";
    if (const std::size_t at = text.find(kGroups); at != std::string_view::npos) {
      const std::string_view groups = text.substr(at + kGroups.size());
      const std::size_t end = groups.find("}}");
      std::string list = fmt::format("[[{}]]", groups.substr(0, end));
      for (std::size_t i = 0; (i = list.find("},{", i)) != std::string::npos;)
        list.replace(i, 3, "],[");
      const bool numbers = list.find_first_not_of("[],0123456789") == std::string::npos;
      const std::string_view first = groups.substr(0, std::min(groups.find('}'), groups.size()));
      if (numbers && end != std::string_view::npos) {
        exchange.groups = std::move(list);
        exchange.group_size = 1 + std::count(first.begin(), first.end(), ',');
      }
    }
    facts.exchange = exchange;
  }
  return facts;
}

}  // namespace jarvis::hlo
