#include "ledger/kinds/kernel_name.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/text.h"

namespace jarvis::ledger {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsWordCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The identifiers of a name in the Itanium mangling: those before the first argument make the path.
// A reading of the encoding in full needs the parts that a profiler cuts off.
std::string IdentifiersOf(std::string_view mangled) {
  std::string path;
  std::string arguments;
  std::string_view last_argument;
  const auto argue = [&](std::string_view word) {
    if (!arguments.empty()) arguments += ' ';
    arguments += word;
    last_argument = word;
  };
  std::string_view text = mangled.substr(2);
  const bool nested = text.starts_with('N');
  bool in_arguments = false;
  for (std::size_t i = nested ? 1 : 0; i < text.size();) {
    if (IsDigit(text[i])) {
      std::size_t length = 0;
      while (i < text.size() && IsDigit(text[i])) {
        if (length <= text.size()) length = length * 10 + static_cast<std::size_t>(text[i] - '0');
        ++i;
      }
      if (length == 0 || length > text.size() - i) continue;
      const std::string_view word = text.substr(i, length);
      i += length;
      if (!word.starts_with("_GLOBAL__N")) {
        if (in_arguments) {
          argue(word);
        } else {
          if (!path.empty()) path += "::";
          path += word;
        }
      }
      if (!nested) in_arguments = true;
      continue;
    }
    if (text.substr(i).starts_with("DF16b")) {
      argue("bf16");
      i += 5;
      continue;
    }
    if (text.substr(i).starts_with("DF16_")) {
      argue("half");
      i += 5;
      continue;
    }
    if (text[i] == 'I') in_arguments = true;
    if (text[i] == 'f' && in_arguments && !arguments.empty() && last_argument != "float") {
      argue("float");
    }
    ++i;
  }
  return arguments.empty() ? path : path + "<" + arguments + ">";
}

std::string_view WithoutClone(std::string_view name) {
  if (!name.ends_with(']')) return name;
  const std::size_t before = name.rfind(']', name.size() - 2);
  const std::size_t at = name.find("[clone ", before == std::string_view::npos ? 0 : before + 1);
  if (name.size() < 2 || at == std::string_view::npos) return name;
  return Trim(name.substr(0, at));
}

std::string_view WithoutSuffix(std::string_view name) {
  if (name.ends_with(".kd")) return name.substr(0, name.size() - 3);
  const std::size_t at = name.rfind(".intern.");
  if (at == std::string_view::npos) return name;
  const std::string_view digits = name.substr(at + 8);
  if (digits.empty() || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return name;
  }
  return name.substr(0, at);
}

std::string WithoutAnonymousNamespaces(std::string_view text) {
  static constexpr std::string_view kParts[] = {
      "(anonymous namespace)::", "<unnamed>::", "(anonymous namespace)"};
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t open = std::min(text.find_first_of("(<"), text.size());
    out += text.substr(0, open);
    text.remove_prefix(open);
    const auto part = std::find_if(std::begin(kParts), std::end(kParts),
                                   [&](std::string_view p) { return text.starts_with(p); });
    if (part != std::end(kParts)) {
      text.remove_prefix(part->size());
    } else if (!text.empty()) {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

// "[lambda(float) (instance 2)]" is "{lambda(float)#2}".
std::string LambdasAsCupti(const std::string& text) {
  static constexpr std::string_view kOpen = "[lambda(";
  static constexpr std::string_view kInstance = ") (instance ";
  std::size_t from = text.find(kOpen);
  if (from == std::string::npos) return text;
  std::string out = text.substr(0, from);
  while (from != std::string::npos) {
    const std::string_view rest = std::string_view(text).substr(from + kOpen.size());
    const std::size_t types = rest.find_first_of("()");
    std::size_t end = 0;
    if (types != std::string_view::npos && rest.substr(types).starts_with(kInstance)) {
      end = types + kInstance.size();
      while (end < rest.size() && IsDigit(rest[end]))
        ++end;
      const std::string_view number =
          rest.substr(types + kInstance.size(), end - types - kInstance.size());
      if (!number.empty() && rest.substr(end).starts_with(")]")) {
        out.append("{lambda(")
            .append(rest.substr(0, types))
            .append(")#")
            .append(number)
            .append("}");
        end += 2;
      } else {
        end = 0;
      }
    }
    const std::size_t resume = from + (end == 0 ? 0 : kOpen.size() + end);
    const std::size_t next = text.find(kOpen, end == 0 ? from + 1 : resume);
    out += text.substr(resume, next == std::string::npos ? next : next - resume);
    from = next;
  }
  return out;
}

// "(int)4" is "4", "<4, void at::native::f>" is "<4, at::native::f>".
std::string ArgumentsAsCupti(std::string_view text) {
  static constexpr std::string_view kTypes[] = {"(int)",           "(bool)", "(unsigned int)",
                                                "(unsigned long)", "(long)", "(unsigned char)"};
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t skip = text.substr(i).starts_with("void at::") ? 5 : 0;
    if (text[i] == '(') {
      for (const std::string_view type : kTypes) {
        if (!text.substr(i).starts_with(type)) continue;
        std::size_t digit = i + type.size();
        if (digit < text.size() && text[digit] == '-') ++digit;
        if (digit < text.size() && IsDigit(text[digit])) skip = type.size();
        break;
      }
    }
    i += skip;
    out += text[i++];
  }
  return out;
}

bool IsRuntimeCopy(std::string_view name) {
  for (const std::string_view word : {"Memcpy", "Memset"}) {
    if (name.starts_with(word) && (name.size() == 6 || !IsWordCharacter(name[6]))) return true;
  }
  return false;
}

std::string_view WithoutParameters(std::string_view name) {
  if (!name.ends_with(')') || IsRuntimeCopy(name)) return name;
  int depth = 0;
  for (std::size_t i = name.size() - 1; i > 0; --i) {
    if (name[i] == ')') ++depth;
    if (name[i] != '(' || --depth > 0) continue;
    const std::string_view head = Trim(name.substr(0, i));
    return head.empty() || head == "void" ? name : head;
  }
  return name;
}

std::string_view WithoutSignature(std::string_view name) {
  const TritonSignature signature = TritonSignatureOf(name);
  // A kernel without pointers has nothing to do: "gemm_01" has a number.
  if (signature.arguments == signature.sizes) return name;
  const std::string_view before = name.substr(0, name.rfind('_'));
  // Of "triton__0d1d2d" the signature is all that there is to tell it by.
  return before == "triton" || before == "triton_" ? name : before;
}

std::string_view WithoutReturnType(std::string_view name) {
  if (name.starts_with("std::enable_if<") || name.starts_with("typename std::enable_if<")) {
    const std::size_t type = name.find(">::type ");
    if (type != std::string_view::npos) name.remove_prefix(type + 8);
  }
  if (name.starts_with("static ")) {
    const std::string_view rest = name.substr(7);
    for (const std::string_view type : {"void ", "auto ", "int ", "bool "}) {
      if (rest.starts_with(type)) return rest.substr(type.size());
    }
  }
  for (const std::string_view type : {"void ", "auto ", "int ", "bool "}) {
    if (name.starts_with(type)) return name.substr(type.size());
  }
  return name;
}

std::string WithoutBlanksBeforeAngles(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != ' ' || i + 1 == name.size() || name[i + 1] != '>') out += name[i];
  }
  return out;
}

}  // namespace

