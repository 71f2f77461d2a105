#include "replay/op_schema.h"

#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::replay {
namespace {

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Walks the text once. Whatever stands in brackets or quotes is one piece, commas included.
class SchemaReader {
 public:
  explicit SchemaReader(std::string_view text) : text_(text) {}

  Result<OpSchema> Read() {
    OpSchema schema;
    schema.text = text_;
    JV_TRY(ReadName(&schema));
    bool keyword_only = false;
    while (!Take(')')) {
      if (Take('*')) {
        keyword_only = true;
      } else {
        JV_ASSIGN(SchemaArg arg, ReadArg());
        arg.keyword_only = keyword_only;
        schema.args.push_back(std::move(arg));
      }
      if (!Take(',') && Next() != ')') return Wrong("a comma or the end of the arguments");
    }
    SkipSpace();
    if (!text_.substr(at_).starts_with("->")) return Wrong("\"->\" and the results");
    return schema;
  }

 private:
  tl::unexpected<Error> Wrong(std::string_view expected) const {
    return Fail(ErrorCode::kBadValue,
                fmt::format("no operator schema: character {} should be {}", at_ + 1, expected));
  }
  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  char Next() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Next() != c) return false;
    ++at_;
    return true;
  }
  std::string Word() {
    SkipSpace();
    const std::size_t from = at_;
    while (at_ < text_.size() && IsWordChar(text_[at_]))
      ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  Status ReadName(OpSchema* schema) {
    const std::string space = Word();
    if (space.empty() || !text_.substr(at_).starts_with("::")) return Wrong("namespace::name");
    at_ += 2;
    const std::string name = Word();
    if (name.empty()) return Wrong("the operator's name");
    schema->name = space + "::" + name;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      schema->overload = Word();
      if (schema->overload.empty()) return Wrong("the overload's name");
    }
    if (at_ >= text_.size() || text_[at_] != '(') return Wrong("\"(\"");
    ++at_;
    return {};
  }

  // The end of a piece in brackets of whatever kind, or npos. `at_` stands on the opening one.
  std::size_t BracketEnd() const {
    int depth = 0;
    for (std::size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '(' || c == '[') ++depth;
      if ((c == ')' || c == ']') && --depth == 0) return i + 1;
    }
    return std::string_view::npos;
  }

  Status ReadSuffixes(ArgType* type) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '?') {
        type->optional = true;
        ++at_;
      } else if (c == '[' || c == '(') {
        const std::size_t end = BracketEnd();
        if (end == std::string_view::npos) return Wrong("closed by a bracket");
        if (c == '[') {
          type->optional_elements = type->optional;
          type->optional = false;
          type->list = true;
          if (const auto size = ParseInt(text_.substr(at_ + 1, end - at_ - 2)); size && *size > 0)
            type->list_size = static_cast<std::size_t>(*size);
        }
        at_ = end;
      } else {
        break;
      }
    }
    return {};
  }

  Result<ArgType> ReadType() {
    SkipSpace();
    const std::size_t from = at_;
    ArgType type;
    type.base = Word();
    while (at_ < text_.size() && text_[at_] == '.') {  // __torch__.torch.classes.X
      ++at_;
      type.base += "." + Word();
    }
    if (type.base.empty() && Next() != '(') return Wrong("a type");
    JV_TRY(ReadSuffixes(&type));
    type.text = text_.substr(from, at_ - from);
    return type;
  }

  Result<std::string> ReadDefault() {
    SkipSpace();
    const std::size_t from = at_;
    if (const char quote = Next(); quote == '"' || quote == '\'') {
      for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      if (at_ >= text_.size()) return Wrong("closed by a quote");
      ++at_;
    } else if (quote == '[') {
      const std::size_t end = BracketEnd();
      if (end == std::string_view::npos) return Wrong("closed by a bracket");
      at_ = end;
    } else {
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')')
        ++at_;
    }
    return std::string(Trim(text_.substr(from, at_ - from)));
  }

  Result<SchemaArg> ReadArg() {
    SchemaArg arg;
    JV_ASSIGN(arg.type, ReadType());
    arg.name = Word();
    if (arg.name.empty()) return Wrong("the argument's name");
    if (at_ < text_.size() && text_[at_] == '[') {  // "int stride[2]" of old registries
      JV_TRY(ReadSuffixes(&arg.type));
    }
    if (Take('=')) {
      JV_ASSIGN(arg.default_text, ReadDefault());
    }
    return arg;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<OpSchema> ParseSchema(std::string_view text) {
  return SchemaReader(text).Read();
}

}  // namespace jarvis::replay
