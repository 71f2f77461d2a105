#include "perf/tensile_name.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::perf {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(by);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

// "Cijk", "Ailk", "BjlkC": a letter and at least three index letters.
bool IsIndices(std::string_view piece, char tag) {
  return piece.size() >= 4 && piece[0] == tag && IsLower(piece[1]) &&
         std::all_of(piece.begin() + 2, piece.end(),
                     [&](char c) { return IsLower(c) || (tag != 'C' && IsUpper(c)); });
}

// "256x192x64" as numbers; empty: something else.
std::vector<std::int64_t> SizesOf(std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view piece : Split(text, 'x')) {
    if (!IsNumber(piece) || piece.size() > 9) return {};
    sizes.push_back(*ParseInt(piece));
  }
  return sizes;
}

// ---- types

struct Type {
  std::string_view letter;
  std::string_view name;
};
// Longer spellings first.
constexpr Type kTypes[] = {
    {"F8N", "fp8_fnuz"}, {"B8N", "bf8_fnuz"}, {"4xi8", "int8x4"},  {"F8", "fp8"},  {"B8", "bf8"},
    {"F6", "fp6"},       {"B6", "bf6"},       {"F4", "fp4"},       {"I8", "int8"}, {"S", "fp32"},
    {"D", "fp64"},       {"C", "complex64"},  {"Z", "complex128"}, {"H", "fp16"},  {"B", "bf16"},
    {"I", "int32"},      {"X", "xf32"},
};

// The types that a piece spells, or nothing if it spells something else too.
std::vector<const Type*> TypesIn(std::string_view piece) {
  std::vector<const Type*> types;
  while (!piece.empty()) {
    const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const Type& type) {
      return piece.starts_with(type.letter);
    });
    if (found == std::end(kTypes)) return {};
    types.push_back(found);
    piece.remove_prefix(found->letter.size());
  }
  return types;
}

bool IsEightBit(const Type* type) {
  return IsOneOf(type->letter, {"F8N", "B8N", "F8", "B8", "F6", "B6", "F4"});
}
// What products are added up in.
bool IsCompute(const Type* type) {
  return IsOneOf(type->letter, {"S", "D", "C", "Z", "I", "X"});
}

void SetTypes(const Type* a, const Type* b, const Type* out, const Type* compute,
              TensileName* name) {
  name->in_a = a->name;
  name->in_b = b->name;
  name->out = out->name;
  name->compute = compute->name;
  name->types = a->letter;
  if (a != b) name->types += b->letter;
  if (out != a || compute != a) {
    name->types += out->letter;
    name->types += compute->letter;
  }
}

// Reads the types from the front of `pieces`, and gives flags that are glued to them.
void ReadTypes(std::vector<std::string_view>* pieces, TensileName* name) {
  if (pieces->empty()) return;
  const std::string_view first = pieces->front();
  std::vector<const Type*> types = TypesIn(first);
  if (types.empty()) return;
  pieces->erase(pieces->begin());
  const auto is = [&](std::size_t i, std::string_view letter) {
    return i < types.size() && types[i]->letter == letter;
  };
  const Type* a = types[0];
  // "SB", "HBH": one type, then the flags for beta and for wide sums.
  if (is(1, "B") && (types.size() == 2 || (types.size() == 3 && is(2, "H")))) {
    name->flags.emplace_back(first.substr(a->letter.size()));
    return SetTypes(a, a, a, a, name);
  }
  const Type* b = a;
  std::size_t at = 1;
  if (types.size() > 1 && IsEightBit(a) && IsEightBit(types[1])) b = types[at++];
  std::vector<const Type*> rest(types.begin() + static_cast<std::ptrdiff_t>(at), types.end());
  if (rest.empty() && !pieces->empty()) {
    // "B_BS": output and arithmetic follow; "S_B": the flags do.
    std::vector<const Type*> next = TypesIn(pieces->front());
    if (next.size() == 2 && IsCompute(next[1])) {
      rest = std::move(next);
      pieces->erase(pieces->begin());
    }
  }
  if (rest.empty()) return SetTypes(a, b, a, a, name);
  SetTypes(a, b, rest.front(), rest.back(), name);
}