TritonSignature TritonSignatureOf(std::string_view name) {
  TritonSignature signature;
  const std::size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos) return {};
  std::string_view rest = name.substr(underscore + 1);
  while (!rest.empty()) {
    const std::string number = std::to_string(signature.arguments);
    if (!rest.starts_with(number)) return {};
    rest.remove_prefix(number.size());
    const auto take = [&](char mark) {
      const bool there = rest.starts_with(mark);
      if (there) rest.remove_prefix(1);
      return there;
    };
    const bool sixteen = take('d');
    const bool eight = take('e');
    const bool one = take('c');
    ++signature.arguments;
    if (!sixteen || eight || one) ++signature.sizes;
    if (eight) signature.marks_sizes = true;
  }
  return signature;
}

std::string NormalisedKernelName(std::string_view name) {
  name = Trim(name);
  std::string identifiers;
  if (name.starts_with("_ZN") || (name.size() > 2 && name.starts_with("_Z") && IsDigit(name[2]))) {
    identifiers = IdentifiersOf(name);
    name = identifiers;
  }
  std::string text = WithoutAnonymousNamespaces(WithoutSuffix(WithoutClone(name)));
  text = ArgumentsAsCupti(LambdasAsCupti(text));
  return std::string(Trim(
      WithoutBlanksBeforeAngles(WithoutSignature(WithoutReturnType(WithoutParameters(text))))));
}

}  // namespace jarvis::ledger