// ---- the rest

void ReadInstruction(std::string_view piece, TensileName* name) {
  const std::vector<std::int64_t> sizes = SizesOf(piece.substr(2));
  if (sizes.size() != 3 && sizes.size() != 4) return;
  name->mi_m = sizes[0];
  name->mi_n = sizes[1];
  name->mi_blocks = sizes.back();
  if (sizes.size() == 4) name->mi_k = sizes[2];
}

// "LWPMn1" is LWPM and n1, "1LDSB0" is 1LDSB and 0, "GSUAMB" is itself.
TensileParameter ReadParameter(std::string_view piece) {
  static constexpr std::string_view kArch = "ISA";  // may end in a letter: ISA90a
  if (piece.starts_with(kArch) && piece.size() > kArch.size() && IsDigit(piece[kArch.size()])) {
    return {std::string(kArch), {std::string(piece.substr(kArch.size()))}};
  }
  std::size_t value = piece.size();
  while (value > 0 && IsDigit(piece[value - 1]))
    --value;
  // 0p5
  if (value < piece.size() && value > 1 && piece[value - 1] == 'p' && IsDigit(piece[value - 2])) {
    --value;
    while (value > 0 && IsDigit(piece[value - 1]))
      --value;
  }
  if (value < piece.size() && value > 1 && piece[value - 1] == 'n') --value;
  TensileParameter parameter{std::string(piece.substr(0, value)), {}};
  if (value < piece.size()) parameter.values.emplace_back(piece.substr(value));
  static constexpr std::string_view kReduction = "GSUA";
  if (parameter.values.empty() && piece.starts_with(kReduction) &&
      piece.size() > kReduction.size()) {
    return {std::string(kReduction), {std::string(piece.substr(kReduction.size()))}};
  }
  return parameter;
}

void ReadParameters(const std::vector<std::string_view>& pieces, TensileName* name) {
  for (const std::string_view piece : pieces) {
    if (piece.empty()) continue;
    if (IsNumber(piece) && !name->parameters.empty()) {
      name->parameters.back().values.emplace_back(piece);
    } else if (piece.starts_with("MI") && piece.size() > 2 && IsDigit(piece[2])) {
      ReadInstruction(piece, name);
    } else {
      name->parameters.push_back(ReadParameter(piece));
    }
  }
}

// The K of hipBLASLt's matrix instruction. gfx950 has two for most types: absent.
std::optional<std::int64_t> InstructionDepth(const TensileName& name) {
  const TensileParameter* isa = name.Find("ISA");
  if (isa == nullptr || isa->values.empty() || !name.mi_m || name.mi_m != name.mi_n)
    return std::nullopt;
  const std::string& arch = isa->values.front();
  const bool gfx94 = IsOneOf(arch, {"940", "941", "942"});
  const bool gfx90a = arch == "90a";
  if ((!gfx94 && !gfx90a) || name.mi_blocks != 1) return std::nullopt;
  const bool small = *name.mi_m == 16;
  if (!small && *name.mi_m != 32) return std::nullopt;
  const auto depth = [&](std::int64_t at_16) { return small ? at_16 : at_16 / 2; };
  if (IsOneOf(name.in_a, {"bf16", "fp16"})) return depth(16);
  if (name.in_a == "fp32") return depth(name.compute == "xf32" ? 8 : 4);
  if (name.in_a == "fp64" && small) return 4;
  if (name.in_a == "int8") return depth(gfx94 ? 32 : 16);
  if (gfx94 && (name.in_a.starts_with("fp8") || name.in_a.starts_with("bf8"))) return depth(32);
  return std::nullopt;
}

std::optional<bool> TransposeOf(std::string_view indices, std::string_view plain,
                                std::string_view transposed) {
  if (indices == plain) return false;
  if (indices == transposed) return true;
  return std::nullopt;
}

}  // namespace

const TensileParameter* TensileName::Find(std::string_view key) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const TensileParameter& one) { return one.key == key; });
  return found == parameters.end() ? nullptr : &*found;
}

std::optional<std::int64_t> TensileName::Number(std::string_view key) const {
  const TensileParameter* found = Find(key);
  if (found == nullptr || found->values.empty()) return std::nullopt;
  std::string_view text = found->values.front();
  const bool negative = text.starts_with('n');
  if (negative) text.remove_prefix(1);
  const auto number = ParseInt(text);
  if (!number) return std::nullopt;
  return negative ? -*number : *number;
}

std::optional<std::int64_t> TensileName::threads() const {
  const TensileParameter* group = Find("WG");
  if (group == nullptr || group->values.empty()) return std::nullopt;
  std::int64_t product = 1;
  for (const std::string& value : group->values) {
    const auto size = ParseInt(value);
    if (!size || *size <= 0 || *size > 1024) return std::nullopt;
    product *= *size;
    if (product > 1024) return std::nullopt;
  }
  return product;
}

std::optional<std::int64_t> TensileName::split() const {
  const auto split = Number("GSU");
  if (!split) return hipblaslt ? std::nullopt : std::optional<std::int64_t>(1);
  if (*split <= 0) return std::nullopt;
  return split;
}

std::string TensileName::label() const {
  const auto letter = [](const std::optional<bool>& transposed) {
    return !transposed ? '?' : *transposed ? 'T' : 'N';
  };
  std::string text = fmt::format("{}{} {} MT{}x{}x{}", letter(transpose_a), letter(transpose_b),
                                 types.empty() ? "?" : types, tile[0], tile[1], tile[2]);
  if (mi_m) text += fmt::format(" MI{}x{}", *mi_m, *mi_n);
  if (const auto group = split(); group && *group > 1) text += fmt::format(" GSU{}", *group);
  if (const auto stream = Number("SK")) text += fmt::format(" SK{}", *stream);
  return text;
}

std::optional<TensileName> ParseTensileName(std::string_view kernel) {
  kernel = Trim(kernel);
  if (kernel.ends_with(".kd")) kernel.remove_suffix(3);
  std::vector<std::string_view> pieces = Split(kernel, '_');
  std::size_t start = 0;
  while (start + 3 < pieces.size() &&
         !(IsIndices(pieces[start], 'C') && IsIndices(pieces[start + 1], 'A') &&
           IsIndices(pieces[start + 2], 'B'))) {
    ++start;
  }
  if (start + 3 >= pieces.size()) return std::nullopt;
  TensileName name;
  name.custom = start > 0 && pieces[start - 1].ends_with("Custom");
  name.transpose_a = TransposeOf(pieces[start + 1], "Ailk", "Alik");
  name.transpose_b = TransposeOf(pieces[start + 2], "Bljk", "Bjlk");
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(start) + 3);
  ReadTypes(&pieces, &name);
  std::size_t tile = 0;
  for (; tile < pieces.size(); ++tile) {
    if (!pieces[tile].starts_with("MT")) continue;
    const std::vector<std::int64_t> sizes = SizesOf(pieces[tile].substr(2));
    if (sizes.size() != 3 || sizes[0] <= 0 || sizes[1] <= 0 || sizes[2] <= 0) continue;
    std::copy(sizes.begin(), sizes.end(), name.tile.begin());
    break;
  }
  if (tile == pieces.size()) return std::nullopt;
  for (std::size_t i = 0; i < tile; ++i)
    name.flags.emplace_back(pieces[i]);
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(tile) + 1);
  ReadParameters(pieces, &name);
  name.hipblaslt =
      name.mi_m ? !name.mi_k.has_value()
                : std::find(name.flags.begin(), name.flags.end(), "UserArgs") != name.flags.end();
  if (name.mi_m && !name.mi_k) name.mi_k = InstructionDepth(name);
  return name;
}

std::optional<double> FlopPerMfma(const TensileName& name) {
  if (!name.mi_m || !name.mi_k || !name.mi_blocks) return std::nullopt;
  return 2.0 * static_cast<double>(*name.mi_m) * static_cast<double>(*name.mi_n) *
         static_cast<double>(*name.mi_k) * static_cast<double>(*name.mi_blocks);
}

}  // namespace jarvis::perf
